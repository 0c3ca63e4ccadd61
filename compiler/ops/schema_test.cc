// SPDX-License-Identifier: Apache-2.0
// The attributes of ONNX's operators against ONNX's own definitions: an
// attribute that is refused as none of the operator's must not be one. Of the
// opsets that libonnx-dev has; for the others see opset_changes_test.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/opset_changes.h"

namespace heddle::compiler {
namespace {

TEST(Schema, EveryAttributeIsKnown) {
  int versions = 0;
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    std::set<std::string> known;
    for (const AttributeRule& rule : info->attributes) known.insert(rule.name);
    const int last = std::min(info->until_version, kFirstRecordedOpset - 1);
    for (int opset = info->since_version; opset <= last; ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      ASSERT_NE(schema, nullptr) << info->op << " of opset " << opset;
      ++versions;
      for (const auto& [name, attribute] : schema->attributes()) {
        EXPECT_EQ(known.count(name), 1u)
            << info->op << " of opset " << opset << ": " << name;
      }
    }
  }
  EXPECT_GT(versions, 900);
}

// And none that comes with a later opset: a model that has one is invalid.
TEST(Schema, EveryKnownAttributeIsOneOfTheOpset) {
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    const int last = std::min(info->until_version, kFirstRecordedOpset - 1);
    for (int opset = info->since_version; opset <= last; ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      ASSERT_NE(schema, nullptr) << info->op << " of opset " << opset;
      for (const AttributeRule& rule : info->attributes) {
        EXPECT_EQ(schema->attributes().count(rule.name), 1u)
            << info->op << " of opset " << opset << ": " << rule.name;
      }
    }
  }
}

// As many inputs and outputs as ONNX's definition has at least and at most.
TEST(Schema, InputsAndOutputsAreAsMany) {
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    const int last = std::min(info->until_version, kFirstRecordedOpset - 1);
    for (int opset = info->since_version; opset <= last; ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      ASSERT_NE(schema, nullptr) << info->op << " of opset " << opset;
      const std::string what = absl::StrCat(info->op, " of opset ", opset);
      // (Resize-11: exporters leave out roi and scales, which opset 13 allows.)
      if (std::string(info->op) != "Resize") {
        EXPECT_GE(info->min_inputs, schema->min_input()) << what;
      }
      EXPECT_LE(info->max_inputs, schema->max_input()) << what;
      EXPECT_LE(info->max_outputs, schema->max_output()) << what;
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
