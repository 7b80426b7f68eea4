// pass: threads print to std::cout and std::cerr, whose locks are glibc's own stdio locks

#include <iostream>
#include <string>
#include <thread>
#include <vector>

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i] {
            const std::string name = "thread " + std::to_string(i);
            for (int line = 0; line < 3; line++)
                // One call per line: whole lines may come in any order, their letters may not mix.
                std::cout << name + " line " + std::to_string(line) + "\n";
            std::cerr << name + " is done\n";
            std::cout << std::flush;
        });
    for (auto &thread : threads)
        thread.join();
    std::cout << "all done" << std::endl;
    return std::cout.good() && std::cerr.good() ? 0 : 1;
}
