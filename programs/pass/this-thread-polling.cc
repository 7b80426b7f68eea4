// pass: std::this_thread: polling with yield, with sleep_for and with sleep_until; sleeps are never too short

#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

int main() {
    std::atomic<int> stage{0};

    std::thread worker([&] {
        while (stage != 1)
            std::this_thread::yield();
        stage = 2;
        while (stage != 3)
            std::this_thread::sleep_for(1ms);
        auto until = Clock::now() + 2ms;
        std::this_thread::sleep_until(until);
        assert(Clock::now() >= until);
        stage = 4;
    });

    stage = 1;
    while (stage != 2)
        std::this_thread::yield();
    auto start = Clock::now();
    std::this_thread::sleep_for(1ms);
    assert(Clock::now() - start >= 1ms);
    auto wall = std::chrono::system_clock::now() + 1ms;
    std::this_thread::sleep_until(wall);
    assert(std::chrono::system_clock::now() >= wall);
    stage = 3;
    while (stage != 4)
        std::this_thread::sleep_for(500us);
    worker.join();
}
