// pass: std::latch: workers report ready, main gives one start signal, all results are there after the last count

#include <cassert>
#include <latch>
#include <thread>
#include <vector>

int main() {
    constexpr int workers = 3;
    std::latch ready(workers), go(1), done(workers + 1);
    int input = 0, results[workers] = {};

    std::vector<std::thread> threads;
    for (int i = 0; i < workers; i++)
        threads.emplace_back([&, i] {
            ready.count_down();
            go.wait();
            results[i] = input + i;
            done.arrive_and_wait();
            // Everyone has arrived, so everyone's result is there.
            assert(results[0] == 10 && results[1] == 11 && results[2] == 12);
        });

    ready.wait();
    assert(!go.try_wait());
    input = 10; // Nobody reads it before go.
    go.count_down();
    done.arrive_and_wait();
    assert(results[0] + results[1] + results[2] == 33);
    for (auto &thread : threads)
        thread.join();
}
