// fail: a result takes 15 ms, and a future is waited for for 20 ms
// expect: assert

#include <cassert>
#include <chrono>
#include <future>
#include <thread>

using namespace std::chrono_literals;

int main() {
    std::future<int> result = std::async(std::launch::async, [] {
        std::this_thread::sleep_for(15ms);
        return 42;
    });
    assert(result.wait_for(20ms) == std::future_status::ready);
    assert(result.get() == 42);
}
