// fail: a hand-made reference count is looked at after it was decremented, so that two threads delete the object
// expect: misuse
#include <mutex>
#include <string>
#include <thread>

struct Shared {
    std::mutex &mutex;
    int references = 2;
    std::string text = "long enough to be on the heap, as a block of its own";
};

static void release(Shared *shared, std::mutex &mutex) {
    {
        std::lock_guard lock(mutex);
        shared->references--;
    }
    bool last;
    {
        std::lock_guard lock(mutex);
        last = shared->references == 0;
    }
    if (last) delete shared;
}

int main() {
    std::mutex mutex;
    auto *shared = new Shared{mutex};
    std::thread one([&] { release(shared, mutex); }), other([&] { release(shared, mutex); });
    one.join();
    other.join();
}
