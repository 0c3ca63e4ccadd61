// SPDX-License-Identifier: Apache-2.0
// SUPPORTED_OPS.md in the repository is what the compiler would write.
#include "compiler/report/support_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/match.h"

namespace heddle::compiler {
namespace {

TEST(SupportPageTest, CheckedInPageIsUpToDate) {
  std::ifstream file("SUPPORTED_OPS.md");
  ASSERT_TRUE(file) << "SUPPORTED_OPS.md is missing";
  const std::string page((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  EXPECT_EQ(page, SupportPage())
      << "bazel run //compiler/report:support_page_tool > SUPPORTED_OPS.md";
}

TEST(SupportPageTest, StatesVersionsTypesAndLimits) {
  const std::string page = SupportPage();
  EXPECT_TRUE(absl::StrContains(page, "| Clip | ai.onnx | yes | 6-10 |"));
  EXPECT_TRUE(absl::StrContains(
      page, "| QGemm | com.microsoft | yes | 1 | uint8, int8"));
  EXPECT_TRUE(absl::StrContains(page, "pads are at most 65535"));
}

}  // namespace
}  // namespace heddle::compiler
