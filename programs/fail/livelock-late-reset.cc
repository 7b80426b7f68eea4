// fail: a flag is reset after the thread that sets it was started, so main may spin for ever
// expect: livelock

#include <atomic>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::atomic<bool> started;
static int live;

int main() {
    std::thread worker([] {
        std::lock_guard lock(mutex);
        live++;
        started = true;
    });
    {
        std::lock_guard lock(mutex);
        live++;
    }
    started = false; // Belongs before the thread: the worker may have said its word already.
    while (!started)
        std::this_thread::yield();
    worker.join();
}
