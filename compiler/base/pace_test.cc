// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/pace.h"

#include <gtest/gtest.h>

#include <thread>

namespace heddle::compiler {
namespace {

TEST(Pace, AsksNobodyWithoutAScope) {
  Pace(INT64_MAX);
  Pace(INT64_MAX);
}

TEST(Pace, AsksEveryInterval) {
  int asked = 0;
  const std::function<absl::Status()> stop = [&] {
    ++asked;
    return absl::OkStatus();
  };
  const PaceScope scope(stop, 100);
  for (int i = 0; i < 1000; ++i) Pace(1);
  EXPECT_EQ(asked, 10);
  Pace(100'000);
  EXPECT_EQ(asked, 11);
  for (int64_t i = 0; i < 2 * 4096; ++i) PaceAt(i);
  EXPECT_EQ(asked, 13);
  std::thread([] { Pace(INT64_MAX); }).join();
  EXPECT_EQ(asked, 13) << "of this thread";
}

TEST(Pace, AnErrorStays) {
  int asked = 0;
  const std::function<absl::Status()> stop = [&] {
    ++asked;
    return absl::CancelledError("enough");
  };
  const PaceScope scope(stop, 10);
  Pace(9);
  EXPECT_TRUE(scope.status().ok());
  EXPECT_THROW(Pace(1), Interrupted);
  EXPECT_THROW(Pace(10), Interrupted);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(scope.status(), absl::CancelledError("enough"));
}

TEST(Pace, TheInnerScopeCounts) {
  const std::function<absl::Status()> never = [] {
    return absl::InternalError("");
  };
  const std::function<absl::Status()> go = [] { return absl::OkStatus(); };
  const PaceScope outer(never, 5);
  {
    const PaceScope inner(go, 5);
    Pace(100);
  }
  Pace(4);
  EXPECT_THROW(Pace(1), Interrupted);
}

}  // namespace
}  // namespace heddle::compiler
