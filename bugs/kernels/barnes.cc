// bug: the macro that waits for the other processors is empty on this platform, and main adds up the bodies before all have moved
// kind: assert
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), tables 1 and 2: Splash-Barnes
// finds: pct; random hardly, because main has more to do in the end than the other processor
// row: pct:Splash-Barnes
// Gravity in the plane after Barnes and Hut: a tree of cells is built by all processors, with a lock per cell; then
// forces are computed with it.
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "../include/bug.h"

namespace {

constexpr int BODIES = 180, TIME_STEPS = 4, PROCESSORS = 2;

struct vector2 {
    double x = 0, y = 0;
};

struct body {
    vector2 position, velocity, force;
    double mass = 1;
    int moves = 0;
};

// A square. It is empty, has one body, or four quarters.
struct cell {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    vector2 centre, gravity;
    double half = 0, mass = 0;
    body *only = nullptr;
    std::array<std::unique_ptr<cell>, 4> quarters;
    bool divided = false;
};

std::array<body, BODIES> bodies;
std::unique_ptr<cell> root;
pthread_barrier_t barrier;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
int moved;

std::unique_ptr<cell> make_cell(vector2 centre, double half) {
    auto made = std::make_unique<cell>();
    made->centre = centre;
    made->half = half;
    return made;
}

size_t quarter_of(const cell &in, vector2 position) {
    return (position.x >= in.centre.x ? 1 : 0) + (position.y >= in.centre.y ? 2 : 0);
}

void divide(cell &whole) {
    double half = whole.half / 2;
    for (size_t i = 0; i < 4; i++)
        whole.quarters[i] = make_cell({whole.centre.x + (i & 1 ? half : -half), whole.centre.y + (i & 2 ? half : -half)}, half);
    whole.divided = true;
}

void insert(cell &from, body &added) {
    cell *in = &from;
    for (;;) {
        lock(&in->mutex);
        if (!in->divided && in->only == nullptr) {
            in->only = &added;
            unlock(&in->mutex);
            return;
        }
        if (!in->divided) {
            // The quarters are new: whoever was here goes down without anybody looking on.
            divide(*in);
            body *before = in->only;
            in->only = nullptr;
            in->quarters[quarter_of(*in, before->position)]->only = before;
        }
        cell *next = in->quarters[quarter_of(*in, added.position)].get();
        unlock(&in->mutex);
        in = next;
    }
}

void add_up(cell &whole) {
    if (!whole.divided) {
        if (whole.only == nullptr) return;
        whole.mass = whole.only->mass;
        whole.gravity = whole.only->position;
        return;
    }
    for (auto &quarter : whole.quarters) {
        add_up(*quarter);
        whole.mass += quarter->mass;
        whole.gravity.x += quarter->mass * quarter->gravity.x;
        whole.gravity.y += quarter->mass * quarter->gravity.y;
    }
    whole.gravity.x /= whole.mass;
    whole.gravity.y /= whole.mass;
}

void pull(const cell &by, body &pulled) {
    if (by.mass == 0 || by.only == &pulled) return;
    double dx = by.gravity.x - pulled.position.x, dy = by.gravity.y - pulled.position.y;
    double distance = std::sqrt(dx * dx + dy * dy) + 0.05;
    if (by.divided && by.half * 2 > distance * 0.7) {
        for (auto &quarter : by.quarters) pull(*quarter, pulled);
        return;
    }
    double strength = by.mass * pulled.mass / (distance * distance * distance);
    pulled.force.x += strength * dx;
    pulled.force.y += strength * dy;
}

void move(body &moving) {
    moving.velocity.x += moving.force.x * 1e-5;
    moving.velocity.y += moving.force.y * 1e-5;
    moving.position.x += moving.velocity.x;
    moving.position.y += moving.velocity.y;
    moving.moves++;
}

void run(int processor) {
    // Main has the larger share.
    int first = processor == 0 ? 0 : BODIES * 5 / 8, last = processor == 0 ? BODIES * 5 / 8 : BODIES;
    for (int step = 0; step < TIME_STEPS; step++) {
        if (processor == 0) root = make_cell({0.5, 0.5}, 1);
        pthread_barrier_wait(&barrier);
        for (int i = first; i < last; i++) insert(*root, bodies[static_cast<size_t>(i)]);
        pthread_barrier_wait(&barrier);
        if (processor == 0) add_up(*root);
        pthread_barrier_wait(&barrier);
        for (int i = first; i < last; i++) {
            body &mine = bodies[static_cast<size_t>(i)];
            mine.force = {};
            pull(*root, mine);
        }
        pthread_barrier_wait(&barrier);
        for (int i = first; i < last; i++) {
            lock(&count_lock);
            move(bodies[static_cast<size_t>(i)]);
            moved++;
            unlock(&count_lock);
        }
    }
}

void *run_other(void *unused) {
    run(1);
    return unused;
}

void wait_for_end(pthread_t other) {
#ifdef FIXED
    finish(other);
#else
    OK(pthread_detach(other));
#endif
}

} // namespace

int main() {
    OK(pthread_barrier_init(&barrier, nullptr, PROCESSORS));
    unsigned state = 3;
    auto random = [&state] {
        state = state * 1103515245u + 12345u;
        return static_cast<double>(state >> 16 & 0x7fff) / 32768;
    };
    for (auto &one : bodies) one.position = {random(), random()};

    pthread_t other = start(run_other, nullptr);
    run(0);
    wait_for_end(other);
    for (auto &one : bodies) assert(one.moves == TIME_STEPS);
    return 0;
}
