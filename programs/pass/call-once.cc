// pass: std::call_once: one of three callers initialises; an exception in the first call hands it to another

#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::once_flag plain, faulty;
static int value, attempts;
static std::mutex mutex;
static int caught;

static void user() {
    std::call_once(plain, [] {
        std::lock_guard lock(mutex); // A schedule point inside, so that the others really wait.
        value = 42;
    });
    assert(value == 42);

    // The exception passes through pthread_once, which must leave the flag unset.
    for (bool done = false; !done;) {
        try {
            std::call_once(faulty, [] {
                // Calls of the same flag never overlap, so attempts needs no lock.
                if (++attempts == 1)
                    throw std::runtime_error("the first attempt fails");
            });
            done = true;
        } catch (const std::runtime_error &) {
            std::lock_guard lock(mutex);
            caught++;
        }
    }
    assert(attempts == 2);
}

int main() {
    std::thread a(user), b(user);
    user();
    a.join();
    b.join();
    assert(attempts == 2 && caught == 1);
}
