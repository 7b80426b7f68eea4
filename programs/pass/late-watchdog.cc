// pass: each step of a job feeds a watchdog of two seconds, which is taken down in time although every step may be late
// runs: 1000

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

class Watchdog {
    std::mutex mutex_;
    std::condition_variable fed_;
    int meals_ = 0;
    bool stop_ = false;
    std::thread thread_{[this] {
        std::unique_lock lock(mutex_);
        while (!stop_) {
            int before = meals_;
            bool alive = fed_.wait_for(lock, 2s, [&] { return stop_ || meals_ != before; });
            assert(alive);
        }
    }};

public:
    void feed() {
        std::lock_guard lock(mutex_);
        meals_++;
        fed_.notify_one();
    }

    ~Watchdog() {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        fed_.notify_one();
        thread_.join();
    }
};

int main() {
    Watchdog watchdog;
    for (int step = 0; step < 4; step++) {
        std::this_thread::sleep_for(100ms);
        watchdog.feed();
    }
}
