// SPDX-License-Identifier: Apache-2.0
// QLinearSigmoid, QLinearLeakyRelu and QLinearConcat on the card.
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
  options.sram_bytes = {0, 64 << 10, 16 << 10};
  return options;
}

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

class Tables : public testing::TestWithParam<DataType> {};

TEST_P(Tables, AllCodesInAllShapes) {
  const DataType type = GetParam();
  for (const char* op : {"QLinearSigmoid", "QLinearLeakyRelu"}) {
    for (const Shape& shape :
         {Shape{2, 37, 9, 11}, Shape{3, 300}, Shape{256}, Shape{2, 40, 13},
          Shape{2, 3, 4, 5, 6}, Shape{1, 1500, 1, 1}, Shape{}}) {
      SCOPED_TRACE(absl::StrCat(op, ShapeToString(shape)));
      ModelBuilder b;
      b.Input("x", type, shape);
      b.Constant("xs", Floats({}, {0.043f}));
      b.Constant("xz", Code(type, 131));
      b.Constant("ys", Floats({}, {1 / 255.0f}));
      b.Constant("yz", Code(type, 3));
      auto* node = b.Node(op, {"x", "xs", "xz", "ys", "yz"}, {"y"}, kMicrosoft);
      if (node->op_type() == "QLinearLeakyRelu") SetFloat(node, "alpha", 0.1f);
      b.Output("y");
      TensorData x = RandomData(type, shape, 7);
      if (shape.size() == 1) {
        for (int i = 0; i < 256; ++i) x.bytes[i] = static_cast<uint8_t>(i);
      }
      ExpectCardEqualsReference(b.Bytes(), {x}, Sizes());
    }
  }
}

TEST_P(Tables, ConcatAlongEveryAxis) {
  const DataType type = GetParam();
  struct Case {
    Shape shape;
    int64_t axis;
    std::vector<int64_t> counts;
  };
  const std::vector<Case> cases = {
      {{2, 0, 6, 7}, 1, {16, 32, 5}},  {{2, 0, 6, 7}, 1, {3, 20, 1, 17, 16}},
      {{2, 5, 0, 7}, 2, {3, 1, 6}},    {{2, 20, 3, 0}, -1, {4, 1, 9}},
      {{0, 20, 3, 4}, 0, {1, 2}},      {{0, 33}, 0, {2, 1}},
      {{3, 0}, 1, {17, 5, 40}},        {{0}, 0, {5, 6, 30}},
      {{2, 0, 6}, 1, {18, 4}},         {{2, 9, 0}, 2, {6, 3}},
      {{2, 0, 2, 3, 2}, 1, {3, 2}},    {{1, 2, 0, 3, 2}, 2, {3, 2}},
      {{1, 0, 31, 29}, 1, {7, 24, 3}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StrCat(ShapeToString(c.shape), " axis ", c.axis));
    ModelBuilder b;
    b.Constant("ys", Floats({}, {0.04f}));
    b.Constant("yz", Code(type, 100));
    std::vector<std::string> names = {"ys", "yz"};
    std::vector<TensorData> inputs;
    for (size_t i = 0; i < c.counts.size(); ++i) {
      const std::string x = absl::StrCat("x", i);
      Shape shape = c.shape;
      shape[c.axis < 0 ? shape.size() - 1 : c.axis] = c.counts[i];
      b.Input(x, type, shape);
      inputs.push_back(RandomData(type, shape, 10 + i));
      // Part 1 has the parameters of the result.
      b.Constant(x + "s", Floats({}, {i == 1 ? 0.04f : 0.03f + 0.01f * i}));
      b.Constant(x + "z", Code(type, i == 1 ? 100 : 90 + static_cast<int>(i)));
      names.insert(names.end(), {x, x + "s", x + "z"});
    }
    SetInt(b.Node("QLinearConcat", names, {"y"}, kMicrosoft), "axis", c.axis);
    b.Output("y");
    ExpectCardEqualsReference(b.Bytes(), inputs, Sizes());
  }
}

// Parts with the result's parameters are computed in their place: those made on
// the way, but not an input, not the same part again; a part that is read
// elsewhere or is an output, and a concatenation in another, are.
TEST_P(Tables, PartsInTheirPlace) {
  const DataType type = GetParam();
  for (const Shape& map : {Shape{9, 11}, Shape{1, 1}, Shape{40, 33}}) {
    SCOPED_TRACE(ShapeToString(map));
    ModelBuilder b;
    b.Constant("s", Floats({}, {0.04f}));
    b.Constant("z", Code(type, 100));
    const auto input = [&](const std::string& name, int64_t channels) {
      b.Input(name, type, {1, channels, map[0], map[1]});
      return RandomData(type, {1, channels, map[0], map[1]}, channels);
    };
    const auto leaky = [&](const std::string& from, const std::string& to) {
      SetFloat(b.Node("QLinearLeakyRelu", {from, "s", "z", "s", "z"}, {to},
                      kMicrosoft),
               "alpha", 0.3f);
    };
    const auto concat = [&](const std::vector<std::string>& parts,
                            const std::string& to) {
      std::vector<std::string> names = {"s", "z"};
      for (const std::string& part : parts) {
        names.insert(names.end(), {part, "s", "z"});
      }
      SetInt(b.Node("QLinearConcat", names, {to}, kMicrosoft), "axis", 1);
    };
    const std::vector<TensorData> inputs = {input("x", 32), input("y", 16),
                                            input("w", 21)};
    leaky("x", "a");
    leaky("y", "b");
    leaky("w", "c");
    concat({"a", "y", "b", "a"}, "first");
    leaky("b", "d");
    leaky("first", "e");
    concat({"d", "first", "c"}, "second");
    // 21 channels: what follows does not begin with a word.
    concat({"c", "e"}, "third");
    b.Output("b").Output("second").Output("third").Output("first");
    ExpectCardEqualsReference(b.Bytes(), inputs, Sizes());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Tables,
                         testing::Values(DataType::kUint8, DataType::kInt8),
                         [](const auto& info) {
                           return std::string(DataTypeName(info.param));
                         });

}  // namespace
}  // namespace heddle::compiler
