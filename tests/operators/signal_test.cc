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
  const int64_t ratio = random->Between(0, 3);
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
  const int64_t batch = random->Between(1, 3), step = random->Between(1, 6);
  c->inputs = {random->Data({batch, signal, complex ? 2 : 1}),
               Int64s({}, {step})};
  // With steps and lengths that a run tells, of a declared result.
  c->constant = {false, random->OneIn(2), random->OneIn(2), random->OneIn(2)};
  c->declared = {{batch, (signal - length) / step + 1,
                  one_sided != 0 ? length / 2 + 1 : length, 2}};
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

void Col2Im(Random* random, RuntimeCase* c) {
  const int64_t rank = random->Between(1, 2);
  Ints image, block, strides, dilations, pads(2 * rank), columns;
  int64_t elements = 1, count = 1;
  for (int64_t i = 0; i < rank; ++i) {
    block.push_back(random->Between(1, 3));
    // (The library mixes up the channels of dilated rows: compiler/ops has
    // these, col2im_test.cc.)
    dilations.push_back(rank == 1 ? 1 : random->Between(1, 2));
    strides.push_back(random->Between(1, 3));
    pads[i] = random->Below(3);
    pads[i + rank] = random->Below(3);
    const int64_t reach = (block[i] - 1) * dilations[i] + 1;
    const int64_t least =
        std::max<int64_t>(1, reach - pads[i] - pads[i + rank]);
    image.push_back(random->Between(least, least + 5));
    const int64_t room = image[i] + pads[i] + pads[i + rank] - reach;
    count *= room / strides[i] + 1;
    elements *= block[i];
  }
  const Shape x = {random->Between(1, 2), random->Between(1, 3) * elements,
                   count};
  c->inputs = {random->Data(x), Int64s({rank}, image), Int64s({rank}, block)};
  c->constant = {false, true, true};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "strides", strides);
    compiler::SetInts(node, "dilations", dilations);
    compiler::SetInts(node, "pads", pads);
  };
}

void CenterCropPad(Random* random, RuntimeCase* c) {
  const Shape x = random->AnyShape(1, 4, 7);
  Ints axes, sizes;
  for (size_t i = 0; i < x.size(); ++i) {
    if (random->OneIn(3)) continue;
    axes.push_back(static_cast<int64_t>(i) -
                   (random->OneIn(2) ? static_cast<int64_t>(x.size()) : 0));
    sizes.push_back(random->Between(1, 9));
  }
  const bool all = axes.empty();
  if (all) {
    for (size_t i = 0; i < x.size(); ++i)
      sizes.push_back(random->Between(1, 9));
  }
  c->inputs = {random->Data(x),
               Int64s({static_cast<int64_t>(sizes.size())}, sizes)};
  c->constant = {false, true};
  c->attributes = [=](onnx::NodeProto* node) {
    if (!all) compiler::SetInts(node, "axes", axes);
  };
}

void MaxRoiPool(Random* random, RuntimeCase* c) {
  const Shape x = {random->Between(1, 3), random->Between(1, 3),
                   random->Between(2, 8), random->Between(2, 8)};
  const int64_t regions = random->Between(1, 4);
  TensorData rois = TensorData::Zeros(DataType::kFloat, {regions, 5});
  const float scale = random->OneIn(2) ? 1 : 0.5f;
  for (int64_t r = 0; r < regions; ++r) {
    float* box = rois.as<float>() + 5 * r;
    box[0] = static_cast<float>(random->Below(x[0]));
    // Also beyond the image, and with halves.
    for (int64_t i : {1, 2}) {
      box[i] = static_cast<float>(random->Between(-4, 18)) / 2;
      box[i + 2] = box[i] + static_cast<float>(random->Below(16)) / 2;
    }
  }
  const Ints pooled = {random->Between(1, 4), random->Between(1, 4)};
  c->inputs = {random->Data(x), rois};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInts(node, "pooled_shape", pooled);
    compiler::SetFloat(node, "spatial_scale", scale);
  };
}

void DeformConv(Random* random, RuntimeCase* c) {
  const int64_t group = random->Between(1, 2), offsets = random->Between(1, 2);
  const Shape x = {random->Between(1, 2),
                   group * offsets * random->Between(1, 2),
                   random->Between(3, 7), random->Between(3, 7)};
  const Shape w = {group * random->Between(1, 3), x[1] / group,
                   random->Between(1, 3), random->Between(1, 3)};
  const Ints strides = {random->Between(1, 2), random->Between(1, 2)};
  const Ints dilations = {random->Between(1, 2), random->Between(1, 2)};
  Ints pads = {random->Between(1, 2), random->Between(1, 2),
               random->Between(1, 2), random->Between(1, 2)};
  Shape out = {x[0], offsets * w[2] * w[3]};
  for (size_t i : {0, 1}) {
    out.push_back(
        (x[i + 2] + pads[i] + pads[i + 2] - (w[i + 2] - 1) * dilations[i] - 1) /
            strides[i] +
        1);
  }
  Shape offset = out;
  offset[1] *= 2;
  c->inputs = {random->Data(x), random->Data(w), random->Data(offset, 3)};
  const bool bias = random->OneIn(2);
  if (bias || random->OneIn(2)) c->inputs.push_back(random->Data({w[0]}));
  if (bias) c->inputs.push_back(random->Data(out));
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "group", group);
    compiler::SetInt(node, "offset_group", offsets);
    compiler::SetInts(node, "strides", strides);
    compiler::SetInts(node, "dilations", dilations);
    compiler::SetInts(node, "pads", pads);
  };
}

void MelWeightMatrix(Random* random, RuntimeCase* c) {
  const auto real = [](float value) {
    TensorData data = TensorData::Zeros(DataType::kFloat, {});
    *data.as<float>() = value;
    return data;
  };
  const int64_t rate = random->Between(4000, 16000);
  const auto low = static_cast<float>(random->Between(0, 200));
  c->inputs = {
      Int64s({}, {random->Between(1, 12)}),
      Int64s({}, {random->Between(8, 300)}), Int64s({}, {rate}), real(low),
      real(low + static_cast<float>(random->Between(100, rate / 2 - 200)))};
  c->constant = {true, true, true, true, true};
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
                    Kind{{"AffineGrid", "", 20}, AffineGrid},
                    Kind{{"Col2Im", "", 18}, Col2Im},
                    Kind{{"CenterCropPad", "", 18}, CenterCropPad},
                    Kind{{"MaxRoiPool", "", 13}, MaxRoiPool},
                    Kind{{"DeformConv", "", 19}, DeformConv},
                    Kind{{"MelWeightMatrix", "", 17}, MelWeightMatrix}),
    [](const auto& info) { return info.param.version.TestName(); });

}  // namespace
}  // namespace heddle::tests
