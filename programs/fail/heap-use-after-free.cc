// fail: a session is deleted while another thread is about to use its sink
// expect: misuse
#include <memory>
#include <mutex>
#include <thread>

struct Sink {
    long total = 0;
};

struct Session {
    long id = 1, opened = 2, closed = 3;
    Sink *sink;
};

int main() {
    std::mutex mutex;
    Sink sink;
    auto session = std::make_unique<Session>();
    session->sink = &sink;
    Session *shared = session.get();
    std::thread writer([&] {
        Session *mine;
        {
            std::lock_guard lock(mutex);
            mine = shared;
        }
        // The bug: it may be gone by now.
        std::lock_guard lock(mutex);
        if (mine != nullptr) mine->sink->total++;
    });
    {
        std::lock_guard lock(mutex);
        shared = nullptr;
        session.reset();
    }
    writer.join();
}
