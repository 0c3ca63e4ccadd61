// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/bfloat16.h"

#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int kLastOfLibonnx = 17;

// ONNX's own: the first opset with bfloat16, of what computes.
TEST(Bfloat16, IsTakenFromTheOpsetThatHasIt) {
  int operators = 0;
  std::set<std::string> seen;
  for (const OperatorInfo* info : AllOperators()) {
    const std::string op = info->op;
    if (info->domain[0] != '\0' || !seen.insert(op).second) continue;
    int first = 0;
    for (int opset = kLastOfLibonnx; opset > 0; --opset) {
      const auto* schema = onnx::OpSchemaRegistry::Schema(op, opset, "");
      if (schema == nullptr) break;
      bool any = false;
      for (const auto& input : schema->inputs()) {
        any |= input.GetTypes().count(
                   onnx::Utils::DataTypeUtils::ToType("tensor(bfloat16)")) > 0;
      }
      if (!any) break;
      first = opset;
    }
    const int since = Bfloat16Since(op);
    if (since == 0 || since > kLastOfLibonnx) {
      // What it has and we do not convert, the definition takes.
      if (first == 0) continue;
      const OperatorInfo* own = FindOperator("", op, kLastOfLibonnx);
      ASSERT_NE(own, nullptr) << op;
      EXPECT_TRUE(own->input_types.empty() ||
                  Contains(own->input_types[0], DataType::kBfloat16) ||
                  op == "MelWeightMatrix")
          << op;
      continue;
    }
    EXPECT_EQ(since, first) << op;
    ++operators;
  }
  EXPECT_GE(operators, 55);
}

struct OfType {
  const char* name;
  int opset;
  // From "x" [2,3,4] and "w" [4] to "y".
  std::function<void(ModelBuilder*)> nodes;
};
std::function<void(ModelBuilder*)> Plain(const char* op, bool second) {
  return [=](ModelBuilder* b) {
    b->Node(op,
            second ? std::vector<std::string>{"x", "w"}
                   : std::vector<std::string>{"x"},
            {"y"});
  };
}

class Bfloat16Nodes : public testing::TestWithParam<OfType> {};

// As the same node between Casts, on the card, too.
TEST_P(Bfloat16Nodes, ComputeInFloatAndRoundOnce) {
  const auto cast = [](ModelBuilder* b, const char* from, const char* to,
                       DataType type) {
    SetInt(b->Node("Cast", {from}, {to}), "to", static_cast<int64_t>(type));
  };
  const auto model = [&](DataType type) {
    ModelBuilder b(GetParam().opset);
    b.Input("x32", DataType::kFloat, {2, 3, 4});
    b.Input("w32", DataType::kFloat, {4});
    cast(&b, "x32", "x16", DataType::kBfloat16);
    cast(&b, "w32", "w16", DataType::kBfloat16);
    cast(&b, "x16", "x", type);
    cast(&b, "w16", "w", type);
    GetParam().nodes(&b);
    cast(&b, "y", "rounded", DataType::kBfloat16);
    cast(&b, "rounded", "z", DataType::kFloat);
    b.Output("z");
    return b;
  };
  const ModelBuilder narrow = model(DataType::kBfloat16);
  const TensorData x = RandomData(DataType::kFloat, {2, 3, 4}, 1, 0.1f, 0.9f);
  const TensorData w = RandomData(DataType::kFloat, {4}, 2, 0.1f, 0.9f);
  const auto run = [&](const ModelBuilder& b) -> absl::StatusOr<TensorData> {
    const auto graph = AnalyseOnnx(b.Bytes(), {});
    if (!graph.ok()) return graph.status();
    auto values = EvaluateGraph(*graph, {x, w});
    if (!values.ok()) return values.status();
    return std::move((*values)[graph->outputs[0]]);
  };
  const auto ours = run(narrow), wide = run(model(DataType::kFloat));
  ASSERT_TRUE(ours.ok()) << ours.status();
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(ours->shape, wide->shape);
  EXPECT_TRUE(ours->bytes == wide->bytes);
  ExpectCardEqualsReference(narrow.Bytes(), {x, w});
}

INSTANTIATE_TEST_SUITE_P(
    Operators, Bfloat16Nodes,
    testing::Values(
        OfType{"Add", 13, Plain("Add", true)},
        OfType{"Div", 14, Plain("Div", true)},
        OfType{"Sqrt", 13, Plain("Sqrt", false)},
        OfType{"Erf", 13, Plain("Erf", false)},
        OfType{"Softmax", 13, Plain("Softmax", false)},
        OfType{"Gelu", 20, Plain("Gelu", false)},
        OfType{"LayerNormalization", 17, Plain("LayerNormalization", true)},
        OfType{"RMSNormalization", 23, Plain("RMSNormalization", true)},
        OfType{"Sin", 22, Plain("Sin", false)},
        OfType{"ReduceMean", 13, Plain("ReduceMean", false)},
        OfType{"MatMul", 13, Plain("MatMul", true)},
        OfType{"Where", 16,
               [](ModelBuilder* b) {
                 b->Node("Less", {"x", "w"}, {"less"});
                 b->Node("Where", {"less", "x", "w"}, {"y"});
               }},
        OfType{"ArgMax", 13,
               [](ModelBuilder* b) {
                 SetInt(b->Node("ArgMax", {"x"}, {"at"}), "axis", 2);
                 SetInt(b->Node("Cast", {"at"}, {"y"}), "to", 1);
               }}),
    [](const auto& info) { return std::string(info.param.name); });

// Results that ONNX types differently: the mean that LayerNormalization gives.
TEST(Bfloat16, ResultsHaveTheTypesOfOnnx) {
  ModelBuilder b(17);
  b.Input("x", DataType::kBfloat16, {2, 4})
      .Input("w", DataType::kBfloat16, {4});
  b.Node("LayerNormalization", {"x", "w"}, {"y", "mean", "deviation"});
  b.Node("Equal", {"y", "x"}, {"same"});
  b.Output("y").Output("mean").Output("same");
  const auto graph = AnalyseOnnx(b.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const DataType types[] = {DataType::kBfloat16, DataType::kFloat,
                            DataType::kBool};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(graph->tensors[graph->outputs[i]].type, types[i]) << i;
  }
}

TEST(Bfloat16, IsRefusedWhereOnnxHasNone) {
  const auto why = [](const char* op, int opset, DataType second) {
    ModelBuilder b(opset);
    b.Input("x", DataType::kBfloat16, {2, 4}).Input("w", second, {2, 4});
    b.Node(op, {"x", "w"}, {"y"});
    b.Output("y");
    return RejectionOf(AnalyseOnnx(b.Bytes(), {}).status());
  };
  EXPECT_EQ(why("Add", 13, DataType::kBfloat16), Rejection::kNone);
  EXPECT_NE(why("Add", 12, DataType::kBfloat16), Rejection::kNone);
  EXPECT_NE(why("Add", 13, DataType::kFloat), Rejection::kNone);
  EXPECT_NE(why("PRelu", 15, DataType::kBfloat16), Rejection::kNone);
}

}  // namespace
}  // namespace heddle::compiler
