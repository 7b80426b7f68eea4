// pass: std::timed_mutex and std::recursive_timed_mutex: time-outs while held, retries until free

#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

int main() {
    std::timed_mutex mutex;
    mutex.lock();
    // The owner waits in join, so only the clock can end these attempts.
    std::thread([&] {
        auto start = Clock::now();
        assert(!mutex.try_lock_for(2ms));
        assert(Clock::now() - start >= 2ms);
        auto deadline = Clock::now() + 1ms;
        assert(!mutex.try_lock_until(deadline));
        assert(Clock::now() >= deadline);
        auto wall = std::chrono::system_clock::now() + 1ms;
        assert(!mutex.try_lock_until(wall));
        assert(std::chrono::system_clock::now() >= wall);
    }).join();

    // Now the lock comes free at some time; a time-out before that is legal, so try again.
    int turns = 0;
    auto turn = [&] {
        while (!mutex.try_lock_for(1ms)) {
        }
        turns++;
        mutex.unlock();
    };
    std::thread a(turn), b(turn);
    mutex.unlock();
    a.join();
    b.join();
    assert(turns == 2);

    std::recursive_timed_mutex recursive;
    assert(recursive.try_lock_for(1ms) && recursive.try_lock_for(1ms));
    std::thread([&] { assert(!recursive.try_lock_for(1ms)); }).join();
    recursive.unlock();
    recursive.unlock();
}
