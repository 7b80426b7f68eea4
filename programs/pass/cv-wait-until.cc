// pass: condition_variable::wait_until: deadlines on the steady and on the system clock, also one in the past

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

template <typename Clock> static void times_out() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    auto deadline = Clock::now() + 1ms;
    while (never.wait_until(lock, deadline) != std::cv_status::timeout) {
        // A spurious wake-up is legal.
    }
    assert(Clock::now() >= deadline);
    assert(never.wait_until(lock, Clock::now() - 1s) == std::cv_status::timeout);
}

int main() {
    // Two waits with different deadlines at the same time: each gets its own.
    std::thread steady(times_out<std::chrono::steady_clock>);
    std::thread system(times_out<std::chrono::system_clock>);
    steady.join();
    system.join();

    std::mutex mutex;
    std::condition_variable changed;
    int value = 0;
    std::thread setter([&] {
        std::lock_guard lock(mutex);
        value = 1;
        changed.notify_one();
    });
    {
        std::unique_lock lock(mutex);
        bool in_time = changed.wait_until(lock, std::chrono::steady_clock::now() + 1ms, [&] { return value == 1; });
        // The setter may come before or after the deadline; the answer must tell the truth.
        assert(in_time == (value == 1));
    }
    setter.join();
    assert(value == 1);
}
