// SPDX-License-Identifier: Apache-2.0
// The attributes of ONNX's operators against ONNX's own definitions: an
// attribute that is refused as none of the operator's must not be one. Of the
// opsets that libonnx-dev has; for the others see opset_changes_test.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>
#include <string>

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

}  // namespace
}  // namespace heddle::compiler
