// pass: std::atomic of 1, 2, 4 and 8 bytes, of pointers, bools and std::atomic_flag, checked against plain arithmetic
// race-free

#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

// Each thread has a cell of its own, next to the other's: an access that is too wide would hit it.
template <class T> struct Cells {
    static inline std::atomic<T> cells[2], sum;

    static void use(int me) {
        std::atomic<T> &cell = cells[me];
        T plain = static_cast<T>(0xa5c396e187b4d2f1u >> me), v = value(me), seen;
        cell.store(plain, std::memory_order_release);
        assert(cell.load(std::memory_order_acquire) == plain);
        assert(cell.exchange(v) == plain);
        plain = v;
        assert(cell.fetch_add(v, std::memory_order_relaxed) == plain);
        plain = static_cast<T>(plain + v);
        assert(cell.fetch_sub(77) == plain);
        plain = static_cast<T>(plain - 77);
        assert(cell.fetch_and(static_cast<T>(~v)) == plain);
        plain = static_cast<T>(plain & ~v);
        assert(cell.fetch_or(0x5a) == plain);
        plain = static_cast<T>(plain | 0x5a);
        assert(cell.fetch_xor(v) == plain);
        plain = static_cast<T>(plain ^ v);
        assert(++cell == static_cast<T>(plain + 1));
        assert(cell-- == static_cast<T>(plain + 1));
        assert((cell += v) == static_cast<T>(plain + v));
        assert((cell -= v) == plain);
        seen = static_cast<T>(plain ^ 1);
        assert(!cell.compare_exchange_strong(seen, v) && seen == plain);
        assert(cell.compare_exchange_strong(seen, v, std::memory_order_acq_rel, std::memory_order_acquire));
        seen = v;
        while (!cell.compare_exchange_weak(seen, static_cast<T>(v + 1)))
            assert(seen == v);
        for (int i = 0; i < 3; i++)
            sum += v;
    }

    static void after() {
        assert(cells[0] == static_cast<T>(value(0) + 1) && cells[1] == static_cast<T>(value(1) + 1));
        assert(sum == static_cast<T>(3 * (value(0) + value(1))));
    }

    static T value(int me) { return static_cast<T>(0x1b3d597f2468ace5u >> me); }
};

int array[4];
std::atomic<int *> cursor{array};
std::atomic<bool> claimed;
std::atomic<int> winners;
std::atomic_flag lock = ATOMIC_FLAG_INIT;
int count;

static void works(int me) {
    Cells<std::uint8_t>::use(me);
    Cells<std::int16_t>::use(me);
    Cells<std::uint32_t>::use(me);
    Cells<std::uint64_t>::use(me);
    *cursor.fetch_add(1) += 1; // Each place is one thread's alone.
    *cursor++ += 1;
    bool expected = false;
    if (claimed.compare_exchange_strong(expected, true))
        winners++;
    while (lock.test_and_set(std::memory_order_acquire)) {}
    count++;
    lock.clear(std::memory_order_release);
}

int main() {
    std::thread first(works, 0), second(works, 1);
    first.join();
    second.join();
    Cells<std::uint8_t>::after();
    Cells<std::int16_t>::after();
    Cells<std::uint32_t>::after();
    Cells<std::uint64_t>::after();
    for (int place : array)
        assert(place == 1);
    assert(winners == 1 && count == 2);
}
