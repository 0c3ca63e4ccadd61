// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace heddle::compiler {
namespace {

absl::Status Fail(bool fails, int* calls) {
  ++*calls;
  return fails ? absl::NotFoundError("x") : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return absl::OutOfRangeError("negative");
  return std::make_unique<int>(value);
}

absl::StatusOr<int> Twice(bool first, bool second, int* calls) {
  RETURN_IF_ERROR(Fail(first, calls));
  // As the only statement, and with an else of its own.
  if (second)
    RETURN_IF_ERROR(Fail(true, calls));
  else
    RETURN_IF_ERROR(Fail(false, calls));
  return *calls;
}

TEST(ReturnIfError, ReturnsTheFirstError) {
  int calls = 0;
  EXPECT_EQ(Twice(true, true, &calls).status(), absl::NotFoundError("x"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Twice(false, true, &calls).status(), absl::NotFoundError("x"));
  EXPECT_EQ(calls, 3);
  const auto result = Twice(false, false, &calls);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 5);
}

TEST(ReturnIfError, TakesCommas) {
  const auto run = []() -> absl::Status {
    RETURN_IF_ERROR(std::vector<absl::Status>{absl::OkStatus(),
                                              absl::NotFoundError("b")}[1]);
    return absl::OkStatus();
  };
  EXPECT_EQ(run(), absl::NotFoundError("b"));
}

absl::StatusOr<int> Sum(int a, int b) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Make(a));
  ASSIGN_OR_RETURN(auto second, Make(b));
  return *first + *second;
}

TEST(AssignOrReturn, MovesTheValue) {
  const auto sum = Sum(2, 3);
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(*sum, 5);
}

TEST(AssignOrReturn, ReturnsTheError) {
  EXPECT_EQ(Sum(-1, 0).status(), absl::OutOfRangeError("negative"));
  EXPECT_EQ(Sum(0, -1).status(), absl::OutOfRangeError("negative"));
}

TEST(AssignOrReturn, AssignsToWhatIsThere) {
  std::vector<std::unique_ptr<int>> made(2);
  const auto run = [&](int value) -> absl::Status {
    for (auto& place : made) {
      ASSIGN_OR_RETURN(place, Make(value));
    }
    return absl::OkStatus();
  };
  EXPECT_TRUE(run(7).ok());
  EXPECT_EQ(*made[1], 7);
  // What was there stays.
  EXPECT_EQ(run(-1), absl::OutOfRangeError("negative"));
  EXPECT_EQ(*made[0], 7);
}

}  // namespace
}  // namespace heddle::compiler
