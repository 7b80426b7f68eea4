// bug: the event that says that a result is there is set before the result is there, and the waiting thread reads it
// kind: assert
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), figure 3
// finds: pct, random; needs a preemption though the depth is 1
// args: 2 0
// variants: 2-0 = 2 0 [threads 2]; 4-10 = 4 10 [threads 4]; 8-40 = 8 40 [threads 8]
// row: pct:Figure 3
// Arguments: threads, the main one included; steps that each of them makes before.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../include/bug.h"

namespace {

// Something that happens once.
class event {
public:
    void set() {
        std::lock_guard lock(mutex_);
        happened_ = true;
        changed_.notify_all();
    }

    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return happened_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool happened_ = false;
};

struct report {
    std::vector<int> factors;
};

report *factor(int number) {
    auto *result = new report;
    for (int p = 2; number > 1; p++)
        for (; number % p == 0; number /= p) result->factors.push_back(p);
    return result;
}

} // namespace

int main(int count, char **words) {
    int threads = number(count, words, 1, 2, 2, 100);
    int before = number(count, words, 2, 0, 0, 100000);

    event ready;
    report *result = nullptr;
    std::vector<std::thread> others;
    for (int i = 0; i < threads - 2; i++) others.emplace_back([=] { steps(before); });
    others.emplace_back([&] {
        steps(before);
        ready.wait();
        assert(result != nullptr && result->factors.size() == 4);
    });

    steps(before);
#ifdef FIXED
    result = factor(2 * 3 * 5 * 7);
    ready.set();
#else
    ready.set();
    steps(1);
    result = factor(2 * 3 * 5 * 7);
#endif
    for (auto &other : others) other.join();
    delete result;
}
