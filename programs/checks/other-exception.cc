// fails: what leaves the body under some schedules is no std::exception
// expect: assert
// message: an exception left the test
#include <raddle.h>

#include <mutex>
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
    if (first == 2) throw 7;
}

int main() { return raddle_check(body, nullptr); }
