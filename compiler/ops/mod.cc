// SPDX-License-Identifier: Apache-2.0
// Mod with numpy's broadcasting: of integers the remainder of the division
// toward minus infinity, whose sign is the divisor's, or with fmod of the one
// toward zero, whose sign is the dividend's; by zero: the dividend. Of floats
// C's fmod, which is exact.
#include <cmath>
#include <string>
#include <type_traits>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "compiler/ops/program_operator.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

template <typename T>
T Remainder(T a, T b, bool truncates) {
  if (b == 0) return a;
  if (std::is_signed<T>::value && b == static_cast<T>(-1)) return 0;
  const T r = static_cast<T>(a % b);
  return truncates || r == 0 || (r < 0) == (b < 0) ? r : static_cast<T>(r + b);
}

float FloatRemainder(float a, float b) {
  const float r = std::fmod(a, b);
  return r != r ? model::FromBits(0x7fc00000) : r;
}

TensorData FloatRemainders(const TensorData& a, const TensorData& b,
                           const Shape& shape) {
  TensorData y = TensorData::Zeros(a.type, shape);
  const bool half = a.type == DataType::kFloat16;
  ForEachBroadcast(shape, BroadcastStrides(a.shape, shape),
                   BroadcastStrides(b.shape, shape),
                   [&](int64_t i, int64_t ia, int64_t ib) {
                     if (half) {
                       y.as<uint16_t>()[i] = model::F32ToF16(FloatRemainder(
                           model::F16ToF32(a.as<uint16_t>()[ia]),
                           model::F16ToF32(b.as<uint16_t>()[ib])));
                     } else {
                       y.as<float>()[i] =
                           FloatRemainder(a.as<float>()[ia], b.as<float>()[ib]);
                     }
                   });
  return y;
}

template <typename T>
TensorData Remainders(const TensorData& a, const TensorData& b,
                      const Shape& shape, bool truncates) {
  TensorData y = TensorData::Zeros(a.type, shape);
  T* const out = y.as<T>();
  const T *const u = a.as<T>(), *const v = b.as<T>();
  ForEachBroadcast(shape, BroadcastStrides(a.shape, shape),
                   BroadcastStrides(b.shape, shape),
                   [=](int64_t i, int64_t ia, int64_t ib) {
                     out[i] = Remainder(u[ia], v[ib], truncates);
                   });
  return y;
}

Results EvaluateMod(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& a = *inputs[0];
  const TensorData& b = *inputs[1];
  Shape shape;
  if (a.type != b.type || !BroadcastShapes(a.shape, b.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  const bool truncates = node.IntAttribute("fmod", 0) != 0;
  switch (a.type) {
    case DataType::kFloat:
    case DataType::kFloat16:
      return One(FloatRemainders(a, b, shape));
    case DataType::kDouble: {
      TensorData y = TensorData::Zeros(a.type, shape);
      ForEachBroadcast(shape, BroadcastStrides(a.shape, shape),
                       BroadcastStrides(b.shape, shape),
                       [&](int64_t i, int64_t ia, int64_t ib) {
                         y.as<double>()[i] =
                             std::fmod(a.as<double>()[ia], b.as<double>()[ib]);
                       });
      return One(std::move(y));
    }
    case DataType::kUint8:
      return One(Remainders<uint8_t>(a, b, shape, truncates));
    case DataType::kInt8:
      return One(Remainders<int8_t>(a, b, shape, truncates));
    case DataType::kUint16:
      return One(Remainders<uint16_t>(a, b, shape, truncates));
    case DataType::kInt16:
      return One(Remainders<int16_t>(a, b, shape, truncates));
    case DataType::kUint32:
      return One(Remainders<uint32_t>(a, b, shape, truncates));
    case DataType::kInt32:
      return One(Remainders<int32_t>(a, b, shape, truncates));
    case DataType::kUint64:
      return One(Remainders<uint64_t>(a, b, shape, truncates));
    case DataType::kInt64:
      return One(Remainders<int64_t>(a, b, shape, truncates));
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
}

bool TruncatesFloats(const Graph& graph, const Node& node,
                     std::string* detail) {
  const DataType type = InputOf(graph, node, 0).type;
  const int64_t fmod = node.IntAttribute("fmod", 0);
  *detail = absl::StrCat("fmod = ", fmod, " of ", DataTypeName(type));
  return Contains(kIntegers, type) || fmod == 1;
}

const OperatorRegistration kMod(
    Define("Mod", 10, kMaxOpset)
        .Inputs(2, 2, kNumbers | Types(DataType::kDouble))
        .Attr("fmod", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel, "fmod of floats is 1", TruncatesFloats)
        .Run(InferBroadcastSameType, EvaluateMod));

}  // namespace
}  // namespace heddle::compiler
