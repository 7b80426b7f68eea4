// bug: a channel is deleted when no request is active any more, though the worker of the last one has yet to note that it is done
// kind: assert
// depth: 2
// threads: 5
// source: PCT (ASPLOS'10), tables 1 and 2: Dryad
// finds: pct, random
// args: 82
// row: pct:Dryad
// An application reads channels one after the other, whose parts three workers fetch; main looks after them.
// Argument: channels.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../include/bug.h"

namespace {

constexpr int WORKERS = 3, PARTS = 6;
constexpr unsigned ALIVE = 0xc0ffee, DEAD = 0xdeadbeef;

struct channel {
    unsigned magic = ALIVE;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> items;
    int active = PARTS; // Requests that are under way.
    int users = PARTS;  // Workers that may still touch this.
    long bytes = 0;
};

struct request {
    channel *from;
    int part;
};

std::mutex queue_mutex;
std::condition_variable queue_changed;
std::deque<request> queue;
bool closing = false;

std::mutex statistics_mutex;
long served = 0;

// Deleted channels are kept until the end, marked, so that a late access shows what it is.
std::vector<std::unique_ptr<channel>> graveyard;

void retire(std::unique_ptr<channel> gone) {
    gone->magic = DEAD;
    graveyard.push_back(std::move(gone));
}

int fetch(int part) {
    int item = part + 1;
    for (int i = 0; i < 10; i++) item = item * 5 % 97;
    return item;
}

void serve(request next) {
    channel &from = *next.from;
    int item = fetch(next.part);
    {
        std::lock_guard lock(from.mutex);
        from.items.push_back(item);
        from.changed.notify_one();
    }
    {
        std::lock_guard lock(from.mutex);
        from.active--;
    }
    // The request is not active any more, but this is its last deed.
    {
        std::lock_guard lock(statistics_mutex);
        assert(from.magic == ALIVE);
        from.bytes += item;
        served++;
    }
    std::lock_guard lock(from.mutex);
    from.users--;
    from.changed.notify_one();
}

void work() {
    for (;;) {
        request next;
        {
            std::unique_lock lock(queue_mutex);
            queue_changed.wait(lock, [] { return closing || !queue.empty(); });
            if (queue.empty()) return;
            next = queue.front();
            queue.pop_front();
        }
        serve(next);
    }
}

int read_channel() {
    auto own = std::make_unique<channel>();
    for (int part = 0; part < PARTS; part++) {
        std::lock_guard lock(queue_mutex);
        queue.push_back({own.get(), part});
        queue_changed.notify_one();
    }
    int sum = 0;
    std::unique_lock lock(own->mutex);
    own->changed.wait(lock, [&] { return own->items.size() == PARTS; });
    for (int item : own->items) sum += item;
    lock.unlock();

    lock.lock();
#ifdef FIXED
    bool idle = own->users == 0;
#else
    bool idle = own->active == 0;
#endif
    if (!idle) own->changed.wait(lock, [&] { return own->users == 0; });
    lock.unlock();
    retire(std::move(own));
    return sum;
}

} // namespace

int main(int count, char **words) {
    int channels = number(count, words, 1, 82, 1, 10000);
    int expected = 0;
    for (int part = 0; part < PARTS; part++) expected += fetch(part);

    std::vector<std::thread> workers;
    for (int i = 0; i < WORKERS; i++) workers.emplace_back(work);
    std::thread application([=] {
        for (int i = 0; i < channels; i++)
            if (read_channel() != expected) abort();
    });
    application.join();
    {
        std::lock_guard lock(queue_mutex);
        closing = true;
        queue_changed.notify_all();
    }
    for (auto &worker : workers) worker.join();
    return served == static_cast<long>(channels) * PARTS ? 0 : 3;
}
