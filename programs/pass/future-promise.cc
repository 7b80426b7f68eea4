// pass: std::promise and std::future: values, exceptions, shared futures, a broken promise

#include <cassert>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

int main() {
    std::promise<int> number;
    std::promise<std::string> text;
    std::future<int> number_later = number.get_future();
    std::shared_future<std::string> text_later = text.get_future().share();

    std::thread producer([&] {
        number.set_value(42);
        text.set_exception(std::make_exception_ptr(std::runtime_error("no text")));
    });
    auto reader = [text_later] {
        try {
            text_later.get();
            assert(false);
        } catch (const std::runtime_error &error) {
            assert(error.what() == std::string("no text"));
        }
    };
    std::thread a(reader), b(reader);
    assert(number_later.get() == 42 && !number_later.valid());
    producer.join();
    a.join();
    b.join();

    // A promise that dies unkept says so to the one who waits.
    std::promise<void> unkept;
    std::future<void> never = unkept.get_future();
    std::thread breaker([promise = std::move(unkept)] {});
    try {
        // The thread's copy of the promise goes when the thread has ended.
        never.get();
        assert(false);
    } catch (const std::future_error &error) {
        assert(error.code() == std::future_errc::broken_promise);
    }
    breaker.join();
}
