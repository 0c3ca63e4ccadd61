// SPDX-License-Identifier: Apache-2.0
// Products and pools that ONNX Runtime's graph optimizer makes, against ONNX
// Runtime.
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

TensorData Codes(RandomSource* random, DataType type, const Shape& shape) {
  TensorData data = TensorData::Zeros(type, shape);
  for (uint8_t& byte : data.bytes) byte = static_cast<uint8_t>(random->Next());
  return data;
}

void MatMul(RandomSource* random, RuntimeCase* c) {
  const bool older = c->op == "TransposeMatMul";
  const int64_t m = random->Between(1, 5), k = random->Between(1, 6),
                n = random->Between(1, 5), rank = random->Between(0, 2);
  const Shape batch = random->AnyShape(rank, rank, 3);
  const auto operand = [&](int64_t rows, int64_t columns, bool turned,
                           bool moved) {
    Shape shape = batch;
    shape.push_back(turned ? columns : rows);
    shape.push_back(turned ? rows : columns);
    if (moved && rank > 0) {
      shape.insert(shape.begin(), shape[shape.size() - 2]);
      shape.erase(shape.end() - 2);
    }
    return random->Floats(shape, 2);
  };
  const bool a = random->OneIn(2), b = random->OneIn(2);
  const bool batch_a = !older && rank > 0 && random->OneIn(2);
  const bool batch_b = !older && rank > 0 && random->OneIn(2);
  c->inputs = {operand(m, k, a, batch_a), operand(k, n, b, batch_b)};
  c->constant = {false, random->OneIn(2)};
  const float alpha = random->OneIn(2) ? 0.75f : 1;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "transA", a);
    compiler::SetInt(node, "transB", b);
    compiler::SetFloat(node, "alpha", alpha);
    if (older) return;
    compiler::SetInt(node, "transBatchA", batch_a);
    compiler::SetInt(node, "transBatchB", batch_b);
  };
}

void Gemm(RandomSource* random, RuntimeCase* c) {
  const int64_t m = random->Between(1, 5), k = random->Between(1, 6),
                n = random->Between(1, 5);
  const bool a = random->OneIn(2), b = random->OneIn(2);
  c->inputs = {random->Floats(a ? Shape{k, m} : Shape{m, k}, 2),
               random->Floats(b ? Shape{n, k} : Shape{k, n}, 2)};
  const bool biased = random->OneIn(2);
  if (biased) {
    c->inputs.push_back(
        random->Floats(random->OneIn(2) ? Shape{n} : Shape{m, 1}, 2));
  }
  static const char* const kFunctions[] = {
      "Celu",     "Elu",  "HardSigmoid",    "LeakyRelu",
      "Relu",     "Selu", "Softplus",       "Sigmoid",
      "Softsign", "Tanh", "ThresholdedRelu"};
  const std::string function = kFunctions[random->Below(11)];
  c->absolute = 1e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "transA", a);
    compiler::SetInt(node, "transB", b);
    compiler::SetFloat(node, "alpha", 0.5f);
    if (biased) compiler::SetFloat(node, "beta", 0.25f);
    compiler::SetString(node, "activation", function);
    compiler::SetFloat(node, "activation_alpha", 0.3f);
    compiler::SetFloat(node, "activation_beta", 0.6f);
    compiler::SetFloat(node, "activation_gamma", 1.2f);
  };
}

void Conv(RandomSource* random, RuntimeCase* c) {
  const int64_t group = random->Between(1, 2), maps = 2 * group;
  const int64_t channels = group * random->Between(1, 2);
  const int64_t size = random->Between(3, 6), batch = random->Between(1, 2);
  c->inputs = {random->Floats({batch, channels, size, size}, 1),
               random->Floats({maps, channels / group, 3, 3}, 1)};
  c->constant = {false, true};
  if (random->OneIn(2)) Set(c, 2, random->Floats({maps}, 1), true);
  if (random->OneIn(2)) {
    Set(c, 3, random->Floats({batch, maps, size, size}, 2));
  }
  struct Function {
    const char* name;
    std::vector<float> parameters;
  };
  static const Function kFunctions[] = {{"", {}},
                                        {"Relu", {}},
                                        {"Tanh", {}},
                                        {"Sigmoid", {}},
                                        {"LeakyRelu", {0.3f}},
                                        {"Clip", {-0.5f, 0.7f}},
                                        {"HardSigmoid", {0.3f, 0.6f}}};
  const Function function = kFunctions[random->Below(7)];
  c->absolute = 1e-4;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "group", group);
    compiler::SetInts(node, "kernel_shape", {3, 3});
    compiler::SetInts(node, "pads", {1, 1, 1, 1});
    if (function.name[0] == '\0') return;
    compiler::SetString(node, "activation", function.name);
    if (function.parameters.empty()) return;
    auto* list = node->add_attribute();
    list->set_name("activation_params");
    list->set_type(onnx::AttributeProto::FLOATS);
    for (float value : function.parameters) list->add_floats(value);
  };
}

void MaxPool(RandomSource* random, RuntimeCase* c) {
  const int64_t size = random->Between(4, 8);
  c->inputs = {
      Codes(random, random->OneIn(2) ? DataType::kUint8 : DataType::kInt8,
            {random->Between(1, 2), size, size + 1, random->Between(1, 5)})};
  const bool ceil = random->OneIn(3), padded = random->OneIn(2);
  const int64_t stride = random->Between(1, 2);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "kernel_shape", {2, 3});
    compiler::SetInts(node, "strides", {stride, 1});
    compiler::SetInt(node, "ceil_mode", ceil);
    if (padded) compiler::SetInts(node, "pads", {1, 1, 0, 1});
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
    testing::Values(Kind{{"FusedMatMul", kMicrosoft, 17}, MatMul},
                    Kind{{"TransposeMatMul", kMicrosoft, 17}, MatMul},
                    Kind{{"FusedGemm", kMicrosoft, 17}, Gemm},
                    Kind{{"FusedConv", kMicrosoft, 17}, Conv},
                    Kind{{"NhwcMaxPool", kMicrosoft, 17}, MaxPool}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
