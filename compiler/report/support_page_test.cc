// SPDX-License-Identifier: Apache-2.0
// SUPPORTED_OPS.md in the repository is what the compiler would write.
#include "compiler/report/support_page.h"

#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

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

// Operators of ONNX that are left out are named, and are none of the table.
TEST(SupportPageTest, NamesWhatIsLeftOut) {
  const std::string page = SupportPage();
  for (const char* op :
       {"SequenceMap", "StringNormalizer", "Optional", "OptionalHasElement",
        "OptionalGetElement", "RandomNormal", "RandomNormalLike",
        "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial",
        "SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase",
        "SequenceAt", "SequenceLength", "SplitToSequence",
        "ConcatFromSequence"}) {
    EXPECT_NE(onnx::OpSchemaRegistry::Schema(op, 17, ""), nullptr) << op;
    EXPECT_TRUE(absl::StrContains(page, op)) << op;
    EXPECT_FALSE(absl::StrContains(page, absl::StrCat("| ", op, " |"))) << op;
  }
}

}  // namespace
}  // namespace heddle::compiler
