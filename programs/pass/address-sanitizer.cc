// pass: a program built with AddressSanitizer, whose runtime must come before ours
// flags: -fsanitize=address
// outside: yes
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

int main() {
    std::mutex mutex;
    std::vector<int> values;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            std::lock_guard lock(mutex);
            values.push_back(i);
        });
    for (auto &thread : threads)
        thread.join();
    assert(values.size() == 3);
}
