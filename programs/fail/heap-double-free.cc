// fail: a hand-made reference count is looked at after it was decremented, so that two threads delete the object
// expect: misuse
#include <mutex>
#include <thread>

struct Shared {
    int numbers[10] = {};
};

static std::mutex mutex;
static int references = 2;

static void release(Shared *shared) {
    {
        std::lock_guard lock(mutex);
        references--;
    }
    bool last;
    {
        std::lock_guard lock(mutex);
        last = references == 0;
    }
    if (last) delete shared;
}

int main() {
    auto *shared = new Shared;
    std::thread one(release, shared), other(release, shared);
    one.join();
    other.join();
}
