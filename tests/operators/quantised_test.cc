// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX Runtime's quantisers make, against ONNX Runtime.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

constexpr char kMicrosoft[] = "com.microsoft";

void Set(RuntimeCase* c, size_t i, TensorData data, bool constant = false) {
  if (c->inputs.size() <= i) c->inputs.resize(i + 1);
  c->inputs[i] = std::move(data);
  c->constant.resize(c->inputs.size());
  c->constant[i] = constant;
}

// Codes of few bits: sums of int8 saturate on old processors.
TensorData Codes(RandomSource* random, DataType type, const Shape& shape,
                 uint8_t mask = 63) {
  TensorData data = TensorData::Zeros(type, shape);
  for (uint8_t& byte : data.bytes) {
    byte = static_cast<uint8_t>(random->Next() & mask);
  }
  return data;
}

TensorData Scales(RandomSource* random, const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random->Between(1, 9)) / 256;
  }
  return data;
}

TensorData Ids(RandomSource* random, const Shape& shape, int64_t low,
               int64_t high, DataType type = DataType::kInt32) {
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    const int64_t id = random->Between(low, high);
    if (type == DataType::kInt64) {
      data.as<int64_t>()[i] = id;
    } else {
      data.as<int32_t>()[i] = static_cast<int32_t>(id);
    }
  }
  return data;
}

void DynamicMatMul(RandomSource* random, RuntimeCase* c) {
  const int64_t k = random->Between(1, 20), n = random->Between(1, 9);
  Shape a = random->AnyShape(1, 2, 3);
  a.push_back(k);
  const DataType type = random->OneIn(2) ? DataType::kUint8 : DataType::kInt8;
  const bool each = random->OneIn(2);
  const Shape parameter = each ? Shape{n} : Shape{1};
  c->inputs = {random->Floats(a, 2), Codes(random, type, {k, n}),
               Scales(random, parameter)};
  c->constant = {false, true, false};
  if (random->OneIn(2)) Set(c, 3, Codes(random, type, parameter), true);
  if (random->OneIn(2)) Set(c, 4, random->Floats({n}, 1));
  c->absolute = 1e-4;
}

void GatherBlocks(RandomSource* random, RuntimeCase* c) {
  const int64_t bits = random->OneIn(2) ? 8 : 4, rows = random->Between(2, 5);
  const int64_t middle = random->Between(1, 2);
  const int64_t bytes = random->Between(1, 30), columns = bytes * 8 / bits;
  const int64_t blocks = (columns + 15) / 16;
  const DataType ids = random->OneIn(2) ? DataType::kInt32 : DataType::kInt64;
  c->inputs = {Codes(random, DataType::kUint8, {rows, middle, bytes}, 255),
               Ids(random, random->AnyShape(0, 2, 3), -rows, rows - 1, ids),
               Scales(random, {rows, middle, blocks})};
  c->constant = {true, false, random->OneIn(2)};
  if (random->OneIn(2)) {
    Set(c, 3,
        Codes(random, DataType::kUint8, {rows, middle, (blocks * bits + 7) / 8},
              255),
        true);
  }
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "bits", bits);
    compiler::SetInt(node, "block_size", 16);
    compiler::SetInt(node, "gather_axis", 0);
    compiler::SetInt(node, "quantize_axis", 2);
  };
}

// [rows, size] of codes, and scale and zero point of them at their places.
void QuantizedEmbed(RandomSource* random, RuntimeCase* c) {
  const int64_t batch = random->Between(1, 3), tokens = random->Between(1, 6);
  const int64_t size = random->Between(3, 20), words = random->Between(2, 9);
  const DataType type = random->OneIn(2) ? DataType::kUint8 : DataType::kInt8;
  const bool segments = random->OneIn(2);
  Set(c, 0, Ids(random, {batch, tokens}, 0, words - 1));
  if (segments) Set(c, 1, Ids(random, {batch, tokens}, 0, 1));
  if (random->OneIn(2)) Set(c, 7, Ids(random, {batch, tokens}, 0, 1));
  const Shape tables[] = {{words, size}, {8, size}, {2, size}, {size}, {size}};
  c->inputs.resize(18);
  c->constant.resize(18);
  for (size_t i = 0; i < 5; ++i) {
    if (i == 2 && !segments) continue;
    Set(c, 2 + i, Codes(random, type, tables[i]), true);
    Set(c, 8 + i, Scales(random, {}), true);
    Set(c, 13 + i, Codes(random, type, {}), true);
  }
  c->outputs = 2;
  c->absolute = 1e-4;
  c->attributes = [](onnx::NodeProto* node) {
    compiler::SetFloat(node, "epsilon", 1e-3f);
  };
}

// Of 8 or 16 bits, of all or of each channel.
void Quantize(RandomSource* random, RuntimeCase* c) {
  static const DataType kTypes[] = {DataType::kUint8, DataType::kInt8,
                                    DataType::kUint16, DataType::kInt16};
  const DataType type = kTypes[random->Below(4)];
  const Shape shape = random->AnyShape(2, 3, 5);
  const bool each = random->OneIn(2), dequantizes = c->op[0] == 'D';
  const Shape parameter = each ? Shape{shape[1]} : Shape{};
  c->inputs = {
      dequantizes ? Codes(random, type, shape, 255) : random->Floats(shape, 3),
      Scales(random, parameter), Codes(random, type, parameter)};
  c->constant = {false, true, true};
  c->attributes = [](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", 1);
  };
}

void Bnb4(RandomSource* random, RuntimeCase* c) {
  const int64_t n = random->Between(1, 9), k = random->Between(1, 40);
  const int64_t type = random->Below(2), block = 16;
  Shape a = random->AnyShape(1, 2, 3);
  a.push_back(k);
  c->inputs = {random->Floats(a, 2),
               Codes(random, DataType::kUint8, {(n * k + 1) / 2}, 255),
               Scales(random, {(n * k + block - 1) / block})};
  c->constant = {false, true, random->OneIn(2)};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "K", k);
    compiler::SetInt(node, "N", n);
    compiler::SetInt(node, "block_size", block);
    compiler::SetInt(node, "quant_type", type);
  };
}

// Of one to three dimensions, in groups, padded, with zero points.
void Convolve(RandomSource* random, RuntimeCase* c) {
  const bool requantizes = c->op == "QLinearConv";
  const auto rank = static_cast<size_t>(random->Between(1, 3));
  const int64_t group = random->Between(1, 2);
  const DataType type = DataType::kUint8;
  const DataType weights =
      requantizes && random->OneIn(2) ? DataType::kInt8 : DataType::kUint8;
  Shape x = {random->Between(1, 2), group * random->Between(1, 2)};
  Shape w = {group * random->Between(1, 3), x[1] / group};
  std::vector<int64_t> strides, dilations, pads;
  for (size_t i = 0; i < rank; ++i) {
    w.push_back(random->Between(1, 3));
    strides.push_back(random->Between(1, 2));
    dilations.push_back(random->Between(1, 2));
    x.push_back((w.back() - 1) * dilations.back() + random->Between(1, 4));
  }
  for (size_t i = 0; i < 2 * rank; ++i) pads.push_back(random->Below(3));
  const bool each = random->OneIn(2);
  const Shape channels = each ? Shape{w[0]} : Shape{};
  const TensorData codes = Codes(random, type, x, 255);
  const TensorData kernel = Codes(random, weights, w);
  if (requantizes) {
    c->inputs = {codes,
                 Scales(random, {}),
                 Codes(random, type, {}, 255),
                 kernel,
                 Scales(random, channels),
                 Codes(random, weights, channels),
                 Scales(random, {}),
                 Codes(random, type, {}, 255)};
    if (random->OneIn(2)) {
      c->inputs.push_back(Ids(random, {w[0]}, -500, 500));
    }
    c->constant.assign(c->inputs.size(), true);
    c->constant[0] = false;
  } else {
    c->inputs = {codes, kernel};
    if (random->OneIn(2)) c->inputs.push_back(Codes(random, type, {}, 255));
    c->constant = {false, random->OneIn(2), random->OneIn(2)};
  }
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "group", group);
    compiler::SetInts(node, "strides", strides);
    compiler::SetInts(node, "dilations", dilations);
    compiler::SetInts(node, "pads", pads);
  };
}

// The library gives codes of 8 bits to X and the state, too: half a step of 2 /
// 255, times weights of up to a half, at each element of a sum of 5 and 5. Of
// each column it has zero points of 0 or, without sign, all of one value only.
void DynamicLstm(RandomSource* random, RuntimeCase* c) {
  const int64_t steps = random->Between(1, 4), batch = random->Between(1, 3);
  const int64_t features = random->Between(1, 5),
                hidden = random->Between(1, 5);
  const bool both = random->OneIn(2);
  const int64_t n = both ? 2 : 1, columns = 4 * hidden;
  const DataType type = random->OneIn(2) ? DataType::kUint8 : DataType::kInt8;
  const Shape parameter = random->OneIn(2) ? Shape{n} : Shape{n, columns};
  c->inputs = {random->Floats({steps, batch, features}, 1),
               Codes(random, type, {n, features, columns}, 15),
               Codes(random, type, {n, hidden, columns}, 15)};
  c->inputs.resize(12);
  if (random->OneIn(2)) c->inputs[3] = random->Floats({n, 2 * columns}, 1);
  if (random->OneIn(2)) {
    c->inputs[5] = random->Floats({n, batch, hidden}, 1);
    c->inputs[6] = random->Floats({n, batch, hidden}, 1);
  }
  for (size_t i : {8, 10}) {
    c->inputs[i] = Scales(random, parameter);
    c->inputs[i + 1] = parameter.size() == 1
                           ? Codes(random, type, parameter, 15)
                           : TensorData::Zeros(type, parameter);
  }
  c->constant.assign(12, true);
  for (size_t i : {0, 5, 6}) c->constant[i] = false;
  c->outputs = 3;
  c->absolute = 2e-2;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "hidden_size", hidden);
    compiler::SetString(node, "direction", both ? "bidirectional" : "forward");
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(RandomSource*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  RandomSource random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 1e-5,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(
        Kind{{"QLinearConv", "", 10}, Convolve},
        Kind{{"ConvInteger", "", 10}, Convolve},
        Kind{{"DynamicQuantizeLSTM", kMicrosoft, 17}, DynamicLstm},
        Kind{{"DynamicQuantizeMatMul", kMicrosoft, 17}, DynamicMatMul},
        Kind{{"GatherBlockQuantized", kMicrosoft, 17}, GatherBlocks},
        Kind{{"MatMulBnb4", kMicrosoft, 17}, Bnb4},
        Kind{{"QEmbedLayerNormalization", kMicrosoft, 17}, QuantizedEmbed},
        Kind{{"QuantizeLinear", kMicrosoft, 17}, Quantize},
        Kind{{"DequantizeLinear", kMicrosoft, 17}, Quantize}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
