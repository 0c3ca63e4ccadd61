// SPDX-License-Identifier: Apache-2.0
// Generators of nodes that sample images (GridSample, RoiAlign, MaxUnpool,
// AffineGrid) and transform signals (DFT, STFT), and Det. (Windows are
// constant.)
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddGridSample(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const bool volume = b->opset() >= 20 && s.size() == 5;
  if (!IsReal(b->T(x).type) || (s.size() != 4 && !volume)) return false;
  const auto rank = static_cast<int64_t>(s.size()) - 2;
  Shape to = {s[0]};
  for (int64_t i = 0; i < rank; ++i) to.push_back(b->Between(1, 5));
  to.push_back(rank);
  const std::string linear = b->opset() < 20 ? "bilinear" : "linear";
  const std::string cubic = b->opset() < 20 ? "bicubic" : "cubic";
  // (A cubic volume takes 64 samples.)
  const std::string mode =
      b->Pick<std::string>({"nearest", linear, volume ? linear : cubic});
  const std::string padding =
      b->Pick<std::string>({"zeros", "border", "reflection"});
  return b->Append(
      "", "GridSample",
      {x, b->Constant(b->Values(DataType::kFloat, to, 1.5f, b->specials()))},
      {{"mode", mode},
       {"padding_mode", padding},
       {"align_corners", b->Below(2)}});
}

bool AddRoiAlign(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() != 4) return false;
  const int64_t regions = b->Between(1, 3);
  std::vector<int64_t> images;
  for (int64_t i = 0; i < regions; ++i) images.push_back(b->Below(s[0]));
  const TensorId rois =
      b->Constant(b->Values(DataType::kFloat, {regions, 4}, 6, b->specials()));
  const std::string mode = b->OneIn(2) ? "max" : "avg";
  return b->Append("", "RoiAlign",
                   {x, rois, b->Constant(Int64s({regions}, images))},
                   {{"mode", mode},
                    {"output_height", b->Between(1, 3)},
                    {"output_width", b->Between(1, 3)},
                    {"sampling_ratio", b->Between(1, 2)},
                    {"spatial_scale", 0.5f}});
}

bool AddMaxUnpool(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() < 3 || s.size() > 5) return false;
  const size_t rank = s.size() - 2;
  const std::vector<int64_t> window(rank, 2);
  int64_t count = s[0] * s[1];
  for (size_t i = 0; i < rank; ++i) count *= 2 * s[2 + i];
  const int64_t values = ElementCount(s);
  if (count > 4000 || values > 600) return false;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < values; ++i) places.push_back(b->Below(count));
  return b->Append("", "MaxUnpool", {x, b->Constant(Int64s(s, places))},
                   {{"kernel_shape", window}, {"strides", window}});
}

bool AddDft(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() < 2) return false;
  // As parts of numbers.
  const auto rank = static_cast<int64_t>(s.size());
  if (s.back() > 2) return false;
  const int64_t axis = b->Below(rank - 1);
  if (s[static_cast<size_t>(axis)] > 40) return false;
  const bool inverse = b->OneIn(3);
  std::map<std::string, Attribute> attributes = {{"inverse", int64_t{inverse}}};
  if (s.back() == 1 && !inverse) attributes["onesided"] = b->Below(2);
  std::vector<TensorId> in = {x};
  if (b->OneIn(2)) {
    in.push_back(b->Constant(Int64s({}, {b->Between(1, 12)})));
  } else if (b->opset() >= 20) {
    in.push_back(kNoTensor);
  }
  if (b->opset() >= 20) {
    in.push_back(b->Constant(Int64s({}, {axis})));
  } else {
    attributes["axis"] = axis;
  }
  return b->Append("", "DFT", in, attributes);
}

bool AddStft(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsReal(type) || s.size() != 2 || s[1] > 200) return false;
  const int64_t length = b->Between(1, std::min<int64_t>(s[1], 12));
  std::vector<TensorId> in = {x, b->Constant(Int64s({}, {b->Between(1, 6)}))};
  if (b->OneIn(2)) {
    in.push_back(b->Constant(b->Values(type, {length}, 1, false)));
  } else {
    in.push_back(kNoTensor);
    in.push_back(b->Constant(Int64s({}, {length})));
  }
  return b->Append("", "STFT", in, {{"onesided", b->Below(2)}});
}

bool AddDet(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() < 2 || s.back() > 4 ||
      s.back() != s[s.size() - 2]) {
    return false;
  }
  return b->Append("", "Det", {x});
}

bool AddAffineGrid(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.size() != 3 || s[2] != s[1] + 1 || s[1] < 2 ||
      s[1] > 3) {
    return false;
  }
  std::vector<int64_t> size = {s[0], 1};
  // (Where one place of an axis is, if corners are aligned, ONNX leaves open.)
  for (int64_t i = 0; i < s[1]; ++i) size.push_back(b->Between(2, 5));
  return b->Append(
      "", "AffineGrid",
      {x, b->Constant(Int64s({static_cast<int64_t>(size.size())}, size))},
      {{"align_corners", b->Below(2)}});
}

const NodeGeneratorRegistration kGridSample("signal_grid_sample",
                                            {"GridSample"}, AddGridSample);
const NodeGeneratorRegistration kRoiAlign("signal_roi_align", {"RoiAlign"},
                                          AddRoiAlign);
const NodeGeneratorRegistration kMaxUnpool("signal_max_unpool", {"MaxUnpool"},
                                           AddMaxUnpool);
const NodeGeneratorRegistration kDft("signal_dft", {"DFT"}, AddDft);
const NodeGeneratorRegistration kStft("signal_stft", {"STFT"}, AddStft);
const NodeGeneratorRegistration kDet("signal_det", {"Det"}, AddDet);
const NodeGeneratorRegistration kAffineGrid("signal_affine_grid",
                                            {"AffineGrid"}, AddAffineGrid);

}  // namespace
}  // namespace heddle::compiler
