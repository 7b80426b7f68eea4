// bug: a connection is looked for, and closed by another thread before it is used
// kind: assert
// depth: 2
// threads: 2
// source: PCT (ASPLOS'10), figure 1(b)
// finds: pct, random
// args: 2 0
// variants: 2-0 = 2 0 [threads 2]; 4-10 = 4 10 [threads 4]; 8-40 = 8 40 [threads 8]
// row: pct:Figure 1(b)
// Arguments: threads, the main one included; steps that each of them makes before.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../include/bug.h"

namespace {

// The one connection of a client. Each call is atomic; two calls are not.
class client {
public:
    explicit client(std::string peer) : peer_(std::move(peer)) {}

    bool connected() {
        std::lock_guard lock(mutex_);
        return peer_.has_value();
    }

    // False when there is no connection.
    bool send(const std::string &message) {
        std::lock_guard lock(mutex_);
        if (!peer_) return false;
        sent_ += *peer_ + ": " + message + "\n";
        return true;
    }

    // True when it was sent, or when there was nobody to send it to.
    bool send_if_connected(const std::string &message) {
#ifdef FIXED
        send(message);
        return true;
#else
        return !connected() || send(message);
#endif
    }

    void close() {
        std::lock_guard lock(mutex_);
        peer_.reset();
    }

private:
    std::mutex mutex_;
    std::optional<std::string> peer_;
    std::string sent_;
};

} // namespace

int main(int count, char **words) {
    int threads = number(count, words, 1, 2, 2, 100);
    int before = number(count, words, 2, 0, 0, 100000);

    client connection("peer");
    std::vector<std::thread> others;
    for (int i = 0; i < threads - 2; i++) others.emplace_back([=] { steps(before); });
    others.emplace_back([&] {
        steps(before);
        bool good = connection.send_if_connected("hello");
        assert(good);
        (void)good;
    });
    steps(before);
    connection.close();
    for (auto &other : others) other.join();
}
