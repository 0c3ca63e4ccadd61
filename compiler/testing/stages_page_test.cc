// SPDX-License-Identifier: Apache-2.0
// compiler/STAGES.md in the repository is what the compiler would write.
#include "compiler/testing/stages_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace heddle::compiler {
namespace {

TEST(StagesPageTest, CheckedInPageIsUpToDate) {
  std::ifstream file("compiler/STAGES.md");
  ASSERT_TRUE(file) << "compiler/STAGES.md is missing";
  const std::string page((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  const absl::StatusOr<std::string> made = StagesPage();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(page, *made) << "bazel run //compiler/testing:stages_page_tool > "
                            "compiler/STAGES.md";
}

}  // namespace
}  // namespace heddle::compiler
