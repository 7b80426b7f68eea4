// passes: thread_local objects with constructors and destructors are made and ended in every thread of every iteration
#include <raddle.h>

#include <atomic>
#include <cassert>
#include <string>
#include <thread>

static std::atomic<int> made, ended;

struct Counted {
    int uses = 0;
    std::string text = "a text that is too long to be inside of the object";
    Counted() { made++; }
    ~Counted() { ended++; }
};

static thread_local Counted counted;
static thread_local int plain = 3;

static void use() {
    assert(plain++ == 3);
    assert(counted.uses++ == 0);
    counted.text += '!';
    thread_local std::string local(100, 'x');
    assert(local.size() == 100);
    local += 'y';
}

static void body(void *) {
    made = ended = 0;
    std::thread one(use), two(use);
    one.join();
    two.join();
    assert(made == 2 && ended == 2);
}

int main() { return raddle_check(body, nullptr); }
