// SPDX-License-Identifier: Apache-2.0
// Operators that are made of others, normalisations with statistics, sums along
// an axis and losses against ONNX Runtime, of random shapes and attributes.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  Shape AnyShape(int64_t least, int64_t most) {
    return RandomSource::AnyShape(least, most, 9);
  }
  TensorData Data(const Shape& shape, float range = 4) {
    return Floats(shape, range);
  }
};

void SetAll(RuntimeCase* c,
            std::vector<std::pair<std::string, int64_t>> values) {
  c->attributes = [values](onnx::NodeProto* node) {
    for (const auto& [name, value] : values) {
      compiler::SetInt(node, name, value);
    }
  };
}

std::vector<int64_t> SomeAxes(Random* random, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i) {
    if (random->OneIn(2)) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

void Reduces(Random* random, RuntimeCase* c) {
  c->inputs = {random->Data(random->AnyShape(1, 4), 20)};
  if (c->op == "ReduceLogSum") {
    for (int64_t i = 0; i < c->inputs[0].count(); ++i) {
      float& v = c->inputs[0].as<float>()[i];
      v = v < 0 ? -v : v;
    }
  }
  const auto axes = SomeAxes(random, c->inputs[0].shape.size());
  const int64_t keep = random->Below(2);
  if (c->opset >= 18 && !axes.empty()) {
    c->inputs.push_back(Int64s({static_cast<int64_t>(axes.size())}, axes));
    c->constant = {false, true};
  }
  const bool attribute = c->opset < 18 && !axes.empty();
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "keepdims", keep);
    if (attribute) compiler::SetInts(node, "axes", axes);
  };
  if (random->OneIn(4)) MakeDouble(c);
}

void AlongAxis(Random* random, RuntimeCase* c) {
  c->inputs = {random->Data(random->AnyShape(1, 4))};
  const auto rank = static_cast<int64_t>(c->inputs[0].shape.size());
  std::vector<std::pair<std::string, int64_t>> values = {
      {"axis", random->Below(rank) - (random->OneIn(2) ? rank : 0)}};
  if (c->op == "LpNormalization") values.push_back({"p", 1 + random->Below(2)});
  SetAll(c, values);
}

void MeanVariance(Random* random, RuntimeCase* c) {
  c->inputs = {random->Data(random->AnyShape(4, 4))};
  c->absolute = 2e-3;  // of a variance that is a difference of large terms
  std::vector<int64_t> axes = SomeAxes(random, 4);
  if (axes.empty() || random->OneIn(2)) axes = {0, 2, 3};
  int64_t count = 1;
  for (int64_t axis : axes) count *= c->inputs[0].shape[axis];
  // Of one or two elements the variance may be nothing.
  if (count < 3) c->inputs = {random->Data({3, 3, 3, 3})};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "axes", axes);
  };
}

void GlobalLp(Random* random, RuntimeCase* c) {
  c->inputs = {random->Data(random->AnyShape(3, 4))};
  SetAll(c, {{"p", 1 + random->Below(3)}});
}

void LpPool(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(3, 4);
  const size_t rank = shape.size() - 2;
  std::vector<int64_t> kernel, strides, pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    kernel.push_back(1 + random->Below(3));
    strides.push_back(1 + random->Below(3));
    shape[i + 2] += kernel[i];
    for (size_t side : {i, i + rank}) pads[side] = random->Below(kernel[i]);
  }
  const int64_t p = 1 + random->Below(3);
  c->inputs = {random->Data(shape)};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "kernel_shape", kernel);
    compiler::SetInts(node, "strides", strides);
    compiler::SetInts(node, "pads", pads);
    compiler::SetInt(node, "p", p);
  };
}

void OneHot(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 3);
  const int64_t depth = 1 + random->Below(9);
  TensorData index = compiler::RandomData(
      DataType::kInt64, shape, static_cast<uint64_t>(random->Below(1 << 20)),
      static_cast<float>(-depth) - 2, static_cast<float>(depth) + 2);
  c->inputs = {index, Int64s({1}, {depth}), random->Data({2})};
  c->constant = {false, true, false};
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  SetAll(c, {{"axis", random->Below(2 * rank) - rank}});
}

void Trilu(Random* random, RuntimeCase* c) {
  c->inputs = {random->Data(random->AnyShape(2, 4))};
  if (random->OneIn(2)) {
    c->inputs.push_back(Int64s({}, {random->Below(19) - 9}));
    c->constant = {false, true};
  }
  SetAll(c, {{"upper", random->Below(2)}});
}

void CumSum(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(1, 3);
  if (random->OneIn(10)) shape[0] = 1500 + random->Below(2000);
  const DataType types[] = {DataType::kFloat, DataType::kInt32,
                            DataType::kInt64};
  const DataType type = types[random->Below(3)];
  const auto rank = static_cast<int64_t>(shape.size());
  c->inputs = {
      compiler::RandomData(
          type, shape, static_cast<uint64_t>(random->Below(1 << 20)), -9, 9),
      Int64s({}, {random->Below(2 * rank) - rank})};
  c->constant = {false, random->OneIn(2)};
  c->relative = c->absolute = 0;  // the same additions
  SetAll(c, {{"exclusive", random->Below(2)}, {"reverse", random->Below(2)}});
  if (type == DataType::kFloat && random->OneIn(3)) MakeDouble(c);
}

void Group(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(3, 4);
  const int64_t groups = 1 + random->Below(3);
  shape[1] = groups * (1 + random->Below(3));
  shape[2] += 2;
  const int64_t count = c->opset < 21 ? groups : shape[1];
  c->inputs = {random->Data(shape), random->Data({count}),
               random->Data({count})};
  c->absolute = 1e-5;
  SetAll(c, {{"num_groups", groups}});
}

void Rms(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Below(rank);
  c->inputs = {random->Data(shape),
               random->Data(Shape(shape.begin() + axis, shape.end()))};
  c->absolute = 1e-5;
  SetAll(c, {{"axis", random->OneIn(2) ? axis : axis - rank}});
}

void BatchNorm(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(2, 4);
  shape[0] += 3;
  const Shape channels = {shape[1]};
  TensorData variance = random->Data(channels);
  for (int64_t i = 0; i < variance.count(); ++i) {
    variance.as<float>()[i] += 5;
  }
  c->inputs = {random->Data(shape), random->Data(channels),
               random->Data(channels), random->Data(channels), variance};
  c->outputs = 3;
  c->absolute = 3e-5;
  SetAll(c, {{"training_mode", 1}});
}

void Loss(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(2, 4);
  const int64_t classes = shape[1];
  Shape targets = shape;
  targets.erase(targets.begin() + 1);
  TensorData target = TensorData::Zeros(
      random->OneIn(2) ? DataType::kInt64 : DataType::kInt32, targets);
  for (int64_t i = 0; i < target.count(); ++i) {
    if (target.type == DataType::kInt64) {
      target.as<int64_t>()[i] = random->Below(classes);
    } else {
      target.as<int32_t>()[i] = static_cast<int32_t>(random->Below(classes));
    }
  }
  c->inputs = {random->Data(shape), target};
  if (random->OneIn(2)) {
    TensorData weights = random->Data({classes});
    for (int64_t i = 0; i < classes; ++i) {
      weights.as<float>()[i] += 5;
    }
    c->inputs.push_back(weights);
  }
  const char* words[] = {"mean", "sum", "none"};
  const std::string reduction = words[random->Below(3)];
  // One class is ignored, of several.
  const bool ignores = classes > 1 && random->OneIn(2);
  // Some target counts, or the mean is 0 by 0.
  if (ignores) {
    if (target.type == DataType::kInt64) {
      c->inputs[1].as<int64_t>()[0] = 1;
    } else {
      c->inputs[1].as<int32_t>()[0] = 1;
    }
  }
  c->absolute = 2e-5;
  if (c->op == "SoftmaxCrossEntropyLoss") c->outputs = 2;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetString(node, "reduction", reduction);
    if (ignores) compiler::SetInt(node, "ignore_index", 0);
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(Random*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

std::vector<Kind> Kinds() {
  const std::vector<Kind> all = {
      {{"ReduceLogSum", "", 13}, Reduces},
      {{"ReduceLogSumExp", "", 13}, Reduces},
      {{"ReduceLogSum", "", 18}, Reduces},
      {{"ReduceLogSumExp", "", 18}, Reduces},
      {{"Hardmax", "", 11}, AlongAxis},
      {{"Hardmax", "", 13}, AlongAxis},
      {{"LpNormalization", "", 6}, AlongAxis},
      {{"MeanVarianceNormalization", "", 13}, MeanVariance},
      {{"GlobalLpPool", "", 6}, GlobalLp},
      {{"LpPool", "", 11}, LpPool},
      {{"LpPool", "", 18}, LpPool},
      {{"OneHot", "", 11}, OneHot},
      {{"Trilu", "", 14}, Trilu},
      {{"CumSum", "", 14}, CumSum},
      {{"GroupNormalization", "", 18}, Group},
      {{"GroupNormalization", "", 21}, Group},
      {{"RMSNormalization", "", 23}, Rms},
      {{"BatchNormalization", "", 15}, BatchNorm},
      {{"NegativeLogLikelihoodLoss", "", 13}, Loss},
      {{"SoftmaxCrossEntropyLoss", "", 13}, Loss},
  };
  std::vector<Kind> known;
  for (const Kind& kind : all) {
    if (kind.version.opset <= compiler::kMaxOpset) known.push_back(kind);
  }
  return known;
}

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  Random random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 2e-6,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(Operators, AgainstRuntime, testing::ValuesIn(Kinds()),
                         [](const auto& info) {
                           return info.param.version.TestName();
                         });

}  // namespace
}  // namespace heddle::tests
