// fails: a body that throws under every schedule
// expect: assert
// message: never works
#include <raddle.h>

#include <stdexcept>
#include <thread>

static void body(void *) {
    std::thread one([] {}), two([] {});
    one.join();
    two.join();
    throw std::logic_error("never works");
}

int main() { return raddle_check(body, nullptr); }
