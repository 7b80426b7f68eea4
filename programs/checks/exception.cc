// fails: an exception leaves the body under some schedules
// expect: assert
// message: something was left in the queue
#include <raddle.h>

#include <mutex>
#include <queue>
#include <stdexcept>
#include <thread>

static void body(void *) {
    std::mutex lock;
    std::queue<int> queue;
    std::thread producer([&] {
        std::lock_guard<std::mutex> guard(lock);
        queue.push(1);
    });
    std::thread consumer([&] {
        std::lock_guard<std::mutex> guard(lock);
        if (!queue.empty()) queue.pop();
    });
    producer.join();
    consumer.join();
    if (!queue.empty()) throw std::runtime_error("something was left in the queue");
}

int main() { return raddle_check(body, nullptr); }
