// SPDX-License-Identifier: Apache-2.0
// The header's "all previous operator set versions" holds for every operator
// that is known at all, and RULINGS.md says so.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/importer.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/opset_changes.h"

namespace heddle::onnxifi {
namespace {

using compiler::FindOperator;
using compiler::kMaxOpset;
using compiler::kMinOpset;

// Of what libonnx-dev knows; for newer opsets see opset_changes_test.
TEST(Opsets, EveryVersionOfAKnownOperatorIsKnown) {
  std::map<int, std::set<std::string>> missing;
  for (const auto* info : compiler::AllOperators()) {
    if (info->domain[0] != '\0') continue;
    for (int opset = kMinOpset; opset < compiler::kFirstRecordedOpset;
         ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      if (schema == nullptr || schema->Deprecated() ||
          FindOperator("", info->op, opset) != nullptr) {
        continue;
      }
      missing[opset].insert(info->op);
    }
  }
  for (const auto& [opset, operators] : missing) {
    if (operators.empty()) continue;
    ADD_FAILURE() << "opset " << opset << " without "
                  << absl::StrJoin(operators, ", ");
  }
}

TEST(Opsets, TheRangesAreRuled) {
  std::ifstream file("onnxifi/RULINGS.md");
  const std::string rulings{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& sentence :
       {absl::StrCat("`ai.onnx:", kMaxOpset, "` includes all earlier ones"),
        absl::StrCat("IR versions: ", compiler::kMinIrVersion, " to ",
                     compiler::kMaxIrVersion)}) {
    EXPECT_NE(rulings.find(sentence), std::string::npos)
        << "RULINGS.md lacks \"" << sentence << "\"";
  }
}

}  // namespace
}  // namespace heddle::onnxifi
