// pass: destructors of thread_local objects take a lock, and have run when join returns

#include <cassert>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int total, destroyed;

struct Tally {
    int count = 0;
    ~Tally() {
        // Runs after the thread's function: the thread must still be one that can be blocked and scheduled.
        std::lock_guard lock(mutex);
        total += count;
        destroyed++;
    }
};

struct Late {
    ~Late();
};

static thread_local Tally tally;
static thread_local Late late;

// Makes a thread_local object while the thread is ending: its destructor has to run too.
Late::~Late() {
    static thread_local Tally last;
    last.count = 100;
}

static void work(int amount) {
    (void)&late;
    for (int i = 0; i < amount; i++)
        tally.count++;
}

int main() {
    std::thread a(work, 1), b(work, 2), c(work, 3);
    a.join();
    b.join();
    c.join();
    std::lock_guard lock(mutex);
    assert(destroyed == 6 && total == 306);
}
