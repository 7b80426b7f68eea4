// fail: two readers of a home-made upgradable lock each wait for the other one to leave
// expect: deadlock

#include <condition_variable>
#include <mutex>
#include <thread>

class UpgradableLock {
public:
    void lock_shared() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return !writing; });
        readers++;
    }

    // Turns the caller's read lock into the write lock once it is the only reader.
    void upgrade() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return readers == 1; });
        readers--;
        writing = true;
    }

    void unlock() {
        std::lock_guard lock(mutex);
        writing = false;
        changed.notify_all();
    }

private:
    std::mutex mutex;
    std::condition_variable changed;
    int readers = 0;
    bool writing = false;
};

int main() {
    UpgradableLock lock;
    int value = 0;
    auto increment = [&] {
        lock.lock_shared();
        int next = value + 1;
        lock.upgrade(); // For ever, when both are here.
        value = next;
        lock.unlock();
    };
    std::thread a(increment), b(increment);
    a.join();
    b.join();
}
