// fail: a flag is reset by one thread after another one has set it, and main spins for ever
// expect: livelock

#include <atomic>
#include <thread>

static std::atomic<bool> started;

int main() {
    // Belongs before the start of the worker, which may have said its word already.
    std::thread reset([] { started = false; });
    std::thread worker([] {
        [[maybe_unused]] volatile int work = 0;
        for (int i = 0; i < 200'000; i++)
            work = i; // Some work, after which the reset has nearly always happened.
        started = true;
    });
    reset.join();
    while (!started)
        std::this_thread::yield();
    worker.join();
}
