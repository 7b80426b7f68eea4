// fail: two assertions of doctest are two findings, each with its place and its text
// expect: assert
// needs: doctest/doctest.h
// findings: 2
// says: doctest.cc:27: deposit: CHECK( total() == 2 ) is NOT correct!; values: CHECK( 1 == 2 ) | doctest.cc:33: withdraw / all of it: REQUIRE( total() == 2 ) is NOT correct!; values: REQUIRE( 1 == 2 ); logged: withdrawing
// never: exit status
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

static int total() {
    std::atomic<int> sum{0};
    auto add = [&] {
        int old = sum;
        std::this_thread::yield();
        sum = old + 1;
    };
    std::thread one(add), two(add);
    one.join();
    two.join();
    return sum;
}

TEST_CASE("deposit") {
    CHECK(total() == 2);
}

TEST_CASE("withdraw") {
    SUBCASE("all of it") {
        INFO("withdrawing");
        REQUIRE(total() == 2);
    }
}
