// pass: condition_variable::wait_for: a wait that nobody ends times out, a wait that somebody ends is tried again

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false, seen = false;

    {
        std::unique_lock lock(mutex);
        auto start = Clock::now();
        assert(!changed.wait_for(lock, 2ms, [&] { return ready; }));
        assert(Clock::now() - start >= 2ms && lock.owns_lock());
    }

    std::thread waiter([&] {
        std::unique_lock lock(mutex);
        // Neither a time-out nor a wake-up says anything about ready: only ready does.
        while (!ready)
            changed.wait_for(lock, 1ms);
        seen = true;
        changed.notify_all();
    });
    {
        std::lock_guard lock(mutex);
        ready = true;
    }
    changed.notify_one();
    {
        std::unique_lock lock(mutex);
        // An hour that nobody waits: the waiter always answers.
        while (!changed.wait_for(lock, 1h, [&] { return seen; })) {
        }
    }
    waiter.join();
}
