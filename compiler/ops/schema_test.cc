// SPDX-License-Identifier: Apache-2.0
// The attributes of ONNX's operators against ONNX's own definitions: an
// attribute that is refused as none of the operator's must not be one. Of the
// opsets that libonnx-dev has; for the others see opset_changes_test.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/opset_changes.h"
#include "compiler/ops/type_variables.h"

namespace heddle::compiler {
namespace {

// ONNX Runtime's optimizers write these in ONNX's domain, too; ONNX does not
// know them, or not in the opset. Nor those that it has dropped
// (experimental.cc).
bool IsOfOnnx(const OperatorInfo& info) {
  static const auto* const dropped =
      new std::set<std::string>{"Affine",
                                "Crop",
                                "DynamicSlice",
                                "ImageScaler",
                                "MeanVarianceNormalization",
                                "ParametricSoftplus",
                                "Scale",
                                "ScaledTanh",
                                "ThresholdedRelu"};
  const std::string op = info.op;
  return info.domain[0] == '\0' && op != "SimplifiedLayerNormalization" &&
         (op != "LayerNormalization" || info.since_version >= 17) &&
         (info.until_version > 9 || dropped->count(op) == 0);
}

TEST(Schema, EveryAttributeIsKnown) {
  int versions = 0;
  for (const OperatorInfo* info : AllOperators()) {
    if (!IsOfOnnx(*info)) continue;
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
    if (!IsOfOnnx(*info)) continue;
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
    if (!IsOfOnnx(*info)) continue;
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

// Two inputs have one type variable where ONNX's definition has one.
TEST(Schema, InputsOfOneTypeAreKnown) {
  for (const OperatorInfo* info : AllOperators()) {
    if (!IsOfOnnx(*info)) continue;
    const int last = std::min(info->until_version, kFirstRecordedOpset - 1);
    for (int opset = info->since_version; opset <= last; ++opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(info->op, opset, "");
      ASSERT_NE(schema, nullptr) << info->op << " of opset " << opset;
      const std::string what = absl::StrCat(info->op, " of opset ", opset);
      const std::string known = TypeVariablesOf(info->op, opset);
      const auto& inputs = schema->inputs();
      const bool variadic =
          !inputs.empty() && inputs.back().GetIsHomogeneous() &&
          inputs.back().GetOption() == onnx::OpSchema::Variadic;
      EXPECT_EQ(!known.empty() && known.back() == '*', variadic) << what;
      for (size_t i = 0; i < inputs.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
          const std::string type = inputs[i].GetTypeStr();
          const bool one = type == inputs[k].GetTypeStr() &&
                           type.find('(') == std::string::npos;
          const bool ours =
              i < known.size() && known[i] != '.' && known[i] == known[k];
          EXPECT_EQ(ours, one) << what << ": inputs " << k << " and " << i;
        }
      }
    }
  }
}

// A node of `info` with all inputs of the first type that is accepted, but one,
// `other`, of the second; empty if nothing else is accepted beside input `one`.
std::optional<std::pair<Graph, Node>> WithTwoTypes(const OperatorInfo& info,
                                                   size_t one, size_t other) {
  const auto types = [&](size_t i) {
    return info.input_types[std::min(i, info.input_types.size() - 1)];
  };
  const auto find = [](TypeSet set, int skip) {
    for (int t = 1; t <= static_cast<int>(kLastDataType); ++t) {
      const auto type = static_cast<DataType>(t);
      if (Contains(set, type) && skip-- == 0) return type;
    }
    return DataType::kUndefined;
  };
  const TypeSet both = types(one) & types(other);
  if (find(both, 1) == DataType::kUndefined) return std::nullopt;
  std::pair<Graph, Node> made;
  auto& [graph, node] = made;
  node.op = info.op;
  node.opset = info.since_version;
  const auto count =
      std::max(static_cast<size_t>(info.min_inputs), std::max(one, other) + 1);
  for (size_t i = 0; i < count; ++i) {
    Tensor tensor;
    tensor.name = absl::StrCat("x", i);
    tensor.type = i == other ? find(both, 1)
                  : i == one ? find(both, 0)
                             : find(types(i), 0);
    tensor.shape = {1, 1, 1, 1};
    tensor.shape_known = true;
    node.inputs.push_back(graph.AddTensor(tensor));
  }
  Tensor output;
  output.name = "y";
  node.outputs = {graph.AddTensor(output)};
  for (const AttributeRule& rule : info.attributes) {
    if (!rule.required) continue;
    switch (rule.kind) {
      case AttributeKind::kInt:
        node.attributes[rule.name] = int64_t{1};
        break;
      case AttributeKind::kString:
        node.attributes[rule.name] = std::string();
        break;
      case AttributeKind::kInts:
        node.attributes[rule.name] = std::vector<int64_t>{1};
        break;
      case AttributeKind::kFloats:
        node.attributes[rule.name] = std::vector<float>{1};
        break;
      default:
        node.attributes[rule.name] = 1.0f;
    }
  }
  return made;
}

TEST(Schema, InputsOfTwoTypesAreRefused) {
  int refused = 0;
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    const std::string variables =
        TypeVariablesOf(info->op, info->since_version);
    for (size_t i = 0; i < variables.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const bool variadic = variables[i] == '*';
        if (variables[i] == '.' ||
            (!variadic && variables[i] != variables[k]) ||
            i >= static_cast<size_t>(info->max_inputs)) {
          continue;
        }
        const auto made = WithTwoTypes(*info, k, i);
        if (!made) continue;
        const absl::Status status = CheckNode(made->first, made->second);
        EXPECT_EQ(RejectionOf(status), Rejection::kInvalidModel)
            << info->op << " of opset " << info->since_version << ": "
            << status;
        EXPECT_TRUE(absl::StrContains(status.message(), "one type"))
            << info->op << ": " << status;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 150);
}

// A definition's rule, on the page, holds for all of its opsets.
TEST(Schema, NoDefinitionHasTwoRowsOfTypeVariables) {
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    EXPECT_STREQ(TypeVariablesOf(info->op, info->since_version),
                 TypeVariablesOf(info->op, info->until_version))
        << info->op << " of opsets " << info->since_version << " to "
        << info->until_version;
  }
}

}  // namespace
}  // namespace heddle::compiler
