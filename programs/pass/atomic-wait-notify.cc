// pass: std::atomic wait and notify: on an int (its own futex), on a char and a long (a proxy's), on a flag

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> turn{0};
static std::atomic<char> letter{'a'};
static std::atomic<long> started{0};
static std::atomic_flag finished;

static void partner() {
    for (int i = 0; i < 3; i++) {
        // wait() returns only when the value is no longer the given one.
        turn.wait(2 * i);
        assert(turn == 2 * i + 1);
        turn++;
        turn.notify_one();
    }
}

static void listener() {
    started++;
    started.notify_one();
    letter.wait('a');
    assert(letter == 'b');
    finished.wait(false);
}

int main() {
    std::thread other(partner);
    for (int i = 0; i < 3; i++) {
        turn++;
        turn.notify_one();
        turn.wait(2 * i + 1);
    }
    other.join();
    assert(turn == 6);

    std::thread a(listener), b(listener);
    // A value that was seen is the one to wait on: any later change ends the wait.
    for (long seen = started; seen != 2; seen = started)
        started.wait(seen);
    letter = 'b';
    letter.notify_all();
    finished.test_and_set();
    finished.notify_all();
    a.join();
    b.join();
}
