// fail: a lock that is held for 25 ms is tried for three times 10 ms, and then given up
// expect: exit

#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main() {
    std::timed_mutex device;
    device.lock();
    bool got = false;
    std::thread client([&] {
        for (int tries = 0; tries < 3 && !got; tries++)
            got = device.try_lock_for(10ms);
        if (got)
            device.unlock();
    });
    std::this_thread::sleep_for(25ms);
    device.unlock();
    client.join();
    return got ? 0 : 1;
}
