// pass: a relaxed store of the releasing thread itself ends the release sequence since C++20: a race, which no order of the accesses brings to light
// races: data
// source: ISO C++20, [intro.races]; H.-J. Boehm, O. Giroux and V. Vafeiadis, P0982R1, Weaken Release Sequences, 2018

#include <atomic>
#include <cassert>
#include <thread>

int data;
std::atomic<int> state;

int main() {
    std::thread reader([] {
        while (state.load(std::memory_order_acquire) != 2) {}
        assert(data == 42);
    });
    std::thread writer([] {
        data = 42;
        state.store(1, std::memory_order_release);
        asm volatile("" ::: "memory"); // Holds back the compiler, which might leave out the first store; no fence.
        state.store(2, std::memory_order_relaxed);
    });
    reader.join();
    writer.join();
}
