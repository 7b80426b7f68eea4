// fail: empty() and pop() are each under the lock, but two consumers may both see the last item: an uncaught exception
// expect: signal

#include <mutex>
#include <queue>
#include <stdexcept>
#include <thread>

class Queue {
public:
    void push(int item) {
        std::lock_guard lock(mutex);
        items.push(item);
    }

    bool empty() {
        std::lock_guard lock(mutex);
        return items.empty();
    }

    int pop() {
        std::lock_guard lock(mutex);
        if (items.empty())
            throw std::logic_error("pop of an empty queue");
        int item = items.front();
        items.pop();
        return item;
    }

private:
    std::mutex mutex;
    std::queue<int> items;
};

int main() {
    Queue queue;
    for (int i = 0; i < 3; i++)
        queue.push(i);
    auto consumer = [&queue] {
        while (!queue.empty())
            queue.pop(); // What was there a moment ago may be gone.
    };
    std::thread a(consumer), b(consumer);
    a.join();
    b.join();
}
