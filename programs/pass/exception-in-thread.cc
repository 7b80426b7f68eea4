// pass: exceptions thrown and caught in threads across locks, and one carried to main by exception_ptr

#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex mutex;
static int unwound;

struct Witness {
    ~Witness() {
        // A schedule point in the middle of unwinding: each thread has its own exception in flight.
        std::lock_guard lock(mutex);
        unwound++;
    }
};

static void fail(const std::string &reason, int depth) {
    Witness witness;
    if (depth == 0)
        throw std::runtime_error(reason);
    fail(reason, depth - 1);
}

static void worker(const std::string &name, std::exception_ptr &result) {
    try {
        fail(name, 2);
    } catch (const std::runtime_error &error) {
        assert(error.what() == name);
        result = std::current_exception();
    }
}

int main() {
    std::exception_ptr first, second;
    std::thread a(worker, "a", std::ref(first)), b(worker, "b", std::ref(second));
    a.join();
    b.join();
    assert(unwound == 6 && first && second && first != second);
    try {
        std::rethrow_exception(second);
    } catch (const std::runtime_error &error) {
        assert(error.what() == std::string("b"));
    }
}
