// fails: the body throws when nobody is preempted, and passes under other schedules
// expect: assert
// message: the first one was first
#include <raddle.h>

#include <mutex>
#include <stdexcept>
#include <thread>

static void body(void *) {
    std::mutex lock;
    int first = 0;
    auto run = [&](int me) {
        std::lock_guard<std::mutex> guard(lock);
        if (first == 0) first = me;
    };
    std::thread one(run, 1), two(run, 2);
    one.join();
    two.join();
    if (first == 1) throw std::runtime_error("the first one was first");
}

int main() { return raddle_check(body, nullptr); }
