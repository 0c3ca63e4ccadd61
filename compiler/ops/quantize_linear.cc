// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: q = CRO(f32(x / s), z), a true division.
// DequantizeLinear: y = f32(f32(q - z) * s).
// Per tensor, or (opset 13) per channel along `axis`. With blocks along the
// axis or codes of 16 or 4 bits (opset 21) they are converted when shapes are
// known, as they are with codes that are floats of 8 (opset 19) or 4 bits (23):
// q = Cast(f32(x / s)), y = f32(Cast(q) * s), and the zero point is 0. So are
// those of com.microsoft.
#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/form_writer.h"
#include "compiler/ops/map_elements.h"
#include "compiler/ops/narrow.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

// Elements per channel run and the number of channels along the axis.
struct Channels {
  int64_t count = 1;
  int64_t block = 1;
  // Calls body(first element, elements, channel).
  template <typename Body>
  void ForEachRun(int64_t elements, Body body) const {
    if (count == 1) return body(int64_t{0}, elements, int64_t{0});
    for (int64_t i = 0; i < elements; i += block) {
      body(i, block, i / block % count);
    }
  }
};

absl::StatusOr<Channels> ResolveChannels(const Node& node, const Shape& x,
                                         const Shape& scale,
                                         const Shape* zero_point) {
  Channels channels;
  channels.count = ElementCount(scale);
  const bool zero_fits =
      zero_point == nullptr || ElementCount(*zero_point) == channels.count;
  if (channels.count == 1 && zero_fits) return channels;
  size_t axis = 0;
  const int64_t given = node.IntAttribute("axis", 1);
  if (node.attributes.count("axis") != 0 &&
      !NormalizeAxis(given, x.size(), &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", given,
                      " lies outside an input of rank ", x.size());
  }
  if (node.opset < 13 || scale.size() != 1 || !zero_fits ||
      !NormalizeAxis(given, x.size(), &axis) || x[axis] != channels.count) {
    return RejectNode(
        Rejection::kMismatchingShape, node, "scale of shape ",
        ShapeToString(scale),
        zero_point ? " and zero point of shape " + ShapeToString(*zero_point)
                   : "",
        " must have one element or, from opset 13, one per channel of axis ",
        given, " of an input of shape ", ShapeToString(x));
  }
  channels.block = ElementCount(Shape(x.begin() + axis + 1, x.end()));
  return channels;
}

absl::Status CheckParameters(const Graph& graph, const Node& node) {
  const Tensor& x = InputOf(graph, node, 0);
  const Shape* zero =
      HasInput(node, 2) ? &InputOf(graph, node, 2).shape : nullptr;
  return ResolveChannels(node, x.shape, InputOf(graph, node, 1).shape, zero)
      .status();
}

constexpr TypeSet k16Bits = Types(DataType::kUint16, DataType::kInt16);
constexpr TypeSet kQuantized21 =
    kQuantizedValues | k16Bits | kFloat8s | kFourBitIntegers;

DataType OutputType(const Graph& graph, const Node& node) {
  if (HasInput(node, 2)) return InputOf(graph, node, 2).type;
  const auto type = static_cast<DataType>(node.IntAttribute("output_dtype", 0));
  return type == DataType::kUndefined ? DataType::kUint8 : type;
}

// Codes of 8 bits (or int32) without blocks.
bool IsPlain(const Node& node, DataType codes) {
  return node.IntAttribute("block_size", 0) == 0 &&
         !Contains(k16Bits | kFourBitIntegers | kNarrowFloats, codes);
}

absl::Status InferQuantize(Graph* graph, const Node& node) {
  const DataType type = OutputType(*graph, node);
  if (!IsPlain(node, type)) return InferNothing(graph, node);
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  return SetOutput(graph, node, 0, type, InputOf(*graph, node, 0).shape);
}

Results EvaluateQuantize(const Graph& graph, const Node& node,
                         const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& scale = *inputs[1];
  const TensorData* zero = At(inputs, 2);
  ASSIGN_OR_RETURN(auto channels,
                   ResolveChannels(node, x.shape, scale.shape,
                                   zero ? &zero->shape : nullptr));
  TensorData y = TensorData::Zeros(OutputType(graph, node), x.shape);
  uint8_t* const codes = y.bytes.data();
  channels.ForEachRun(x.count(), [&](int64_t at, int64_t count, int64_t c) {
    const float step = ScaleAt(scale, c);
    const int32_t offset = ZeroPointAt(zero, c);
    const auto code = [step, offset, type = y.type](float value) {
      return static_cast<uint8_t>(
          ToCode(model::FDiv(value, step), offset, type));
    };
    if (x.type == DataType::kInt32) {
      MapElements(
          x.as<int32_t>() + at, count, codes + at,
          [code](int32_t value) { return code(model::I32ToF32(value)); });
    } else {
      MapElements(x.as<float>() + at, count, codes + at, code);
    }
  });
  return One(std::move(y));
}

absl::Status InferDequantize(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  if (!IsPlain(node, x.type)) return InferNothing(graph, node);
  RETURN_IF_ERROR(CheckParameters(*graph, node));
  if (HasInput(node, 2) && InputOf(*graph, node, 2).type != x.type) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "the zero point has type ",
                      DataTypeName(InputOf(*graph, node, 2).type),
                      ", the input ", DataTypeName(x.type));
  }
  return SetOutput(graph, node, 0, DataType::kFloat, x.shape);
}

Results EvaluateDequantize(const Graph&, const Node& node,
                           const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const TensorData& scale = *inputs[1];
  const TensorData* zero = At(inputs, 2);
  ASSIGN_OR_RETURN(auto channels,
                   ResolveChannels(node, x.shape, scale.shape,
                                   zero ? &zero->shape : nullptr));
  TensorData y = TensorData::Zeros(DataType::kFloat, x.shape);
  float* const values = y.as<float>();
  channels.ForEachRun(x.count(), [&](int64_t at, int64_t count, int64_t c) {
    const auto value = [step = ScaleAt(scale, c),
                        offset = ZeroPointAt(zero, c)](int32_t code) {
      return model::FMul(model::I32ToF32(model::WrapSub(code, offset)), step);
    };
    if (x.type == DataType::kInt8) {
      MapElements(x.as<int8_t>() + at, count, values + at, value);
    } else if (x.type == DataType::kUint8) {
      MapElements(x.as<uint8_t>() + at, count, values + at, value);
    } else {
      MapElements(x.as<int32_t>() + at, count, values + at, value);
    }
  });
  return One(std::move(y));
}

// Codes of opset 21 in the operators that this one is made of: conversions,
// differences and products are those of the definition above, one by one, so
// what has 8 bits and no blocks gives the same bytes either way.

// A scale or zero point in a shape that broadcasts with the input's.
absl::StatusOr<TensorId> Spread(FormWriter* w, const Node& node,
                                const Tensor& x, const Tensor& parameter,
                                TensorId id) {
  const int64_t block = node.IntAttribute("block_size", 0);
  if (block == 0 && ElementCount(parameter.shape) == 1) {
    return w->Add("Reshape", 13, {id, w->Ints({})});
  }
  size_t axis = 0;
  const size_t rank = x.shape.size();
  const int64_t given = node.IntAttribute("axis", 1);
  if (!NormalizeAxis(given, rank, &axis)) {
    return RejectNode(Rejection::kInvalidModel, node, "axis ", given,
                      " lies outside an input of rank ", rank);
  }
  const int64_t n = x.shape[axis];
  if (block == 0) {
    if (parameter.shape != Shape{n}) {
      return RejectNode(Rejection::kMismatchingShape, node, "'", parameter.name,
                        "' of shape ", ShapeToString(parameter.shape),
                        " must have one element or one per channel of axis ",
                        given, " of an input of shape ",
                        ShapeToString(x.shape));
    }
    Shape shape(rank - axis, 1);
    shape[0] = n;
    return w->Add("Reshape", 13, {id, w->Ints(shape)});
  }
  Shape shape = x.shape;
  shape[axis] = n / block + (n % block != 0);
  if (parameter.shape != shape) {
    return RejectNode(Rejection::kMismatchingShape, node, "'", parameter.name,
                      "' of shape ", ShapeToString(parameter.shape),
                      " must have shape ", ShapeToString(shape),
                      " for blocks of ", block, " along axis ", given,
                      " of an input of shape ", ShapeToString(x.shape));
  }
  std::vector<int64_t> indices(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) indices[i] = i / block;
  return w->Add("Gather", 13, {id, w->Ints(indices)},
                {{"axis", static_cast<int64_t>(axis)}});
}

// That Cast knows all types.
constexpr int kCastOpset = 23;

FormWriter::Attributes To(DataType type) {
  return {{"to", static_cast<int64_t>(type)}};
}

FormWriter::Attributes AxisOf(const Node& node) {
  if (node.attributes.count("axis") == 0) return {};
  return {{"axis", node.IntAttribute("axis", 1)}};
}

absl::StatusOr<std::vector<Node>> ConvertDequantize(Graph* graph,
                                                    const Node& node) {
  const Tensor x = InputOf(*graph, node, 0);
  FormWriter w(graph, node);
  if (IsPlain(node, x.type)) {
    return w.Finish("DequantizeLinear", 13, node.inputs, AxisOf(node));
  }
  if (HasInput(node, 2) && InputOf(*graph, node, 2).type != x.type) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "the zero point has type ",
                      DataTypeName(InputOf(*graph, node, 2).type),
                      ", the input ", DataTypeName(x.type));
  }
  const Tensor scale = InputOf(*graph, node, 1);
  ASSIGN_OR_RETURN(const auto factor,
                   Spread(&w, node, x, scale, node.inputs[1]));
  if (Contains(kNarrowFloats, x.type)) {
    const TensorId value =
        w.Add("Cast", kCastOpset, {node.inputs[0]}, To(DataType::kFloat));
    return w.Finish("Mul", 14, {value, factor});
  }
  TensorId code =
      w.Add("Cast", kCastOpset, {node.inputs[0]}, To(DataType::kInt32));
  if (HasInput(node, 2)) {
    const Tensor zero = InputOf(*graph, node, 2);
    const TensorId wide =
        w.Add("Cast", kCastOpset, {node.inputs[2]}, To(DataType::kInt32));
    ASSIGN_OR_RETURN(const auto spread, Spread(&w, node, x, zero, wide));
    code = w.Add("Sub", 14, {code, spread});
  }
  const TensorId value = w.Add("Cast", 13, {code}, To(DataType::kFloat));
  return w.Finish("Mul", 14, {value, factor});
}

absl::StatusOr<std::vector<Node>> ConvertQuantize(Graph* graph,
                                                  const Node& node) {
  const Tensor x = InputOf(*graph, node, 0), scale = InputOf(*graph, node, 1);
  const DataType type = OutputType(*graph, node);
  FormWriter w(graph, node);
  if (IsPlain(node, type)) {
    std::vector<TensorId> inputs = node.inputs;
    if (!HasInput(node, 2)) {
      inputs.resize(2);
      inputs.push_back(w.Constant(TensorData::Zeros(type, scale.shape)));
    }
    return w.Finish("QuantizeLinear", 13, std::move(inputs), AxisOf(node));
  }
  ASSIGN_OR_RETURN(const auto divisor,
                   Spread(&w, node, x, scale, node.inputs[1]));
  TensorId value = node.inputs[0];
  if (x.type != DataType::kFloat) {
    value = w.Add("Cast", 13, {value}, To(DataType::kFloat));
  }
  value = w.Add("Div", 14, {value, divisor});
  if (Contains(kNarrowFloats, type)) {
    FormWriter::Attributes to = To(type);
    to["saturate"] = node.IntAttribute("saturate", 1);
    return w.Finish("Cast", kCastOpset, {value}, to);
  }
  const bool has_sign = type == DataType::kInt16 || type == DataType::kInt8 ||
                        type == DataType::kInt4;
  const int bits = Contains(kFourBitIntegers, type)
                       ? 4
                       : static_cast<int>(8 * ElementBytes(type));
  const int32_t lowest = has_sign ? -(1 << (bits - 1)) : 0;
  const int32_t highest = lowest + (1 << bits) - 1;
  TensorId low = w.Float(static_cast<float>(lowest)),
           high = w.Float(static_cast<float>(highest)), offset = kNoTensor;
  if (HasInput(node, 2)) {
    const Tensor zero = InputOf(*graph, node, 2);
    const TensorId wide =
        w.Add("Cast", kCastOpset, {node.inputs[2]}, To(DataType::kInt32));
    ASSIGN_OR_RETURN(offset, Spread(&w, node, x, zero, wide));
    const TensorId below = w.Add("Sub", 14, {w.Int32(lowest), offset}),
                   above = w.Add("Sub", 14, {w.Int32(highest), offset});
    low = w.Add("Cast", 13, {below}, To(DataType::kFloat));
    high = w.Add("Cast", 13, {above}, To(DataType::kFloat));
  }
  value = w.Add("Max", 13, {value, low});
  value = w.Add("Min", 13, {value, high});
  value = w.Add("Round", 11, {value});
  value = w.Add("Cast", 13, {value}, To(DataType::kInt32));
  if (offset != kNoTensor) value = w.Add("Add", 14, {value, offset});
  return w.Finish("Cast", kCastOpset, {value}, To(type));
}

constexpr TypeSet CodesAt(int opset) {
  return (opset >= 21   ? kQuantized21
          : opset >= 19 ? kQuantizedValues | kFloat8s
                        : kQuantizedValues) |
         (opset >= 23 ? kFloat4s : 0);
}

// The codes of 0 and -0.
bool ZeroPointIsZero(const Graph& graph, const Node& node,
                     std::string* detail) {
  if (!HasInput(node, 2)) return true;
  const Tensor& zero = InputOf(graph, node, 2);
  if (!Contains(kNarrowFloats, zero.type)) return true;
  *detail = absl::StrCat("'", zero.name, "' is not");
  return zero.is_constant() &&
         std::all_of(
             zero.constant->bytes.begin(), zero.constant->bytes.end(),
             [&](uint8_t code) { return NarrowToF32(zero.type, code) == 0; });
}

bool OutputIsCode(const Graph&, const Node& node, std::string* detail) {
  const auto type = static_cast<DataType>(node.IntAttribute("output_dtype", 0));
  *detail = absl::StrCat("it is ", DataTypeName(type));
  return type == DataType::kUndefined || Contains(CodesAt(node.opset), type);
}

bool OutputIsZeroPoint(const Graph& graph, const Node& node,
                       std::string* detail) {
  const auto type = static_cast<DataType>(node.IntAttribute("output_dtype", 0));
  *detail = absl::StrCat("it is ", DataTypeName(type));
  return type == DataType::kUndefined || type == OutputType(graph, node);
}

std::vector<Constraint> BlockRules() {
  return {{Rejection::kInvalidModel, "block_size is not negative",
           [](const Graph&, const Node& node, std::string* detail) {
             const int64_t size = node.IntAttribute("block_size", 0);
             *detail = absl::StrCat("it is ", size);
             return size >= 0;
           }}};
}

constexpr char kPrecision[] = "precision";
constexpr char kOutputType[] = "output_dtype";

template <const char* name>
bool IsFloatOrAbsent(const Graph&, const Node& node, std::string* detail) {
  const auto type = static_cast<DataType>(node.IntAttribute(name, 0));
  *detail = absl::StrCat("it is ", DataTypeName(type));
  return type == DataType::kUndefined || type == DataType::kFloat;
}

constexpr char kZeroText[] =
    "the zero point of codes that are floats is constant zeros";

Define Quantize(int since, int until, TypeSet codes) {
  Define define("QuantizeLinear", since, until);
  define.Inputs(2, 3, kFloats | kInt32s, kFloats, codes);
  if (since >= 13) define.Attr("axis", AttributeKind::kInt);
  if (since >= 19) {
    define.Attr("saturate", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute, kZeroText, ZeroPointIsZero)
        .Converts(ConvertQuantize);
  }
  return define;
}
Define Quantize(int since, int until) {
  return Quantize(since, until, CodesAt(since));
}

Define Dequantize(int since, int until, TypeSet codes) {
  Define define("DequantizeLinear", since, until);
  define.Inputs(2, 3, codes | kInt32s, kFloats, codes | kInt32s);
  if (since >= 13) define.Attr("axis", AttributeKind::kInt);
  if (since >= 19) {
    define.Rule(Rejection::kUnsupportedAttribute, kZeroText, ZeroPointIsZero)
        .Converts(ConvertDequantize);
  }
  return define;
}
Define Dequantize(int since, int until) {
  return Dequantize(since, until, CodesAt(since));
}

// Opset 21: codes of 16 and 4 bits, blocks, and the type of the codes by
// attribute.
Define Quantize21(int since, int until) {
  Define define = Quantize(since, until);
  define.Attr("block_size", AttributeKind::kInt)
      .Attr("output_dtype", AttributeKind::kInt)
      .Rules(BlockRules())
      .Rule(Rejection::kUnsupportedDatatype, "output_dtype is a type of codes",
            OutputIsCode)
      .Rule(Rejection::kInvalidModel,
            "output_dtype is the type of the zero point", OutputIsZeroPoint);
  return define;
}

Define Dequantize21(int since, int until) {
  Define define = Dequantize(since, until);
  define.Attr("block_size", AttributeKind::kInt).Rules(BlockRules());
  return define;
}

// Those of com.microsoft, of codes of 8 and 16 bits, are ONNX's of opset 21.
Define Microsoft(Define define) {
  define.Domain("com.microsoft").Attr("axis", AttributeKind::kInt);
  return define;
}

const OperatorRegistration kQuantizeMicrosoft(
    Microsoft(Quantize(1, 1, kQuantizedValues | k16Bits))
        .Converts(ConvertQuantize)
        .Run(InferNothing, EvaluateQuantize));
const OperatorRegistration kDequantizeMicrosoft(
    Microsoft(Dequantize(1, 1, kQuantizedValues | k16Bits))
        .Converts(ConvertDequantize)
        .Run(InferNothing, EvaluateDequantize));
const OperatorRegistration kQuantizeLinear10(
    Quantize(10, 12).Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kQuantizeLinear13(
    Quantize(13, 18).Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kQuantizeLinear19(
    Quantize(19, 20).Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kQuantizeLinear21(
    Quantize21(21, 22).Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kQuantizeLinear23(
    Quantize21(23, kMaxOpset)
        .Attr("precision", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedDatatype, "precision is float",
              IsFloatOrAbsent<kPrecision>)
        .Run(InferQuantize, EvaluateQuantize));
const OperatorRegistration kDequantizeLinear10(
    Dequantize(10, 12).Run(InferDequantize, EvaluateDequantize));
const OperatorRegistration kDequantizeLinear13(
    Dequantize(13, 18).Run(InferDequantize, EvaluateDequantize));
const OperatorRegistration kDequantizeLinear19(
    Dequantize(19, 20).Run(InferDequantize, EvaluateDequantize));
const OperatorRegistration kDequantizeLinear21(
    Dequantize21(21, 22).Run(InferDequantize, EvaluateDequantize));
const OperatorRegistration kDequantizeLinear23(
    Dequantize21(23, kMaxOpset)
        .Attr("output_dtype", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedDatatype, "output_dtype is float",
              IsFloatOrAbsent<kOutputType>)
        .Run(InferDequantize, EvaluateDequantize));

}  // namespace
}  // namespace heddle::compiler
