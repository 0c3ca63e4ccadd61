// SPDX-License-Identifier: Apache-2.0
// Cast, and CastLike to the type of its second input. Float to integer
// truncates toward zero; NaN and values outside int32 give -2^31 before the
// narrowing (as the ISA's `trunc`); to int64 the limits are those of int64.
// Integers narrow by dropping high bits. To bool: non-zero.
#include <cmath>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr TypeSet kCastable =
    kReals | kIntegers |
    Types(DataType::kBool, DataType::kBfloat16, DataType::kDouble);

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 ||
         type == DataType::kBfloat16 || type == DataType::kDouble;
}

double LoadReal(const TensorData& x, int64_t i) {
  switch (x.type) {
    case DataType::kFloat16:
      return model::F16ToF32(x.as<uint16_t>()[i]);
    case DataType::kBfloat16:
      return model::Bf16ToF32(x.as<uint16_t>()[i]);
    case DataType::kDouble:
      return x.as<double>()[i];
    default:
      return x.as<float>()[i];
  }
}

// uint64 travels as its bit pattern.
int64_t LoadInteger(const TensorData& x, int64_t i) {
  switch (x.type) {
    case DataType::kBool:
      return x.bytes[i] != 0;
    case DataType::kUint8:
      return x.as<uint8_t>()[i];
    case DataType::kInt8:
      return x.as<int8_t>()[i];
    case DataType::kUint16:
      return x.as<uint16_t>()[i];
    case DataType::kInt16:
      return x.as<int16_t>()[i];
    case DataType::kUint32:
      return x.as<uint32_t>()[i];
    case DataType::kInt32:
      return x.as<int32_t>()[i];
    default:
      return x.as<int64_t>()[i];
  }
}

void StoreReal(double value, int64_t i, TensorData* y) {
  switch (y->type) {
    case DataType::kFloat16:
      y->as<uint16_t>()[i] = model::F32ToF16(static_cast<float>(value));
      break;
    case DataType::kBfloat16:
      y->as<uint16_t>()[i] = model::F32ToBf16(static_cast<float>(value));
      break;
    case DataType::kDouble:
      y->as<double>()[i] = value;
      break;
    default:
      y->as<float>()[i] = model::Canonical(static_cast<float>(value));
  }
}

void StoreInteger(int64_t value, int64_t i, TensorData* y) {
  switch (ElementBytes(y->type)) {
    case 1:
      y->bytes[i] = static_cast<uint8_t>(value);
      break;
    case 2:
      y->as<uint16_t>()[i] = static_cast<uint16_t>(value);
      break;
    case 4:
      y->as<uint32_t>()[i] = static_cast<uint32_t>(value);
      break;
    default:
      y->as<int64_t>()[i] = value;
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
  TensorData y = TensorData::Zeros(to, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    if (IsReal(x.type)) {
      const double value = LoadReal(x, i);
      if (IsReal(to)) {
        StoreReal(value, i, &y);
      } else if (to == DataType::kBool) {
        y.bytes[i] = value != 0;
      } else {
        StoreInteger(ToInteger(value, to), i, &y);
      }
      continue;
    }
    const int64_t value = LoadInteger(x, i);
    if (to == DataType::kBool) {
      y.bytes[i] = value != 0;
    } else if (to == DataType::kDouble) {
      StoreReal(static_cast<double>(value), i, &y);
    } else if (IsReal(to)) {
      // One rounding from the integer to f32, not two by way of binary64.
      StoreReal(x.type == DataType::kUint64
                    ? static_cast<float>(static_cast<uint64_t>(value))
                    : static_cast<float>(value),
                i, &y);
    } else {
      StoreInteger(value, i, &y);
    }
  }
  return One(std::move(y));
}

bool TargetIsCastable(const Graph&, const Node& node, std::string* detail) {
  const auto to = static_cast<DataType>(node.IntAttribute("to", 0));
  *detail = absl::StrCat("to = ", DataTypeName(to));
  return Contains(kCastable, to);
}

Define Casting(int since, int until) {
  Define define("Cast", since, until);
  define.Inputs(1, 1, kCastable)
      .Attr("to", AttributeKind::kInt, true)
      .Rule(Rejection::kUnsupportedDatatype,
            "the target is a number of fixed size or bool", TargetIsCastable);
  return define;
}

const OperatorRegistration kCast6(Casting(6, 18).Run(Infer, Evaluate));
// `saturate` is about targets of 8-bit floats, which are refused.
const OperatorRegistration kCast19(Casting(19, kMaxOpset)
                                       .Attr("saturate", AttributeKind::kInt)
                                       .Run(Infer, Evaluate));
const OperatorRegistration kCastLike(Define("CastLike", 15, 18)
                                         .Inputs(2, 2, kCastable)
                                         .Run(InferLike, Evaluate));
// `saturate` is about float8, which none of the types is.
const OperatorRegistration kCastLike19(Define("CastLike", 19, kMaxOpset)
                                           .Inputs(2, 2, kCastable)
                                           .Attr("saturate",
                                                 AttributeKind::kInt)
                                           .Run(InferLike, Evaluate));

}  // namespace
}  // namespace heddle::compiler
