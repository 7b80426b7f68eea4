// pass: switches between throw and catch: each thread has its own exceptions in flight, caught, nested and counted

#include <cassert>
#include <cxxabi.h>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static int unwound;
static std::vector<void *> globals;

static void point() {
    std::lock_guard lock(mutex);
}

struct Witness {
    int in_flight; // How many exceptions the destructor expects to see.
    explicit Witness(int in_flight) : in_flight(in_flight) {}
    ~Witness() {
        assert(std::uncaught_exceptions() == in_flight);
        {
            std::lock_guard lock(mutex);
            unwound++;
        }
        assert(std::uncaught_exceptions() == in_flight);
    }
};

// Throws and catches while another exception of the same thread is in flight.
struct Throws {
    std::string name;
    ~Throws() {
        try {
            Witness witness(2);
            point();
            throw std::logic_error(name + " inside");
        } catch (const std::logic_error &error) {
            point();
            assert(error.what() == name + " inside");
            assert(std::uncaught_exceptions() == 1);
        }
    }
};

static void fail(const std::string &name, int depth) {
    Witness witness(1);
    Throws throws{name};
    if (depth == 0)
        throw std::runtime_error(name);
    fail(name, depth - 1);
}

static void nests(const std::string &name) {
    try {
        fail(name, 2);
    } catch (...) {
        point();
        std::throw_with_nested(std::invalid_argument(name + " outer"));
    }
}

static void worker(const std::string &name) {
    void *mine = abi::__cxa_get_globals();
    {
        std::lock_guard lock(mutex);
        for (void *other : globals)
            assert(other != mine); // Nobody has ended yet, so none can be used again.
        globals.push_back(mine);
    }
    for (int i = 0; i < 2; i++) {
        try {
            nests(name);
        } catch (const std::invalid_argument &outer) {
            point();
            assert(outer.what() == name + " outer");
            assert(std::uncaught_exceptions() == 0);
            try {
                std::rethrow_if_nested(outer);
                assert(false);
            } catch (const std::runtime_error &inner) {
                point();
                assert(inner.what() == name);
            }
            point();
            assert(std::current_exception() != nullptr); // The outer one, again.
            try {
                throw;
            } catch (const std::invalid_argument &again) {
                assert(&again == &outer);
            }
        }
        assert(std::current_exception() == nullptr);
        assert(mine == abi::__cxa_get_globals());
    }
}

int main() {
    std::mutex leave;
    leave.lock();
    auto run = [&](const char *name) {
        worker(name);
        std::lock_guard wait(leave);
    };
    std::thread a(run, "a"), b(run, "b"), c(run, "c");
    worker("main");
    for (;;) { // All four are known before one of them ends.
        std::this_thread::yield();
        std::lock_guard lock(mutex);
        if (globals.size() == 4)
            break;
    }
    leave.unlock();
    a.join();
    b.join();
    c.join();
    assert(unwound == 4 * 2 * 6);
}
