// SPDX-License-Identifier: Apache-2.0
// Operators on images and volumes.
#include "compiler/bench/operator_case_builder.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat;

double Elements(const Shape& s) { return static_cast<double>(ElementCount(s)); }

// To twice the height and width; `operations` for an element of each of the two
// axes' results, the last axis first.
CaseTable::Make Resize(const std::string& mode, double operations) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(13)};
    m.model.Input("x", kF32, s).Constant("roi", Floats({0}, {}));
    m.model.Constant("scales", Floats({4}, {1, 1, 2, 2}));
    SetString(m.model.Node("Resize", {"x", "roi", "scales"}, {"y"}), "mode",
              mode);
    m.model.Output("y");
    m.lane_operations = operations * (2 + 4) * Elements(s);
    return m;
  };
}

CaseTable::Made GridSample(const Shape& s) {
  CaseTable::Made m{ModelBuilder(16)};
  m.model.Input("x", kF32, s).Input("grid", kF32, {s[0], s[2], s[3], 2});
  m.model.Node("GridSample", {"x", "grid"}, {"y"});
  m.model.Output("y");
  // Of a sample the two coordinates: to pixels 2, floor 2, distances 2, and of
  // the four places the address 2, whether they are inside 3; of an element
  // the four places' weights: 6 products and sums. Rows are gathered.
  m.lane_operations = 6 * Elements(s) +
                      (2 * 6 + 4 * 5) * Elements(s) / static_cast<double>(s[1]);
  return m;
}

CaseTable::Made Convolution(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  const int64_t c = s[1];
  m.model.Input("x", kF32, s);
  m.model.Constant(
      "w", Floats({c, c, 3, 3}, std::vector<float>(size_t(c * c * 9), 0.125f)));
  SetInts(m.model.Node("Conv", {"x", "w"}, {"y"}), "pads", {1, 1, 1, 1});
  m.model.Output("y");
  m.lane_operations = 9 * static_cast<double>(c) * Elements(s);
  return m;
}

// 4x4, stride 2: of each result 4 taps.
CaseTable::Made ConvTranspose(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  const int64_t c = s[1];
  m.model.Input("x", kF32, s);
  m.model.Constant("w", Floats({c, c, 4, 4},
                               std::vector<float>(size_t(c * c * 16), 0.125f)));
  auto* node = m.model.Node("ConvTranspose", {"x", "w"}, {"y"});
  SetInts(node, "strides", {2, 2});
  SetInts(node, "pads", {1, 1, 1, 1});
  m.model.Output("y");
  m.lane_operations = 16 * static_cast<double>(c) * Elements(s);
  return m;
}

CaseTable::Make Pool(const std::string& op, int64_t kernel, int64_t stride,
                     double last) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(13)};
    m.model.Input("x", kF32, s);
    auto* node = m.model.Node(op, {"x"}, {"y"});
    double results = static_cast<double>(s[0] * s[1]), taps = 1;
    for (size_t i = 2; i < s.size(); ++i) {
      results *= static_cast<double>((s[i] - kernel) / stride + 1);
      taps *= static_cast<double>(kernel);
    }
    SetInts(node, "kernel_shape", std::vector<int64_t>(s.size() - 2, kernel));
    SetInts(node, "strides", std::vector<int64_t>(s.size() - 2, stride));
    m.model.Output("y");
    m.lane_operations = (taps + last) * results;
    return m;
  };
}

CaseTable::Made GlobalAverage(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s);
  m.model.Node("GlobalAveragePool", {"x"}, {"y"});
  m.model.Output("y");
  m.lane_operations =
      Elements(s) + (kLaneSum + kDivide) * static_cast<double>(s[0] * s[1]);
  return m;
}

}  // namespace

void AddSpatialCases(CaseTable* t) {
  const std::vector<Shape> images = {
      {1, 16, 16, 16}, {1, 32, 32, 32}, {1, 64, 64, 64}};
  t->Sized("Resize nearest", "", images, Resize("nearest", 0));
  t->Sized("Resize linear", "of each axis a product, a multiply-add", images,
           Resize("linear", 2));
  t->Sized("Resize cubic", "of each axis 4 multiply-adds", images,
           Resize("cubic", 4));
  t->Sized("GridSample",
           "6 for each element; for each sample 12 for its place, 20 for the "
           "four around it",
           images, GridSample);
  const std::vector<Shape> narrow = {
      {1, 8, 16, 16}, {1, 16, 32, 32}, {1, 32, 64, 64}};
  t->Sized("Conv 3x3 float", "9 multiply-adds for each channel", narrow,
           Convolution);
  t->Sized("ConvTranspose 4x4, stride 2 float",
           "of each result 4 multiply-adds for each channel", narrow,
           ConvTranspose);
  t->Sized("AveragePool 3x3, stride 2", "9 sums, 1 quotient", images,
           Pool("AveragePool", 3, 2, kDivide));
  t->Sized("MaxPool 2x2x2, stride 2", "8 maxima",
           {{1, 8, 8, 16, 16}, {1, 16, 16, 32, 32}, {1, 32, 16, 64, 64}},
           Pool("MaxPool", 2, 2, 0));
  t->Sized("GlobalAveragePool", "sum; per channel a tree, a quotient", images,
           GlobalAverage);
}

}  // namespace heddle::compiler
