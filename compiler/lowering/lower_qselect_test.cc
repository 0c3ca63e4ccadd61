// SPDX-License-Identifier: Apache-2.0
// QLinearWhere on the card.
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

class Select : public testing::TestWithParam<DataType> {};

TEST_P(Select, Where) {
  const DataType type = GetParam();
  struct Case {
    Shape condition, x, y;
    bool x_constant;
  };
  for (const Case& c :
       std::vector<Case>{{{2, 19, 5, 6}, {2, 19, 5, 6}, {2, 19, 5, 6}, false},
                         {{5, 1}, {19, 1, 6}, {2, 1, 5, 6}, false},
                         {{2, 1, 1, 1}, {2, 19, 5, 6}, {}, false},
                         {{1, 1, 5, 6}, {}, {2, 19, 5, 6}, true},
                         {{40}, {3, 40}, {1}, false}}) {
    for (float scale : {0.03f, 0.05f}) {
      SCOPED_TRACE(ShapeToString(c.condition));
      ModelBuilder b;
      b.Input("c", DataType::kBool, c.condition);
      std::vector<TensorData> inputs = {
          RandomData(DataType::kBool, c.condition, 3)};
      const TensorData x = RandomData(type, c.x, 4);
      if (c.x_constant) {
        b.Constant("x", x);
      } else {
        b.Input("x", type, c.x);
        inputs.push_back(x);
      }
      b.Input("y", type, c.y);
      inputs.push_back(RandomData(type, c.y, 5));
      b.Constant("xs", Floats({}, {scale}));
      b.Constant("ys", Floats({}, {0.02f}));
      b.Constant("zs", Floats({}, {0.03f}));
      b.Constant("z", Code(type, 17));
      b.Node("QLinearWhere", {"c", "x", "xs", "z", "y", "ys", "", "zs", "z"},
             {"r"}, kMicrosoft);
      b.Output("r");
      ExpectCardEqualsReference(b.Bytes(), inputs, Sizes());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Select,
                         testing::Values(DataType::kUint8, DataType::kInt8),
                         [](const auto& info) {
                           return std::string(DataTypeName(info.param));
                         });

}  // namespace
}  // namespace heddle::compiler
