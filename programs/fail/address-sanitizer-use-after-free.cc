// fail: an object that is freed while another thread still uses it, as AddressSanitizer reports it
// flags: -fsanitize=address
// expect: sanitizer
// replays: 10
#include <mutex>
#include <thread>

int main() {
    int *shared = new int(0);
    std::mutex mutex;
    bool started = false;
    int *mine = shared;
    std::thread worker([&] {
        {
            std::lock_guard lock(mutex);
            started = true;
        }
        std::lock_guard lock(mutex);
        (*mine)++;
    });
    bool seen;
    {
        std::lock_guard lock(mutex);
        seen = started;
    }
    // The bug: a worker that has started need not be through.
    if (seen) {
        delete shared;
        shared = nullptr;
    }
    worker.join();
    delete shared;
}
