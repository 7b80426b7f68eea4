// pass: std::async: parallel sums, a deferred call, a timed wait for the result

#include <cassert>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

static int sum(int from, int to) {
    int result = 0;
    for (int i = from; i < to; i++)
        result += i;
    return result;
}

int main() {
    auto low = std::async(std::launch::async, sum, 0, 10);
    auto high = std::async(std::launch::async, sum, 10, 20);
    assert(low.get() + high.get() == 190);

    // A deferred call runs where its result is asked for.
    auto deferred = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    assert(deferred.wait_for(0ms) == std::future_status::deferred);
    assert(deferred.get() == std::this_thread::get_id());

    std::mutex gate;
    gate.lock();
    auto late = std::async(std::launch::async, [&] {
        std::lock_guard wait(gate);
        return std::this_thread::get_id();
    });
    // The gate is shut: only the clock can end this wait.
    assert(late.wait_for(1ms) == std::future_status::timeout);
    gate.unlock();
    while (late.wait_for(1ms) != std::future_status::ready) {
    }
    assert(late.get() != std::this_thread::get_id());

    bool ran = false;
    {
        // The future of an async call waits for it when destroyed.
        auto unnamed = std::async(std::launch::async, [&ran] { ran = true; });
    }
    assert(ran);
}
