// fail: two std::mutex taken in opposite orders
// expect: deadlock

#include <mutex>
#include <thread>

struct Account {
    std::mutex mutex;
    int balance = 100;
};

static void transfer(Account &from, Account &to, int amount) {
    std::lock_guard first(from.mutex);
    // Here the other transfer may take what this one needs next.
    std::lock_guard second(to.mutex);
    from.balance -= amount;
    to.balance += amount;
}

int main() {
    Account a, b;
    std::thread one([&] { transfer(a, b, 10); });
    std::thread two([&] { transfer(b, a, 20); });
    one.join();
    two.join();
}
