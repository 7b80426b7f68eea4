// pass: std::packaged_task: a worker runs tasks from a queue, results and exceptions come back through futures

#include <cassert>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<std::packaged_task<int()>> tasks;
static bool closed;

static void worker() {
    for (;;) {
        std::packaged_task<int()> task;
        {
            std::unique_lock lock(mutex);
            changed.wait(lock, [] { return closed || !tasks.empty(); });
            if (tasks.empty())
                return;
            task = std::move(tasks.front());
            tasks.pop_front();
        }
        task(); // Outside the lock, as a pool does it.
    }
}

int main() {
    std::thread a(worker), b(worker);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 4; i++) {
        std::packaged_task<int()> task([i] { return i < 3 ? i * i : throw std::out_of_range("too far"); });
        results.push_back(task.get_future());
        std::lock_guard lock(mutex);
        tasks.push_back(std::move(task));
        changed.notify_one();
    }
    {
        std::lock_guard lock(mutex);
        closed = true;
    }
    changed.notify_all();
    assert(results[0].get() + results[1].get() + results[2].get() == 5);
    try {
        results[3].get();
        assert(false);
    } catch (const std::out_of_range &) {
    }
    a.join();
    b.join();
}
