// pass: pthread_exit unwinds the frames, then the thread_local objects in reverse order, then thread-specific data, with locks in all of them

#include <cassert>
#include <mutex>
#include <pthread.h>
#include <string>

static std::mutex mutex;
static std::string logs[3];
static pthread_key_t key;
static thread_local std::string *mine;

static void note(char what) {
    std::string *before = mine;
    std::lock_guard lock(mutex);
    assert(before == mine);
    *mine += what;
}

struct Local {
    char name;
    ~Local() { note(name); }
};

struct PerThread {
    char name;
    int used = 0;
    explicit PerThread(char name) : name(name) {}
    ~PerThread() {
        assert(used == 1);
        note(name);
    }
};

static thread_local PerThread first('1'), second('2');

static void cleanup(void *) {
    note('c');
}

static void (*volatile leave)(void *) = pthread_exit; // So that the compiler does not complain of endless recursion.

static void deeper(int depth) {
    Local local{static_cast<char>('a' + depth)};
    if (depth == 1) {
        pthread_cleanup_push(cleanup, nullptr);
        leave(nullptr);
        pthread_cleanup_pop(0);
    } else {
        deeper(depth + 1);
    }
}

static void *worker(void *argument) {
    mine = static_cast<std::string *>(argument);
    first.used++;
    second.used++;
    pthread_setspecific(key, mine);
    deeper(0);
    return nullptr;
}

int main() {
    pthread_t threads[3];
    int error = pthread_key_create(&key, [](void *) { note('k'); });
    for (int i = 0; i < 3; i++)
        error |= pthread_create(&threads[i], nullptr, worker, &logs[i]);
    for (pthread_t thread : threads)
        error |= pthread_join(thread, nullptr);
    assert(error == 0);
    for (const std::string &log : logs)
        assert(log == "cba21k");
}
