// pass: detached threads hand their results over through futures, one of them only when it has quite ended

#include <cassert>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

static std::mutex mutex;
static bool cleaned;

struct Cleaner {
    ~Cleaner() {
        std::lock_guard lock(mutex);
        cleaned = true;
    }
};

int main() {
    std::promise<int> soon;
    std::future<int> value = soon.get_future();
    // The promise moves into the thread: after detach nothing of main's may be used there.
    std::thread([promise = std::move(soon)]() mutable { promise.set_value(6); }).detach();

    std::promise<int> late;
    std::future<int> other = late.get_future();
    std::thread worker([promise = std::move(late)]() mutable {
        static thread_local Cleaner cleaner;
        (void)&cleaner;
        // Ready only after the destructors of the thread's thread_local objects.
        promise.set_value_at_thread_exit(7);
    });
    worker.detach();
    assert(!worker.joinable());

    assert(value.get() * other.get() == 42);
    std::lock_guard lock(mutex);
    assert(cleaned);
    // The threads' last instructions may still be running when main returns.
}
