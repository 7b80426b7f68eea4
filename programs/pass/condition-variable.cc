// pass: std::condition_variable: ping-pong with notify_one, a start signal with notify_all

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static int turn, started;
static bool go;

static void play(int me) {
    for (int i = 0; i < 4; i++) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [me] { return turn % 2 == me; });
        turn++;
        changed.notify_one();
    }
}

static void runner() {
    std::unique_lock lock(mutex);
    while (!go)
        changed.wait(lock);
    started++;
}

int main() {
    std::thread ping(play, 0), pong(play, 1);
    ping.join();
    pong.join();
    assert(turn == 8);

    std::vector<std::thread> runners;
    for (int i = 0; i < 3; i++)
        runners.emplace_back(runner);
    {
        std::lock_guard lock(mutex);
        assert(started == 0);
        go = true;
    }
    // Notifying without the lock is allowed: go was changed under it.
    changed.notify_all();
    for (auto &thread : runners)
        thread.join();
    assert(started == 3);
}
