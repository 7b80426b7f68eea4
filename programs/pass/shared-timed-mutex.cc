// pass: std::shared_timed_mutex: timed attempts to read and to write, against a reader and against a writer

#include <cassert>
#include <chrono>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

int main() {
    std::shared_timed_mutex mutex;

    // Against a writer that waits in join, nobody gets in before the time is up.
    mutex.lock();
    std::thread([&] {
        auto deadline = Clock::now() + 1ms;
        assert(!mutex.try_lock_shared_until(deadline));
        assert(Clock::now() >= deadline);
        assert(!mutex.try_lock_for(1ms));
    }).join();
    mutex.unlock();

    // Against a reader, other readers get in and writers do not.
    mutex.lock_shared();
    std::thread([&] {
        assert(!mutex.try_lock_for(1ms));
        while (!mutex.try_lock_shared_for(1ms)) {
        }
        mutex.unlock_shared();
    }).join();

    // When the last reader leaves, a writer that tries again and again gets in.
    int value = 0;
    std::thread writer([&] {
        while (!mutex.try_lock_for(1ms)) {
        }
        value = 1;
        mutex.unlock();
    });
    assert(value == 0);
    mutex.unlock_shared();
    writer.join();
    assert(value == 1);
}
