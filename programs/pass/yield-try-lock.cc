// pass: std::mutex::try_lock again and again, with a yield after each failure
// runs: 4

#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static long count;

int main() {
    constexpr long turns = 12'000;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([] {
            for (long turn = 0; turn < turns; turn++) {
                while (!mutex.try_lock()) std::this_thread::yield();
                count++;
                std::this_thread::yield();
                mutex.unlock();
                std::this_thread::yield();
            }
        });
    for (auto &thread : threads) thread.join();
    if (count != 3 * turns) abort();
}
