// pass: a heart beats every 20 ms, and its watchdog raises the alarm after half a second without a beat, which never comes
// runs: 1000

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

int main() {
    std::mutex mutex;
    std::condition_variable stop_changed;
    bool stop = false;
    auto last_beat = Clock::now();

    std::thread heart([&] {
        std::unique_lock lock(mutex);
        while (!stop) {
            last_beat = Clock::now();
            stop_changed.wait_for(lock, 20ms);
        }
    });
    std::thread watchdog([&] {
        std::unique_lock lock(mutex);
        while (!stop) {
            assert(Clock::now() - last_beat < 500ms);
            stop_changed.wait_for(lock, 50ms);
        }
    });

    std::this_thread::sleep_for(400ms);
    {
        std::lock_guard lock(mutex);
        stop = true;
    }
    stop_changed.notify_all();
    heart.join();
    watchdog.join();
}
