// fail: what the standard library does between two functions of the program is one line, and types have short names
// expect: deadlock
// says: std::function<void (std::string const&, long&)>::operator() (+ | Bank<long>::each ( | Bank<long>::move_all::{lambda#1} ( | {lambda} (
// never: __invoke | basic_string | std::allocator | std::char_traits | _Async_state_impl
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

static std::mutex one, other;

template <class T> struct Bank {
    std::map<std::string, std::unique_ptr<T>> accounts;

    void each(const std::function<void(const std::string &, T &)> &visit) {
        for (auto &[name, account] : accounts) visit(name, *account);
    }

    std::string move_all(std::mutex &first, std::mutex &second) {
        std::lock_guard<std::mutex> outer(first);
        each([&](const std::string &, T &account) {
            std::lock_guard<std::mutex> inner(second);
            account++;
        });
        return "moved";
    }
};

int main() {
    Bank<long> bank;
    bank.accounts["ada"] = std::make_unique<long>(1);
    auto left = std::async(std::launch::async, [&] { return bank.move_all(one, other); });
    auto right = std::async(std::launch::async, [&] { return bank.move_all(other, one); });
    return left.get() == right.get() ? 0 : 1;
}
