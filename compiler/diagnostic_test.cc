// SPDX-License-Identifier: Apache-2.0
#include "compiler/diagnostic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/cord.h"

namespace heddle::compiler {
namespace {

TEST(DiagnosticTest, EveryKindSurvivesTheStatus) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Refusal::kNoDeviceMemory); ++i) {
    const auto kind = static_cast<Refusal>(i);
    const absl::Status status = Refuse(kind, "Conv 'c': why");
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(RefusalOf(status), kind);
    EXPECT_EQ(status.message(), "Conv 'c': why");
    EXPECT_TRUE(names.insert(RefusalName(kind)).second) << RefusalName(kind);
  }
}

TEST(DiagnosticTest, OtherStatusesCarryNoKind) {
  EXPECT_EQ(RefusalOf(absl::OkStatus()), Refusal::kNone);
  absl::Status status = absl::InternalError("x");
  EXPECT_EQ(RefusalOf(status), Refusal::kNone);
  for (const char* payload : {"", "99", "-1", "abc"}) {
    status.SetPayload("heddle/refusal", absl::Cord(payload));
    EXPECT_EQ(RefusalOf(status), Refusal::kNone) << payload;
  }
}

}  // namespace
}  // namespace heddle::compiler
