// pass: std::counting_semaphore: a bounded buffer with two semaphores; binary_semaphore: hand-over and time-out

#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>

using namespace std::chrono_literals;

// Each semaphore has only one thread that acquires it. With two, acquire() of libstdc++ 12 can go to sleep on a count
// of one: it read one, lost it to the other thread, and a release made it one again before its futex wait.
static std::counting_semaphore<2> free_slots(2), used_slots(0);
static int buffer[2];

static void produce() {
    for (int i = 0; i < 6; i++) {
        free_slots.acquire();
        buffer[i % 2] = i;
        used_slots.release();
    }
}

int main() {
    std::thread producer(produce);
    for (int i = 0; i < 6; i++) {
        used_slots.acquire();
        assert(buffer[i % 2] == i);
        free_slots.release();
    }
    producer.join();
    assert(!used_slots.try_acquire());

    std::binary_semaphore ping(0), pong(0);
    int value = 0;
    std::thread other([&] {
        ping.acquire();
        value = 1;
        pong.release();
    });
    // Nobody can answer before the ping: only the clock ends this.
    auto start = std::chrono::steady_clock::now();
    assert(!pong.try_acquire_for(1ms));
    assert(std::chrono::steady_clock::now() - start >= 1ms);
    ping.release();
    while (!pong.try_acquire_for(1ms)) {
    }
    assert(value == 1);
    other.join();
}
