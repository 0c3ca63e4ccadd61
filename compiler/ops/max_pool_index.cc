// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/max_pool_index.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/volume.h"
#include "compiler/ops/window.h"

namespace heddle::compiler {
namespace {

bool WantsIndices(const Node& node) {
  return node.outputs.size() > 1 && node.outputs[1] != kNoTensor;
}

// The value that no element is less than.
TensorId Lowest(Expansion* e, DataType type) {
  switch (type) {
    case DataType::kInt8:
      return e->Scalar(type, -128);
    case DataType::kUint8:
      return e->Scalar(type, 0);
    default:
      return e->Scalar(type, -std::numeric_limits<float>::infinity());
  }
}

// Values and places (int32, kNoTensor at first) of [before, in, after].
struct Best {
  TensorId value, place;
};

// One axis: windows of `w`'s columns. A step along the axis is `stride` places.
Best Along(Expansion* e, Best from, const Window& w, int64_t stride) {
  const int64_t taps = w.kernel[1], out = w.out[1];
  const int64_t span = (out - 1) * w.stride[1] + 1;
  const int64_t reach = span + (taps - 1) * w.dilation[1];
  const int64_t end = std::max<int64_t>(0, reach - w.in[1] - w.pad_begin[1]);
  if (w.pad_begin[1] != 0 || end != 0) {
    const TensorId pads = e->Ints({0, w.pad_begin[1], 0, 0, end, 0});
    from.value =
        e->Add("Pad", {from.value, pads, Lowest(e, e->T(from.value).type)});
    if (from.place != kNoTensor) {
      from.place = e->Add("Pad", {from.place, pads});
    }
  }
  const auto tap = [&](TensorId x, int64_t t) {
    const int64_t first = t * w.dilation[1];
    return e->Add("Slice", {x, e->Ints({first}), e->Ints({first + span}),
                            e->Ints({1}), e->Ints({w.stride[1]})});
  };
  std::vector<bool> found(static_cast<size_t>(out), false);
  Best best = {kNoTensor, kNoTensor};
  for (int64_t t = 0; t < taps; ++t) {
    Pace(out);
    TensorData places = TensorData::Zeros(DataType::kInt32, {1, out, 1});
    // Windows whose first element this is.
    TensorData begins = TensorData::Zeros(DataType::kBool, {1, out, 1});
    bool any = false;
    for (int64_t o = 0; o < out; ++o) {
      const int64_t at = o * w.stride[1] - w.pad_begin[1] + t * w.dilation[1];
      places.as<int32_t>()[o] = static_cast<int32_t>(at * stride);
      if (found[o] || at < 0 || at >= w.in[1]) continue;
      found[o] = any = true;
      begins.bytes[o] = 1;
    }
    Best next = {tap(from.value, t), e->Constant(std::move(places))};
    if (from.place != kNoTensor) {
      next.place = e->Add("Add", {tap(from.place, t), next.place});
    }
    if (best.value == kNoTensor) {
      best = next;
      continue;
    }
    TensorId better = e->Add("Greater", {next.value, best.value});
    if (any) better = e->Add("Or", {better, e->Constant(std::move(begins))});
    best.value = e->Add("Where", {better, next.value, best.value});
    best.place = e->Add("Where", {better, next.place, best.place});
  }
  return best;
}

absl::Status AddIndices(Expansion* e) {
  const Node& node = e->node();
  const Shape shape = e->T(e->In(0)).shape;
  const size_t rank = shape.size() - 2;
  if (ElementCount(shape) > std::numeric_limits<int32_t>::max()) {
    return RejectNode(Rejection::kUnsupportedShape, node,
                      "Indices of an input of shape ", ShapeToString(shape),
                      " exceed 32 bits");
  }
  const bool columns_first = node.IntAttribute("storage_order", 0) != 0;
  const int64_t images = shape[0] * shape[1];
  const Shape in(shape.begin() + 2, shape.end());
  Shape out = in;
  Best best = {e->In(0), kNoTensor};
  for (size_t axis = rank; axis-- > 0;) {
    ASSIGN_OR_RETURN(const Node part, DimensionsOf(node, rank, axis, 1));
    ASSIGN_OR_RETURN(const Window window,
                     ResolveWindow(part, {shape[0], shape[1], in[axis]},
                                   part.IntsAttribute("kernel_shape", {})));
    RETURN_IF_ERROR(CheckTable(node, window.out[1], window.kernel[1]));
    const Shape inner(out.begin() + static_cast<int64_t>(axis) + 1, out.end());
    const Shape outer(in.begin(), in.begin() + static_cast<int64_t>(axis));
    const Shape view = {images * ElementCount(outer), in[axis],
                        ElementCount(inner)};
    const Shape below(in.begin() + static_cast<int64_t>(axis) + 1, in.end());
    best.value = e->Reshape(best.value, view);
    if (best.place != kNoTensor) best.place = e->Reshape(best.place, view);
    best = Along(e, best, window, ElementCount(columns_first ? outer : below));
    RETURN_IF_ERROR(e->status());
    out[axis] = window.out[1];
    // Of one tap: the places are those of one image.
    if (e->T(best.place).shape != e->T(best.value).shape) {
      best.place =
          e->Add("Expand", {best.place, e->Ints(e->T(best.value).shape)});
    }
  }
  TensorData first = TensorData::Zeros(DataType::kInt32, {images, 1});
  for (int64_t i = 0; i < images; ++i) {
    first.as<int32_t>()[i] = static_cast<int32_t>(i * ElementCount(in));
  }
  TensorId place = e->Reshape(best.place, {images, ElementCount(out)});
  place = e->Add("Add", {place, e->Constant(std::move(first))});
  out.insert(out.begin(), shape.begin(), shape.begin() + 2);
  e->Return(1, e->Reshape(place, out), DataType::kInt64);
  return absl::OkStatus();
}

}  // namespace

bool IsExpandedMaxPool(const Graph& graph, const Node& node) {
  return IsVolume(graph, node) || WantsIndices(node);
}

absl::Status ExpandMaxPool(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  TensorId y = kNoTensor;
  if (IsVolume(e->graph(), e->node())) {
    ASSIGN_OR_RETURN(y, AddVolumePool(e, e->In(0)));
  } else {
    y = e->Add("MaxPool", {e->In(0)}, e->node().attributes, e->node().opset);
  }
  if (WantsIndices(e->node())) RETURN_IF_ERROR(AddIndices(e));
  e->Return(0, y, type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
