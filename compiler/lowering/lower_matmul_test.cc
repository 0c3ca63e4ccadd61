// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

const CardCase kSizes = {{0, 16 << 10, 64 << 10}};
const CardCase kNoRejection = {{0, 16 << 10, 64 << 10}, false};

// One operand can be a constant.
enum class Constant { kNone, kA, kB };

void CheckMatMul(const Shape& a, const Shape& b,
                 Constant constant = Constant::kNone,
                 DataType type = DataType::kFloat,
                 const CardCase& options = kSizes) {
  SCOPED_TRACE(ShapeToString(a) + ShapeToString(b));
  ModelBuilder m;
  std::vector<TensorData> inputs;
  const auto add = [&](const char* name, const Shape& shape, bool is_constant) {
    const TensorData data = RandomData(type, shape, name[0], -1, 1);
    if (is_constant) {
      m.Constant(name, data);
    } else {
      m.Input(name, type, shape);
      inputs.push_back(data);
    }
  };
  add("a", a, constant == Constant::kA);
  add("b", b, constant == Constant::kB);
  m.Node("MatMul", {"a", "b"}, {"sum"});
  m.Node("Relu", {"sum"}, {"y"});
  m.Output("y");
  ExpectCardEqualsReference(m.Bytes(), inputs, options);
}

TEST(LowerMatMulTest, Matrices) {
  for (const Constant c : {Constant::kNone, Constant::kA, Constant::kB}) {
    CheckMatMul({5, 7}, {7, 3}, c);
    CheckMatMul({1, 40}, {40, 33}, c);
    CheckMatMul({40, 33}, {33, 1}, c);
    CheckMatMul({20, 16}, {16, 50}, c, DataType::kFloat16);
  }
}

TEST(LowerMatMulTest, Vectors) {
  CheckMatMul({7}, {7, 3});
  CheckMatMul({5, 7}, {7});
  CheckMatMul({7}, {7});
  CheckMatMul({7}, {3, 7, 4});
  CheckMatMul({3, 5, 7}, {7});
  CheckMatMul({2, 3, 5, 7}, {7}, Constant::kB);
}

TEST(LowerMatMulTest, Stacks) {
  for (const Constant c : {Constant::kNone, Constant::kA, Constant::kB}) {
    CheckMatMul({3, 5, 7}, {3, 7, 4}, c);
    CheckMatMul({2, 3, 5, 7}, {2, 3, 7, 4}, c);
    CheckMatMul({2, 3, 5, 7}, {7, 4}, c);
    CheckMatMul({5, 7}, {2, 3, 7, 4}, c);
    CheckMatMul({2, 1, 5, 7}, {1, 3, 7, 4}, c);
    CheckMatMul({2, 3, 1, 5, 7}, {3, 4, 7, 4}, c);
    CheckMatMul({2, 1, 2, 1, 5, 7}, {3, 1, 2, 7, 2}, c);
    CheckMatMul({1, 4, 5, 7}, {2, 1, 7, 3}, c);
  }
  CheckMatMul({4, 9, 16}, {4, 16, 9}, Constant::kNone, DataType::kFloat16);
}

TEST(LowerMatMulTest, LongReductions) {
  CheckMatMul({3, 1500}, {1500, 40}, Constant::kB, DataType::kFloat, kSizes);
  CheckMatMul({2, 700}, {700, 40}, Constant::kB, DataType::kFloat,
              kNoRejection);
  CheckMatMul({2, 700}, {700, 40}, Constant::kB, DataType::kFloat16,
              kNoRejection);
  // b is computed, and cut along k.
  CheckMatMul({9, 300}, {300, 30}, Constant::kNone, DataType::kFloat,
              kNoRejection);
  CheckMatMul({3, 9, 300}, {3, 300, 20}, Constant::kNone, DataType::kFloat16,
              kNoRejection);
  CheckMatMul({9, 30}, {30, 300}, Constant::kNone, DataType::kFloat,
              kNoRejection);
  // Rows of a in pieces; longer than a loop counter.
  CheckMatMul({2, 5000}, {5000, 3}, Constant::kNone, DataType::kFloat,
              kNoRejection);
  CheckMatMul({1, 70000}, {70000, 1}, Constant::kB, DataType::kFloat,
              {{0}, false});
}

struct GemmCase {
  Shape a, b, c;
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;
};

void CheckGemm(const GemmCase& g, bool computed, DataType type,
               const CardCase& options = kSizes) {
  SCOPED_TRACE(ShapeToString(g.a) + ShapeToString(g.b) + ShapeToString(g.c));
  ModelBuilder m;
  std::vector<TensorData> inputs;
  const auto add = [&](const char* name, const Shape& shape, bool is_input) {
    const TensorData data = RandomData(type, shape, name[0], -1, 1);
    if (!is_input) {
      m.Constant(name, data);
    } else {
      m.Input(name, type, shape);
      inputs.push_back(data);
    }
  };
  add("a", g.a, true);
  add("b", g.b, computed);
  std::vector<std::string> in = {"a", "b"};
  if (g.c != Shape{0}) {
    add("c", g.c, computed);
    in.push_back("c");
  }
  onnx::NodeProto* node = m.Node("Gemm", in, {"sum"});
  SetInt(node, "transA", g.trans_a);
  SetInt(node, "transB", g.trans_b);
  SetFloat(node, "alpha", g.alpha);
  SetFloat(node, "beta", g.beta);
  m.Node("Relu", {"sum"}, {"y"});
  m.Output("y");
  ExpectCardEqualsReference(m.Bytes(), inputs, options);
}

TEST(LowerMatMulTest, Gemm) {
  for (const DataType type : {DataType::kFloat, DataType::kFloat16}) {
    for (const bool computed : {false, true}) {
      for (const bool ta : {false, true}) {
        for (const bool tb : {false, true}) {
          const Shape a = ta ? Shape{9, 6} : Shape{6, 9};
          const Shape b = tb ? Shape{21, 9} : Shape{9, 21};
          CheckGemm({a, b, {21}, ta, tb}, computed, type);
          CheckGemm({a, b, {6, 1}, ta, tb, 0.5, 2}, computed, type, {{0}});
          CheckGemm({a, b, {0}, ta, tb, 3}, computed, type, {{0}});
        }
      }
      CheckGemm({{6, 9}, {9, 21}, {6, 21}, false, false, 1, 0.25}, computed,
                type);
      CheckGemm({{6, 9}, {9, 21}, {}, false, false}, computed, type);
      CheckGemm({{6, 9}, {9, 21}, {1, 21}, false, false, 2, 1}, computed, type);
      CheckGemm({{1, 9}, {9, 21}, {1, 1}, false, false}, computed, type);
    }
  }
}

TEST(LowerMatMulTest, GemmLargerThanSram) {
  for (const bool computed : {false, true}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const Shape a = ta ? Shape{200, 30} : Shape{30, 200};
        const Shape b = tb ? Shape{50, 200} : Shape{200, 50};
        CheckGemm({a, b, {50}, ta, tb}, computed, DataType::kFloat,
                  kNoRejection);
        CheckGemm({a, b, {50}, ta, tb}, computed, DataType::kFloat16,
                  {{16 << 10}, false});
      }
    }
  }
}

TEST(LowerMatMulTest, ClampIsFusedAndBiasIsTheFirstAddend) {
  ModelBuilder m;
  m.Input("a", DataType::kFloat, {4, 8});
  m.Constant("b", RandomData(DataType::kFloat, {8, 16}, 1));
  m.Constant("c", RandomData(DataType::kFloat, {16}, 2));
  m.Node("Gemm", {"a", "b", "c"}, {"sum"});
  m.Node("Relu", {"sum"}, {"y"});
  m.Output("y");
  auto result = CompileOnnx(m.Bytes(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.layers.size(), 1u);
}

}  // namespace
}  // namespace heddle::compiler
