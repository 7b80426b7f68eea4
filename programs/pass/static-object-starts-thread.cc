// pass: a global object starts a thread before main, and its destructor joins it after main

#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

class Logger {
public:
    Logger() : worker([this] { run(); }) {}

    ~Logger() {
        {
            std::lock_guard lock(mutex);
            closing = true;
        }
        changed.notify_one();
        worker.join();
        // An assert in a destructor at exit still decides how the program ends.
        assert(written == logged && logged == 5);
    }

    void log() {
        std::lock_guard lock(mutex);
        logged++;
        changed.notify_one();
    }

private:
    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return closing || written < logged; });
            if (written == logged)
                return;
            written++;
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    int logged = 0, written = 0;
    bool closing = false;
    std::thread worker; // Last, so that all it uses exists before it starts.
};

static Logger logger;

int main() {
    std::thread other([] {
        logger.log();
        logger.log();
    });
    for (int i = 0; i < 3; i++)
        logger.log();
    other.join();
}
