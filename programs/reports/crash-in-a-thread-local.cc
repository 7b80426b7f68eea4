// fail: a thread that crashes in the destructor of a thread_local is the one that failed
// expect: signal
// says: failed | Farewell::~Farewell ( | SIGSEGV
#include <mutex>
#include <thread>

static std::mutex lock;
static int counter, *shared = &counter;

struct Farewell {
    int used = 0;
    ~Farewell() {
        std::lock_guard<std::mutex> guard(lock);
        *static_cast<volatile int *>(shared) = used;
    }
};

static thread_local Farewell farewell;

int main() {
    std::thread leaves([] { farewell.used = 1; });
    std::thread takes_away([] {
        std::lock_guard<std::mutex> guard(lock);
        shared = nullptr;
    });
    leaves.join();
    takes_away.join();
    return 0;
}
