// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/computed_codes.h"

#include <algorithm>
#include <utility>

#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

// Input i, of one element or of one for each of a dimension's, in `shape` where
// it has several.
TensorId Parameter(Expansion* e, size_t i, const Shape& shape) {
  const TensorId id = e->In(i);
  const bool one = ElementCount(e->T(id).shape) == 1;
  return e->Reshape(id, one ? Shape() : shape);
}

// The codes of accumulators `acc`; several scales of the weights have `shape`.
void ReturnCodes(Expansion* e, TensorId acc, const Shape& shape) {
  const TensorId product =
      e->Add("Mul", {Parameter(e, kXScale, {}), Parameter(e, kWScale, shape)});
  const TensorId factor = e->Add("Div", {product, Parameter(e, kYScale, {})});
  const TensorId value = e->Add("Mul", {e->Cast(acc, kFloat), factor});
  const TensorId codes = e->Add("QuantizeLinear", {value, e->Scalar(kFloat, 1),
                                                   Parameter(e, kYZero, {})});
  e->Return(0, codes, e->T(e->In(kYZero)).type);
}

// Codes less their zero points (input `zero`, in `shape` if several) as floats.
TensorId Centred(Expansion* e, size_t codes, size_t zero, const Shape& shape) {
  const TensorId x = e->Cast(e->In(codes), kFloat);
  if (!e->HasIn(zero)) return x;
  return e->Add("Sub", {x, e->Cast(Parameter(e, zero, shape), kFloat)});
}

}  // namespace

bool AnyComputed(const Graph& graph, const Node& node,
                 std::initializer_list<size_t> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](size_t i) {
    return HasInput(node, i) && !InputOf(graph, node, i).is_constant();
  });
}

bool HasComputedParameters(const Graph& graph, const Node& node) {
  // The second operand of a product may be computed, the weights of a
  // convolution may not.
  const bool weights =
      node.op == "QLinearConv" && AnyComputed(graph, node, {kW, kBias});
  return weights ||
         AnyComputed(graph, node,
                     {kXScale, kXZero, kWScale, kWZero, kYScale, kYZero});
}

absl::Status ExpandComputedMatMul(Expansion* e) {
  const TensorId acc = e->Add(
      "MatMulInteger", {e->In(kX), e->In(kW), e->In(kXZero), e->In(kWZero)});
  ReturnCodes(e, acc, e->T(e->In(kWScale)).shape);
  return absl::OkStatus();
}

absl::Status ExpandComputedConv(Expansion* e) {
  TensorId acc = e->Add("ConvInteger",
                        {e->In(kX), e->In(kW), e->In(kXZero), e->In(kWZero)},
                        e->node().attributes);
  RETURN_IF_ERROR(e->status());
  Shape channels(e->T(acc).shape.size(), 1);
  channels[1] = e->T(acc).shape[1];
  if (e->HasIn(kBias)) {
    acc = e->Add("Add", {acc, e->Reshape(e->In(kBias), channels)});
  }
  ReturnCodes(e, acc, channels);
  return absl::OkStatus();
}

bool HasComputedWeights(const Graph& graph, const Node& node) {
  return AnyComputed(graph, node, {1, 3});
}

absl::Status ExpandComputedConvInteger(Expansion* e) {
  const Shape w = e->T(e->In(1)).shape;
  const int64_t group = e->node().IntAttribute("group", 1);
  Shape maps(w.size(), 1);
  maps[0] = w[0];
  const TensorId x = Centred(e, 0, 2, {}), weights = Centred(e, 1, 3, maps);
  RETURN_IF_ERROR(e->status());
  // Products are at most 255 * 255, and sums of less than 2^24 are exact.
  constexpr int64_t kExact = (int64_t{1} << 24) / (255 * 255);
  const int64_t area = ElementCount(Shape(w.begin() + 2, w.end()));
  if (area > kExact) {
    return RejectNode(Rejection::kUnsupportedAttribute, e->node(),
                      "weights that are computed at run time have kernels of "
                      "at most ",
                      kExact, " elements, not ", area);
  }
  const int64_t step = area == 0 ? w[1] : std::max<int64_t>(1, kExact / area);
  // Each part is some nodes.
  constexpr int64_t kMostParts = 1 << 14;
  if (w[1] / std::max<int64_t>(1, step) > kMostParts) {
    return RejectNode(Rejection::kUnsupportedShape, e->node(), "weights of ",
                      ShapeToString(w), " that are computed at run time are ",
                      "too many: their channels need more than ", kMostParts,
                      " convolutions");
  }
  TensorId sum = kNoTensor;
  for (int64_t c = 0; c < w[1]; c += step) {
    const int64_t end = std::min(w[1], c + step);
    TensorId part = x, kernel = weights;
    if (end - c < w[1]) {
      std::vector<int64_t> channels;
      for (int64_t g = 0; g < group; ++g) {
        for (int64_t k = c; k < end; ++k) channels.push_back(g * w[1] + k);
      }
      part = e->Add("Gather", {x, e->Ints(channels)}, {{"axis", int64_t{1}}});
      kernel = e->Add("Slice",
                      {weights, e->Ints({c}), e->Ints({end}), e->Ints({1})});
    }
    const TensorId y =
        e->Cast(e->Add("Conv", {part, kernel}, e->node().attributes, 11),
                DataType::kInt32);
    sum = sum == kNoTensor ? y : e->Add("Add", {sum, y});
    RETURN_IF_ERROR(e->status());
  }
  if (sum == kNoTensor) {
    return RejectNode(Rejection::kUnsupportedShape, e->node(),
                      "the weights have no channels");
  }
  e->Return(0, sum, DataType::kInt32);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
