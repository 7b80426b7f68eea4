// pass: exception_ptr goes from thread to thread, is thrown again in several of them at once, and dies with its last owner

#include <cassert>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<std::exception_ptr> queue;
static int alive, caught;

struct Error {
    std::string text;
    explicit Error(std::string text) : text(std::move(text)) { count(1); }
    Error(const Error &other) : text(other.text) { count(1); }
    ~Error() { count(-1); }
    static void count(int by) {
        std::lock_guard lock(mutex);
        alive += by;
    }
};

static void produces(const std::string &name) {
    try {
        throw Error(name);
    } catch (...) {
        std::lock_guard lock(mutex);
        queue.push_back(std::current_exception());
        queue.push_back(std::current_exception()); // Both refer to the same object.
        changed.notify_all();
    }
    assert(std::current_exception() == nullptr);
}

static void consumes() {
    for (int i = 0; i < 2; i++) {
        std::exception_ptr pointer;
        {
            std::unique_lock lock(mutex);
            changed.wait(lock, [] { return !queue.empty(); });
            pointer = std::move(queue.front());
            queue.pop_front();
        }
        try {
            std::rethrow_exception(std::move(pointer));
        } catch (const Error &error) {
            std::string before = error.text;
            std::this_thread::yield();
            std::lock_guard lock(mutex);
            assert(error.text == before && error.text.size() == 1);
            caught++;
        }
        assert(std::uncaught_exceptions() == 0);
    }
}

int main() {
    std::vector<std::thread> threads;
    for (const char *name : {"x", "y"}) {
        threads.emplace_back(produces, name);
        threads.emplace_back(consumes);
    }
    for (std::thread &thread : threads)
        thread.join();
    assert(caught == 4 && alive == 0 && queue.empty());
}
