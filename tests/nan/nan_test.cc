// SPDX-License-Identifier: Apache-2.0
// A NaN goes through every operator that compares, clamps or takes an extreme:
// the results that are NaN are stated for each, the card has the bytes of the
// reference semantics, and ONNX Runtime has a NaN in the same places.
//
// ONNX Runtime is not asked where what it gives depends on the element's place
// among the lanes of the CPU: ReduceMax, ReduceMin, MaxPool, GlobalMaxPool
// (only a NaN that comes first stays, or one in some columns), ArgMax and
// ArgMin (see lower_arg_test). There ONNX's reference implementation, numpy's
// max and min, gives NaN. Nor for ThresholdedRelu (0 for a NaN; the reference
// gives NaN) and a bound of Clip that is NaN (no bound; the reference gives
// NaN).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "simulator/model/numerics.h"
#include "tests/support/onnxruntime.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::ModelBuilder;
using compiler::Shape;
using compiler::TensorData;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  std::string name;
  std::string model;
  std::vector<TensorData> inputs;  // x0, x1, ...
  std::string want;  // an N for each element that is NaN; may be a period's
  bool ask_runtime = true;
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.want; }

// 19 elements: more than one vector of any CPU, and a rest.
TensorData X() {
  return Floats({19}, {1, kNan, -1, kNan, 5, 0, -kInf, kInf, 2, 3, 4, 5, 6, 7,
                       -0.0f, 9, 10, kNan, 12});
}
TensorData Y() {
  return Floats({19}, {kNan, 1, 1, kNan, 1, -0.0f, kInf, 1, 1, 7, 7, 7, 7, -7,
                       0, 9, -kInf, 1, kNan});
}
constexpr char kInX[] = ".N.N.............N.";
constexpr char kInEither[] = "NN.N.............NN";
constexpr char kEverywhere[] = "NNNNNNNNNNNNNNNNNNN";

// The type of an element, as onnx.TensorProto.DataType numbers it.
int OnnxType(DataType type) {
  return type == DataType::kFloat ? 1 : type == DataType::kUint8 ? 2 : 3;
}

// ONNX Runtime wants the type; the shape follows.
void Output(ModelBuilder* b, const std::string& name, DataType type) {
  b->Output(name);
  auto* outputs = b->proto().mutable_graph()->mutable_output();
  outputs->rbegin()->mutable_type()->mutable_tensor_type()->set_elem_type(
      OnnxType(type));
}

using Attributes = void (*)(onnx::NodeProto*);

Case Make(const std::string& name, const std::string& op,
          const std::vector<TensorData>& inputs, const std::string& want,
          Attributes attributes = nullptr, int opset = 13) {
  ModelBuilder b(opset);
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    b.Input(names.back(), inputs[i].type, inputs[i].shape);
  }
  onnx::NodeProto* node = b.Node(op, names, {"y"});
  if (attributes != nullptr) attributes(node);
  Output(&b, "y", inputs[0].type);
  return {name, b.Bytes(), inputs, want};
}

Case Differs(Case c) {
  c.ask_runtime = false;
  return c;
}

// Rows and columns of numbers with a NaN in row 1, column `at`.
TensorData Rows(int64_t at) {
  TensorData x = Floats({3, 37}, std::vector<float>(3 * 37));
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] = static_cast<float>(i % 11) - 5;
  }
  x.as<float>()[37 + at] = kNan;
  return x;
}

void Axis0(onnx::NodeProto* n) { compiler::SetInts(n, "axes", {0}); }
void Axis1(onnx::NodeProto* n) { compiler::SetInts(n, "axes", {1}); }
void Bounds(onnx::NodeProto* n) {
  compiler::SetFloat(n, "min", -1);
  compiler::SetFloat(n, "max", 6);
}
void Pool(onnx::NodeProto* n) {
  compiler::SetInts(n, "kernel_shape", {3, 3});
  compiler::SetInts(n, "pads", {1, 1, 1, 1});
}

// A pixel that is NaN at row 2, column 4 of 5 x 8.
TensorData Image() {
  TensorData x = Floats({1, 1, 5, 8}, std::vector<float>(40, -2));
  x.as<float>()[0] = kInf;
  x.as<float>()[20] = kNan;
  return x;
}
constexpr char kAround[] = "...........NNN.....NNN.....NNN..........";

// A convolution of one tap, and what a network has behind it.
Case AfterConvolution(const std::string& op) {
  ModelBuilder b(13);
  b.Input("x0", DataType::kFloat, {1, 1, 5, 8});
  b.Constant("w", Floats({1, 1, 1, 1}, {-1}));
  b.Constant("low", Floats({}, {0}));
  b.Constant("high", Floats({}, {6}));
  b.Node("Conv", {"x0", "w"}, {"c"});
  if (op == "Relu") {
    b.Node(op, {"c"}, {"y"});
  } else {
    b.Node(op, {"c", "low", "high"}, {"y"});
  }
  Output(&b, "y", DataType::kFloat);
  std::string want(40, '.');
  want[20] = 'N';
  return {"Conv" + op, b.Bytes(), {Image()}, want};
}

std::string ColumnOf(int64_t at) {
  std::string want(37, '.');
  want[at] = 'N';
  return want;
}

std::vector<Case> Cases() {
  const TensorData two = Floats({1}, {2}), nan = Floats({1}, {kNan});
  const TensorData zero = Floats({}, {0}), six = Floats({}, {6});
  const TensorData no_bound = Floats({}, {kNan});
  std::vector<Case> cases;
  for (const char* op : {"Max", "Min"}) {
    const std::string name = op;
    cases.push_back(Make(name, op, {X(), Y()}, kInEither));
    cases.push_back(Make(name + "Three", op, {X(), Y(), X()}, kInEither));
    cases.push_back(Make(name + "Second", op, {X(), two}, kInX));
    cases.push_back(Make(name + "First", op, {two, X()}, kInX));
    cases.push_back(Make(name + "NanSecond", op, {X(), nan}, kEverywhere));
    cases.push_back(Make(name + "NanFirst", op, {nan, X()}, kEverywhere));
  }
  cases.push_back(Make("Clip", "Clip", {X(), zero, six}, kInX));
  cases.push_back(Make("ClipOpen", "Clip", {X()}, kInX));
  cases.push_back(Make("ClipAttributes", "Clip", {X()}, kInX, Bounds, 6));
  cases.push_back(
      Differs(Make("ClipNanLow", "Clip", {X(), no_bound, six}, kEverywhere)));
  cases.push_back(
      Differs(Make("ClipNanHigh", "Clip", {X(), zero, no_bound}, kEverywhere)));
  for (const char* op :
       {"Relu", "Sigmoid", "Tanh", "HardSigmoid", "Softplus", "Elu", "Selu",
        "LeakyRelu", "Softsign", "Celu", "Exp", "Erf", "Abs"}) {
    std::string want = kInX;
    // Infinity by infinity.
    if (std::string(op) == "Softsign") want[6] = want[7] = 'N';
    cases.push_back(Make(op, op, {X()}, want));
  }
  // 0 where not above alpha, which a NaN is not.
  cases.push_back(
      Make("ThresholdedRelu", "ThresholdedRelu", {X()}, std::string(19, '.')));
  for (const char* op : {"ReduceMax", "ReduceMin"}) {
    for (int64_t at : {0, 1, 15, 16, 36}) {
      const std::string name = op + std::to_string(at);
      cases.push_back(
          Differs(Make(name + "Rows", op, {Rows(at)}, ".N.", Axis1)));
      cases.push_back(
          Differs(Make(name + "Columns", op, {Rows(at)}, ColumnOf(at), Axis0)));
    }
  }
  cases.push_back(Make("ReduceSum", "ReduceSum", {Rows(16)}, ".N.", Axis1, 11));
  cases.push_back(Make("ReduceMean", "ReduceMean", {Rows(16)}, ".N.", Axis1));
  std::string row(3 * 37, '.');
  row.replace(37, 37, std::string(37, 'N'));
  cases.push_back(Make("Softmax", "Softmax", {Rows(16)}, row));
  cases.push_back(Make("LogSoftmax", "LogSoftmax", {Rows(36)}, row));
  cases.push_back(
      Differs(Make("MaxPool", "MaxPool", {Image()}, kAround, Pool)));
  cases.push_back(
      Differs(Make("GlobalMaxPool", "GlobalMaxPool", {Image()}, "N")));
  cases.push_back(Make("AveragePool", "AveragePool", {Image()}, kAround, Pool));
  cases.push_back(AfterConvolution("Relu"));
  cases.push_back(AfterConvolution("Clip"));
  return cases;
}

std::string NansOf(const float* values, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += std::isnan(values[i]) ? 'N' : '.';
  return text;
}

RuntimeTensor ForRuntime(const TensorData& data) {
  RuntimeTensor tensor;
  tensor.type = OnnxType(data.type);
  tensor.shape.assign(data.shape.begin(), data.shape.end());
  tensor.bytes.assign(data.bytes.begin(), data.bytes.end());
  return tensor;
}

absl::StatusOr<std::vector<RuntimeTensor>> Ask(
    OnnxRuntime* runtime, const std::string& model,
    const std::vector<TensorData>& inputs,
    const std::vector<std::string>& outputs = {"y"}) {
  std::vector<std::pair<std::string, RuntimeTensor>> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    named.push_back({"x" + std::to_string(i), ForRuntime(inputs[i])});
  }
  return runtime->Run(model, named, outputs);
}

class NanOnCard : public ::testing::TestWithParam<Case> {};
class NanInRuntime : public ::testing::TestWithParam<Case> {};

TEST_P(NanOnCard, IsThatOfTheReference) {
  const Case& c = GetParam();
  const auto y = ExpectCardEqualsReference(c.model, c.inputs);
  ASSERT_EQ(y.size(), 1u);
  ASSERT_EQ(NansOf(y[0].as<float>(), y[0].count()), c.want);
  for (int64_t i = 0; i < y[0].count(); ++i) {
    if (c.want[i] == 'N') {
      EXPECT_EQ(y[0].as<uint32_t>()[i], model::kNan) << i;
    }
  }
}

TEST_P(NanInRuntime, IsInTheSamePlaces) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const Case& c = GetParam();
  for (const std::string& library : OnnxRuntime::SharedLibraries()) {
    auto runtime = OnnxRuntime::Open(library);
    ASSERT_TRUE(runtime.ok()) << runtime.status();
    const auto y = Ask(runtime->get(), c.model, c.inputs);
    ASSERT_TRUE(y.ok()) << y.status();
    std::vector<float> values(c.want.size());
    ASSERT_EQ((*y)[0].bytes.size(), values.size() * sizeof(float));
    std::memcpy(values.data(), (*y)[0].bytes.data(), (*y)[0].bytes.size());
    EXPECT_EQ(NansOf(values.data(), values.size()), c.want) << library;
  }
}

std::vector<Case> CasesForRuntime() {
  std::vector<Case> cases;
  for (const Case& c : Cases()) {
    if (c.ask_runtime) cases.push_back(c);
  }
  return cases;
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Operators, NanOnCard, ::testing::ValuesIn(Cases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Operators, NanInRuntime,
                         ::testing::ValuesIn(CasesForRuntime()), NameOf);

// Codes cannot say NaN: quantisation gives the lowest one, whatever the zero
// point.
TEST(NanOfQuantization, LowestCode) {
  for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
    for (const int zero : {0, 7, 100}) {
      ModelBuilder b(13);
      b.Input("x0", DataType::kFloat, {19});
      b.Quantize("x0", "y", 0.5f,
                 type == DataType::kInt8
                     ? compiler::Int8s({}, {static_cast<int8_t>(zero - 50)})
                     : compiler::Uint8s({}, {static_cast<uint8_t>(zero)}));
      Output(&b, "y", type);
      const auto y = compiler::ExpectCardEqualsReference(b.Bytes(), {X()});
      ASSERT_EQ(y.size(), 1u);
      const uint8_t lowest = type == DataType::kInt8 ? 0x80 : 0;
      for (int i : {1, 3, 17}) EXPECT_EQ(y[0].bytes[i], lowest);
      for (const std::string& library : OnnxRuntime::SharedLibraries()) {
        auto runtime = OnnxRuntime::Open(library);
        ASSERT_TRUE(runtime.ok()) << runtime.status();
        const auto theirs = Ask(runtime->get(), b.Bytes(), {X()});
        ASSERT_TRUE(theirs.ok()) << theirs.status();
        EXPECT_EQ((*theirs)[0].bytes,
                  std::vector<uint8_t>(y[0].bytes.begin(), y[0].bytes.end()))
            << library;
      }
    }
  }
}

// A NaN has no part in the range that is quantised.
TEST(NanOfQuantization, RangeWithout) {
  for (int64_t at : {0, 5, 36}) {
    TensorData x = Rows(at);
    ModelBuilder b(13);
    b.Input("x0", DataType::kFloat, x.shape);
    b.Node("DynamicQuantizeLinear", {"x0"}, {"y", "scale", "zero"});
    Output(&b, "y", DataType::kUint8);
    Output(&b, "scale", DataType::kFloat);
    Output(&b, "zero", DataType::kUint8);
    const auto y = compiler::ExpectCardEqualsReference(b.Bytes(), {x});
    ASSERT_EQ(y.size(), 3u);
    EXPECT_EQ(y[1].as<float>()[0], 10.0f / 255);
    EXPECT_EQ(y[0].bytes[37 + at], 0);
    for (const std::string& library : OnnxRuntime::SharedLibraries()) {
      auto runtime = OnnxRuntime::Open(library);
      ASSERT_TRUE(runtime.ok()) << runtime.status();
      const auto theirs =
          Ask(runtime->get(), b.Bytes(), {x}, {"y", "scale", "zero"});
      ASSERT_TRUE(theirs.ok()) << theirs.status();
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ((*theirs)[i].bytes,
                  std::vector<uint8_t>(y[i].bytes.begin(), y[i].bytes.end()))
            << library << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::tests
