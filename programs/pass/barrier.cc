// pass: std::barrier: phases with a completion step that runs once per phase, and a thread that drops out

#include <barrier>
#include <cassert>
#include <thread>
#include <vector>

static int phase; // Written by the completion step only, which runs while everyone waits.
static int marks[3];

static void complete() noexcept { phase++; }

int main() {
    std::barrier sync(3, complete);
    std::vector<std::thread> threads;
    for (int me = 0; me < 3; me++)
        threads.emplace_back([&sync, me] {
            for (int round = 0; round < 3; round++) {
                marks[me] = round + 1;
                sync.arrive_and_wait();
                assert(phase == 2 * round + 1);
                for (int mark : marks)
                    assert(mark == round + 1);
                // The second barrier keeps the next round's marks from coming too early.
                sync.arrive_and_wait();
                assert(phase == 2 * round + 2);
            }
            if (me == 2) {
                // From here on two are enough.
                sync.arrive_and_drop();
                return;
            }
            auto token = sync.arrive(); // Arrive now, wait later.
            sync.wait(std::move(token));
            assert(phase == 7);
            sync.arrive_and_wait();
            assert(phase == 8);
        });
    for (auto &thread : threads)
        thread.join();
    assert(phase == 8);
}
