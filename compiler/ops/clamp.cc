// SPDX-License-Identifier: Apache-2.0
// Relu = fmax(x, +0) and Clip = fmin(fmax(x, min), max) with the ISA's fmax and
// fmin: a NaN stays, and a bound that is one makes everything NaN.
#include "compiler/ops/clamp.h"

#include <algorithm>
#include <limits>

#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/map_elements.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

float ClipLimit(DataType type) {
  return type == DataType::kFloat16 ? 65504.0f
                                    : std::numeric_limits<float>::max();
}

}  // namespace

bool ConstantClampBounds(const Graph& graph, const Node& node, float* low,
                         float* high) {
  if (node.op == "Relu") {
    *low = 0;
    *high = std::numeric_limits<float>::infinity();
    return true;
  }
  const float limit = ClipLimit(InputOf(graph, node, 0).type);
  *low = node.FloatAttribute("min", -limit);
  *high = node.FloatAttribute("max", limit);
  float* bounds[] = {low, high};
  for (size_t i = 1; i <= 2; ++i) {
    if (!HasInput(node, i)) continue;
    const Tensor& bound = InputOf(graph, node, i);
    if (!bound.is_constant() || !Contains(kReals, bound.type) ||
        bound.constant->count() != 1) {
      return false;
    }
    *bounds[i - 1] = bound.type == DataType::kFloat16
                         ? model::F16ToF32(bound.constant->as<uint16_t>()[0])
                         : bound.constant->as<float>()[0];
  }
  return true;
}

namespace {

constexpr TypeSet kClampTypes =
    kRealsAndDouble | Types(DataType::kInt8, DataType::kUint8, DataType::kInt16,
                            DataType::kUint16, DataType::kInt32,
                            DataType::kInt64);
// Clip's, whose definition has the wide unsigned ones too.
constexpr TypeSet kClipTypes = kNumbers | kDoubles;

// A NaN stays, as a bound and as an element.
template <typename T>
T Bounded(T x, T low, T high) {
  if (x < low || low != low) x = low;
  return x > high || high != high ? high : x;
}

template <typename T>
void ClampAs(const TensorData& x, const TensorData* low, const TensorData* high,
             TensorData* y, T default_low = std::numeric_limits<T>::lowest(),
             T default_high = std::numeric_limits<T>::max()) {
  const T lo = low != nullptr ? low->as<T>()[0] : default_low;
  const T hi = high != nullptr ? high->as<T>()[0] : default_high;
  MapElements(x.as<T>(), x.count(), y->as<T>(),
              [lo, hi](T v) { return Bounded(v, lo, hi); });
}

Results Clamp(const Node& node, const TensorData& x, const TensorData* low,
              const TensorData* high, double from, double to) {
  TensorData y = TensorData::Zeros(x.type, x.shape);
  float lo = 0, hi = 0;
  if (x.type != DataType::kDouble) {
    lo = static_cast<float>(from);
    hi = static_cast<float>(to);
  }
  switch (x.type) {
    case DataType::kFloat:
      if (low != nullptr) lo = low->as<float>()[0];
      if (high != nullptr) hi = high->as<float>()[0];
      MapElements(x.as<float>(), x.count(), y.as<float>(), [lo, hi](float v) {
        return model::FMin(model::FMax(v, lo), hi);
      });
      break;
    case DataType::kFloat16:
      if (low != nullptr) lo = model::F16ToF32(low->as<uint16_t>()[0]);
      if (high != nullptr) hi = model::F16ToF32(high->as<uint16_t>()[0]);
      MapElements(x.as<uint16_t>(), x.count(), y.as<uint16_t>(),
                  [lo, hi](uint16_t v) {
                    return model::F32ToF16(
                        model::FMin(model::FMax(model::F16ToF32(v), lo), hi));
                  });
      break;
    case DataType::kInt8:
      ClampAs<int8_t>(x, low, high, &y);
      break;
    case DataType::kUint8:
      ClampAs<uint8_t>(x, low, high, &y);
      break;
    case DataType::kInt16:
      ClampAs<int16_t>(x, low, high, &y);
      break;
    case DataType::kUint16:
      ClampAs<uint16_t>(x, low, high, &y);
      break;
    case DataType::kInt32:
      ClampAs<int32_t>(x, low, high, &y);
      break;
    case DataType::kInt64:
      ClampAs<int64_t>(x, low, high, &y);
      break;
    case DataType::kUint32:
      ClampAs<uint32_t>(x, low, high, &y);
      break;
    case DataType::kUint64:
      ClampAs<uint64_t>(x, low, high, &y);
      break;
    case DataType::kDouble:
      ClampAs<double>(x, low, high, &y, from, to);
      break;
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
  return One(std::move(y));
}

Results EvaluateRelu(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData zero = TensorData::Zeros(inputs[0]->type, {});
  return Clamp(node, *inputs[0], &zero, nullptr, 0,
               std::numeric_limits<float>::infinity());
}

absl::Status InferClip(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  for (size_t i = 1; i <= 2; ++i) {
    if (!HasInput(node, i)) continue;
    const Tensor& bound = InputOf(*graph, node, i);
    if (bound.type != x.type || ElementCount(bound.shape) != 1) {
      return RejectNode(Rejection::kInvalidModel, node, "bound '", bound.name,
                        "' is ", DataTypeName(bound.type),
                        ShapeToString(bound.shape), ", must be a scalar of ",
                        DataTypeName(x.type));
    }
  }
  return InferSame(graph, node);
}

Results EvaluateClip(const Graph&, const Node& node, const Inputs& inputs) {
  const DataType type = inputs[0]->type;
  // The attributes' defaults are floats'.
  const double limit = type == DataType::kDouble && node.opset >= 11
                           ? std::numeric_limits<double>::max()
                           : double{ClipLimit(type)};
  const auto bound = [&](const char* name, double fallback) -> double {
    if (node.attributes.count(name) == 0) return fallback;
    return node.FloatAttribute(name, 0);
  };
  return Clamp(node, *inputs[0], At(inputs, 1), At(inputs, 2),
               bound("min", -limit), bound("max", limit));
}

const OperatorRegistration kRelu(Define("Relu", 6, kMaxOpset)
                                     .Inputs(1, 1, kClampTypes)
                                     .Run(InferSame, EvaluateRelu));
const OperatorRegistration kClip6(Define("Clip", 6, 10)
                                      .Inputs(1, 1, kRealsAndDouble)
                                      .Attr("min", AttributeKind::kFloat)
                                      .Attr("max", AttributeKind::kFloat)
                                      .Run(InferClip, EvaluateClip));
const OperatorRegistration kClip11(Define("Clip", 11, kMaxOpset)
                                       .Inputs(1, 3, kClipTypes)
                                       .Run(InferClip, EvaluateClip));

}  // namespace
}  // namespace heddle::compiler
