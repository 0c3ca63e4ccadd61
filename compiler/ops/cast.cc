// SPDX-License-Identifier: Apache-2.0
// Cast, and CastLike to the type of its second input. Float to integer
// truncates toward zero; NaN and values outside int32 give -2^31 before the
// narrowing (as the ISA's `trunc`); to int64 the limits are those of int64.
// Integers narrow by dropping high bits. To bool: non-zero. To floats of 8 and
// 4 bits by way of fp32 (narrow.h), with saturation unless `saturate` says
// otherwise.
#include <algorithm>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"
#include "compiler/ops/narrow.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr TypeSet kCastable =
    kReals | kIntegers |
    Types(DataType::kBool, DataType::kBfloat16, DataType::kDouble);

bool IsReal(DataType type) {
  return Contains(kNarrowFloats, type) || type == DataType::kFloat ||
         type == DataType::kFloat16 || type == DataType::kBfloat16 ||
         type == DataType::kDouble;
}

// Elements are converted so many at a time, by loops of one type each.
constexpr int64_t kTogether = 512;
struct Reals {
  double values[kTogether];
};
struct Integers {  // uint64 travels as its bit pattern
  int64_t values[kTogether];
};

template <typename T, typename Chunk>
void LoadAs(const TensorData& x, int64_t at, int64_t n, Chunk* to) {
  const T* const from = x.as<T>() + at;
  for (int64_t i = 0; i < n; ++i) to->values[i] = from[i];
}

void Load(const TensorData& x, int64_t at, int64_t n, Reals* to) {
  switch (x.type) {
    case DataType::kFloat16:
      for (int64_t i = 0; i < n; ++i) {
        to->values[i] = model::F16ToF32(x.as<uint16_t>()[at + i]);
      }
      return;
    case DataType::kBfloat16:
      for (int64_t i = 0; i < n; ++i) {
        to->values[i] = model::Bf16ToF32(x.as<uint16_t>()[at + i]);
      }
      return;
    case DataType::kDouble:
      return LoadAs<double>(x, at, n, to);
    case DataType::kFloat:
      return LoadAs<float>(x, at, n, to);
    default:
      for (int64_t i = 0; i < n; ++i) {
        to->values[i] = NarrowToF32(x.type, x.bytes[at + i]);
      }
  }
}

void Load(const TensorData& x, int64_t at, int64_t n, Integers* to) {
  switch (x.type) {
    case DataType::kBool:
      for (int64_t i = 0; i < n; ++i) to->values[i] = x.bytes[at + i] != 0;
      return;
    case DataType::kUint4:
    case DataType::kUint8:
      return LoadAs<uint8_t>(x, at, n, to);
    case DataType::kInt4:
    case DataType::kInt8:
      return LoadAs<int8_t>(x, at, n, to);
    case DataType::kUint16:
      return LoadAs<uint16_t>(x, at, n, to);
    case DataType::kInt16:
      return LoadAs<int16_t>(x, at, n, to);
    case DataType::kUint32:
      return LoadAs<uint32_t>(x, at, n, to);
    case DataType::kInt32:
      return LoadAs<int32_t>(x, at, n, to);
    default:
      return LoadAs<int64_t>(x, at, n, to);
  }
}

void Store(const Reals& from, bool saturates, int64_t at, int64_t n,
           TensorData* y) {
  switch (y->type) {
    case DataType::kFloat16:
      for (int64_t i = 0; i < n; ++i) {
        y->as<uint16_t>()[at + i] =
            model::F32ToF16(static_cast<float>(from.values[i]));
      }
      return;
    case DataType::kBfloat16:
      for (int64_t i = 0; i < n; ++i) {
        y->as<uint16_t>()[at + i] =
            model::F32ToBf16(static_cast<float>(from.values[i]));
      }
      return;
    case DataType::kDouble: {
      double* const to = y->as<double>() + at;
      for (int64_t i = 0; i < n; ++i) to[i] = from.values[i];
      return;
    }
    case DataType::kFloat: {
      float* const to = y->as<float>() + at;
      for (int64_t i = 0; i < n; ++i) {
        to[i] = model::Canonical(static_cast<float>(from.values[i]));
      }
      return;
    }
    default:
      for (int64_t i = 0; i < n; ++i) {
        y->bytes[at + i] =
            F32ToNarrow(y->type, static_cast<float>(from.values[i]), saturates);
      }
  }
}

template <typename T>
void StoreAs(const Integers& from, int64_t at, int64_t n, TensorData* y) {
  T* const to = y->as<T>() + at;
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from.values[i]);
}

void Store(const Integers& from, int64_t at, int64_t n, TensorData* y) {
  if (Contains(kFourBitIntegers, y->type)) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t value = from.values[i];
      const bool negative = y->type == DataType::kInt4 && (value & 8) != 0;
      y->bytes[at + i] =
          static_cast<uint8_t>((value & 15) | (negative ? 0xf0 : 0));
    }
    return;
  }
  switch (ElementBytes(y->type)) {
    case 1:
      return StoreAs<uint8_t>(from, at, n, y);
    case 2:
      return StoreAs<uint16_t>(from, at, n, y);
    case 4:
      return StoreAs<uint32_t>(from, at, n, y);
    default:
      return StoreAs<int64_t>(from, at, n, y);
  }
}

int64_t ToInteger(double value, DataType to) {
  if (to == DataType::kInt64 || to == DataType::kUint64 ||
      to == DataType::kUint32) {
    // 2^63 is exact in binary64.
    if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
      return std::numeric_limits<int64_t>::min();
    }
    return static_cast<int64_t>(value);
  }
  if (!(value > -2147483649.0 && value < 2147483648.0)) {
    return std::numeric_limits<int32_t>::min();
  }
  return static_cast<int64_t>(value);
}

absl::Status Infer(Graph* graph, const Node& node) {
  const auto to = static_cast<DataType>(node.IntAttribute("to", 0));
  return SetOutput(graph, node, 0, to, InputOf(*graph, node, 0).shape);
}

absl::Status InferLike(Graph* graph, const Node& node) {
  return SetOutput(graph, node, 0, InputOf(*graph, node, 1).type,
                   InputOf(*graph, node, 0).shape);
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const DataType to = graph.tensors[node.outputs[0]].type;
  if (x.type == to) return One(x);
  const bool saturates = node.IntAttribute("saturate", 1) != 0;
  TensorData y = TensorData::Zeros(to, x.shape);
  Reals reals;
  Integers integers;
  const int64_t count = x.count();
  for (int64_t at = 0; at < count; at += kTogether) {
    const int64_t n = std::min(kTogether, count - at);
    Pace(n);
    if (IsReal(x.type)) {
      Load(x, at, n, &reals);
      for (int64_t i = 0; i < n && !IsReal(to); ++i) {
        integers.values[i] = to == DataType::kBool
                                 ? reals.values[i] != 0
                                 : ToInteger(reals.values[i], to);
      }
    } else {
      Load(x, at, n, &integers);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t value = integers.values[i];
        if (to == DataType::kBool) {
          integers.values[i] = value != 0;
        } else if (to == DataType::kDouble) {
          reals.values[i] = static_cast<double>(value);
        } else if (IsReal(to)) {
          // One rounding from the integer to f32, not two by way of binary64.
          reals.values[i] =
              x.type == DataType::kUint64
                  ? static_cast<float>(static_cast<uint64_t>(value))
                  : static_cast<float>(value);
        }
      }
    }
    if (IsReal(to)) {
      Store(reals, saturates, at, n, &y);
    } else {
      Store(integers, at, n, &y);
    }
  }
  return One(std::move(y));
}

// With what opsets 19, 21 and 23 add.
constexpr TypeSet CastableAt(int opset) {
  return kCastable | (opset >= 19 ? kFloat8s : 0) |
         (opset >= 21 ? kFourBitIntegers : 0) | (opset >= 23 ? kFloat4s : 0);
}

bool TargetIsCastable(const Graph&, const Node& node, std::string* detail) {
  const auto to = static_cast<DataType>(node.IntAttribute("to", 0));
  *detail = absl::StrCat("to = ", DataTypeName(to));
  return Contains(CastableAt(node.opset), to);
}

bool RoundModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("round_mode", "up");
  *detail = absl::StrCat("round_mode = '", mode, "'");
  return mode == "up" || mode == "down" || mode == "nearest";
}

// round_mode is of float8e8m0, which is refused.
void AddModes(int since, Define* define) {
  if (since >= 19) define->Attr("saturate", AttributeKind::kInt);
  if (since < 24) return;
  define->Attr("round_mode", AttributeKind::kString)
      .Rule(Rejection::kInvalidModel, "round_mode is up, down or nearest",
            RoundModeIsKnown);
}

OperatorInfo Casting(int since, int until) {
  Define define("Cast", since, until);
  define.Inputs(1, 1, CastableAt(since))
      .Attr("to", AttributeKind::kInt, true)
      .Rule(Rejection::kUnsupportedDatatype,
            "the target is a number of fixed size or bool", TargetIsCastable);
  AddModes(since, &define);
  return define.Run(Infer, Evaluate);
}

OperatorInfo CastingLike(int since, int until) {
  Define define("CastLike", since, until);
  define.Inputs(2, 2, CastableAt(since));
  AddModes(since, &define);
  return define.Run(InferLike, Evaluate);
}

const OperatorRegistration kCast6(Casting(6, 18)), kCast19(Casting(19, 20)),
    kCast21(Casting(21, 22)), kCast23(Casting(23, 23)),
    kCast24(Casting(24, kMaxOpset));
const OperatorRegistration kCastLike15(CastingLike(15, 18)),
    kCastLike19(CastingLike(19, 20)), kCastLike21(CastingLike(21, 22)),
    kCastLike23(CastingLike(23, 23)), kCastLike24(CastingLike(24, kMaxOpset));

}  // namespace
}  // namespace heddle::compiler
