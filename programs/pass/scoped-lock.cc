// pass: std::scoped_lock and std::lock take two locks in any order without deadlock: three philosophers eat

#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex forks[3];
static int uses[3];

static void dine(int seat) {
    int left = seat, right = (seat + 1) % 3;
    for (int i = 0; i < 2; i++) {
        // All seats take their left fork first: with two plain locks this is the textbook deadlock.
        std::scoped_lock both(forks[left], forks[right]);
        uses[left]++;
        uses[right]++;
    }
    std::unique_lock a(forks[right], std::defer_lock), b(forks[left], std::defer_lock);
    std::lock(a, b);
    assert(a.owns_lock() && b.owns_lock());
    uses[left]++;
    uses[right]++;
}

int main() {
    std::vector<std::thread> philosophers;
    for (int seat = 0; seat < 3; seat++)
        philosophers.emplace_back(dine, seat);
    for (auto &philosopher : philosophers)
        philosopher.join();
    assert(uses[0] == 6 && uses[1] == 6 && uses[2] == 6);

    // std::try_lock tells which of the locks was taken by somebody else.
    std::lock_guard hold(forks[1]);
    std::thread([] {
        assert(std::try_lock(forks[0], forks[1], forks[2]) == 1);
        // What it got before it failed, it gave back.
        assert(std::try_lock(forks[0], forks[2]) == -1);
        forks[0].unlock();
        forks[2].unlock();
    }).join();
}
