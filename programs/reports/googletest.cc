// fail: two assertions of GoogleTest are two findings, each with its place and its text
// expect: assert
// needs: gtest/gtest.h
// flags: -lgtest_main -lgtest
// findings: 2
// says: googletest.cc:12: Bank.Deposit: Expected equality of these values: total(); Which is: 1; 2; a deposit was lost | googletest.cc:16: Bank.Withdraw: Value of: total() == 2; Actual: false; Expected: true | standard output: | [  FAILED  ] Bank.Withdraw
// never: exit status 1
#include <gtest/gtest.h>
#include "total.h"

TEST(Bank, Deposit) {
    EXPECT_EQ(total(), 2) << "a deposit was lost";
}

TEST(Bank, Withdraw) {
    ASSERT_TRUE(total() == 2);
}

TEST(Bank, Opens) {
    EXPECT_EQ(1, 1);
}
