// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/diagnostic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/cord.h"

namespace heddle::compiler {
namespace {

TEST(DiagnosticTest, EveryKindSurvivesTheStatus) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Rejection::kNoDeviceMemory); ++i) {
    const auto kind = static_cast<Rejection>(i);
    const absl::Status status = Reject(kind, "Conv 'c': why");
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(RejectionOf(status), kind);
    EXPECT_EQ(status.message(), "Conv 'c': why");
    EXPECT_TRUE(names.insert(RejectionName(kind)).second)
        << RejectionName(kind);
  }
}

TEST(DiagnosticTest, OtherStatusesCarryNoKind) {
  EXPECT_EQ(RejectionOf(absl::OkStatus()), Rejection::kNone);
  absl::Status status = absl::InternalError("x");
  EXPECT_EQ(RejectionOf(status), Rejection::kNone);
  for (const char* payload : {"", "99", "-1", "abc"}) {
    status.SetPayload("heddle/rejection", absl::Cord(payload));
    EXPECT_EQ(RejectionOf(status), Rejection::kNone) << payload;
  }
}

}  // namespace
}  // namespace heddle::compiler
