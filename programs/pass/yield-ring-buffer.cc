// pass: a ring buffer for one producer and one consumer, both of which yield while they cannot go on, moves 13,000 items
// runs: 4

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace {

constexpr std::size_t room = 64, items = 13'000;

std::size_t ring[room];
std::atomic<std::size_t> written, read_so_far;

void put(std::size_t item) {
    const auto at = written.load(std::memory_order_relaxed);
    while (at - read_so_far.load(std::memory_order_acquire) == room) std::this_thread::yield();
    ring[at % room] = item;
    written.store(at + 1, std::memory_order_release);
}

std::size_t take() {
    const auto at = read_so_far.load(std::memory_order_relaxed);
    while (written.load(std::memory_order_acquire) == at) std::this_thread::yield();
    const auto item = ring[at % room];
    read_so_far.store(at + 1, std::memory_order_release);
    return item;
}

} // namespace

int main() {
    std::thread producer([] {
        for (std::size_t i = 0; i < items; i++) {
            put(i);
            if (i % 8 == 0)
                for (int pause = 0; pause < 40; pause++) std::this_thread::yield();
        }
    });
    for (std::size_t i = 0; i < items; i++)
        if (take() != i) abort();
    producer.join();
}
