// fail: main forgets the join on the path where the worker is already done, and ~thread calls std::terminate
// expect: signal

#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;

    std::thread worker([&] {
        std::lock_guard lock(mutex);
        done = true;
        changed.notify_one();
    });

    std::unique_lock lock(mutex);
    if (done)
        return 0; // "Nothing to wait for": but a thread that has ended must be joined all the same.
    changed.wait(lock, [&] { return done; });
    lock.unlock();
    worker.join();
}
