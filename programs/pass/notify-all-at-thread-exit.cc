// pass: std::notify_all_at_thread_exit: the lock is kept to the very end of a detached thread

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

static std::mutex mutex;
// Never destroyed: a thread's very last notification may come after main has returned.
static std::condition_variable &ended = *new std::condition_variable;
static int count;

struct Last {
    ~Last() { count += 10; } // Safe: the thread holds the mutex until after its thread_local objects are gone.
};

static void work() {
    static thread_local Last last;
    (void)&last;
    std::unique_lock lock(mutex);
    count++;
    std::notify_all_at_thread_exit(ended, std::move(lock));
}

int main() {
    std::thread(work).detach();
    std::thread(work).detach();
    std::unique_lock lock(mutex);
    ended.wait(lock, [] { return count == 22; });
    assert(count == 22);
}
