// bug: a thief claims the place of a job first and reads the job afterwards, when the owner may have put another one there
// kind: assert
// depth: 2
// threads: 4
// source: NeedlePoint (PLDI'12), table 1: WSQ-3; PCT (ASPLOS'10), section 5.3
// finds: pct; random when there are two thieves or more
// points: atomic
// args: 3 140 36
// variants: 3 = 3 140 36 [threads 4]; 1 = 1 196 50 [threads 2]; 2-4 = 2 4 [threads 3]; 4-4 = 4 4 [threads 5]; 8-4 = 8 4 [threads 9]; 16-4 = 16 4 [threads 17]; 32-4 = 32 4 [threads 33]; 64-4 = 64 4 [threads 65]; 2-64 = 2 64 [threads 3]; 8-64 = 8 64 [threads 9]
// row: needlepoint:WSQ-3, pct:Work Steal Queue
// Chase and Lev's deque. The owner fills it before it creates a thief. After that it takes some jobs and fills it again,
// round after round. A thief makes its first attempt at once, and one whenever the owner has filled the deque.
// Arguments: thieves; jobs after all thieves are there; attempts of each thief.
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../include/bug.h"

namespace {

constexpr int NONE = -1, TAKES = 3;

class deque {
public:
    static constexpr int SIZE = 4;

    // False when it is full.
    bool push(int job) {
        int b = bottom_;
        if (b - top_ >= SIZE) return false;
        place(b) = job;
        bottom_ = b + 1;
        return true;
    }

    int pop() {
        int b = --bottom_;
        int t = top_;
        if (t > b) {
            bottom_ = b + 1;
            return NONE;
        }
        int job = place(b);
        if (t == b) {
            if (!top_.compare_exchange_strong(t, t + 1)) job = NONE;
            bottom_ = b + 1;
        }
        return job;
    }

    int steal() {
        int t = top_;
        if (t >= bottom_) return NONE;
#ifdef FIXED
        int job = place(t);
        return top_.compare_exchange_strong(t, t + 1) ? job : NONE;
#else
        return top_.compare_exchange_strong(t, t + 1) ? place(t).load() : NONE;
#endif
    }

private:
    std::atomic<int> &place(int index) {
        return ring_[static_cast<size_t>(index % SIZE)];
    }

    std::atomic<int> top_{0}, bottom_{0};
    std::array<std::atomic<int>, SIZE> ring_{};
};

class jobs {
public:
    explicit jobs(size_t most) : done_(most) {}

    void run(int job) {
        if (job == NONE) return;
        int before = done_[static_cast<size_t>(job)]++;
        assert(before == 0);
        (void)before;
    }

    void steal_and_run() {
        run(deque_.steal());
    }

    void pop_and_run() {
        run(deque_.pop());
    }

    void fill() {
        while (deque_.push(pushed_)) pushed_++;
    }

    // Nobody else runs any more.
    void finish() {
        for (int job; (job = deque_.pop()) != NONE;) run(job);
        for (int job = 0; job < pushed_; job++) assert(done_[static_cast<size_t>(job)] == 1);
    }

private:
    deque deque_;
    std::vector<std::atomic<int>> done_;
    int pushed_ = 0;
};

} // namespace

int main(int count, char **words) {
    int thieves = number(count, words, 1, 3, 1, 100);
    int rounds = (number(count, words, 2, 140, 1, 10000) + deque::SIZE - 1) / deque::SIZE;
    int attempts = number(count, words, 3, 2, 1, 10000);

    jobs all(static_cast<size_t>((thieves + rounds + 1) * deque::SIZE));
    std::vector<sem_t> announced(static_cast<size_t>(thieves));
    std::vector<std::thread> threads;
    for (auto &mine : announced) OK(sem_init(&mine, 0, 0));
    for (auto &mine : announced) {
        all.fill();
        threads.emplace_back([&all, &mine, attempts] {
            all.steal_and_run();
            for (int i = 1; i < attempts; i++) {
                OK(sem_wait(&mine));
                all.steal_and_run();
            }
        });
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < TAKES; i++) all.pop_and_run();
        all.fill();
        for (auto &mine : announced) OK(sem_post(&mine));
    }
    // Those who have attempts left make them, whatever they find.
    for (int i = rounds + 1; i < attempts; i++)
        for (auto &mine : announced) OK(sem_post(&mine));
    for (auto &thread : threads) thread.join();
    all.finish();
}
