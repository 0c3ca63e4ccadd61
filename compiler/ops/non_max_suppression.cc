// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: for each image and class, boxes by falling score, less
// those that overlap one taken before by more than a threshold. Of equal scores
// the box with the lower index is first; those that are no number come last.
// The shape has room for all that may be taken (bounded.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

enum { kBoxes, kScores, kMostBoxes, kOverlap, kLeastScore };

bool Fits(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& boxes = InputOf(graph, node, kBoxes).shape;
  const Shape& scores = InputOf(graph, node, kScores).shape;
  *detail = absl::StrCat("boxes ", ShapeToString(boxes), ", scores ",
                         ShapeToString(scores));
  return boxes.size() == 3 && scores.size() == 3 && boxes[2] == 4 &&
         boxes[0] == scores[0] && boxes[1] == scores[2];
}

bool HasNumbers(const Graph& graph, const Node& node, std::string* detail) {
  for (size_t i = kMostBoxes; i <= kLeastScore; ++i) {
    if (!HasInput(node, i)) continue;
    const Shape& shape = InputOf(graph, node, i).shape;
    *detail = absl::StrCat("input ", i, " has shape ", ShapeToString(shape));
    if (ElementCount(shape) != 1) return false;
  }
  return true;
}

// Of each class; 0 without the input.
int64_t MostBoxes(const TensorData* most, int64_t boxes) {
  return most == nullptr ? 0
                         : std::clamp<int64_t>(*most->as<int64_t>(), 0, boxes);
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Shape& scores = InputOf(*graph, node, kScores).shape;
  int64_t most = 0;
  if (HasInput(node, kMostBoxes)) {
    const Tensor& tensor = InputOf(*graph, node, kMostBoxes);
    most = tensor.is_constant() ? MostBoxes(tensor.constant.get(), scores[2])
                                : scores[2];
  }
  return SetOutput(graph, node, 0, DataType::kInt64,
                   {ElementCount({scores[0], scores[1], most}), 3});
}

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

Box BoxOf(const float* corners, bool centre) {
  if (centre) {
    const float x = corners[0], y = corners[1], w = corners[2], h = corners[3];
    return {x - w / 2, y - h / 2, x + w / 2, y + h / 2};
  }
  return {std::min(corners[1], corners[3]), std::min(corners[0], corners[2]),
          std::max(corners[1], corners[3]), std::max(corners[0], corners[2])};
}

bool OverlapsMore(const Box& a, const Box& b, float threshold) {
  const float x0 = std::max(a.x0, b.x0), x1 = std::min(a.x1, b.x1);
  const float y0 = std::max(a.y0, b.y0), y1 = std::min(a.y1, b.y1);
  if (!(x1 > x0) || !(y1 > y0)) return false;
  const float both = (x1 - x0) * (y1 - y0);
  const float whole = a.area() + b.area() - both;
  if (!(both > 0) || !(a.area() > 0) || !(b.area() > 0) || !(whole > 0)) {
    return false;
  }
  return both / whole > threshold;
}

float FloatOr(const TensorData* data, float fallback) {
  return data == nullptr ? fallback : *data->as<float>();
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const Shape& shape = inputs[kScores]->shape;
  const int64_t classes = shape[1], count = shape[2];
  const int64_t most = MostBoxes(At(inputs, kMostBoxes), count);
  const float overlap = FloatOr(At(inputs, kOverlap), 0);
  if (!(overlap >= 0 && overlap <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.Describe(), ": iou_threshold is ", overlap, ", not from 0 to 1"));
  }
  const bool thresholded = At(inputs, kLeastScore) != nullptr;
  const float least = FloatOr(At(inputs, kLeastScore), 0);
  const bool centre = node.IntAttribute("center_point_box", 0) != 0;
  std::vector<int64_t> taken;
  for (int64_t row = 0; most > 0 && row < shape[0] * classes; ++row) {
    const float* scores = inputs[kScores]->as<float>() + row * count;
    const float* boxes =
        inputs[kBoxes]->as<float>() + row / classes * count * 4;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      PaceAt(i);
      if (!thresholded || scores[i] > least) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      Pace(1);
      const bool a_nan = std::isnan(scores[a]), b_nan = std::isnan(scores[b]);
      if (a_nan != b_nan) return b_nan;
      if (!a_nan && scores[a] != scores[b]) return scores[a] > scores[b];
      return a < b;
    });
    std::vector<Box> kept;
    for (int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) == most) break;
      const Box box = BoxOf(boxes + i * 4, centre);
      const bool covered =
          std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
            Pace(8);
            return OverlapsMore(box, other, overlap);
          });
      if (covered) continue;
      kept.push_back(box);
      taken.insert(taken.end(), {row / classes, row % classes, i});
    }
  }
  TensorData y = TensorData::Zeros(DataType::kInt64,
                                   {static_cast<int64_t>(taken.size() / 3), 3});
  std::copy(taken.begin(), taken.end(), y.as<int64_t>());
  return One(std::move(y));
}

const OperatorRegistration kNonMaxSuppression(
    Define("NonMaxSuppression", 10, kMaxOpset)
        .Inputs(2, 5, kFloats, kFloats, kInt64s, kFloats, kFloats)
        .Attr("center_point_box", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel,
              "boxes are [images,boxes,4], scores [images,classes,boxes]", Fits)
        .Rule(Rejection::kInvalidModel, "limits are one number each",
              HasNumbers)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
