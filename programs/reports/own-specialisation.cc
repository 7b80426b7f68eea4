// fail: what a program adds to the namespace std is its own, and so is a function that returns something of std
// expect: signal
// says: std::hash<Account>::operator() ( | name_of<int> (
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

struct Account {
    int number;
};

static std::mutex gate;
static int hashed;

template <> struct std::hash<Account> {
    __attribute__((noinline)) std::size_t operator()(const Account &account) const {
        std::lock_guard<std::mutex> guard(gate);
        if (hashed++ == 1) std::abort();
        return account.number;
    }
};

template <class T> __attribute__((noinline)) std::string name_of(T number) {
    std::string name = std::to_string(std::hash<Account>()(Account{number}));
    return name + "!";
}

int main() {
    std::thread one([] { name_of(1); }), two([] { name_of(2); });
    one.join();
    two.join();
    return 0;
}
