// pass: function-local statics initialised by several threads at once, one of them by an initialiser that throws once

#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static int built, attempts, caught;

struct Table {
    int rows;
    Table() {
        // A schedule point while the guard is taken: the others pile up on the guard's futex.
        std::lock_guard lock(mutex);
        built++;
        rows = 3;
    }
};

struct Connection {
    Connection() {
        std::lock_guard lock(mutex);
        if (++attempts == 1)
            throw std::runtime_error("refused");
    }
};

static Table &table() {
    static Table instance;
    return instance;
}

static Connection &connection() {
    // When the constructor throws, the guard is released and one of those who wait tries again.
    static Connection instance;
    return instance;
}

static void user() {
    assert(table().rows == 3);
    try {
        connection();
    } catch (const std::runtime_error &) {
        std::lock_guard lock(mutex);
        caught++;
    }
}

int main() {
    std::thread a(user), b(user), c(user);
    a.join();
    b.join();
    c.join();
    assert(built == 1 && attempts == 2 && caught == 1);
}
