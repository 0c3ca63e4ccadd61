// SPDX-License-Identifier: Apache-2.0
// What samples images at computed places, and what transforms signals, against
// ONNX Runtime, of random shapes and attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;
using Ints = std::vector<int64_t>;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  TensorData Data(const Shape& shape, float range = 2) {
    return Floats(shape, range);
  }
  std::string OneOf(const std::vector<std::string>& words) {
    return words[static_cast<size_t>(
        Below(static_cast<int64_t>(words.size())))];
  }
};

void GridSample(Random* random, RuntimeCase* c) {
  const bool volume = c->opset >= 20 && random->OneIn(3);
  const int64_t rank = volume ? 3 : 2;
  Shape x = {random->Between(1, 2), random->Between(1, 3)}, grid = {x[0]};
  for (int64_t i = 0; i < rank; ++i) {
    x.push_back(random->Between(1, 6));
    grid.push_back(random->Between(1, 4));
  }
  grid.push_back(rank);
  std::vector<std::string> modes = {"nearest",
                                    c->opset < 20 ? "bilinear" : "linear"};
  // (The library has no cubic volumes.)
  if (!volume) modes.push_back(c->opset < 20 ? "bicubic" : "cubic");
  const std::string mode = random->OneOf(modes);
  const std::string padding = random->OneOf({"zeros", "border", "reflection"});
  const int64_t aligned = random->Below(2);
  c->inputs = {random->Data(x), random->Data(grid, 1.6f)};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetString(node, "mode", mode);
    compiler::SetString(node, "padding_mode", padding);
    compiler::SetInt(node, "align_corners", aligned);
  };
}

void RoiAlign(Random* random, RuntimeCase* c) {
  const Shape x = {random->Between(1, 3), random->Between(1, 3),
                   random->Between(2, 8), random->Between(2, 8)};
  const int64_t regions = random->Between(1, 4);
  TensorData rois = random->Data({regions, 4}, 6);
  TensorData batch = TensorData::Zeros(DataType::kInt64, {regions});
  for (int64_t r = 0; r < regions; ++r) {
    float* box = rois.as<float>() + 4 * r;
    // From a corner to the opposite one.
    for (int64_t i : {0, 1}) {
      box[i] = box[i] / 2 + 2;
      box[i + 2] = box[i] + (box[i + 2] < 0 ? -box[i + 2] : box[i + 2]);
    }
    batch.as<int64_t>()[r] = random->Below(x[0]);
  }
  const int64_t height = random->Between(1, 4), width = random->Between(1, 4);
  const int64_t ratio = random->Between(1, 3);
  const std::string mode = random->OneOf({"avg", "max"});
  const std::string coordinates =
      random->OneOf({"half_pixel", "output_half_pixel"});
  const float scale = random->OneIn(2) ? 1 : 0.5f;
  c->inputs = {random->Data(x), rois, batch};
  const int opset = c->opset;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetString(node, "mode", mode);
    compiler::SetInt(node, "output_height", height);
    compiler::SetInt(node, "output_width", width);
    compiler::SetInt(node, "sampling_ratio", ratio);
    compiler::SetFloat(node, "spatial_scale", scale);
    if (opset >= 16) {
      compiler::SetString(node, "coordinate_transformation_mode", coordinates);
    }
  };
}

void MaxUnpool(Random* random, RuntimeCase* c) {
  const auto rank = static_cast<size_t>(random->Between(1, 3));
  Shape x = {random->Between(1, 2), random->Between(1, 3)}, y = x;
  Ints kernel, strides;
  for (size_t i = 0; i < rank; ++i) {
    x.push_back(random->Between(1, 4));
    kernel.push_back(random->Between(1, 3));
    strides.push_back(random->Between(1, 3));
    y.push_back((x.back() - 1) * strides.back() + kernel.back());
  }
  // No place twice.
  Ints places(static_cast<size_t>(compiler::ElementCount(y)));
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<int64_t>(i);
    std::swap(places[i], places[static_cast<size_t>(
                             random->Below(static_cast<int64_t>(i) + 1))]);
  }
  const int64_t count = compiler::ElementCount(x);
  while (static_cast<int64_t>(places.size()) < count) places.push_back(0);
  places.resize(static_cast<size_t>(count));
  c->inputs = {random->Data(x), Int64s(x, places)};
  if (random->OneIn(3)) c->inputs.push_back(Int64s({2 + (int64_t)rank}, y));
  c->constant = {false, false, true};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "kernel_shape", kernel);
    compiler::SetInts(node, "strides", strides);
  };
}

void Dft(Random* random, RuntimeCase* c) {
  Shape x = random->AnyShape(2, 4, 7);
  const bool complex = random->OneIn(2), inverse = random->OneIn(3);
  x.push_back(complex ? 2 : 1);
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t axis = random->Below(rank - 1);
  const bool one_sided = !complex && !inverse && random->OneIn(2);
  c->inputs = {random->Data(x)};
  c->constant = {false, true, true};
  if (random->OneIn(2)) {
    c->inputs.push_back(Int64s({}, {random->Between(1, 9)}));
  } else if (c->opset >= 20) {
    c->inputs.push_back(TensorData());
  }
  const int opset = c->opset;
  if (opset >= 20) c->inputs.push_back(Int64s({}, {axis}));
  c->attributes = [=](onnx::NodeProto* node) {
    if (opset < 20) compiler::SetInt(node, "axis", axis);
    compiler::SetInt(node, "inverse", inverse);
    compiler::SetInt(node, "onesided", one_sided);
  };
}

void Stft(Random* random, RuntimeCase* c) {
  const int64_t length = random->Between(2, 10);
  const int64_t signal = length + random->Below(20);
  const bool complex = random->OneIn(3);
  const int64_t one_sided = complex ? 0 : random->Below(2);
  c->inputs = {random->Data({random->Between(1, 3), signal, complex ? 2 : 1}),
               Int64s({}, {random->Between(1, 6)})};
  c->constant = {false, true, random->OneIn(2), true};
  // (Of a complex signal the library reads beyond its window.)
  if (!complex && random->OneIn(2)) {
    c->inputs.push_back(random->Data({length}));
  } else {
    c->inputs.push_back(TensorData());
    c->inputs.push_back(Int64s({}, {length}));
  }
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "onesided", one_sided);
  };
}

void Window(Random* random, RuntimeCase* c) {
  c->inputs = {Int64s({}, {random->Between(2, 40)})};
  c->constant = {true};
  const int64_t periodic = random->Below(2);
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "periodic", periodic);
  };
}

void Det(Random* random, RuntimeCase* c) {
  Shape x = random->AnyShape(0, 2, 4);
  const int64_t rows = random->Between(1, 6);
  x.insert(x.end(), {rows, rows});
  c->inputs = {random->Data(x)};
  c->absolute = 1e-3;  // of up to 6! products of 6 numbers below 2
}

void AffineGrid(Random* random, RuntimeCase* c) {
  const int64_t rank = random->Between(2, 3), images = random->Between(1, 3);
  Ints size = {images, random->Between(1, 3)};
  for (int64_t i = 0; i < rank; ++i) size.push_back(random->Between(2, 5));
  const int64_t aligned = random->Below(2);
  c->inputs = {random->Data({images, rank, rank + 1}),
               Int64s({rank + 2}, size)};
  c->constant = {false, true};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "align_corners", aligned);
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
  ExpectAsRuntime(GetParam().version, 2e-5,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(
    Operators, AgainstRuntime,
    testing::Values(Kind{{"GridSample", "", 16}, GridSample},
                    Kind{{"GridSample", "", 20}, GridSample},
                    Kind{{"RoiAlign", "", 10}, RoiAlign},
                    Kind{{"RoiAlign", "", 16}, RoiAlign},
                    Kind{{"MaxUnpool", "", 11}, MaxUnpool},
                    Kind{{"DFT", "", 17}, Dft}, Kind{{"DFT", "", 20}, Dft},
                    Kind{{"STFT", "", 17}, Stft},
                    Kind{{"HannWindow", "", 17}, Window},
                    Kind{{"HammingWindow", "", 17}, Window},
                    Kind{{"BlackmanWindow", "", 17}, Window},
                    Kind{{"Det", "", 11}, Det},
                    Kind{{"AffineGrid", "", 20}, AffineGrid}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
