// SPDX-License-Identifier: Apache-2.0
// Reductions, normalisations, and what orders or runs along an axis.
#include "compiler/bench/operator_case_builder.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

double Elements(const Shape& s) { return static_cast<double>(ElementCount(s)); }
double RowsOf(const Shape& s) {
  return Elements(s) / static_cast<double>(s.back());
}

// One input, one node, one output; `element` operations for each element, `row`
// for each row of the last axis.
CaseTable::Make Row(const std::string& op, int opset, double element,
                    double row,
                    const std::function<void(onnx::NodeProto*)>& set = {}) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(opset)};
    auto* node = m.model.Input("x", kF32, s).Node(op, {"x"}, {"y"});
    if (set) set(node);
    m.model.Output("y");
    m.lane_operations = element * Elements(s) + row * RowsOf(s);
    return m;
  };
}

// Of opset 18, with the axes as an input.
CaseTable::Make Reduce(const std::string& op, int64_t axis, double element,
                       double result) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(18)};
    m.model.Input("x", kF32, s).Constant("axes", Int64s({1}, {axis}));
    m.model.Node(op, {"x", "axes"}, {"y"});
    m.model.Output("y");
    m.lane_operations = element * Elements(s) +
                        result * Elements(s) /
                            static_cast<double>(s[static_cast<size_t>(axis)]);
    return m;
  };
}

// With a scale, and a bias if `biased`, for each of the last axis.
CaseTable::Make Normalization(const std::string& op, int opset, bool biased,
                              double element, double row) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(opset)};
    m.model.Input("x", kF32, s);
    const auto n = static_cast<size_t>(s.back());
    std::vector<std::string> inputs = {"x", "scale"};
    m.model.Constant("scale", Floats({s.back()}, std::vector<float>(n, 1.25f)));
    if (biased) {
      inputs.push_back("bias");
      m.model.Constant("bias", Floats({s.back()}, std::vector<float>(n, 0.5f)));
    }
    m.model.Node(op, inputs, {"y"});
    m.model.Output("y");
    m.lane_operations = element * Elements(s) + row * RowsOf(s);
    return m;
  };
}

// [N, C, H, W] with a scale and a bias for each channel. `of_statistics` is the
// number of means for an image of so many channels.
CaseTable::Make Channels(const std::string& op, int opset, double element,
                         double row,
                         const std::function<double(const Shape&)>& statistics,
                         const std::function<void(onnx::NodeProto*)>& set) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(opset)};
    m.model.Input("x", kF32, s);
    const std::vector<float> ones(static_cast<size_t>(s[1]), 1.25f);
    m.model.Constant("scale", Floats({s[1]}, ones));
    m.model.Constant("bias", Floats({s[1]}, ones));
    std::vector<std::string> inputs = {"x", "scale", "bias"};
    std::vector<std::string> outputs = {"y"};
    if (op == "BatchNormalization") {
      m.model.Input("mean", kF32, {s[1]}).Input("variance", kF32, {s[1]});
      inputs.insert(inputs.end(), {"mean", "variance"});
      outputs.insert(outputs.end(), {"new_mean", "new_variance"});
    }
    set(m.model.Node(op, inputs, outputs));
    for (const std::string& y : outputs) m.model.Output(y);
    m.lane_operations = element * Elements(s) + row * statistics(s);
    return m;
  };
}

// k of each row, as many as the second number of `shape` says.
CaseTable::Made TopK(const Shape& s) {
  CaseTable::Made m{ModelBuilder(11)};
  const Shape x = {s[0], s[1]};
  m.model.Input("x", kF32, x).Constant("k", Int64s({1}, {s[2]}));
  m.model.Node("TopK", {"x", "k"}, {"y", "i"});
  m.model.Output("y").Output("i");
  m.lane_operations = (4 + 3 * static_cast<double>(s[2])) * Elements(x);
  return m;
}

CaseTable::Made CumSum(const Shape& s) {
  CaseTable::Made m{ModelBuilder(14)};
  m.model.Input("x", kF32, s).Constant("axis", Int64s({}, {1}));
  m.model.Node("CumSum", {"x", "axis"}, {"y"});
  m.model.Output("y");
  m.lane_operations = Elements(s);
  return m;
}

}  // namespace

void AddRowCases(CaseTable* t) {
  const double exp =
      CyclesOf([](ProgramBuilder* b) { return Exp(b, ProgramBuilder::A()); });
  const double log =
      CyclesOf([](ProgramBuilder* b) { return Log(b, ProgramBuilder::A()); });
  const std::vector<Shape> rows = {{64, 128}, {128, 768}, {1024, 1024}};
  t->Sized(
      "Softmax",
      "maximum, difference, exp, sum, product; per row 2 trees, 1 quotient",
      rows, Row("Softmax", 13, exp + 4, 2 * kLaneSum + kDivide));
  t->Sized("LayerNormalization",
           "sum, 2 differences, square, product, scale and bias; per row 2 "
           "trees, 3 quotients, 1 root",
           rows,
           Normalization("LayerNormalization", 17, true, 6,
                         2 * kLaneSum + 4 * kDivide));
  t->Sized(
      "RMSNormalization",
      "square, product, scale; per row 1 tree, 2 quotients, 1 root", rows,
      Normalization("RMSNormalization", 23, false, 3, kLaneSum + 3 * kDivide));
  const std::vector<Shape> images = {
      {1, 16, 16, 16}, {1, 32, 32, 32}, {4, 64, 64, 64}};
  const double statistic = 2 * kLaneSum + 4 * kDivide;
  const char* const normalised =
      "sum, 2 differences, square, product, scale and bias; per statistic 2 "
      "trees, 3 quotients, 1 root";
  t->Sized("InstanceNormalization", normalised, images,
           Channels(
               "InstanceNormalization", 6, 6, statistic,
               [](const Shape& s) { return static_cast<double>(s[0] * s[1]); },
               [](onnx::NodeProto*) {}));
  t->Sized("GroupNormalization", normalised, images,
           Channels(
               "GroupNormalization", 21, 6, statistic,
               [](const Shape& s) { return static_cast<double>(s[0] * 8); },
               [](onnx::NodeProto* node) { SetInt(node, "num_groups", 8); }));
  t->Sized(
      "BatchNormalization computed", normalised, images,
      Channels(
          "BatchNormalization", 15, 6, statistic,
          [](const Shape& s) { return static_cast<double>(s[1]); },
          [](onnx::NodeProto* node) { SetInt(node, "training_mode", 1); }));
  t->Sized("ReduceSum", "sum; per row a tree", rows,
           Reduce("ReduceSum", 1, 1, kLaneSum));
  t->Sized("ReduceMean", "sum; per row a tree, a quotient", rows,
           Reduce("ReduceMean", 1, 1, kLaneSum + kDivide));
  t->Sized("ReduceMax", "maximum; per row a tree", rows,
           Reduce("ReduceMax", 1, 1, kLaneSum));
  t->Sized("ReduceSum columns", "sum", rows, Reduce("ReduceSum", 0, 1, 0));
  t->Sized("ReduceLogSumExp",
           "maximum, difference, exp, sum; per row 2 trees, log", rows,
           Reduce("ReduceLogSumExp", 1, exp + 3, 2 * kLaneSum + log));
  t->Sized("ArgMax", "comparison, 2 selections; per row 2 trees", rows,
           Row("ArgMax", 13, 3, 2 * kLaneSum,
               [](onnx::NodeProto* node) { SetInt(node, "axis", 1); }));
  t->Sized("TopK (rows, elements, k)",
           "the key 4; for each of the k places a comparison, 2 selections",
           {{16, 512, 4}, {64, 1024, 8}, {64, 16384, 32}}, TopK);
  t->Sized("CumSum", "sum", rows, CumSum);
}

}  // namespace heddle::compiler
