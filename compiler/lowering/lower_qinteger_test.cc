// SPDX-License-Identifier: Apache-2.0
// Products of codes on the card: int32 and fp32 results, stacks of matrices,
// computed second operands, zero points that are constant, absent or computed.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

CardCase Sizes() {
  CardCase options;
  options.sram_bytes = {0, 16 << 10};
  return options;
}

// How an input of the node is given.
enum class Given { kAbsent, kConstant, kComputed };

// A model of one node whose inputs are added one by one.
class OneNode {
 public:
  void Add(const TensorData& data, Given given) {
    const std::string name = absl::StrCat("i", names_.size());
    if (given == Given::kAbsent) {
      names_.push_back("");
      return;
    }
    names_.push_back(name);
    if (given == Given::kConstant) {
      model_.Constant(name, data);
    } else {
      model_.Input(name, data.type, data.shape);
      inputs_.push_back(data);
    }
  }
  void Code(DataType type, int value, Given given = Given::kConstant) {
    TensorData data = TensorData::Zeros(type, {});
    data.bytes[0] = static_cast<uint8_t>(value);
    Add(data, given);
  }
  void Scale(float value, Given given = Given::kConstant) {
    Add(Floats({}, {value}), given);
  }
  onnx::NodeProto* Node(const std::string& op, const std::string& domain = "") {
    while (names_.back().empty()) names_.pop_back();
    model_.Output("y");
    return model_.Node(op, names_, {"y"}, domain);
  }
  void Check() { ExpectCardEqualsReference(model_.Bytes(), inputs_, Sizes()); }

 private:
  ModelBuilder model_;
  std::vector<std::string> names_;
  std::vector<TensorData> inputs_;
};

class Products : public testing::TestWithParam<std::tuple<DataType, DataType>> {
};

TEST_P(Products, MatMulInteger) {
  const auto [ta, tb] = GetParam();
  struct Case {
    Shape a, b;
    Given b_given;
  };
  const std::vector<Case> cases = {
      {{5, 37}, {37, 19}, Given::kConstant},
      {{5, 37}, {37, 19}, Given::kComputed},
      {{2, 3, 5, 33}, {33, 70}, Given::kConstant},
      {{2, 3, 5, 33}, {2, 3, 33, 17}, Given::kComputed},
      {{2, 1, 5, 33}, {3, 33, 17}, Given::kComputed},
      {{3, 5, 16}, {3, 16, 8}, Given::kConstant},
      {{5, 16}, {3, 16, 8}, Given::kComputed},
      {{37}, {37, 19}, Given::kComputed},
      {{5, 37}, {37}, Given::kComputed},
      {{37}, {37}, Given::kConstant},
  };
  for (const Case& c : cases) {
    for (Given az : {Given::kAbsent, Given::kConstant, Given::kComputed}) {
      for (Given bz : {Given::kAbsent, Given::kConstant, Given::kComputed}) {
        // Equal, or one of them computed and the other absent.
        if (az != bz && (az == Given::kConstant || bz == Given::kConstant)) {
          continue;
        }
        SCOPED_TRACE(absl::StrCat(ShapeToString(c.a), ShapeToString(c.b),
                                  static_cast<int>(az), static_cast<int>(bz)));
        OneNode node;
        node.Add(RandomData(ta, c.a, 1), Given::kComputed);
        node.Add(RandomData(tb, c.b, 2), c.b_given);
        node.Code(ta, 131, az);
        if (bz == Given::kConstant && c.b.size() > 1) {
          node.Add(RandomData(tb, {c.b.back()}, 3), bz);
        } else {
          node.Code(tb, 140, bz);
        }
        node.Node("MatMulInteger");
        node.Check();
      }
    }
  }
}

TEST_P(Products, ConvInteger) {
  const auto [ta, tb] = GetParam();
  struct Case {
    Shape x, w;
    std::vector<int64_t> strides, pads;
    int64_t group;
  };
  const std::vector<Case> cases = {
      {{2, 19, 9, 11}, {21, 19, 3, 3}, {1, 1}, {1, 1, 1, 1}, 1},
      {{1, 3, 9, 11}, {40, 3, 3, 2}, {2, 2}, {0, 0, 0, 0}, 1},
      {{2, 20, 8, 8}, {20, 1, 3, 3}, {1, 2}, {1, 0, 1, 2}, 20},
      {{2, 12, 8, 8}, {18, 4, 1, 3}, {1, 1}, {0, 1, 0, 1}, 3},
      {{2, 5, 30}, {7, 5, 4}, {2}, {1, 2}, 1},
  };
  for (const Case& c : cases) {
    for (Given xz : {Given::kAbsent, Given::kConstant, Given::kComputed}) {
      for (bool per_map : {false, true}) {
        SCOPED_TRACE(absl::StrCat(ShapeToString(c.x), ShapeToString(c.w),
                                  static_cast<int>(xz)));
        OneNode node;
        node.Add(RandomData(ta, c.x, 1), Given::kComputed);
        node.Add(RandomData(tb, c.w, 2), Given::kConstant);
        node.Code(ta, 99, xz);
        if (per_map) {
          node.Add(RandomData(tb, {c.w[0]}, 3), Given::kConstant);
        } else {
          node.Code(tb, 140);
        }
        auto* conv = node.Node("ConvInteger");
        SetInts(conv, "strides", c.strides);
        SetInts(conv, "pads", c.pads);
        SetInt(conv, "group", c.group);
        node.Check();
      }
    }
  }
}

TEST_P(Products, MatMulIntegerToFloat) {
  const auto [ta, tb] = GetParam();
  for (Given bias : {Given::kAbsent, Given::kConstant, Given::kComputed}) {
    for (Given parameters : {Given::kConstant, Given::kComputed}) {
      for (bool stack : {false, true}) {
        OneNode node;
        const Shape b = stack ? Shape{2, 40, 21} : Shape{40, 21};
        node.Add(RandomData(ta, {2, 7, 40}, 1), Given::kComputed);
        node.Add(RandomData(tb, b, 2),
                 stack ? Given::kComputed : Given::kConstant);
        node.Scale(0.013f, parameters);
        node.Add(RandomData(DataType::kFloat, {21}, 3, 0.001f, 0.1f),
                 Given::kConstant);
        node.Code(ta, 17, parameters);
        node.Code(tb, 3, Given::kConstant);
        node.Add(RandomData(DataType::kFloat, {21}, 4), bias);
        node.Node("MatMulIntegerToFloat", kMicrosoft);
        node.Check();
      }
    }
  }
}

TEST_P(Products, QLinearMatMul) {
  const auto [ta, tb] = GetParam();
  if (ta == DataType::kInt8 && tb == DataType::kUint8) return;
  struct Case {
    Shape a, b;
    Given given;
  };
  for (const Case& c : std::vector<Case>{
           {{5, 37}, {37, 19}, Given::kComputed},
           {{2, 5, 37}, {37, 19}, Given::kConstant},
           {{2, 3, 5, 37}, {2, 3, 37, 40}, Given::kComputed},
           {{2, 3, 5, 37}, {3, 37, 40}, Given::kConstant},
           {{1, 5, 37}, {4, 37, 9}, Given::kComputed},
           {{37}, {37, 9}, Given::kComputed},
           {{40, 64}, {64, 300}, Given::kComputed},
       }) {
    SCOPED_TRACE(absl::StrCat(ShapeToString(c.a), ShapeToString(c.b)));
    OneNode node;
    node.Add(RandomData(ta, c.a, 1), Given::kComputed);
    node.Scale(0.02f);
    node.Code(ta, 113);
    node.Add(RandomData(tb, c.b, 2), c.given);
    node.Add(RandomData(DataType::kFloat, {c.b.back()}, 3, 0.01f, 0.02f),
             Given::kConstant);
    node.Add(RandomData(tb, {c.b.back()}, 4), Given::kConstant);
    node.Scale(0.3f);
    node.Code(ta, 120);
    node.Node("QLinearMatMul");
    node.Check();
  }
}

TEST_P(Products, QGemmWithEveryInput) {
  const auto [ta, tb] = GetParam();
  if (ta == DataType::kInt8 && tb == DataType::kUint8) return;
  for (int variant = 0; variant < 64; variant += 5) {
    const bool trans_a = variant & 1, trans_b = variant & 2;
    const Given b = variant & 4 ? Given::kComputed : Given::kConstant;
    const bool to_float = variant & 8;
    const int c = variant >> 4;
    SCOPED_TRACE(variant);
    OneNode node;
    node.Add(RandomData(ta, trans_a ? Shape{37, 6} : Shape{6, 37}, 1),
             Given::kComputed);
    node.Scale(0.02f);
    node.Code(ta, 113);
    node.Add(RandomData(tb, trans_b ? Shape{21, 37} : Shape{37, 21}, 2), b);
    node.Add(RandomData(DataType::kFloat, {21}, 3, 0.01f, 0.02f),
             Given::kConstant);
    node.Code(tb, 125);
    const Shape shapes[] = {{}, {21}, {6, 1}, {6, 21}};
    node.Add(RandomData(DataType::kInt32, shapes[c], 5, -30000, 30000),
             c == 0   ? Given::kAbsent
             : c == 3 ? Given::kComputed
                      : Given::kConstant);
    if (!to_float) {
      node.Scale(0.3f);
      node.Code(ta, 120);
    }
    auto* gemm = node.Node("QGemm", kMicrosoft);
    SetFloat(gemm, "alpha", 1.5f);
    SetInt(gemm, "transA", trans_a);
    SetInt(gemm, "transB", trans_b);
    node.Check();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Products,
    testing::Combine(testing::Values(DataType::kUint8, DataType::kInt8),
                     testing::Values(DataType::kUint8, DataType::kInt8)),
    [](const auto& info) {
      return std::string(DataTypeName(std::get<0>(info.param))) + "_" +
             DataTypeName(std::get<1>(info.param));
    });

TEST(DynamicQuantizeLinear, RangesAndEdges) {
  for (const Shape& shape : {Shape{2, 3, 17, 19}, Shape{5, 4097}, Shape{1},
                             Shape{}, Shape{2, 40, 9, 11}, Shape{53, 1}}) {
    for (const auto& [low, high] :
         {std::pair{-4.0f, 4.0f}, {1.0f, 3.0f}, {-5.0f, -2.0f}, {0.0f, 0.0f}}) {
      SCOPED_TRACE(absl::StrCat(ShapeToString(shape), low));
      ModelBuilder b;
      b.Input("x", DataType::kFloat, shape);
      b.Node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"});
      b.Output("y");
      b.Output("s");
      b.Output("z");
      ExpectCardEqualsReference(
          b.Bytes(), {RandomData(DataType::kFloat, shape, 9, low, high)},
          Sizes());
    }
  }
}

TEST(DynamicQuantizeLinear, FeedsProducts) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 6, 40});
  b.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  b.Constant("w", RandomData(DataType::kInt8, {40, 33}, 2));
  b.Constant("wz", Int8s({}, {3}));
  b.Node("MatMulInteger", {"q", "w", "z", "wz"}, {"y"});
  b.Output("y");
  ExpectCardEqualsReference(
      b.Bytes(), {RandomData(DataType::kFloat, {2, 6, 40}, 5)}, Sizes());
  ModelBuilder c;
  c.Input("x", DataType::kFloat, {1, 6, 9, 8});
  c.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  c.Constant("w", RandomData(DataType::kUint8, {5, 6, 3, 3}, 2));
  c.Constant("wz", Uint8s({}, {130}));
  SetInts(c.Node("ConvInteger", {"q", "w", "z", "wz"}, {"y"}), "pads",
          {1, 1, 1, 1});
  c.Output("y");
  ExpectCardEqualsReference(
      c.Bytes(), {RandomData(DataType::kFloat, {1, 6, 9, 8}, 5)}, Sizes());
}

// What a product with one second operand makes is one matrix of all rows, also
// for a product that takes a stack of them.
TEST(MatMulInteger, TakesAStackFromOneMatrix) {
  const Shape x = {1, 4, 10, 1};
  ModelBuilder b;
  b.Input("x", DataType::kUint8, x);
  b.Constant("s", Floats({}, {0.02f}));
  b.Constant("z", Uint8s({}, {120}));
  b.Constant("w", RandomData(DataType::kInt8, {1, 16}, 2));
  b.Constant("wz", Int8s({}, {3}));
  b.Node("QLinearMatMul", {"x", "s", "z", "w", "s", "wz", "s", "z"}, {"y"});
  b.Constant("v", RandomData(DataType::kInt8, {1, 4, 16, 3}, 4));
  b.Node("MatMulInteger", {"y", "v", "z"}, {"sums"});
  b.Output("sums");
  ExpectCardEqualsReference(b.Bytes(), {RandomData(DataType::kUint8, x, 5)},
                            Sizes());
}

TEST(LowerQInteger, Attention) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {2, 5, 20});
  b.Input("mask", DataType::kInt32, {2, 5});
  b.Constant("w", RandomData(DataType::kInt8, {20, 3 * 12}, 2));
  b.Constant("bias", RandomData(DataType::kFloat, {3 * 12}, 3));
  b.Constant("x_scale", Floats({}, {0.01f}));
  b.Constant("w_scale", RandomData(DataType::kFloat, {3 * 12}, 4, 0, 0.02f));
  TensorData zero = TensorData::Zeros(DataType::kUint8, {});
  zero.bytes[0] = 128;
  b.Constant("zero", zero);
  SetInt(b.Node("QAttention",
                {"x", "w", "bias", "x_scale", "w_scale", "mask", "zero"}, {"y"},
                "com.microsoft"),
         "num_heads", 3);
  b.Output("y");
  ExpectCardEqualsReference(b.Bytes(),
                            {RandomData(DataType::kUint8, {2, 5, 20}, 5),
                             Int32s({2, 5}, {1, 1, 1, 0, 0, 1, 0, 1, 1, 1})});
}

}  // namespace
}  // namespace heddle::compiler
