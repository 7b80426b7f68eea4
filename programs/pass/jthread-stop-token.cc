// pass: std::jthread: stop tokens, stop callbacks, a wait that a stop request interrupts, joining destructors

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

int main() {
    std::mutex mutex;
    std::condition_variable_any changed;
    int tasks = 0, done = 0;
    std::atomic<int> callbacks{0};
    {
        std::jthread worker([&](std::stop_token stop) {
            std::stop_callback on_stop(stop, [&callbacks] {
                callbacks++;
                callbacks.notify_one();
            });
            std::unique_lock lock(mutex);
            // wait() returns false only when a stop was requested while there is nothing to do.
            while (changed.wait(lock, stop, [&] { return tasks > 0; })) {
                tasks--;
                done++;
                changed.notify_all();
            }
            assert(stop.stop_requested() && tasks == 0);
            // A callback that is destroyed before its turn never runs, so stay until it did.
            callbacks.wait(0);
        });
        for (int i = 0; i < 3; i++) {
            std::lock_guard lock(mutex);
            tasks++;
            changed.notify_all();
        }
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return done == 3; });
        // The lock is released first (it was declared last), then ~jthread requests the stop and joins.
    }
    assert(callbacks == 1 && done == 3);

    // Only the first of several requests makes the stop.
    std::stop_source source;
    std::atomic<int> first{0};
    {
        auto request = [&] { first += source.request_stop(); };
        std::jthread a(request), b(request);
    }
    assert(first == 1 && source.get_token().stop_requested());
}
