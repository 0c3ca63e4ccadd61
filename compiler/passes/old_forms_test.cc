// SPDX-License-Identifier: Apache-2.0
// The forms of opsets 1 to 9 as ONNX's changelog describes them: models in them
// through the front end, against results that are computed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Attributes = std::map<std::string, Attribute>;

void Set(onnx::NodeProto* node, const std::string& name,
         const Attribute& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) {
    SetInt(node, name, *i);
  } else if (const auto* f = std::get_if<float>(&value)) {
    SetFloat(node, name, *f);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    SetString(node, name, *s);
  } else {
    SetInts(node, name, std::get<std::vector<int64_t>>(value));
  }
}

// The first output of a model of one node; inputs from `constants` on are
// initializers.
absl::StatusOr<TensorData> RunOld(const std::string& op, int opset,
                                  const std::vector<TensorData>& inputs,
                                  const Attributes& attributes = {},
                                  size_t constants = 9, int outputs = 1) {
  ModelBuilder b(opset);
  std::vector<std::string> names, results;
  std::vector<TensorData> data;
  for (size_t i = 0; i < inputs.size(); ++i) {
    names.push_back(absl::StrCat("x", i));
    if (i < constants) {
      b.Input(names[i], inputs[i].type, inputs[i].shape);
      data.push_back(inputs[i]);
    } else {
      b.Constant(names[i], inputs[i]);
    }
  }
  for (int i = 0; i < outputs; ++i) results.push_back(absl::StrCat("y", i));
  auto* node = b.Node(op, names, results);
  for (const auto& [name, value] : attributes) Set(node, name, value);
  b.Output("y0");
  ASSIGN_OR_RETURN(const auto graph, AnalyseOnnx(b.Bytes(), {}));
  for (const Node& n : graph.nodes) {
    const OperatorInfo* info = FindOperator(n.domain, n.op, n.opset);
    EXPECT_TRUE(info != nullptr && info->convert == nullptr)
        << n.op << " of opset " << n.opset;
  }
  ASSIGN_OR_RETURN(const auto values, EvaluateGraph(graph, data));
  return values[graph.outputs[0]];
}

// Values that differ: -2, -1.75, ...
TensorData Numbers(const Shape& shape, float start = -2) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = start + 0.25f * static_cast<float>(i);
  }
  return data;
}

std::vector<float> Values(const absl::StatusOr<TensorData>& data) {
  if (!data.ok()) {
    ADD_FAILURE() << data.status();
    return {};
  }
  EXPECT_EQ(data->type, DataType::kFloat);
  return std::vector<float>(data->as<float>(),
                            data->as<float>() + data->count());
}

Rejection Refused(const absl::StatusOr<TensorData>& result) {
  if (!result.ok()) return RejectionOf(result.status());
  ADD_FAILURE() << "is accepted";
  return Rejection::kNone;
}

// consumed_inputs means nothing, so the result is that of the operator today.
TEST(OldForms, ConsumedInputs) {
  const Attribute consumed = std::vector<int64_t>{1};
  for (const char* op : {"Abs", "Ceil", "Clip", "Elu", "Exp", "Floor",
                         "HardSigmoid", "LeakyRelu", "Log", "Neg", "Reciprocal",
                         "Relu", "Sigmoid", "Sqrt", "Tanh"}) {
    const TensorData x = Numbers({2, 3, 4});
    Attributes attributes;
    for (const AttributeRule& rule : FindOperator("", op, 1)->attributes) {
      if (rule.kind == AttributeKind::kFloat) attributes[rule.name] = 0.5f;
    }
    auto today = RunOld(op, 6, {x}, attributes);
    ASSERT_TRUE(today.ok()) << op << today.status();
    for (int opset : {1, 5}) {
      attributes["consumed_inputs"] = consumed;
      auto then = RunOld(op, opset, {x}, attributes);
      ASSERT_TRUE(then.ok()) << op << then.status();
      EXPECT_EQ(then->bytes, today->bytes) << op;
      EXPECT_EQ(then->shape, today->shape) << op;
    }
    EXPECT_EQ(Refused(RunOld(op, 6, {x}, attributes)),
              Rejection::kInvalidModel);
  }
}

TEST(OldForms, SeluHasOtherDefaults) {
  const auto y = Values(RunOld("Selu", 1, {Floats({2}, {-1, 2})}));
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], 1.0507 * (1.6732 * std::exp(-1.0) - 1.6732), 1e-6);
  EXPECT_FLOAT_EQ(y[1], 1.0507f * 2);
}

TEST(OldForms, InstanceNormalization) {
  const TensorData x = Numbers({1, 2, 3}), scale = Floats({2}, {1, 2}),
                   bias = Floats({2}, {0, 1});
  auto then = RunOld("InstanceNormalization", 1, {x, scale, bias},
                     {{"consumed_inputs", std::vector<int64_t>{0, 0, 0}}});
  EXPECT_EQ(Values(then),
            Values(RunOld("InstanceNormalization", 6, {x, scale, bias})));
}

struct Broadcast {
  Shape a, b;
  int64_t axis;  // -1: not given
  int64_t from;  // the dimension of `a` with which `b` begins
};

float Apply(const std::string& op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  return std::pow(a, b);
}

TEST(OldForms, TheSecondOperandIsBroadcast) {
  const std::vector<Broadcast> cases = {
      {{2, 3, 4, 5}, {}, -1, 4},         {{2, 3, 4, 5}, {1}, -1, 4},
      {{2, 3, 4, 5}, {1, 1}, -1, 4},     {{2, 3, 4, 5}, {5}, -1, 3},
      {{2, 3, 4, 5}, {4, 5}, -1, 2},     {{2, 3, 4, 5}, {3, 4}, 1, 1},
      {{2, 3, 4, 5}, {2}, 0, 0},         {{2, 3, 4, 5}, {3}, 1, 1},
      {{2, 3, 4, 5}, {2, 3, 4}, 0, 0},   {{3, 3, 3}, {3}, 1, 1},
      {{2, 3, 4, 5}, {2, 3, 4, 5}, 0, 0}};
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow"}) {
    for (int opset : {1, 6}) {
      for (const Broadcast& c : cases) {
        const bool constant = &c - cases.data() > 4;
        const TensorData a = Numbers(c.a, 1), b = Numbers(c.b, 0.25f);
        Attributes attributes = {{"broadcast", int64_t{1}}};
        if (c.axis >= 0) attributes["axis"] = c.axis;
        const auto y =
            Values(RunOld(op, opset, {a, b}, attributes, constant ? 1 : 9));
        int64_t inner = 1;
        for (size_t i = c.from + c.b.size(); i < c.a.size(); ++i) {
          inner *= c.a[i];
        }
        ASSERT_EQ(static_cast<int64_t>(y.size()), a.count());
        for (int64_t i = 0; i < a.count(); ++i) {
          const int64_t k = i / inner % b.count();
          const float want = Apply(op, a.as<float>()[i], b.as<float>()[k]);
          if (y[i] == want) continue;  // infinities
          EXPECT_NEAR(y[i], want, 1e-5f * std::abs(want))
              << op << opset << ShapeToString(c.b) << " axis " << c.axis;
        }
      }
    }
  }
}

TEST(OldForms, LogicIsBroadcast) {
  const auto bools = [](Shape shape, const std::vector<uint8_t>& values) {
    TensorData data = TensorData::Zeros(DataType::kBool, std::move(shape));
    std::copy(values.begin(), values.end(), data.bytes.data());
    return data;
  };
  const TensorData a = bools({2, 2}, {0, 1, 0, 1}), b = bools({2}, {0, 1});
  const std::map<const char*, std::vector<uint8_t>> wanted = {
      {"And", {0, 0, 0, 1}}, {"Or", {0, 1, 1, 1}}, {"Xor", {0, 1, 1, 0}}};
  for (const auto& [op, values] : wanted) {
    const auto y = RunOld(op, 1, {a, b},
                          {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->bytes.ToVector(), values) << op;
    EXPECT_EQ(RejectionOf(RunOld(op, 6, {a, b}, {}).status()),
              Rejection::kMismatchingShape);
  }
}

TEST(OldForms, PowersOfPoolsAreWhole) {
  const TensorData x = Floats({1, 1, 4}, {1, -2, 3, 4});
  EXPECT_EQ(Values(RunOld("LpPool", 1, {x},
                          {{"kernel_shape", std::vector<int64_t>{2}},
                           {"strides", std::vector<int64_t>{2}},
                           {"p", 1.0f}})),
            (std::vector<float>{3, 7}));
  EXPECT_EQ(Values(RunOld("GlobalLpPool", 1, {x}, {{"p", 1.0f}})),
            (std::vector<float>{10}));
  EXPECT_EQ(RejectionOf(RunOld("GlobalLpPool", 1, {x}, {{"p", 1.5f}}).status()),
            Rejection::kUnsupportedAttribute);
}

TEST(OldForms, ComparisonsAreBroadcast) {
  const TensorData a = Int32s({2, 3}, {1, 2, 3, 2, 2, 2}),
                   b = Int32s({2}, {2, 2});
  auto y = RunOld("Equal", 1, {a, b},
                  {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->bytes.ToVector(), (std::vector<uint8_t>{0, 1, 0, 1, 1, 1}));
  const TensorData x = Floats({2, 2}, {1, 2, 3, 4}),
                   limit = Floats({2}, {2, 3});
  for (int opset : {1, 6}) {
    y = RunOld("Less", opset, {x, limit}, {{"broadcast", int64_t{1}}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->bytes.ToVector(), (std::vector<uint8_t>{1, 1, 0, 0}));
    y = RunOld("Greater", opset, {x, limit},
               {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->bytes.ToVector(), (std::vector<uint8_t>{0, 0, 0, 1}));
  }
}

TEST(OldForms, WhatDoesNotMatchIsRefused) {
  const TensorData a = Numbers({2, 3, 4});
  const auto run = [&](const Shape& b, Attributes attributes) {
    return Refused(RunOld("Add", 6, {a, Numbers(b)}, attributes));
  };
  const Attribute yes = int64_t{1};
  EXPECT_EQ(run({4}, {}), Rejection::kMismatchingShape);
  EXPECT_EQ(run({1}, {}), Rejection::kMismatchingShape);
  EXPECT_EQ(run({3}, {{"broadcast", yes}}), Rejection::kMismatchingShape);
  // (numpy would take it)
  EXPECT_EQ(run({3, 1}, {{"broadcast", yes}}), Rejection::kMismatchingShape);
  EXPECT_EQ(run({3, 4}, {{"broadcast", yes}, {"axis", int64_t{0}}}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(run({4}, {{"broadcast", yes}, {"axis", int64_t{3}}}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(run({4}, {{"broadcast", yes}, {"axis", int64_t{-1}}}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(run({2, 2, 3, 4}, {{"broadcast", yes}}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(Refused(RunOld("Add", 7, {a, a}, {{"broadcast", yes}})),
            Rejection::kInvalidModel);
}

TEST(OldForms, NothingIsBroadcastByVariadicOperators) {
  const TensorData a = Floats({2}, {1, -2}), b = Floats({2}, {0, 3});
  const std::map<std::string, std::vector<float>> want = {
      {"Max", {1, 3}}, {"Min", {0, -2}}, {"Sum", {1, 1}}, {"Mean", {0.5, 0.5}}};
  for (const auto& [op, values] : want) {
    for (int opset : {1, 6, 7}) {
      EXPECT_EQ(Values(RunOld(op, opset, {a, b})), values) << op;
      EXPECT_EQ(Refused(RunOld(op, opset, {a, Floats({1}, {1})})),
                Rejection::kMismatchingShape)
          << op;
    }
    EXPECT_EQ(Values(RunOld(op, 8, {a, Floats({1}, {1})})).size(), 2u);
  }
}

TEST(OldForms, Gemm) {
  const TensorData a = Floats({2, 2}, {1, 2, 3, 4}),
                   b = Floats({2, 3}, {1, 0, 1, 0, 1, 1}),
                   row = Floats({3}, {10, 20, 30}),
                   full = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (int opset : {1, 6}) {
    EXPECT_EQ(
        Values(RunOld("Gemm", opset, {a, b, row}, {{"broadcast", int64_t{1}}})),
        (std::vector<float>{11, 22, 33, 13, 24, 37}));
    EXPECT_EQ(Values(RunOld("Gemm", opset, {a, b, full})),
              (std::vector<float>{2, 4, 6, 7, 9, 13}));
    EXPECT_EQ(Refused(RunOld("Gemm", opset, {a, b, row})),
              Rejection::kMismatchingShape);
    EXPECT_EQ(Refused(RunOld("Gemm", opset, {a, b})), Rejection::kInvalidModel);
  }
}

TEST(OldForms, PReluHasOneSlopeOrOneForEachChannel) {
  const TensorData x = Floats({1, 2, 2}, {-1, 2, -3, -4});
  for (int opset : {1, 6}) {
    EXPECT_EQ(Values(RunOld("PRelu", opset, {x, Floats({2}, {0.5f, 2})})),
              (std::vector<float>{-0.5f, 2, -6, -8}));
    EXPECT_EQ(Values(RunOld("PRelu", opset, {x, Floats({1}, {0.5f})})),
              (std::vector<float>{-0.5f, 2, -1.5f, -2}));
    EXPECT_EQ(Refused(RunOld("PRelu", opset, {x, Floats({3}, {1, 1, 1})})),
              Rejection::kMismatchingShape);
  }
}

TEST(OldForms, ReshapeAndConcat) {
  const TensorData x = Numbers({2, 3, 4});
  auto y = RunOld("Reshape", 1, {x},
                  {{"shape", std::vector<int64_t>{0, -1}},
                   {"consumed_inputs", std::vector<int64_t>{0}}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape, (Shape{2, 12}));
  EXPECT_EQ(y->bytes, x.bytes);
  EXPECT_EQ(Refused(RunOld("Reshape", 4, {x},
                           {{"shape", std::vector<int64_t>{5, -1}}})),
            Rejection::kMismatchingShape);
  // The axis is 1 where it is not given; from opset 4 on it must be.
  y = RunOld("Concat", 1, {Floats({1, 1}, {1}), Floats({1, 1}, {2})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape, (Shape{1, 2}));
  EXPECT_EQ(Refused(RunOld("Concat", 4, {x, x})), Rejection::kInvalidModel);
}

TEST(OldForms, PadTileSplitUpsample) {
  auto y =
      RunOld("Pad", 1, {Floats({1, 2}, {1, 2})},
             {{"paddings", std::vector<int64_t>{0, 1, 0, 2}}, {"value", 7.0f}});
  EXPECT_EQ(Values(y), (std::vector<float>{7, 1, 2, 7, 7}));
  y = RunOld("Tile", 1,
             {Floats({2, 1}, {1, 2}), Floats({}, {3}), Floats({}, {1})}, {}, 1);
  EXPECT_EQ(Values(y), (std::vector<float>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(
      Refused(RunOld("Tile", 1,
                     {Floats({2}, {1, 2}), Floats({}, {1.5f}), Floats({}, {0})},
                     {}, 1)),
      Rejection::kInvalidModel);
  y = RunOld("Split", 1, {Floats({4}, {1, 2, 3, 4})},
             {{"split", std::vector<int64_t>{1, 3}}}, 9, 2);
  EXPECT_EQ(Values(y), std::vector<float>{1});
  EXPECT_EQ(Refused(RunOld("Split", 1,
                           {Floats({4}, {1, 2, 3, 4}), Floats({2}, {1, 3})}, {},
                           1, 2)),
            Rejection::kUnsupportedAttribute);
  y = RunOld("Upsample", 1, {Floats({1, 1, 1, 2}, {1, 2})},
             {{"height_scale", 2.0f}, {"width_scale", 2.0f}});
  EXPECT_EQ(Values(y), (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(Refused(RunOld("Upsample", 1, {Numbers({1, 2, 2})},
                           {{"height_scale", 2.0f}, {"width_scale", 2.0f}})),
            Rejection::kInvalidModel);
}

TEST(OldForms, CastByWord) {
  const std::map<std::string, DataType> words = {
      {"FLOAT", DataType::kFloat},     {"UINT8", DataType::kUint8},
      {"INT8", DataType::kInt8},       {"UINT16", DataType::kUint16},
      {"INT16", DataType::kInt16},     {"INT32", DataType::kInt32},
      {"INT64", DataType::kInt64},     {"BOOL", DataType::kBool},
      {"FLOAT16", DataType::kFloat16}, {"DOUBLE", DataType::kDouble},
      {"UINT32", DataType::kUint32},   {"UINT64", DataType::kUint64}};
  const TensorData x = Floats({3}, {0, 1.75f, 3});
  for (const auto& [word, type] : words) {
    auto y = RunOld("Cast", 1, {x}, {{"to", word}}, 0);
    ASSERT_TRUE(y.ok()) << word << y.status();
    EXPECT_EQ(y->type, type);
    EXPECT_EQ(
        y->bytes,
        RunOld("Cast", 6, {x}, {{"to", static_cast<int64_t>(type)}}, 0)->bytes);
  }
  EXPECT_EQ(Refused(RunOld("Cast", 1, {x}, {{"to", std::string("float")}})),
            Rejection::kInvalidModel);
  EXPECT_EQ(Refused(RunOld("Cast", 1, {x}, {{"to", int64_t{1}}})),
            Rejection::kInvalidModel);
}

TEST(OldForms, TrainingIsRefused) {
  const TensorData x = Numbers({2, 3});
  const TensorData c = Floats({3}, {1, 1, 1});
  const Attribute yes = int64_t{1};
  for (int opset : {1, 6}) {
    EXPECT_EQ(Values(RunOld("Dropout", opset, {x}, {{"is_test", yes}})),
              Values(x));
    EXPECT_EQ(Refused(RunOld("Dropout", opset, {x})),
              Rejection::kUnsupportedAttribute);
    EXPECT_EQ(Refused(RunOld("Dropout", opset, {x}, {{"is_test", yes}}, 9, 2)),
              Rejection::kUnsupportedAttribute);
    const std::vector<TensorData> in = {x, c, c, c, c};
    EXPECT_EQ(
        Values(RunOld("BatchNormalization", opset, in, {{"is_test", yes}}, 1)),
        Values(RunOld("BatchNormalization", 9, in, {}, 1)));
    EXPECT_EQ(Refused(RunOld("BatchNormalization", opset, in, {}, 1)),
              Rejection::kUnsupportedAttribute);
  }
}

// spatial=0 of rows is what it is of channels; of images each pixel has its
// own numbers.
TEST(OldForms, BatchNormalizationThatIsNotSpatial) {
  const Attribute no = int64_t{0};
  const TensorData c = Floats({3}, {1, 2, 3});
  for (int opset : {6, 7, 8}) {
    Attributes attributes = {{"spatial", no}};
    if (opset == 6) attributes["is_test"] = int64_t{1};
    const std::vector<TensorData> in = {Numbers({2, 3}), c, c, c, c};
    EXPECT_EQ(Values(RunOld("BatchNormalization", opset, in, attributes, 1)),
              Values(RunOld("BatchNormalization", 9, in, {}, 1)));
    const Shape row = {2, 1, 2};
    const std::vector<TensorData> images = {
        Numbers({2, 2, 1, 2}), Floats(row, {1, 2, 3, 4}),
        Floats(row, {0, 1, 0, 1}), Floats(row, {-1, 0, 1, 2}),
        Floats(row, {1, 4, 1, 4})};
    attributes["epsilon"] = 0.0f;
    EXPECT_EQ(
        Values(RunOld("BatchNormalization", opset, images, attributes, 1)),
        (std::vector<float>{-1, -0.75f, -7.5f, -5.5f, 0, 0.25f, -4.5f, -3.5f}));
    std::vector<TensorData> channels = images;
    for (size_t i = 1; i < 5; ++i) channels[i] = Floats({2}, {1, 1});
    EXPECT_EQ(
        Refused(RunOld("BatchNormalization", opset, channels, attributes, 1)),
        Rejection::kMismatchingShape);
  }
}

// Padding is never counted before opset 7.
TEST(OldForms, AveragePool) {
  const Attributes window = {{"kernel_shape", std::vector<int64_t>{2}},
                             {"pads", std::vector<int64_t>{1, 0}}};
  const TensorData x = Floats({1, 1, 2}, {2, 4});
  EXPECT_EQ(Values(RunOld("AveragePool", 1, {x}, window)),
            (std::vector<float>{2, 3}));
  Attributes counted = window;
  counted["count_include_pad"] = int64_t{1};
  EXPECT_EQ(Values(RunOld("AveragePool", 7, {x}, counted)),
            (std::vector<float>{1, 3}));
  EXPECT_EQ(Refused(RunOld("AveragePool", 6, {x}, counted)),
            Rejection::kInvalidModel);
}

// What ONNX dropped with opset 10; that it is right, ONNX Runtime says
// (tests/exporters/models/winml_experimental.txt).
TEST(Experimental, IsOfOpsetsBefore10) {
  const TensorData x = Numbers({1, 2, 4, 4});
  const Attributes factors = {{"alpha", 0.5f}, {"beta", 2.0f}};
  for (const char* op : {"Affine", "ParametricSoftplus", "ScaledTanh"}) {
    EXPECT_TRUE(RunOld(op, 9, {x}, factors).ok()) << op;
    EXPECT_EQ(Refused(RunOld(op, 10, {x}, factors)),
              Rejection::kUnsupportedVersion)
        << op;
  }
  EXPECT_EQ(Values(RunOld("Affine", 1, {Floats({2}, {1, -3})}, factors)),
            (std::vector<float>{2.5f, 0.5f}));
}

TEST(Experimental, TakesHalvesAndDoubles) {
  TensorData halves = TensorData::Zeros(DataType::kFloat16, {2}),
             doubles = TensorData::Zeros(DataType::kDouble, {2});
  for (int i = 0; i < 2; ++i) {
    halves.as<uint16_t>()[i] = model::F32ToF16(static_cast<float>(i + 1));
    doubles.as<double>()[i] = i + 1;
  }
  auto y = RunOld("Scale", 7, {halves}, {{"scale", 0.25f}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->as<uint16_t>()[1], model::F32ToF16(0.5f));
  y = RunOld("Affine", 7, {doubles}, {{"alpha", 0.5f}, {"beta", 1.0f}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->as<double>()[1], 2.0);
}

TEST(Experimental, WhatDoesNotFitIsRefused) {
  const TensorData x = Numbers({1, 2, 4, 4}), row = Numbers({2, 8});
  using Ints = std::vector<int64_t>;
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto crop = [&](const TensorData& image, Ints border, Ints scale = {}) {
    Attributes attributes = {{"border", std::move(border)}};
    if (!scale.empty()) attributes["scale"] = std::move(scale);
    return RunOld("Crop", 7, {image}, attributes);
  };
  EXPECT_TRUE(crop(x, {0, 0, 3, 3}).ok());
  EXPECT_TRUE(crop(x, {1, 2, 0, 0}, {2, 3}).ok());
  EXPECT_EQ(crop(x, {2, 0, 2, 0})->shape, (Shape{1, 2, 4, 0}));
  for (const Ints& border :
       {Ints{2, 0, 3, 0}, Ints{0, 5, 0, 0}, Ints{-1, 0, 0, 0}, Ints{0, 0, 0},
        Ints{most, 0, most, 0}, Ints{0, 0, 0, 5}}) {
    EXPECT_EQ(Refused(crop(x, border)), Rejection::kInvalidModel);
  }
  for (const Ints& scale : {Ints{4, 3}, Ints{2, 4}, Ints{1}, Ints{most, 1}}) {
    EXPECT_EQ(Refused(crop(x, {1, 1, 0, 0}, scale)), Rejection::kInvalidModel);
  }
  EXPECT_EQ(Refused(crop(row, {0, 0, 0, 0})), Rejection::kInvalidModel);
  EXPECT_EQ(Refused(RunOld("ScaledTanh", 7, {x}, {{"alpha", 1.0f}})),
            Rejection::kInvalidModel);
  EXPECT_EQ(Refused(RunOld("ImageScaler", 7, {x}, {{"scale", 1.0f}})),
            Rejection::kInvalidModel);
  EXPECT_EQ(Refused(RunOld("MeanVarianceNormalization", 8, {row})),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
