// pass: std::shared_mutex: readers share, writers exclude, try_lock tells which is held

#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static int left, right;

static void writer() {
    for (int i = 0; i < 3; i++) {
        std::unique_lock lock(mutex);
        left++;
        right++;
    }
}

static void reader() {
    int last = 0;
    for (int i = 0; i < 3; i++) {
        std::shared_lock lock(mutex);
        assert(left == right && left >= last);
        last = left;
    }
}

int main() {
    std::thread threads[] = {std::thread(writer), std::thread(writer), std::thread(reader), std::thread(reader)};
    for (auto &thread : threads)
        thread.join();
    assert(left == 6 && right == 6);

    mutex.lock_shared();
    std::thread([] {
        assert(!mutex.try_lock());
        assert(mutex.try_lock_shared());
        mutex.unlock_shared();
    }).join();
    mutex.unlock_shared();

    mutex.lock();
    std::thread([] { assert(!mutex.try_lock() && !mutex.try_lock_shared()); }).join();
    mutex.unlock();
}
