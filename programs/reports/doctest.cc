// fail: two assertions of doctest are two findings, each with its place and its text
// expect: assert
// needs: doctest/doctest.h
// findings: 2
// says: doctest.cc:12: deposit: CHECK( total() == 2 ) is NOT correct!; values: CHECK( 1 == 2 ) | doctest.cc:18: withdraw / all of it: REQUIRE( total() == 2 ) is NOT correct!; values: REQUIRE( 1 == 2 ); logged: withdrawing
// never: exit status
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include "total.h"

TEST_CASE("deposit") {
    CHECK(total() == 2);
}

TEST_CASE("withdraw") {
    SUBCASE("all of it") {
        INFO("withdrawing");
        REQUIRE(total() == 2);
    }
}
