// fail: a thread reports after 50 ms, and the test expects the report after 60 ms
// expect: assert

#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    std::mutex mutex;
    std::vector<int> reports;
    std::thread worker([&] {
        std::this_thread::sleep_for(50ms);
        std::lock_guard lock(mutex);
        reports.push_back(1);
    });
    std::this_thread::sleep_for(60ms);
    {
        std::lock_guard lock(mutex);
        assert(reports.size() == 1);
    }
    worker.join();
}
