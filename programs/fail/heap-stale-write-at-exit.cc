// fail: the destructor of a static object counts in a record that another thread has deleted
// expect: misuse
#include <mutex>
#include <thread>

struct Record {
    long id = 1, closed = 0;
    char text[40] = {};
};

struct Owner {
    std::mutex mutex;
    Record *record = new Record;
    ~Owner() {
        // The bug: it may be gone.
        record->closed++;
    }
};

static Owner owner;
static bool wanted = true;

int main() {
    std::thread cleaner([] {
        std::lock_guard lock(owner.mutex);
        if (!wanted) delete owner.record;
    });
    {
        std::lock_guard lock(owner.mutex);
        wanted = false;
    }
    cleaner.join();
}
