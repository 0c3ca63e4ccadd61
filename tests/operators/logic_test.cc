// SPDX-License-Identifier: Apache-2.0
// Logic, bits and activations against ONNX Runtime, of random shapes that
// broadcast, empty ones among them.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  Shape AnyShape() {
    Shape shape(static_cast<size_t>(Below(5)));
    for (int64_t& d : shape) d = Below(12) == 0 ? 0 : 1 + Below(9);
    return shape;
  }
  // What broadcasts with it.
  Shape Partner(Shape shape) {
    for (int64_t& d : shape) {
      if (Below(3) == 0) d = 1;
    }
    shape.erase(shape.begin(),
                shape.begin() + Below(static_cast<int64_t>(shape.size()) + 1));
    return shape;
  }
  TensorData Data(DataType type, const Shape& shape) {
    TensorData data = compiler::RandomData(type, shape, Next(), -9, 9);
    if (type != DataType::kFloat) return data;
    constexpr float kInf = std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < data.count(); ++i) {
      if (Below(10) != 0) continue;
      const float special[] = {kInf,   -kInf,
                               -0.0f,  1e30f,
                               -1e30f, std::numeric_limits<float>::quiet_NaN()};
      data.as<float>()[i] = special[Below(6)];
    }
    return data;
  }
};

struct Kind {
  OperatorVersion version;
  std::vector<DataType> types;
  int inputs;
  void (*vary)(Random*, RuntimeCase*) = nullptr;
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

void Direction(Random* random, RuntimeCase* c) {
  const char* direction = random->Below(2) ? "LEFT" : "RIGHT";
  c->attributes = [direction](onnx::NodeProto* node) {
    compiler::SetString(node, "direction", direction);
  };
  // Its kernels shift by the count as the CPU does.
  for (uint8_t& byte : c->inputs[1].bytes) byte = 0;
  const auto bytes =
      static_cast<int64_t>(compiler::ElementBytes(c->inputs[1].type));
  for (int64_t i = 0; i < c->inputs[1].count(); ++i) {
    c->inputs[1].bytes[i * bytes] =
        static_cast<uint8_t>(random->Below(8 * bytes));
  }
}

void Detect(Random* random, RuntimeCase* c) {
  const int64_t positive = random->Below(2), negative = random->Below(2);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "detect_positive", positive);
    compiler::SetInt(node, "detect_negative", negative);
  };
}

void Threshold(Random* random, RuntimeCase* c) {
  const auto lambd = static_cast<float>(random->Below(8)) / 2;
  const auto bias = static_cast<float>(random->Below(8)) / 2;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetFloat(node, "lambd", lambd);
    compiler::SetFloat(node, "bias", bias);
  };
}

void Close(Random*, RuntimeCase* c) {
  c->relative = 4e-7;
  c->absolute = 2e-6;  // where terms cancel
}

void Bias(Random* random, RuntimeCase* c) {
  Close(random, c);
  if (c->inputs[0].shape.empty())
    c->inputs[0] = random->Data(DataType::kFloat, {3});
  c->inputs.resize(1);
  if (c->op == "BiasGelu" || random->Below(2)) {
    c->inputs.push_back(
        random->Data(DataType::kFloat, {c->inputs[0].shape.back()}));
  }
}

void Alpha(Random* random, RuntimeCase* c) {
  Close(random, c);
  const auto alpha = 0.25f * static_cast<float>(random->Below(9));
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetFloat(node, "alpha", alpha);
  };
}

void Approximate(Random* random, RuntimeCase* c) {
  Close(random, c);
  const char* word = random->Below(2) ? "tanh" : "none";
  c->attributes = [word](onnx::NodeProto* node) {
    compiler::SetString(node, "approximate", word);
  };
}

void Truncate(Random* random, RuntimeCase* c) {
  if (random->OneIn(4)) MakeDouble(c);
  c->attributes = [](onnx::NodeProto* node) {
    compiler::SetInt(node, "fmod", 1);
  };
}

// A condition before what is chosen from, of shapes that broadcast.
void Condition(Random* random, RuntimeCase* c) {
  const Shape& shape = c->inputs[static_cast<size_t>(random->Below(2))].shape;
  TensorData condition = random->Data(DataType::kUint8, random->Partner(shape));
  for (uint8_t& byte : condition.bytes) byte &= 1;
  condition.type = DataType::kBool;
  c->inputs.insert(c->inputs.begin(), condition);
}

const std::vector<DataType> kBool = {DataType::kBool};
const std::vector<DataType> kFloat = {DataType::kFloat};
const std::vector<DataType> kUnsigned = {DataType::kUint8, DataType::kUint32,
                                         DataType::kUint64};
const std::vector<DataType> kIntegers = {
    DataType::kUint8, DataType::kInt8,   DataType::kUint16, DataType::kInt16,
    DataType::kInt32, DataType::kUint32, DataType::kInt64};

const std::vector<DataType> kOrdered = {DataType::kFloat, DataType::kFloat16,
                                        DataType::kInt32, DataType::kUint32,
                                        DataType::kInt64, DataType::kUint64};

std::vector<Kind> Kinds() {
  std::vector<Kind> all = {
      {{"And", "", 7}, kBool, 2},
      {{"Or", "", 7}, kBool, 2},
      {{"Xor", "", 7}, kBool, 2},
      {{"Not", "", 7}, kBool, 1},
      {{"BitShift", "", 11}, kUnsigned, 2, Direction},
      {{"Where", "", 9},
       {DataType::kFloat, DataType::kInt32, DataType::kInt64, DataType::kUint8},
       2,
       Condition},
      {{"Mod", "", 13}, {DataType::kFloat, DataType::kFloat16}, 2, Truncate},
      {{"Max", "", 13}, kOrdered, 2},
      {{"Min", "", 13}, kOrdered, 2},
      {{"IsNaN", "", 13}, {DataType::kFloat, DataType::kFloat16}, 1},
      {{"IsInf", "", 10}, kFloat, 1, Detect},
      {{"Shrink", "", 9}, {DataType::kFloat, DataType::kInt32}, 1, Threshold},
      {{"Gelu", "com.microsoft", 17}, kFloat, 1, Close},
      {{"BiasGelu", "com.microsoft", 17}, kFloat, 1, Bias},
      {{"FastGelu", "com.microsoft", 17}, kFloat, 1, Bias},
      {{"QuickGelu", "com.microsoft", 17}, kFloat, 1, Alpha},
      {{"BitwiseAnd", "", 18}, kIntegers, 2},
      {{"BitwiseOr", "", 18}, kIntegers, 2},
      {{"BitwiseXor", "", 18}, kIntegers, 2},
      {{"BitwiseNot", "", 18}, kIntegers, 1},
      {{"Mish", "", 18}, kFloat, 1, Close},
      {{"Gelu", "", 20}, kFloat, 1, Approximate},
      {{"IsInf", "", 20}, {DataType::kFloat, DataType::kFloat16}, 1, Detect},
      {{"IsNaN", "", 20}, {DataType::kFloat, DataType::kFloat16}, 1},
  };
  std::vector<Kind> known;
  for (const Kind& kind : all) {
    if (kind.version.opset <= compiler::kMaxOpset) known.push_back(kind);
  }
  return known;
}

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  const Kind& kind = GetParam();
  Random random(kind.version.Seed());
  ExpectAsRuntime(kind.version, 0, [&](RuntimeCase* c) {
    const DataType type =
        kind.types[random.Below(static_cast<int64_t>(kind.types.size()))];
    const Shape shape = random.AnyShape();
    c->inputs.push_back(random.Data(type, shape));
    if (kind.inputs == 2) {
      c->inputs.push_back(random.Data(type, random.Partner(shape)));
      if (random.Below(2)) std::swap(c->inputs[0], c->inputs[1]);
    }
    if (kind.vary != nullptr) kind.vary(&random, c);
  });
}

INSTANTIATE_TEST_SUITE_P(Operators, AgainstRuntime, testing::ValuesIn(Kinds()),
                         [](const auto& info) {
                           return info.param.version.TestName();
                         });

}  // namespace
}  // namespace heddle::tests
