// pass: memory is freed by handlers of exit, destructors of static and thread-local objects, and by other threads then
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Registry {
    std::mutex mutex;
    std::map<int, std::unique_ptr<std::string>> entries;
    ~Registry() {
        for (auto &[key, entry] : entries)
            if (entry->size() < 40) std::abort();
    }
};

static Registry registry;
static char *of_the_handler;
thread_local std::vector<std::string> notes;

static void handler() {
    if (of_the_handler[0] != 'x') std::abort();
    free(of_the_handler);
    free(malloc(100));
}

int main() {
    of_the_handler = static_cast<char *>(malloc(50));
    of_the_handler[0] = 'x';
    std::atexit(handler);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([i] {
            for (int j = 0; j < 20; j++) {
                notes.push_back("a note that is too long to be kept in place " + std::to_string(j));
                std::lock_guard lock(registry.mutex);
                registry.entries[(i + j) % 7] = std::make_unique<std::string>(notes.back());
            }
        });
    }
    for (auto &thread : threads) thread.join();
    notes.emplace_back("the main thread has some as well, of the same kind");
    // Never freed, as many programs do.
    new std::string("left behind by the program, and that is no mistake of the kind");
}
