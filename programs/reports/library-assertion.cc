// fail: a check of libstdc++ has its text in the first line, and the thread its stack
// expect: assert
// flags: -D_GLIBCXX_ASSERTIONS
// says: Assertion '__n < this->size()' failed | first_of (
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> accounts{7};

__attribute__((noinline)) static int first_of(const std::vector<int> &all) {
    return all[0];
}

int main() {
    std::thread closes([] {
        std::lock_guard<std::mutex> guard(lock);
        accounts.clear();
    });
    std::thread reads([] {
        std::lock_guard<std::mutex> guard(lock);
        first_of(accounts);
    });
    closes.join();
    reads.join();
    return 0;
}
