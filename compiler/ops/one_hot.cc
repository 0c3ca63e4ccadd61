// SPDX-License-Identifier: Apache-2.0
// What compares places: Hardmax and OneHot, made of other operators; EyeLike,
// which is constant; Trilu.
//   Hardmax  1 at the first largest element, 0 elsewhere: along the axis,
//   before
//            opset 13 along all dimensions from the axis on together
//   OneHot   Where(index + depth if it is negative, else index, equals the
//            place, on, off); an index that is no place gives off everywhere
//   Trilu    Where(place, x, 0); of int64 a product with 0 and 1
#include <algorithm>
#include <numeric>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// first, first + 1, ... along `axis` of `rank` dimensions, the others 1.
TensorData Places(DataType type, int64_t first, int64_t count, size_t axis,
                  size_t rank) {
  Shape shape(rank, 1);
  shape[axis] = count;
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < count; ++i) {
    if (type == DataType::kFloat) {
      data.as<float>()[i] = static_cast<float>(first + i);
    } else if (type == DataType::kDouble) {
      data.as<double>()[i] = static_cast<double>(first + i);
    } else if (type == DataType::kInt64) {
      data.as<int64_t>()[i] = first + i;
    } else {
      data.as<int32_t>()[i] = static_cast<int32_t>(first + i);
    }
  }
  return data;
}

template <bool flattens>
absl::Status ExpandHardmax(Expansion* e) {
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  TensorId x = e->In(0);
  if (ElementCount(shape) == 0) {  // nothing is the largest of nothing
    e->Return(0, e->Add("Identity", {x}), type);
    return absl::OkStatus();
  }
  size_t axis = 0;
  NormalizeAxis(e->node().IntAttribute("axis", flattens ? 1 : -1), shape.size(),
                &axis);
  if (flattens) {
    const Shape outer(shape.begin(), shape.begin() + axis);
    const Shape inner(shape.begin() + axis, shape.end());
    x = e->Reshape(x, {ElementCount(outer), ElementCount(inner)});
    axis = 1;
  }
  RETURN_IF_ERROR(e->status());
  const Shape seen = e->T(x).shape;
  const TensorId best =
      e->Add("ArgMax", {x}, {{"axis", static_cast<int64_t>(axis)}});
  const TensorId places =
      e->Constant(Places(DataType::kInt64, 0, seen[axis], axis, seen.size()));
  const TensorId y = e->Cast(e->Add("Equal", {best, places}), type);
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

// A constant of one element as an integer; false if it is none.
bool OneInteger(const Tensor& tensor, int64_t* value) {
  if (!tensor.is_constant() || tensor.constant->count() != 1) return false;
  const TensorData& data = *tensor.constant;
  switch (data.type) {
    case DataType::kInt64:
      *value = *data.as<int64_t>();
      return true;
    case DataType::kInt32:
      *value = *data.as<int32_t>();
      return true;
    case DataType::kUint8:
      *value = *data.as<uint8_t>();
      return true;
    case DataType::kFloat:
      *value = model::Trunc(*data.as<float>());
      return true;
    case DataType::kDouble:
      // (what is no place at all becomes a depth that is none)
      *value = model::Trunc(static_cast<float>(*data.as<double>()));
      return true;
    default:
      return false;
  }
}

absl::Status ExpandOneHot(Expansion* e) {
  const Tensor depth_tensor = e->T(e->In(1)), values = e->T(e->In(2));
  int64_t depth = 0;
  if (!OneInteger(depth_tensor, &depth)) {
    return RejectNode(Rejection::kUnsupportedShape, e->node(), "depth '",
                      depth_tensor.name,
                      "' is computed at run time, it must be a constant of "
                      "one element");
  }
  if (depth < 1 || values.shape != Shape{2}) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "depth = ", depth,
                      " and values of shape ", ShapeToString(values.shape),
                      ", must be positive and [2]");
  }
  RETURN_IF_ERROR(CheckTable(e->node(), 1, depth));
  Shape shape = e->T(e->In(0)).shape;
  size_t axis;
  if (!NormalizeAxis(e->node().IntAttribute("axis", -1), shape.size() + 1,
                     &axis)) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "axis ",
                      e->node().IntAttribute("axis", -1),
                      " is not an axis of a tensor of rank ", shape.size() + 1);
  }
  shape.insert(shape.begin() + static_cast<int64_t>(axis), 1);
  // Compared as int32 or int64, or as real numbers.
  const DataType given = e->T(e->In(0)).type;
  const bool wide = given == DataType::kDouble || given == DataType::kInt64;
  const DataType type = wide                      ? given
                        : Contains(kReals, given) ? DataType::kFloat
                                                  : DataType::kInt32;
  const TensorId index = e->Reshape(e->Cast(e->In(0), type), shape);
  // An index is a place, or the place less the depth.
  TensorData places = Places(type, 0, depth, axis, shape.size());
  TensorData before = Places(type, -depth, depth, axis, shape.size());
  const TensorId here =
      e->Add("Or", {e->Add("Equal", {index, e->Constant(std::move(places))}),
                    e->Add("Equal", {index, e->Constant(std::move(before))})});
  const auto value = [&](int64_t i) {
    return e->Add("Slice", {e->In(2), e->Ints({i}), e->Ints({i + 1})});
  };
  const TensorId off = value(0), on = value(1);
  e->Return(0, e->Add("Where", {here, on, off}), values.type);
  return absl::OkStatus();
}

// Whether (row, column) is kept of the triangle.
bool IsKept(int64_t row, int64_t column, int64_t k, bool upper) {
  // k may be any: no sum with it.
  return upper ? column - row >= k : column - row <= k;
}

// With a k that is computed: places, column less row, are compared with it.
absl::Status ExpandComputedTrilu(Expansion* e) {
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  TensorData places = TensorData::Zeros(DataType::kInt64, {rows, columns});
  for (int64_t r = 0; r < rows; ++r) {
    Pace(columns);
    for (int64_t c = 0; c < columns; ++c) {
      places.as<int64_t>()[r * columns + c] = c - r;
    }
  }
  const bool upper = e->node().IntAttribute("upper", 1) != 0;
  const TensorId kept = e->Add(
      upper ? "GreaterOrEqual" : "LessOrEqual",
      {e->Constant(std::move(places)), e->Reshape(e->In(1), {})}, {}, 16);
  e->Return(0,
            type == DataType::kInt64
                ? e->Add("Mul", {e->In(0), e->Cast(kept, type)})
                : e->Add("Where", {kept, e->In(0), e->Scalar(type, 0)}),
            type);
  return absl::OkStatus();
}

absl::Status ExpandTrilu(Expansion* e) {
  int64_t k = 0;
  if (e->HasIn(1) && ElementCount(e->T(e->In(1)).shape) != 1) {
    return RejectNode(Rejection::kInvalidModel, e->node(), "k '",
                      e->T(e->In(1)).name, "' has shape ",
                      ShapeToString(e->T(e->In(1)).shape),
                      ", it must have one element");
  }
  if (e->HasIn(1) && !OneInteger(e->T(e->In(1)), &k)) {
    return ExpandComputedTrilu(e);
  }
  const bool upper = e->node().IntAttribute("upper", 1) != 0;
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const bool wide = type == DataType::kInt64;
  TensorData mask =
      TensorData::Zeros(wide ? type : DataType::kBool, {rows, columns});
  for (int64_t r = 0; r < rows; ++r) {
    Pace(columns);
    for (int64_t c = 0; c < columns; ++c) {
      const bool kept = IsKept(r, c, k, upper);
      if (wide) {
        mask.as<int64_t>()[r * columns + c] = kept;
      } else {
        mask.bytes[r * columns + c] = kept;
      }
    }
  }
  const TensorId kept = e->Constant(std::move(mask));
  e->Return(0,
            wide ? e->Add("Mul", {e->In(0), kept})
                 : e->Add("Where", {kept, e->In(0), e->Scalar(type, 0)}),
            type);
  return absl::OkStatus();
}

DataType TypeOfEye(const Graph& graph, const Node& node) {
  return static_cast<DataType>(node.IntAttribute(
      "dtype", static_cast<int64_t>(InputOf(graph, node, 0).type)));
}

absl::Status InferEye(Graph* graph, const Node& node) {
  return SetOutput(graph, node, 0, TypeOfEye(*graph, node),
                   InputOf(*graph, node, 0).shape);
}

Results EvaluateEye(const Graph& graph, const Node& node,
                    const Inputs& inputs) {
  const Shape& shape = inputs[0]->shape;
  const DataType type = graph.tensors[node.outputs[0]].type;
  TensorData y = TensorData::Zeros(type, shape);
  const int64_t k = node.IntAttribute("k", 0);
  for (int64_t r = 0; r < shape[0]; ++r) {
    PaceAt(r);
    // k may be any: no sum with it.
    if (k < -r || k >= shape[1] - r) continue;
    const int64_t i = r * shape[1] + r + k;
    switch (type) {
      case DataType::kFloat:
        y.as<float>()[i] = 1;
        break;
      case DataType::kDouble:
        y.as<double>()[i] = 1;
        break;
      case DataType::kFloat16:
        y.as<uint16_t>()[i] = 0x3c00;
        break;
      case DataType::kBfloat16:
        y.as<uint16_t>()[i] = 0x3f80;
        break;
      default:  // the lowest byte is the first
        y.bytes[i * static_cast<int64_t>(ElementBytes(type))] = 1;
    }
  }
  return One(std::move(y));
}

template <int64_t fallback>
bool AxisFits(const Graph& graph, const Node& node, std::string* detail) {
  const int64_t axis = node.IntAttribute("axis", fallback);
  const size_t rank = InputOf(graph, node, 0).shape.size();
  *detail = absl::StrCat("axis = ", axis, " of rank ", rank);
  size_t normal;
  return NormalizeAxis(axis, rank, &normal);
}

bool IsMatrix(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() == 2;
}
bool HasMatrices(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 2;
}

constexpr TypeSet kEyeTypes =
    kNumbers | Types(DataType::kBool, DataType::kDouble, DataType::kBfloat16);
bool EyeTypeIsKnown(const Graph& graph, const Node& node, std::string* detail) {
  const DataType type = TypeOfEye(graph, node);
  *detail = absl::StrCat("dtype = ", DataTypeName(type));
  return Contains(kEyeTypes, type);
}

constexpr TypeSet kSelected =
    kNumbers | Types(DataType::kBool, DataType::kDouble);
constexpr TypeSet kPlaces =
    kRealsAndDouble | Types(DataType::kUint8, DataType::kInt8, DataType::kInt16,
                            DataType::kUint16, DataType::kInt32,
                            DataType::kInt64);

Define Hardmax(int since, int until) {
  Define define("Hardmax", since, until);
  define.Inputs(1, 1, kRealsAndDouble).Attr("axis", AttributeKind::kInt);
  return define;
}
const ExpandedOperator kHardmax1(
    Hardmax(1, 12).Rule(Rejection::kInvalidModel, "axis is one of the input's",
                        AxisFits<1>),
    ExpandHardmax<true>);
const ExpandedOperator kHardmax13(Hardmax(13, kMaxOpset)
                                      .Rule(Rejection::kInvalidModel,
                                            "axis is one of the input's",
                                            AxisFits<-1>),
                                  ExpandHardmax<false>);
const ExpandedOperator kOneHot(Define("OneHot", 9, kMaxOpset)
                                   .Inputs(3, 3, kPlaces, kNumbers | kDoubles,
                                           kSelected)
                                   .Attr("axis", AttributeKind::kInt),
                               ExpandOneHot);
const ExpandedOperator kTrilu(Define("Trilu", 14, kMaxOpset)
                                  .Inputs(1, 2, kSelected, kInt64s)
                                  .Attr("upper", AttributeKind::kInt)
                                  .Rule(Rejection::kInvalidModel,
                                        "input has rank 2 or more",
                                        HasMatrices),
                              ExpandTrilu);
const OperatorRegistration kEyeLike(Define("EyeLike", 9, kMaxOpset)
                                        .Inputs(1, 1, kEyeTypes)
                                        .Attr("dtype", AttributeKind::kInt)
                                        .Attr("k", AttributeKind::kInt)
                                        .Rule(Rejection::kInvalidModel,
                                              "input has rank 2", IsMatrix)
                                        .Rule(Rejection::kUnsupportedDatatype,
                                              "dtype is a number or bool",
                                              EyeTypeIsKnown)
                                        .Run(InferEye, EvaluateEye));

}  // namespace
}  // namespace heddle::compiler
