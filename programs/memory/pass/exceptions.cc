// pass: exceptions leave instrumented functions, run destructors that touch shared memory, and are caught, in two threads
// race-free

#include <atomic>
#include <cassert>
#include <stdexcept>
#include <thread>

std::atomic<int> entered, left, caught;

struct Witness {
    Witness() { entered++; }
    ~Witness() { left++; }
};

[[gnu::noinline]] static int fail(int depth, int me) {
    Witness witness;
    if (depth == 0)
        throw std::runtime_error(me == 0 ? "first" : "second");
    return fail(depth - 1, me) + 1;
}

static void works(int me) {
    for (int i = 0; i < 2; i++) {
        try {
            fail(3, me);
            assert(false);
        } catch (const std::runtime_error &error) {
            assert(error.what()[0] == (me == 0 ? 'f' : 's'));
            caught++;
        }
    }
}

int main() {
    std::thread first(works, 0), second(works, 1);
    first.join();
    second.join();
    assert(entered == 2 * 2 * 4 && left == entered && caught == 4);
}
