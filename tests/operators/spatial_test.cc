// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings of one to three dimensions and Resize in all modes
// against ONNX Runtime, of random shapes and attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;
using Ints = std::vector<int64_t>;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  TensorData Data(const Shape& shape, DataType type = DataType::kFloat) {
    return compiler::RandomData(type, shape, Next(), -4, 4);
  }
};

struct Window {
  Ints in, kernel, strides, dilations, pads;
};

// Windows of `rank` dimensions that fit their inputs.
Window AnyWindow(Random* random, size_t rank, bool dilates) {
  Window w;
  w.pads.resize(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    w.kernel.push_back(random->Between(1, 3));
    w.strides.push_back(random->Between(1, 3));
    w.dilations.push_back(dilates ? random->Between(1, 2) : 1);
    for (size_t side : {i, i + rank}) {
      w.pads[side] = random->Below(w.kernel[i]);
    }
    w.in.push_back((w.kernel[i] - 1) * w.dilations[i] + random->Between(1, 6));
  }
  return w;
}

void SetWindow(const Window& w, bool dilates, onnx::NodeProto* node) {
  compiler::SetInts(node, "kernel_shape", w.kernel);
  compiler::SetInts(node, "strides", w.strides);
  compiler::SetInts(node, "pads", w.pads);
  if (dilates) compiler::SetInts(node, "dilations", w.dilations);
}

Shape With(Shape front, const Ints& rest) {
  front.insert(front.end(), rest.begin(), rest.end());
  return front;
}

void Conv(Random* random, RuntimeCase* c) {
  const Window w = AnyWindow(random, random->Between(1, 3), true);
  const int64_t group = random->Between(1, 2);
  const int64_t channels = group * random->Between(1, 3);
  const int64_t maps = random->Between(1, 3);
  const bool transposed = c->op == "ConvTranspose";
  c->inputs = {
      random->Data(With({random->Between(1, 2), channels}, w.in)),
      random->Data(With(transposed ? Shape{channels, maps}
                                   : Shape{maps * group, channels / group},
                        w.kernel)),
      random->Data({maps * group})};
  c->constant = {false, random->OneIn(2), random->OneIn(2)};
  c->relative = 1e-5;
  c->absolute = 1e-4;
  Window used = w;
  if (transposed) {
    // Padding that leaves something of the smallest input.
    for (int64_t& pad : used.pads) pad = 0;
  }
  c->attributes = [=](onnx::NodeProto* node) {
    SetWindow(used, true, node);
    compiler::SetInt(node, "group", group);
  };
}

void Pool(Random* random, RuntimeCase* c) {
  const bool max = c->op == "MaxPool";
  const bool dilates = max;
  const Window w = AnyWindow(random, random->Between(1, 3), dilates);
  const int64_t ceil = c->op == "LpPool" ? 0 : random->Below(2);
  const int64_t include = random->Below(2), order = random->Below(2);
  c->inputs = {random->Data(With({random->Between(1, 2), 3}, w.in))};
  if (max && random->OneIn(2)) c->outputs = 2;
  const int outputs = c->outputs;
  const std::string op = c->op;
  c->attributes = [=](onnx::NodeProto* node) {
    SetWindow(w, dilates, node);
    if (op != "LpPool") compiler::SetInt(node, "ceil_mode", ceil);
    if (op == "AveragePool") {
      // Where windows overhang, what counts differs between versions.
      compiler::SetInt(node, "count_include_pad", ceil == 0 ? include : 0);
    }
    if (outputs == 2) compiler::SetInt(node, "storage_order", order);
  };
}

void Resize(Random* random, RuntimeCase* c) {
  const bool cubic = random->OneIn(2);
  const bool antialias = c->opset >= 18 && random->OneIn(2);
  // The runtime has cubic of two dimensions only.
  const size_t fixed = 2;
  Shape shape = {random->Between(1, 2), random->Between(1, 3),
                 random->Between(1, 12), random->Between(1, 12)};
  Shape sizes = shape;
  std::vector<float> scales(4, 1.0f);
  const bool scaled = random->OneIn(2);
  for (size_t i = fixed; i < 4; ++i) {
    sizes[i] = random->Between(1, 20);
    scales[i] = static_cast<float>(random->Between(5, 25)) / 10;
    const auto n = static_cast<float>(shape[i]);
    scales[i] = std::max(scales[i], 1.0f / n);
    // The runtime copies what keeps its size, whatever scale or roi say.
    if (static_cast<int64_t>(scales[i] * n) == shape[i]) scales[i] = 1;
  }
  std::vector<std::string> coordinates = {"half_pixel", "pytorch_half_pixel",
                                          "align_corners", "asymmetric"};
  if (c->opset >= 19) coordinates.push_back("half_pixel_symmetric");
  if (!antialias) coordinates.push_back("tf_crop_and_resize");
  const std::string coordinate =
      coordinates[random->Below(static_cast<int64_t>(coordinates.size()))];
  TensorData roi;
  if (coordinate == "tf_crop_and_resize") {
    for (size_t i = fixed; i < 4; ++i) sizes[i] += sizes[i] == shape[i];
    // What lies less than one element behind the last is outside, as ONNX says;
    // the runtime's cubic mode takes it for inside.
    roi = Floats({8}, {0, 0, -0.1f, 0.2f, 1, 1, 0.8f, cubic ? 0.9f : 1.3f});
  }
  if (scaled && coordinate != "tf_crop_and_resize") {
    c->inputs = {random->Data(shape), roi, Floats({4}, scales)};
  } else {
    c->inputs = {random->Data(shape), roi, TensorData(), Int64s({4}, sizes)};
  }
  c->constant = {false, true, true, true};
  c->relative = 1e-5;
  c->absolute = 2e-5;
  const int64_t excludes = cubic ? random->Below(2) : 0;
  const float a = random->OneIn(2) ? -0.5f : -0.75f;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetString(node, "mode", cubic ? "cubic" : "linear");
    compiler::SetString(node, "coordinate_transformation_mode", coordinate);
    compiler::SetFloat(node, "cubic_coeff_a", a);
    compiler::SetInt(node, "exclude_outside", excludes);
    compiler::SetFloat(node, "extrapolation_value", 9);
    if (antialias) compiler::SetInt(node, "antialias", 1);
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(Random*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  Random random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 2e-6,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(Operators, AgainstRuntime,
                         testing::Values(Kind{{"Conv", "", 11}, Conv},
                                         Kind{{"ConvTranspose", "", 11}, Conv},
                                         Kind{{"MaxPool", "", 12}, Pool},
                                         Kind{{"AveragePool", "", 11}, Pool},
                                         Kind{{"LpPool", "", 11}, Pool},
                                         Kind{{"Resize", "", 13}, Resize},
                                         Kind{{"Resize", "", 18}, Resize},
                                         Kind{{"Resize", "", 19}, Resize}),
                         [](const auto& info) {
                           return info.param.version.TestName();
                         });

}  // namespace
}  // namespace heddle::tests
