// SPDX-License-Identifier: Apache-2.0
// NonZero, Compress, Unique, NonMaxSuppression, and TopK of a computed k
// against ONNX Runtime, with the sizes that the values give.
#include <gtest/gtest.h>

#include <string>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

// Few different values, zeros among them.
TensorData Small(RandomSource* random, DataType type, const Shape& shape) {
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    const int64_t value = random->Between(-2, 2);
    if (type == DataType::kFloat) {
      data.as<float>()[i] = static_cast<float>(value) / 2;
    } else if (type == DataType::kInt64) {
      data.as<int64_t>()[i] = value;
    } else if (type == DataType::kBool) {
      data.bytes[i] = value > 0;
    } else {
      data.bytes[i] = static_cast<uint8_t>(value);
    }
  }
  return data;
}

void NonZero(RandomSource* random, RuntimeCase* c) {
  constexpr DataType kTypes[] = {DataType::kFloat, DataType::kInt64,
                                 DataType::kUint8, DataType::kBool};
  c->inputs = {
      Small(random, kTypes[random->Below(4)], random->AnyShape(1, 4, 4))};
}

void Compress(RandomSource* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 3, 5);
  const auto rank = static_cast<int64_t>(shape.size());
  const bool flat = random->OneIn(3);
  const int64_t axis = random->Below(rank);
  const int64_t most = flat ? compiler::ElementCount(shape) : shape[axis];
  c->inputs = {
      Small(random, random->OneIn(2) ? DataType::kFloat : DataType::kInt64,
            shape),
      Small(random, DataType::kBool, {random->Between(1, most)})};
  c->constant = {false, random->OneIn(4)};
  if (flat) return;
  c->attributes = [=, negative = random->OneIn(2) &&
                                 c->opset >= 11](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", negative ? axis - rank : axis);
  };
}

void Unique(RandomSource* random, RuntimeCase* c) {
  constexpr DataType kTypes[] = {DataType::kFloat, DataType::kInt64,
                                 DataType::kInt8};
  const Shape shape = random->AnyShape(1, 3, 4);
  c->inputs = {Small(random, kTypes[random->Below(3)], shape)};
  c->outputs = 4;
  const int64_t axis = random->Below(static_cast<int64_t>(shape.size()));
  c->attributes = [=, along = random->OneIn(2),
                   sorted = random->OneIn(2)](onnx::NodeProto* node) {
    if (along) compiler::SetInt(node, "axis", axis);
    compiler::SetInt(node, "sorted", sorted);
  };
}

void NonMaxSuppression(RandomSource* random, RuntimeCase* c) {
  const int64_t images = random->Between(1, 2), classes = random->Between(1, 3),
                boxes = random->Between(1, 12);
  TensorData places = TensorData::Zeros(DataType::kFloat, {images, boxes, 4});
  for (int64_t i = 0; i < places.count(); ++i) {
    places.as<float>()[i] = static_cast<float>(random->Below(9)) / 4;
  }
  TensorData scores =
      TensorData::Zeros(DataType::kFloat, {images, classes, boxes});
  for (int64_t i = 0; i < scores.count(); ++i) {
    // Different ones: what equal scores do is nobody's promise.
    scores.as<float>()[i] =
        static_cast<float>(random->Below(1000) * scores.count() + i) / 4096;
  }
  c->inputs = {
      places, scores, compiler::Int64s({1}, {random->Between(0, 6)}),
      compiler::Floats({1}, {static_cast<float>(random->Below(5)) / 4})};
  if (random->OneIn(2)) {
    c->inputs.push_back(
        compiler::Floats({1}, {static_cast<float>(random->Below(3))}));
  }
  c->constant = {false, false, random->OneIn(2), random->OneIn(2), true};
  c->attributes = [centre = random->OneIn(2)](onnx::NodeProto* node) {
    compiler::SetInt(node, "center_point_box", centre);
  };
}

void TopK(RandomSource* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 3, 6);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Below(rank);
  c->inputs = {random->Floats(shape, 4),
               compiler::Int64s({1}, {random->Between(1, shape[axis])})};
  c->constant = {false, false};
  c->outputs = 2;
  c->attributes = [=, negative = random->OneIn(2), largest = random->OneIn(2),
                   opset = c->opset](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", negative ? axis - rank : axis);
    if (opset >= 11) compiler::SetInt(node, "largest", largest);
  };
}

class DataDependent : public testing::TestWithParam<OperatorVersion> {};

TEST_P(DataDependent, IsAsInOnnxRuntime) {
  RandomSource random(GetParam().Seed());
  ExpectAsRuntime(GetParam(), 0, [&](RuntimeCase* c) {
    if (c->op == "NonZero") NonZero(&random, c);
    if (c->op == "Compress") Compress(&random, c);
    if (c->op == "Unique") Unique(&random, c);
    if (c->op == "TopK") TopK(&random, c);
    if (c->op == "NonMaxSuppression") NonMaxSuppression(&random, c);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, DataDependent,
    testing::Values(
        OperatorVersion{"NonZero", "", 9}, OperatorVersion{"NonZero", "", 13},
        OperatorVersion{"Compress", "", 9}, OperatorVersion{"Compress", "", 11},
        OperatorVersion{"Unique", "", 11}, OperatorVersion{"TopK", "", 10},
        OperatorVersion{"TopK", "", 11},
        OperatorVersion{"NonMaxSuppression", "", 10},
        OperatorVersion{"NonMaxSuppression", "", 11}),
    [](const auto& info) { return info.param.TestName(); });

}  // namespace
}  // namespace heddle::tests
