// pass: constructors and destructors write the pointer to the virtual table, others call through it after a hand-over
// race-free

#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

std::atomic<int> destroyed;

struct Shape {
    Shape() : sides_at_first(sides()) {} // Not yet the derived class's.
    virtual ~Shape() { destroyed += 10 + sides(); } // No longer the derived class's.
    virtual int sides() const { return 0; }
    int sides_at_first;
};

struct Triangle : Shape {
    ~Triangle() override { destroyed += 10 + sides(); }
    int sides() const override { return 3; }
};

struct Square : Shape {
    ~Square() override { destroyed += 10 + sides(); }
    int sides() const override { return 4; }
};

std::atomic<Shape *> slots[2];

static void works(int me) {
    slots[me] = me == 0 ? static_cast<Shape *>(new Triangle) : new Square;
    Shape *theirs;
    while ((theirs = slots[1 - me].exchange(nullptr)) == nullptr) {}
    std::unique_ptr<Shape> mine(theirs); // Made by the other thread, destroyed by this one.
    assert(mine->sides() == (me == 0 ? 4 : 3) && mine->sides_at_first == 0);
}

int main() {
    std::thread first(works, 0), second(works, 1);
    first.join();
    second.join();
    assert(destroyed == 13 + 10 + 14 + 10);
}
