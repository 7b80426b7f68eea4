// fail: one thread holds a lock and needs a function-local static, the other initialises the static and needs the lock
// expect: deadlock

#include <map>
#include <mutex>
#include <string>
#include <thread>

// Recursive, so that either thread alone does well.
static std::recursive_mutex mutex;
static std::map<std::string, int> registry;

struct Defaults {
    Defaults() {
        std::lock_guard lock(mutex);
        registry["colour"] = 1;
    }
    int size = 3;
};

static Defaults &defaults() {
    static Defaults instance; // Guarded by the compiler: a lock that nobody sees in the source.
    return instance;
}

static void add(const std::string &name) {
    std::lock_guard lock(mutex);
    registry[name] = defaults().size;
}

int main() {
    std::thread a(add, "window"), b(defaults);
    a.join();
    b.join();
}
