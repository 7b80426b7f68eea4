// fail: `if` where `while` belongs: between the notification and the return from wait another consumer takes the item
// expect: assert

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable not_empty;
static int items;

static void consume() {
    std::unique_lock lock(mutex);
    if (items == 0)
        not_empty.wait(lock);
    assert(items > 0);
    items--;
}

static void produce() {
    std::lock_guard lock(mutex);
    items++;
    not_empty.notify_one();
}

int main() {
    std::thread a(consume), b(consume);
    produce();
    produce();
    a.join();
    b.join();
}
