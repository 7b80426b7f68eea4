// fail: the check and the act are each under the lock, but not under the same one hold of it
// expect: assert

#include <cassert>
#include <mutex>
#include <thread>

class Account {
public:
    int balance() {
        std::lock_guard lock(mutex);
        return money;
    }

    void withdraw(int amount) {
        std::lock_guard lock(mutex);
        money -= amount;
        assert(money >= 0);
    }

private:
    std::mutex mutex;
    int money = 100;
};

int main() {
    Account account;
    auto customer = [&account] {
        if (account.balance() >= 80)
            // Between the two calls the other customer may come.
            account.withdraw(80);
    };
    std::thread a(customer), b(customer);
    a.join();
    b.join();
}
