// bug: a barrier is missing after the master has decided whether to open a centre, and others read the old decision
// kind: assert
// depth: 1
// threads: 4
// source: stride (ASE'17), figure 5: parsec-streamcluster; our own kernel
// finds: pct, random
// args: 4 3
// variants: 4-3 = 4 3 [threads 4]; 8-3 = 8 3 [threads 8]; 4-12 = 4 12 [threads 4]
// row: stride:parsec-streamcluster
// Points of a stream are assigned to centres. In each round all threads work out what a new centre would save; the
// master opens it when it saves more than it costs; then all threads assign their points anew.
// Arguments: threads, rounds.
#include <cmath>
#include <thread>
#include <vector>

#include "../include/bug.h"

namespace {

constexpr int POINTS = 96;
constexpr double COST = 2.0;

struct point {
    double x, y;
    int centre = 0;
};

struct clustering {
    clustering(int threads, int rounds) : points(POINTS), saved(static_cast<size_t>(threads)), opened(static_cast<size_t>(rounds)) {
        OK(pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads)));
        unsigned state = 11;
        for (auto &p : points) {
            state = state * 1103515245u + 12345u;
            p.x = static_cast<double>(state >> 16 & 1023) / 1024;
            state = state * 1103515245u + 12345u;
            p.y = static_cast<double>(state >> 16 & 1023) / 1024;
        }
    }

    ~clustering() {
        OK(pthread_barrier_destroy(&barrier));
    }

    std::vector<point> points;
    std::vector<double> saved; // By thread.
    std::vector<bool> opened;  // By round.
    double total_saved = 0;
    pthread_barrier_t barrier;
    bool open_it = false;
    int decided = -1; // The round of that decision.
};

double distance(const point &a, const point &b) {
    return std::hypot(a.x - b.x, a.y - b.y);
}

void run(clustering &all, int self, int threads, int rounds) {
    size_t first = static_cast<size_t>(POINTS * self / threads), last = static_cast<size_t>(POINTS * (self + 1) / threads);
    for (int round = 0; round < rounds; round++) {
        size_t candidate = static_cast<size_t>((round * 37 + 5) % POINTS);
        double saved = 0;
        for (size_t i = first; i < last; i++) {
            const point &p = all.points[i];
            double now = distance(p, all.points[static_cast<size_t>(p.centre)]), then = distance(p, all.points[candidate]);
            if (then < now) saved += now - then;
        }
        all.saved[static_cast<size_t>(self)] = saved;
        pthread_barrier_wait(&all.barrier);

        if (self == 0) {
            all.total_saved = 0;
            for (double part : all.saved) all.total_saved += part;
            all.open_it = all.total_saved > COST;
            all.opened[static_cast<size_t>(round)] = all.open_it;
            all.decided = round;
        }
#ifdef FIXED
        pthread_barrier_wait(&all.barrier);
#else
        steps(1); // Where the barrier was.
#endif
        assert(all.decided == round);
        for (size_t i = first; all.open_it && i < last; i++) {
            point &p = all.points[i];
            if (distance(p, all.points[candidate]) < distance(p, all.points[static_cast<size_t>(p.centre)]))
                p.centre = static_cast<int>(candidate);
        }
        pthread_barrier_wait(&all.barrier);
    }
}

} // namespace

int main(int count, char **words) {
    int threads = number(count, words, 1, 4, 2, 64), rounds = number(count, words, 2, 3, 1, 1000);
    clustering all(threads, rounds);
    std::vector<std::thread> others;
    for (int i = 1; i < threads; i++) others.emplace_back([&all, i, threads, rounds] { run(all, i, threads, rounds); });
    run(all, 0, threads, rounds);
    for (auto &other : others) other.join();
    return all.opened[0] ? 0 : 3;
}
