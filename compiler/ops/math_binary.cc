// SPDX-License-Identifier: Apache-2.0
// Pow and PRelu with numpy's broadcasting, as microprograms. float16 is
// computed in fp32 and rounded once. The exponent of Pow may be of another
// type: integers are converted to fp32. A constant exponent of 2 or 3 makes
// products of it: f32(x * x), f32(f32(x * x) * x). Integers to a power are
// found by multiplication, which wraps, or for real exponents in fp32, toward
// zero.
#include <cmath>
#include <optional>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Steps = absl::StatusOr<std::vector<ElementwiseStep>>;

// The exponent of every element, if it is one constant.
std::optional<float> OneExponent(const Tensor& exponent) {
  if (!exponent.is_constant() || exponent.constant->count() != 1) {
    return std::nullopt;
  }
  const TensorData data = LaneData(*exponent.constant);
  isa::ElementType element;
  if (!LaneType(data.type, &element)) return std::nullopt;
  const uint32_t bits = model::LoadElement(element, data.bytes.data());
  switch (OrderOf(data.type)) {
    case Order::kReal:
      return model::FromBits(bits);
    case Order::kSigned:
      return static_cast<float>(static_cast<int32_t>(bits));
    case Order::kUnsigned:
      return static_cast<float>(bits);
  }
  return std::nullopt;
}

Steps PowSteps(const Graph& graph, const Node& node) {
  const Tensor& exponent = InputOf(graph, node, 1);
  ProgramBuilder b;
  const std::optional<float> one = OneExponent(exponent);
  if (one == 2.0f || one == 3.0f) {
    // The product is exact, rounded once for each factor.
    const Term square = b.Mul(b.A(), b.A());
    b.Out(one == 2.0f ? square : b.Mul(square, b.A()));
    // The exponent's shape counts in broadcasting, if it has a higher rank.
    return OneStep(b, {0, 1});
  }
  // (what lanes do not have is fp32)
  isa::ElementType element;
  Term y = b.B();
  if (exponent.type == DataType::kUint32) {
    y = FromUnsigned(&b, y);
  } else if (LaneType(exponent.type, &element) &&
             OrderOf(exponent.type) != Order::kReal) {
    y = b.FromInt(y);
  }
  b.Out(Pow(&b, b.A(), y));
  return OneStep(b, {0, 1});
}

int64_t Integer(const TensorData& data, int64_t i) {
  switch (data.type) {
    case DataType::kInt32:
      return data.as<int32_t>()[i];
    case DataType::kInt64:
      return data.as<int64_t>()[i];
    case DataType::kUint32:
      return data.as<uint32_t>()[i];
    case DataType::kUint64: {
      const uint64_t v = data.as<uint64_t>()[i];
      return v > INT64_MAX ? INT64_MAX : static_cast<int64_t>(v);
    }
    case DataType::kInt16:
      return data.as<int16_t>()[i];
    case DataType::kUint16:
      return data.as<uint16_t>()[i];
    case DataType::kInt8:
      return data.as<int8_t>()[i];
    default:
      return data.bytes[i];
  }
}

uint64_t Power(uint64_t base, int64_t exponent) {
  if (exponent < 0) {
    // 1 / base^n: a whole number for 1 and -1, else 0 towards zero.
    if (base == 1) return 1;
    if (base == ~uint64_t{0}) return exponent % 2 == 0 ? 1 : base;
    return 0;
  }
  uint64_t power = 1;
  for (auto n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if (n & 1) power *= base;
    base *= base;
  }
  return power;
}

void SetInteger(uint64_t v, int64_t i, TensorData* data) {
  if (data->type == DataType::kInt64) {
    data->as<uint64_t>()[i] = v;
  } else {
    data->as<uint32_t>()[i] = static_cast<uint32_t>(v);
  }
}

Results IntegerPow(const Node& node, const TensorData& x, const TensorData& y) {
  Shape shape;
  if (!BroadcastShapes(x.shape, y.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  TensorData z = TensorData::Zeros(x.type, shape);
  if (Contains(kIntegers, y.type)) {
    ForEachBroadcast(
        shape, BroadcastStrides(x.shape, shape),
        BroadcastStrides(y.shape, shape), [&](int64_t i, int64_t a, int64_t b) {
          SetInteger(Power(static_cast<uint64_t>(Integer(x, a)), Integer(y, b)),
                     i, &z);
        });
    return One(std::move(z));
  }
  TensorData base = TensorData::Zeros(DataType::kFloat, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    base.as<float>()[i] = static_cast<float>(Integer(x, i));
  }
  ProgramBuilder b;
  b.Out(Pow(&b, b.A(), b.B()));
  ASSIGN_OR_RETURN(auto steps, OneStep(b, {0, 1}));
  ASSIGN_OR_RETURN(auto result,
                   RunStep(steps.front(), {&base, &y}, DataType::kFloat));
  for (int64_t i = 0; i < z.count(); ++i) {
    PaceAt(i);
    const float v = result.as<float>()[i];
    // Out of range and NaN: the lowest value, as conversions of x86 give.
    const bool fits = v >= -0x1p63f && v < 0x1p63f;
    const int64_t whole = fits ? static_cast<int64_t>(v) : INT64_MIN;
    SetInteger(z.type == DataType::kInt32
                   ? static_cast<uint64_t>(model::Trunc(v))
                   : static_cast<uint64_t>(whole),
               i, &z);
  }
  return One(std::move(z));
}

Results WidePow(const Graph& graph, const Node& node, const Inputs& inputs) {
  if (inputs[0]->type == DataType::kDouble) {
    return MapDoubles(graph, node, inputs, [](const Node&, const double* x) {
      return std::pow(x[0], x[1]);
    });
  }
  return IntegerPow(node, *inputs[0], *inputs[1]);
}

// x >= 0 ? x : slope x
Steps PReluSteps(const Graph&, const Node&) {
  ProgramBuilder b;
  const Term positive = b.LessEqual(b.Imm(0), b.A());
  b.Out(b.Select(positive, b.A(), b.Mul(b.B(), b.A())));
  return OneStep(b, {0, 1});
}

absl::Status InferPRelu(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& slope = InputOf(*graph, node, 1);
  Shape shape;
  if (!BroadcastShapes(x.shape, slope.shape, &shape) || shape != x.shape) {
    return RejectNode(Rejection::kMismatchingShape, node, "slope of shape ",
                      ShapeToString(slope.shape),
                      " cannot be broadcast to the input's ",
                      ShapeToString(x.shape));
  }
  return InferBroadcastSameType(graph, node);
}

Define Power(int since, int until, TypeSet bases, TypeSet exponents) {
  Define define("Pow", since, until);
  define.Inputs(2, 2, bases, exponents);
  return define;
}

const ProgramOperator kPow7(Power(7, 11, kRealsAndDouble, kRealsAndDouble),
                            InferBroadcast, PowSteps, kReals, WidePow);
const ProgramOperator kPow12(Power(12, kMaxOpset,
                                   kRealsAndDouble | Types(DataType::kInt32,
                                                           DataType::kInt64),
                                   kNumbers | kDoubles),
                             InferBroadcast, PowSteps, kReals, WidePow);
const ProgramOperator kPRelu(
    Define("PRelu", 7, kMaxOpset).Inputs(2, 2, kRealsAndDouble), InferPRelu,
    PReluSteps,
    [](const Node&, const double* x) { return x[0] < 0 ? x[1] * x[0] : x[0]; });

}  // namespace
}  // namespace heddle::compiler
