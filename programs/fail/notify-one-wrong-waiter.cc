// fail: producers and consumers wait on one condition variable, and notify_one wakes one of the wrong kind
// expect: deadlock

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

// A mailbox for one letter.
class Mailbox {
public:
    void put() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return !full; });
        full = true;
        changed.notify_one(); // Meant for a reader; it may wake another writer, which only goes back to sleep.
    }

    void take() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return full; });
        full = false;
        changed.notify_one();
    }

private:
    std::mutex mutex;
    std::condition_variable changed;
    bool full = false;
};

int main() {
    Mailbox mailbox;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        threads.emplace_back([&mailbox] { mailbox.put(), mailbox.put(); });
        threads.emplace_back([&mailbox] { mailbox.take(), mailbox.take(); });
    }
    for (auto &thread : threads)
        thread.join();
}
