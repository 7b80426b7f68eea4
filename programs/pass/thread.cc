// pass: std::thread: arguments by value and by reference, move, swap, ids, join

#include <cassert>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

static void square(int value, int &result) { result = value * value; }

int main() {
    // Each thread writes only its own slot, so join is the only synchronisation needed.
    int results[3] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(square, i + 1, std::ref(results[i]));
    assert(threads[0].get_id() != threads[1].get_id());
    for (auto &thread : threads) {
        assert(thread.joinable());
        thread.join();
        assert(!thread.joinable());
    }
    assert(results[0] == 1 && results[1] == 4 && results[2] == 9);

    // A thread changes its owner, not its identity.
    std::thread::id seen;
    std::thread first([&seen] { seen = std::this_thread::get_id(); });
    const std::thread::id id = first.get_id();
    std::thread second = std::move(first);
    first.swap(second);
    second = std::move(first);
    assert(!first.joinable() && second.get_id() == id);
    second.join();
    assert(seen == id && seen != std::this_thread::get_id());
}
