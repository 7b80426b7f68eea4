// fail: the flag is checked without the lock, so the notification can fall between the check and the wait
// expect: deadlock

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<bool> ready{false};

    std::thread setter([&] {
        ready = true;
        changed.notify_one();
    });
    if (!ready) {
        // The setter's whole life fits in here.
        std::unique_lock lock(mutex);
        changed.wait(lock);
    }
    setter.join();
}
