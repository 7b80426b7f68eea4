// fail: main forgets the join on the path where the worker is late, and ~thread calls std::terminate
// expect: signal

#include <mutex>
#include <thread>

int main() {
    std::mutex mutex;
    bool done = false;

    std::thread worker([&] {
        std::lock_guard lock(mutex);
        done = true;
    });
    std::thread slow([] {
        [[maybe_unused]] volatile int work = 0;
        for (int i = 0; i < 200'000; i++)
            work = i; // Some work, after which the worker is nearly always done.
    });
    slow.join();

    std::lock_guard lock(mutex);
    if (!done)
        return 1; // Gives up, and forgets that a thread which still runs must be joined or detached.
    worker.join();
}
