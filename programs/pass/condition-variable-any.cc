// pass: std::condition_variable_any: waits with a shared lock, a recursive mutex and a lock of the program's own

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

// Anything with lock and unlock will do; this one counts.
struct CountingLock {
    std::mutex mutex;
    int locked = 0;
    void lock() { mutex.lock(), locked++; }
    void unlock() { mutex.unlock(); }
};

int main() {
    std::shared_mutex shared;
    std::condition_variable_any published;
    int value = 0;
    auto reader = [&] {
        std::shared_lock lock(shared);
        published.wait(lock, [&] { return value != 0; });
        assert(value == 7);
    };
    std::thread a(reader), b(reader);
    {
        std::unique_lock lock(shared);
        value = 7;
    }
    published.notify_all();
    a.join();
    b.join();

    std::recursive_mutex recursive;
    std::condition_variable_any changed;
    int step = 0;
    std::thread other([&] {
        std::unique_lock lock(recursive);
        changed.wait(lock, [&] { return step == 1; });
        step = 2;
        changed.notify_one();
    });
    {
        std::unique_lock lock(recursive);
        step = 1;
        changed.notify_one();
        changed.wait(lock, [&] { return step == 2; });
    }
    other.join();

    CountingLock own;
    own.lock();
    assert(!changed.wait_for(own, 1ms, [] { return false; }));
    // Given back during the wait and taken again after it.
    assert(own.locked >= 2);
    own.unlock();
}
