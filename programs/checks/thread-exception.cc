// fails: an exception that leaves another thread than the body's ends the process
// expect: signal
// message: SIGABRT
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
        if (first == 2) throw std::runtime_error("out of order");
    };
    std::thread one(run, 1), two(run, 2);
    one.join();
    two.join();
}

int main() { return raddle_check(body, nullptr); }
