// SPDX-License-Identifier: Apache-2.0
// The Gelu family and Mish against their formulas in double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/define.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

double Exact(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double ByTanh(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double Quick(double x) { return x / (1 + std::exp(-1.702 * x)); }
double MishOf(double x) { return x * std::tanh(std::log1p(std::exp(x))); }

NodeSpec Microsoft(const std::string& op) {
  return {op, "com.microsoft", 1, {}};
}

constexpr int64_t kColumns = 50;
TensorData Inputs(float range, const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  TensorData x = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] =
        range * (static_cast<float>(random() >> 40) / (1 << 23) - 1);
  }
  return x;
}

// The error is one of the terms 1 + erf and 1 + tanh, which cancel for negative
// x: of the size of x.
void ExpectClose(const absl::StatusOr<TensorData>& y, const TensorData& x,
                 const TensorData* bias, const std::function<double(double)>& f,
                 double error) {
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_EQ(y->shape, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    float v = x.as<float>()[i];
    if (bias != nullptr) v += bias->as<float>()[i % kColumns];
    ASSERT_NEAR(y->as<float>()[i], f(v), error * std::fabs(v) + 1e-37) << v;
  }
}

TEST(GeluTest, OfMicrosoft) {
  const TensorData x = Inputs(8, {200, kColumns}, 1);
  const TensorData bias = Inputs(1, {kColumns}, 2);
  ExpectClose(RunNode(Microsoft("Gelu"), {x}), x, nullptr, Exact, 2e-7);
  ExpectClose(RunNode(Microsoft("BiasGelu"), {x, bias}), x, &bias, Exact, 2e-7);
  ExpectClose(RunNode(Microsoft("FastGelu"), {x}), x, nullptr, ByTanh, 3e-7);
  ExpectClose(RunNode(Microsoft("FastGelu"), {x, bias}), x, &bias, ByTanh,
              3e-7);
  ExpectClose(RunNode(Microsoft("QuickGelu"), {x}), x, nullptr, Quick, 3e-7);
  NodeSpec linear = Microsoft("QuickGelu");
  linear.attributes["alpha"] = 0.0f;
  ExpectClose(
      RunNode(linear, {x}), x, nullptr, [](double v) { return 0.5 * v; }, 0);
}

TEST(GeluTest, RefusesWhatDoesNotFit) {
  const TensorData x = Inputs(8, {2, kColumns}, 1);
  for (const char* op : {"BiasGelu", "FastGelu"}) {
    EXPECT_EQ(
        RejectionOf(RunNode(Microsoft(op), {x, Floats({2}, {1, 2})}).status()),
        Rejection::kMismatchingShape);
    EXPECT_EQ(
        RejectionOf(RunNode(Microsoft(op), {x, Floats({}, {1})}).status()),
        Rejection::kMismatchingShape);
  }
  EXPECT_EQ(RejectionOf(RunNode(Microsoft("BiasGelu"), {x}).status()),
            Rejection::kInvalidModel);
}

TEST(GeluTest, OfOpset20) {
  const TensorData x = Inputs(8, {200, kColumns}, 3);
  ExpectClose(RunNode({"Gelu", "", 20, {}}, {x}), x, nullptr, Exact, 2e-7);
  ExpectClose(RunNode({"Gelu", "", 20, {{"approximate", "tanh"}}}, {x}), x,
              nullptr, ByTanh, 3e-7);
  EXPECT_EQ(
      RejectionOf(
          RunNode({"Gelu", "", 20, {{"approximate", "Tanh"}}}, {x}).status()),
      Rejection::kInvalidModel);
}

TEST(GeluTest, MishIsRelativelyExact) {
  for (float range : {1e-3f, 1.0f, 10.0f, 80.0f}) {
    const TensorData x = Inputs(range, {100, kColumns}, 4);
    const auto y = RunNode({"Mish", "", 18, {}}, {x});
    ASSERT_TRUE(y.ok()) << y.status();
    for (int64_t i = 0; i < x.count(); ++i) {
      const double exact = MishOf(x.as<float>()[i]);
      ASSERT_NEAR(y->as<float>()[i], exact, 4e-7 * std::fabs(exact) + 1e-37);
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
