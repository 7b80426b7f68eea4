// fail: two assertions of Catch2 and an exception are three findings, each with its place and its text
// expect: assert
// needs: catch2/catch.hpp
// findings: 3
// says: catch2.cc:14: deposit: CHECK( total() == 2 ); with expansion: 1 == 2 | catch2.cc:20: withdraw / all of it: REQUIRE( total() == 2 ); with expansion: 1 == 2; with message: withdrawing | throws: due to unexpected exception with message: lost | standard output:
// never: exit status
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <stdexcept>
#include "total.h"

TEST_CASE("deposit") {
    CHECK(total() == 2);
}

TEST_CASE("withdraw") {
    SECTION("all of it") {
        INFO("withdrawing");
        REQUIRE(total() == 2);
    }
}

TEST_CASE("throws") {
    if (total() != 2) throw std::runtime_error("lost");
}

TEST_CASE("opens") {
    CHECK(1 == 1);
}
