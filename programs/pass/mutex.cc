// pass: std::mutex: lock_guard, unique_lock (deferred, adopted), try_lock that fails while another thread holds it

#include <cassert>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int counter;

static void count() {
    for (int i = 0; i < 3; i++) {
        std::lock_guard guard(mutex);
        // Split so that a lost update would show if the lock did not exclude.
        int old = counter;
        counter = old + 1;
    }
    std::unique_lock deferred(mutex, std::defer_lock);
    assert(!deferred.owns_lock());
    deferred.lock();
    counter++;
    deferred.unlock();
    mutex.lock();
    std::unique_lock adopted(mutex, std::adopt_lock);
    counter++;
}

int main() {
    std::thread a(count), b(count), c(count);
    a.join();
    b.join();
    c.join();
    assert(counter == 15);

    std::lock_guard guard(mutex);
    std::thread([] {
        std::unique_lock attempt(mutex, std::try_to_lock);
        assert(!attempt && !mutex.try_lock());
    }).join();
}
