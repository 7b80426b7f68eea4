// fail: an object that is freed while another thread still uses it, as AddressSanitizer reports it
// flags: -fsanitize=address
// expect: sanitizer
#include <mutex>
#include <thread>

struct Shared {
    std::mutex mutex;
    int value = 0;
};

int main() {
    auto *shared = new Shared;
    std::mutex done;
    bool finished = false;
    std::thread worker([&] {
        shared->mutex.lock();
        shared->value++;
        shared->mutex.unlock();
        std::lock_guard lock(done);
        finished = true;
    });
    bool last;
    {
        std::lock_guard lock(done);
        last = !finished;
    }
    // The bug: whether the worker is through is asked the wrong way round.
    if (last) {
        std::lock_guard lock(done);
        delete shared;
    }
    worker.join();
}
