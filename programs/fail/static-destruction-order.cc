// fail: a detached thread still uses a global object while exit destroys it
// expect: assert

#include <cassert>
#include <mutex>
#include <thread>

static std::mutex mutex; // Never destroyed in practice: its destructor does nothing.

class Log {
public:
    void write() {
        std::lock_guard lock(mutex);
        assert(open);
        lines++;
    }

    ~Log() {
        open = false;
        std::lock_guard lock(mutex); // Flushes: others run on while main is in here.
        lines = 0;
    }

private:
    bool open = true;
    int lines = 0;
};

static Log logger;

int main() {
    // The last line is nearly always written by the time main is done, or never written at all.
    std::thread([] {
        for (int i = 0; i < 3; i++)
            logger.write();
    }).detach();
    logger.write();
}
