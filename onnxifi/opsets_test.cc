// SPDX-License-Identifier: Apache-2.0
// RULINGS.md lists what the header's "all previous operator set versions" does
// not hold for: computed here from the compiler's operators and ONNX's.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "compiler/import/importer.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::onnxifi {
namespace {

using compiler::FindOperator;
using compiler::kMaxOpset;
using compiler::kMinOpset;

std::string Rulings() {
  std::ifstream file("onnxifi/RULINGS.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text;
}

TEST(Opsets, WhatIsRefusedIsListed) {
  std::map<int, std::set<std::string>> missing;
  for (const auto* info : compiler::AllOperators()) {
    if (info->domain[0] != '\0') continue;
    for (int opset = kMinOpset; opset <= kMaxOpset; ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      if (schema == nullptr || schema->Deprecated() ||
          FindOperator("", info->op, opset) != nullptr) {
        continue;
      }
      missing[opset].insert(info->op);
    }
  }
  const std::string rulings = Rulings();
  const auto expect = [&](const std::string& sentence) {
    EXPECT_NE(rulings.find(sentence), std::string::npos)
        << "RULINGS.md lacks \"" << sentence << "\"";
  };
  expect("opsets 1 to " + std::to_string(kMinOpset - 1) + " are refused");
  for (const auto& [opset, operators] : missing) {
    expect("opset " + std::to_string(opset) + " without " +
           absl::StrJoin(operators, ", ") + ":");
  }
}

}  // namespace
}  // namespace heddle::onnxifi
