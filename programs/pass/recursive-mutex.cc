// pass: std::recursive_mutex: nested locks count, and others stay out until the last unlock

#include <cassert>
#include <mutex>
#include <thread>

static std::recursive_mutex mutex;
static int inside, visits;

static void descend(int depth) {
    std::lock_guard guard(mutex);
    inside++;
    // Only one thread is ever inside, so its own nesting is all that can be counted.
    assert(inside == 4 - depth);
    visits++;
    if (depth > 1)
        descend(depth - 1);
    inside--;
}

int main() {
    std::thread a(descend, 3), b(descend, 3);
    descend(3);
    a.join();
    b.join();
    assert(visits == 9 && inside == 0);

    mutex.lock();
    assert(mutex.try_lock());
    mutex.unlock();
    // One level is still held.
    std::thread([] { assert(!mutex.try_lock()); }).join();
    mutex.unlock();
    std::thread([] {
        assert(mutex.try_lock());
        mutex.unlock();
    }).join();
}
