// pass: std::atomic of structs of 2, 4, 8 and 16 bytes: both halves go up together, and nobody ever sees them differ
// race-free
// link: atomic

#include <atomic>
#include <cassert>
#include <thread>

template <class Half> struct Pair {
    Half a, b;
};

template <class Half> static std::atomic<Pair<Half>> shared{Pair<Half>{0, 0}};

template <class Half> static void add() {
    Pair<Half> old = shared<Half>.load(), more;
    do {
        assert(old.a == old.b);
        more = {static_cast<Half>(old.a + 1), static_cast<Half>(old.b + 1)};
    } while (!shared<Half>.compare_exchange_weak(old, more));
}

template <class Half> static void look() {
    Pair<Half> last = shared<Half>.exchange({7, 7});
    assert(last.a == 2 && last.b == 2);
    shared<Half>.store({8, 8});
    assert(shared<Half>.load().b == 8);
}

static void works() {
    add<char>();
    add<short>();
    add<int>();
    add<long>();
}

int main() {
    std::thread first(works), second(works);
    first.join();
    second.join();
    look<char>();
    look<short>();
    look<int>();
    look<long>();
}
