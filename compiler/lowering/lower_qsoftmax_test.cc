// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax on the card: the reference divides, the card multiplies by
// the reciprocal of the row's sum.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

struct Case {
  Shape shape;
  int64_t axis = -1, opset = 13;
  float xs = 0.043f, ys = 1 / 256.0f;
  bool zero = true;
};

TensorData Code(DataType type, int value) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = static_cast<uint8_t>(value);
  return data;
}

std::string Model(DataType type, const Case& c) {
  ModelBuilder b;
  b.Input("x", type, c.shape);
  b.Constant("xs", Floats({}, {c.xs}));
  b.Constant("xz", Code(type, 131));
  b.Constant("ys", Floats({}, {c.ys}));
  b.Constant("yz", Code(type, type == DataType::kInt8 ? -128 : 3));
  auto* node =
      b.Node("QLinearSoftmax", {"x", "xs", c.zero ? "xz" : "", "ys", "yz"},
             {"y"}, "com.microsoft");
  SetInt(node, "axis", c.axis);
  SetInt(node, "opset", c.opset);
  b.Output("y");
  return b.Bytes();
}

class QSoftmax : public testing::TestWithParam<DataType> {};

TEST_P(QSoftmax, EveryFormAndSize) {
  const DataType type = GetParam();
  CardCase sizes;
  sizes.sram_bytes = {0, 64 << 10, 16 << 10};
  for (const Case& c :
       std::vector<Case>{{{3, 10}},
                         {{3, 10}, -1, 13, 0.043f, 0.0041f},
                         {{2, 5, 7, 6}, 1, 13, 0.043f, 0.01f, false},
                         {{2, 5, 7, 6}, 1, 12, 0.043f, 0.001f},
                         {{1, 1000}, 1, 13, 0.043f, 0.003f},
                         {{2, 4, 33, 40}, -1, 13, 0.043f, 0.01f},
                         {{300, 3}, 0, 13, 0.043f, 1 / 255.0f},
                         {{150, 70}, -1, 13, 0.01f, 1 / 255.0f}}) {
    SCOPED_TRACE(absl::StrCat(ShapeToString(c.shape), " axis ", c.axis));
    ExpectCardEqualsReference(Model(type, c), {RandomData(type, c.shape, 7)},
                              sizes);
  }
}

// From nearly equal exponentials to one that is all of the sum, from results
// that are all 0 to such as only a division gives.
TEST_P(QSoftmax, EveryScale) {
  const DataType type = GetParam();
  for (float xs : {1e-6f, 0.001f, 0.2f, 1.0f, 30.0f, 1e6f}) {
    for (float ys : {3.0f, 0.5f, 1 / 256.0f, 1e-4f, 1e-9f, 1e-38f}) {
      SCOPED_TRACE(absl::StrCat(xs, " ", ys));
      const Case c = {{4, 37}, -1, 13, xs, ys};
      ExpectCardEqualsReference(Model(type, c), {RandomData(type, c.shape, 7)});
    }
  }
}

// A gather takes a cycle per element, and keeps groups from running together.
TEST_P(QSoftmax, GathersNothing) {
  auto result = CompileOnnx(Model(GetParam(), {{64, 128}}), {});
  ASSERT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  ASSERT_TRUE(package.ok()) << package.status();
  const std::vector<uint32_t>& words = package->streams[0];
  for (size_t at = 0; at < words.size();) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    ASSERT_TRUE(command.ok()) << command.status();
    if (const auto* run = std::get_if<isa::Vrun>(&*command)) {
      EXPECT_FALSE(run->gather_a);
    }
    at += isa::WordsOf(*command);
  }
}

// Per 16 elements the programs take: largest code 1 and a tree per row, index
// 1, four bytes 4, sum 1, result 6. Rows are long, and still some vectors of
// them are done at a time. The rest is what the timeline counts as waiting.
TEST_P(QSoftmax, TakesFewCyclesPerElement) {
  auto result = CompileOnnx(Model(GetParam(), {{512, 512}}), {});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const LayerReport& layer : result->report.layers) {
    EXPECT_LE(layer.busy_cycles[3], 45u * 512 * 512 / 16) << layer.op;
  }
}

INSTANTIATE_TEST_SUITE_P(All, QSoftmax,
                         testing::Values(DataType::kUint8, DataType::kInt8),
                         [](const auto& info) {
                           return std::string(DataTypeName(info.param));
                         });

}  // namespace
}  // namespace heddle::compiler
