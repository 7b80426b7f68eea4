// fail: a semaphore that wakes a waiter only when its count was zero loses the second of two releases
// expect: deadlock

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

// Saves a system call where it seems that nobody waits.
class Semaphore {
public:
    void acquire() {
        for (;;) {
            int seen = count;
            if (seen > 0 && count.compare_exchange_strong(seen, seen - 1))
                return;
            count.wait(0);
        }
    }

    void release() {
        // "It was not zero, so nobody waits": but whoever was woken may not have taken its turn yet.
        if (count.fetch_add(1) == 0)
            count.notify_one();
    }

private:
    std::atomic<int> count{0};
};

int main() {
    Semaphore semaphore;
    std::thread a([&] { semaphore.acquire(); });
    std::thread b([&] { semaphore.acquire(); });
    // Some work before the releases: natively much too short for the others to have gone to sleep by then.
    std::mutex mutex;
    std::vector<int> prepared;
    for (int i = 0; i < 10; i++) {
        std::lock_guard lock(mutex);
        prepared.push_back(i);
    }
    semaphore.release();
    semaphore.release();
    a.join();
    b.join();
}
