// pass: a bounded queue with two condition variables, two producers and two consumers: nothing lost, nothing twice

#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class Queue {
public:
    void put(int item) {
        std::unique_lock lock(mutex);
        not_full.wait(lock, [this] { return items.size() < 2; });
        items.push_back(item);
        not_empty.notify_one();
    }

    int get() {
        std::unique_lock lock(mutex);
        not_empty.wait(lock, [this] { return !items.empty(); });
        int item = items.front();
        items.pop_front();
        not_full.notify_one();
        return item;
    }

private:
    std::mutex mutex;
    std::condition_variable not_full, not_empty;
    std::deque<int> items;
};

int main() {
    Queue queue;
    std::vector<int> got[2];
    std::vector<std::thread> consumers;
    for (auto &mine : got)
        consumers.emplace_back([&queue, &mine] {
            // Minus one tells the consumer that there will be no more.
            for (int item; (item = queue.get()) >= 0;)
                mine.push_back(item);
        });
    std::thread a([&queue] { for (int i = 0; i < 4; i++) queue.put(i); });
    std::thread b([&queue] { for (int i = 4; i < 8; i++) queue.put(i); });
    a.join();
    b.join();
    queue.put(-1);
    queue.put(-1);
    for (auto &consumer : consumers)
        consumer.join();

    std::vector<int> times(8);
    for (auto &mine : got)
        for (int item : mine)
            times[item]++;
    assert(times == std::vector<int>(8, 1));
}
