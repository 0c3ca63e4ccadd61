// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/volume.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/conv_transpose.h"
#include "compiler/ops/window.h"

namespace heddle::compiler {
namespace {

constexpr size_t kRank = 3;
const std::vector<int64_t> kExchange = {0, 2, 1, 3};

TensorId Exchanged(Expansion* e, TensorId x) {
  return e->Add("Transpose", {x}, {{"perm", kExchange}});
}

// [n, c, d, h, w] as [n * count / taps, c * taps, h, w]: image i of an n has,
// as channels of channel c, the planes at[i * taps] .. at[(i + 1) * taps - 1]
// of it; where these lie outside `fill`, or zeros.
TensorId PlanesAsChannels(Expansion* e, TensorId x,
                          const std::vector<int64_t>& at, int64_t taps,
                          TensorId fill = kNoTensor) {
  const Shape shape = e->T(x).shape;
  const int64_t depth = shape[2];
  std::vector<int64_t> planes;
  bool outside = false, same = static_cast<int64_t>(at.size()) == depth;
  for (int64_t z : at) {
    const bool inside = z >= 0 && z < depth;
    outside = outside || !inside;
    same = same && z == static_cast<int64_t>(planes.size());
    planes.push_back(inside ? z : depth);
  }
  if (outside) {
    std::vector<TensorId> in = {x, e->Ints({0, 0, 0, 0, 0, 0, 0, 1, 0, 0})};
    if (fill != kNoTensor) in.push_back(fill);
    x = e->Add("Pad", in);
  }
  if (!same) x = e->Add("Gather", {x, e->Ints(planes)}, {{"axis", int64_t{2}}});
  const auto count = static_cast<int64_t>(at.size());
  x = e->Reshape(
      x, {shape[0], shape[1], count / taps, taps * shape[3] * shape[4]});
  return e->Reshape(Exchanged(e, x), {shape[0] * (count / taps),
                                      shape[1] * taps, shape[3], shape[4]});
}

// [n * depth, m, h, w] as [n, m, depth, h, w].
TensorId ImagesAsPlanes(Expansion* e, TensorId y, int64_t n, int64_t depth) {
  const Shape s = e->T(y).shape;
  if (s.size() != 4) return y;  // after an error
  y = e->Reshape(y, {n, depth, s[1], s[2] * s[3]});
  return e->Reshape(Exchanged(e, y), {n, s[1], depth, s[2], s[3]});
}

absl::Status CheckWeights(const Node& node, const Shape& x, const Shape& w) {
  if (w.size() != x.size()) {
    return RejectNode(Rejection::kMismatchingShape, node, "weights of shape ",
                      ShapeToString(w), " do not fit the input of shape ",
                      ShapeToString(x));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsVolume(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).shape.size() == kRank + 2;
}

std::vector<Constraint> VolumeRules() {
  std::vector<Constraint> rules = WindowRules();
  rules[0] = {Rejection::kUnsupportedShape,
              "input is [N,C,W], [N,C,H,W] or [N,C,D,H,W]",
              [](const Graph& graph, const Node& node, std::string* detail) {
                const Shape& shape = InputOf(graph, node, 0).shape;
                *detail = absl::StrCat("it is ", ShapeToString(shape));
                return shape.size() >= 3 && shape.size() <= kRank + 2;
              }};
  return rules;
}

absl::StatusOr<Node> DimensionsOf(const Node& node, size_t rank, size_t first,
                                  size_t count) {
  Node part = node;
  for (const char* name : {"strides", "dilations", "kernel_shape", "pads",
                           "output_padding", "output_shape"}) {
    if (node.attributes.count(name) == 0) continue;
    auto values = node.IntsAttribute(name, {});
    const bool pads = std::string(name) == "pads";
    // Some exporters state the whole shape.
    if (std::string(name) == "output_shape" && values.size() == rank + 2) {
      values.erase(values.begin(), values.begin() + 2);
    }
    if (values.size() != (pads ? 2 * rank : rank)) {
      return RejectNode(Rejection::kInvalidModel, node, name, " ",
                        ShapeToString(values), " must have ",
                        pads ? 2 * rank : rank, " values");
    }
    std::vector<int64_t> taken;
    for (size_t side = 0; side < (pads ? 2u : 1u); ++side) {
      for (size_t i = 0; i < count; ++i) {
        taken.push_back(values[side * rank + first + i]);
      }
    }
    part.attributes[name] = taken;
  }
  return part;
}

namespace {

absl::Status ExpandConvolution(Expansion* e, size_t weights, TensorId fill,
                               int opset) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, w = e->T(e->In(weights)).shape;
  RETURN_IF_ERROR(CheckWeights(node, x, w));
  ASSIGN_OR_RETURN(const Node depth, DimensionsOf(node, kRank, 0, 1));
  ASSIGN_OR_RETURN(const Node plane, DimensionsOf(node, kRank, 1, 2));
  ASSIGN_OR_RETURN(const ConvShape shape,
                   ResolveConv(depth, {x[0], x[1], x[2]}, {w[0], w[1], w[2]}));
  const Window& window = shape.window;
  RETURN_IF_ERROR(CheckTable(node, window.out[1], window.kernel[1]));
  std::vector<int64_t> at;
  for (int64_t o = 0; o < window.out[1]; ++o) {
    for (int64_t k = 0; k < window.kernel[1]; ++k) {
      at.push_back(o * window.stride[1] - window.pad_begin[1] +
                   k * window.dilation[1]);
    }
  }
  std::vector<TensorId> in = node.inputs;
  in[0] = PlanesAsChannels(e, e->In(0), at, window.kernel[1], fill);
  in[weights] = e->Reshape(e->In(weights), {w[0], w[1] * w[2], w[3], w[4]});
  RETURN_IF_ERROR(e->status());
  const TensorId y = e->Add(node.op, in, plane.attributes, opset);
  RETURN_IF_ERROR(e->status());
  e->Return(0, ImagesAsPlanes(e, y, x[0], window.out[1]), e->T(y).type);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExpandVolumeConv(Expansion* e) {
  return ExpandConvolution(e, 1, kNoTensor, 11);
}

absl::Status ExpandVolumeOfCodes(Expansion* e, size_t weights, size_t zero) {
  const bool given = e->HasIn(zero);
  if (given && ElementCount(e->T(e->In(zero)).shape) != 1) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "zero point '",
                      e->T(e->In(zero)).name, "' has shape ",
                      ShapeToString(e->T(e->In(zero)).shape),
                      ", must have 1 element");
  }
  TensorId fill = kNoTensor;
  if (given && e->T(e->In(zero)).is_constant()) {
    TensorData code = *e->T(e->In(zero)).constant;
    code.shape.clear();
    fill = e->Constant(std::move(code));
  } else if (given) {
    fill = e->Reshape(e->In(zero), {});
  }
  return ExpandConvolution(e, weights, fill, e->node().opset);
}

absl::Status ExpandVolumeConvTranspose(Expansion* e) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, w = e->T(e->In(1)).shape;
  const DataType type = e->T(e->In(0)).type;
  RETURN_IF_ERROR(CheckWeights(node, x, w));
  ASSIGN_OR_RETURN(const Node depth, DimensionsOf(node, kRank, 0, 1));
  ASSIGN_OR_RETURN(const Node plane, DimensionsOf(node, kRank, 1, 2));
  ASSIGN_OR_RETURN(
      const ConvTransposeShape c,
      ResolveConvTranspose(depth, {x[0], x[1], x[2]}, {w[0], w[1], w[2]}));
  ASSIGN_OR_RETURN(const ConvTransposeShape image,
                   ResolveConvTranspose(plane, {x[0], x[1], x[3], x[4]},
                                        {w[0], w[1], w[3], w[4]}));
  RETURN_IF_ERROR(CheckTable(node, c.out[1], w[2]));
  if (e->HasIn(2) && e->T(e->In(2)).shape != Shape{c.maps}) {
    return RejectNode(Rejection::kMismatchingShape, node, "the bias has shape ",
                      ShapeToString(e->T(e->In(2)).shape), ", must be [",
                      c.maps, "]");
  }
  std::vector<TensorId> parts;
  std::vector<int64_t> order(static_cast<size_t>(c.out[1]));
  int64_t done = 0;
  for (const TransposePhase& phase : c.Phases(1)) {
    for (int64_t j = 0; j < phase.count; ++j) {
      order[phase.first + j * c.stride[1]] = done++;
    }
    const Shape shape = {x[0], c.maps, phase.count, image.out[0], image.out[1]};
    const auto taps = static_cast<int64_t>(phase.taps.size());
    if (taps == 0) {
      const TensorId bias = e->HasIn(2)
                                ? e->Reshape(e->In(2), {1, c.maps, 1, 1, 1})
                                : e->Scalar(type, 0);
      parts.push_back(e->Add("Expand", {bias, e->Ints(shape)}));
      continue;
    }
    std::vector<int64_t> at;
    for (int64_t j = 0; j < phase.count; ++j) {
      for (int64_t t = 0; t < taps; ++t) {
        at.push_back(phase.in_first + j + t * phase.in_step);
      }
    }
    TensorId weights = e->Add("Gather", {e->In(1), e->Ints(phase.taps)},
                              {{"axis", int64_t{2}}});
    weights =
        Exchanged(e, e->Reshape(weights, {w[0], w[1], taps, w[3] * w[4]}));
    weights = e->Reshape(weights, {w[0] * taps, w[1], w[3], w[4]});
    std::vector<TensorId> in = {PlanesAsChannels(e, e->In(0), at, taps),
                                weights};
    if (e->HasIn(2)) in.push_back(e->In(2));
    const TensorId y =
        e->Add("ConvTranspose", in, plane.attributes, node.opset);
    RETURN_IF_ERROR(e->status());
    parts.push_back(ImagesAsPlanes(e, y, x[0], phase.count));
  }
  TensorId y = parts[0];
  if (parts.size() > 1) {
    y = e->Add("Concat", parts, {{"axis", int64_t{2}}});
    y = e->Add("Gather", {y, e->Ints(order)}, {{"axis", int64_t{2}}});
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

absl::StatusOr<TensorId> AddVolumePool(Expansion* e, TensorId x) {
  const Node& node = e->node();
  const Shape s = e->T(x).shape;
  ASSIGN_OR_RETURN(const Node plane, DimensionsOf(node, kRank, 1, 2));
  ASSIGN_OR_RETURN(Node depth, DimensionsOf(node, kRank, 0, 1));
  // Columns of the depth's windows are single elements.
  for (const char* name : {"strides", "dilations", "kernel_shape"}) {
    if (depth.attributes.count(name) == 0) continue;
    auto values = depth.IntsAttribute(name, {});
    values.push_back(1);
    depth.attributes[name] = values;
  }
  if (depth.attributes.count("pads") != 0) {
    const auto pads = depth.IntsAttribute("pads", {});
    depth.attributes["pads"] = std::vector<int64_t>{pads[0], 0, pads[1], 0};
  }
  depth.attributes.erase("storage_order");
  auto attributes = plane.attributes;
  attributes.erase("storage_order");
  TensorId y = e->Reshape(x, {s[0], s[1] * s[2], s[3], s[4]});
  y = e->Add(node.op, {y}, attributes, node.opset);
  RETURN_IF_ERROR(e->status());
  const int64_t rows = e->T(y).shape[2], columns = e->T(y).shape[3];
  y = e->Reshape(y, {s[0], s[1], s[2], rows * columns});
  y = e->Add(node.op, {y}, depth.attributes, node.opset);
  RETURN_IF_ERROR(e->status());
  return e->Reshape(y, {s[0], s[1], e->T(y).shape[2], rows, columns});
}

absl::Status ExpandVolumePool(Expansion* e) {
  const DataType type = e->T(e->In(0)).type;
  ASSIGN_OR_RETURN(const TensorId y, AddVolumePool(e, e->Wide(e->In(0))));
  e->Return(0, y, type);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
