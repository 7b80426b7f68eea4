// fail: a reader that misses in the cache asks for the writer's lock while it still holds the reader's
// expect: deadlock

#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

static std::shared_mutex mutex;
static std::string cached;

static void fill() {
    std::unique_lock lock(mutex);
    if (cached.empty())
        cached = "expensive";
}

static std::string lookup() {
    std::shared_lock lock(mutex);
    if (cached.empty())
        // The lock cannot be upgraded: the writer waits for all readers to leave, and this thread is one.
        fill();
    return cached;
}

int main() {
    std::thread filler(fill);
    std::thread reader([] {
        [[maybe_unused]] volatile int work = 0;
        for (int i = 0; i < 200'000; i++)
            work = i; // Some work, after which the cache is nearly always filled.
        lookup();
    });
    filler.join();
    reader.join();
}
