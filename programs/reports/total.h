// What the programs of test frameworks share: a sum that two threads add to, of which one addition may be lost.
#ifndef TOTAL_H
#define TOTAL_H

#include <atomic>
#include <thread>

static int total() {
    std::atomic<int> sum{0};
    auto add = [&] {
        int old = sum;
        std::this_thread::yield();
        sum = old + 1;
    };
    std::thread one(add), two(add);
    one.join();
    two.join();
    return sum;
}

#endif
