// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN against ONNX Runtime, of random shapes, directions,
// activations, lengths and optional inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

struct Kind {
  OperatorVersion version;
  int gates, activations;
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  TensorData Data(const Shape& shape, float range = 1) {
    return Floats(shape, range);
  }
};

void SetStrings(onnx::NodeProto* node, const std::string& name,
                const std::vector<std::string>& values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) attribute->add_strings(value);
}
void SetFloats(onnx::NodeProto* node, const std::string& name,
               const std::vector<float>& values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOATS);
  for (float value : values) attribute->add_floats(value);
}

// Names with the alphas and betas that they take. The first of a direction, of
// the gates, is bounded: nothing grows beyond what the runtime's exponentials
// hold.
struct Activations {
  std::vector<std::string> names;
  std::vector<float> alpha, beta;
};
Activations SomeActivations(Random* random, int directions, int each) {
  static const char* const kNames[] = {
      "Sigmoid", "Tanh",   "HardSigmoid", "Softsign", "ScaledTanh",     "Relu",
      "Elu",     "Affine", "LeakyRelu",   "Softplus", "ThresholdedRelu"};
  Activations a;
  for (int i = 0; i < directions * each; ++i) {
    const bool bounded = each > 1 && i % each == 0;
    const std::string name = kNames[random->Below(bounded ? 5 : 11)];
    a.names.push_back(name);
    const auto some = [&] {
      return static_cast<float>(1 + random->Below(8)) / 10;
    };
    const bool two =
        name == "HardSigmoid" || name == "ScaledTanh" || name == "Affine";
    const bool one =
        name == "LeakyRelu" || name == "Elu" || name == "ThresholdedRelu";
    if (one || two) a.alpha.push_back(some());
    if (two) a.beta.push_back(some());
  }
  return a;
}

void Make(const Kind& kind, Random* random, RuntimeCase* c) {
  const int64_t steps = 1 + random->Below(6), batch = 1 + random->Below(3);
  const int64_t features = 1 + random->Below(5), hidden = 1 + random->Below(6);
  const std::string direction = std::vector<std::string>{
      "forward", "reverse", "bidirectional"}[random->Below(3)];
  const int64_t n = direction == "bidirectional" ? 2 : 1;
  const int64_t rows = kind.gates * hidden;
  c->inputs = {random->Data({steps, batch, features}, 2),
               random->Data({n, rows, features}),
               random->Data({n, rows, hidden}, 0.3f)};
  const auto maybe = [&](TensorData data) {
    c->inputs.push_back(random->OneIn(2) ? std::move(data) : TensorData());
  };
  maybe(random->Data({n, 2 * rows}));
  std::vector<int32_t> lengths(static_cast<size_t>(batch));
  for (int32_t& length : lengths) {
    length = static_cast<int32_t>(1 + random->Below(steps));
  }
  maybe(compiler::Int32s({batch}, lengths));
  maybe(random->Data({n, batch, hidden}));
  const bool lstm = kind.version.op == "LSTM";
  if (lstm) {
    maybe(random->Data({n, batch, hidden}));
    maybe(random->Data({n, 3 * hidden}));
  }
  c->outputs = lstm ? 3 : 2;
  const bool fixed = random->OneIn(2);
  for (size_t i = 0; i < c->inputs.size(); ++i) {
    const bool weight = i == 1 || i == 2 || i == 3 || i == 7;
    c->constant.push_back(weight ? !random->OneIn(6) : i == 4 && fixed);
  }
  Activations a;
  if (random->OneIn(2)) {
    a = SomeActivations(random, static_cast<int>(n), kind.activations);
  }
  const float clip =
      random->OneIn(3) ? static_cast<float>(1 + random->Below(8)) / 4 : 0;
  const bool linear = random->OneIn(2), coupled = random->OneIn(3);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "hidden_size", hidden);
    compiler::SetString(node, "direction", direction);
    if (!a.names.empty()) SetStrings(node, "activations", a.names);
    if (!a.alpha.empty()) SetFloats(node, "activation_alpha", a.alpha);
    if (!a.beta.empty()) SetFloats(node, "activation_beta", a.beta);
    if (clip != 0) compiler::SetFloat(node, "clip", clip);
    if (node->op_type() == "GRU") {
      compiler::SetInt(node, "linear_before_reset", linear);
    }
    if (lstm && coupled) compiler::SetInt(node, "input_forget", 1);
  };
}

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  Random random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 2e-5,
                  [&](RuntimeCase* c) { Make(GetParam(), &random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(Kind{{"LSTM", "", 7}, 4, 3}, Kind{{"LSTM", "", 14}, 4, 3},
                    Kind{{"LSTM", "", 22}, 4, 3}, Kind{{"GRU", "", 7}, 3, 2},
                    Kind{{"GRU", "", 14}, 3, 2}, Kind{{"GRU", "", 22}, 3, 2},
                    Kind{{"RNN", "", 7}, 1, 1}, Kind{{"RNN", "", 14}, 1, 1},
                    Kind{{"RNN", "", 22}, 1, 1}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
