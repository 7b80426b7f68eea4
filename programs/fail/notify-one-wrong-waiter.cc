// fail: producers and consumers wait on one condition variable, and notify_one wakes one of the wrong kind
// expect: deadlock

#include <condition_variable>
#include <mutex>
#include <thread>

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
    std::thread a(&Mailbox::take, &mailbox), b(&Mailbox::put, &mailbox);
    std::thread c(&Mailbox::put, &mailbox), d(&Mailbox::take, &mailbox);
    a.join();
    b.join();
    c.join();
    d.join();
}
