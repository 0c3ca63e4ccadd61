// SPDX-License-Identifier: Apache-2.0
// heddle.Scatter: y = x [before, size, after], but y[b, index, a] =
// updates[b, p, a], or what `reduction` makes of it and of what is there, in
// the order of p. Indices are [before, count, after], or [before, count, 1] for
// all of `after`.
//
// Made of it: ScatterElements (and Scatter, its name before opset 11), of
// which what lies beyond the indices is cut off and put back; ScatterND, which
// scatters rows to places (heddle.Places).
#include "compiler/ops/scatter.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/indices.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

bool ScatterKindOf(const Node& node, ScatterKind* kind) {
  const std::string name = node.StringAttribute("reduction", "none");
  static constexpr const char* kNames[] = {"none", "add", "mul", "max", "min"};
  for (int i = 0; i < 5; ++i) {
    if (name != kNames[i]) continue;
    *kind = static_cast<ScatterKind>(i);
    return true;
  }
  return false;
}

namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const Shape& indices = InputOf(*graph, node, 1).shape;
  const Tensor& updates = InputOf(*graph, node, 2);
  const bool fits =
      x.shape.size() == 3 && indices.size() == 3 && updates.shape.size() == 3 &&
      x.type == updates.type && indices[0] == x.shape[0] &&
      indices[1] == updates.shape[1] &&
      (indices[2] == 1 || indices[2] == x.shape[2]) &&
      updates.shape[0] == x.shape[0] && updates.shape[2] == x.shape[2];
  if (!fits) return absl::InternalError(node.Describe() + ": shapes");
  return SetOutput(graph, node, 0, x.type, x.shape);
}

// Integers modulo 2^n, of which T is the type without sign.
template <typename T>
T ReduceIntegers(ScatterKind kind, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto x = static_cast<uint64_t>(static_cast<Unsigned>(a)),
             y = static_cast<uint64_t>(static_cast<Unsigned>(b));
  switch (kind) {
    case ScatterKind::kAdd:
      return static_cast<T>(x + y);
    case ScatterKind::kMul:
      return static_cast<T>(x * y);
    case ScatterKind::kMax:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

float ReduceFloats(ScatterKind kind, float a, float b) {
  switch (kind) {
    case ScatterKind::kAdd:
      return model::FAdd(a, b);
    case ScatterKind::kMul:
      return model::FMul(a, b);
    case ScatterKind::kMax:
      return model::FMax(a, b);
    default:
      return model::FMin(a, b);
  }
}

double ReduceDoubles(ScatterKind kind, double a, double b) {
  if (kind == ScatterKind::kAdd) return a + b;
  if (kind == ScatterKind::kMul) return a * b;
  if (a != a || b != b) return a + b;
  return kind == ScatterKind::kMax ? std::max(a, b) : std::min(a, b);
}

template <typename T, typename F>
void Apply(F reduce, const uint8_t* from, uint8_t* to) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  a = reduce(a, b);
  std::memcpy(to, &a, sizeof(T));
}

// As the vector engine does, each result in its type.
void Put(DataType type, ScatterKind kind, const uint8_t* from, uint8_t* to) {
  const auto integers = [kind](auto a, auto b) {
    return ReduceIntegers(kind, a, b);
  };
  if (kind == ScatterKind::kReplace) {
    std::memcpy(to, from, ElementBytes(type));
    return;
  }
  switch (type) {
    case DataType::kUint8:
      return Apply<uint8_t>(integers, from, to);
    case DataType::kInt8:
      return Apply<int8_t>(integers, from, to);
    case DataType::kUint16:
      return Apply<uint16_t>(integers, from, to);
    case DataType::kInt16:
      return Apply<int16_t>(integers, from, to);
    case DataType::kUint32:
      return Apply<uint32_t>(integers, from, to);
    case DataType::kInt32:
      return Apply<int32_t>(integers, from, to);
    case DataType::kUint64:
      return Apply<uint64_t>(integers, from, to);
    case DataType::kInt64:
      return Apply<int64_t>(integers, from, to);
    case DataType::kFloat16:
      return Apply<uint16_t>(
          [kind](uint16_t a, uint16_t b) {
            return model::F32ToF16(
                ReduceFloats(kind, model::F16ToF32(a), model::F16ToF32(b)));
          },
          from, to);
    case DataType::kDouble:
      return Apply<double>(
          [kind](double a, double b) { return ReduceDoubles(kind, a, b); },
          from, to);
    default:
      return Apply<float>(
          [kind](float a, float b) { return ReduceFloats(kind, a, b); }, from,
          to);
  }
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& updates = *inputs[2];
  TensorData y = *inputs[0];
  ScatterKind kind = ScatterKind::kReplace;
  ScatterKindOf(node, &kind);
  const auto indices = ToInts(*inputs[1]);
  const size_t element = ElementBytes(y.type);
  const int64_t size = y.shape[1], after = y.shape[2], count = updates.shape[1],
                each = inputs[1]->shape[2];
  const uint8_t* from = updates.bytes.data();
  uint8_t* const to = y.bytes.data();
  const int64_t picks = after == 0 ? 0 : each;  // of a row of updates
  for (int64_t row = 0; row < y.shape[0] * count; ++row) {
    uint8_t* const image = to + row / count * size * after * element;
    Pace(after);
    for (int64_t a = 0; a < picks; ++a) {
      ASSIGN_OR_RETURN(const int64_t place,
                       PlaceOf(node, indices[row * each + a], size));
      // An index stands for an element, or for all of a row.
      const int64_t run = each == 1 ? after : 1;
      uint8_t* const at = image + (place * after + a) * element;
      if (kind == ScatterKind::kReplace) {
        std::memcpy(at, from, run * element);
      } else {
        for (int64_t i = 0; i < run; ++i) {
          Put(y.type, kind, from + i * element, at + i * element);
        }
      }
      from += run * element;
    }
  }
  return One(std::move(y));
}

absl::Status CheckUpdates(const Node& node, const Tensor& x,
                          const Tensor& updates) {
  if (updates.type == x.type) return absl::OkStatus();
  return RejectNode(Rejection::kInvalidModel, node, "updates of type ",
                    DataTypeName(updates.type), " for an input of type ",
                    DataTypeName(x.type));
}

TensorId Scatter(Expansion* e, TensorId x, TensorId indices, TensorId updates) {
  return e->Add(
      "heddle.Scatter", {x, indices, updates},
      {{"reduction", e->node().StringAttribute("reduction", "none")}});
}

// The part of `x` that the indices reach gets the updates; the rest of it in
// dimension `i` and those after it stays.
TensorId ScatterInto(Expansion* e, TensorId x, size_t i, size_t axis) {
  const Shape shape = e->T(x).shape;
  const Shape reached = e->T(e->In(1)).shape;
  while (i < shape.size() && (i == axis || shape[i] == reached[i])) ++i;
  if (i == shape.size()) {
    const TensorId y = Scatter(e, e->Reshape(x, AboutAxis(shape, axis)),
                               e->Reshape(e->In(1), AboutAxis(reached, axis)),
                               e->Reshape(e->In(2), AboutAxis(reached, axis)));
    return e->Reshape(y, shape);
  }
  const auto at = static_cast<int64_t>(i);
  const auto slice = [&](int64_t from, int64_t to) {
    return e->Add("Slice", {x, e->Ints({from}), e->Ints({to}), e->Ints({at})});
  };
  const TensorId head = slice(0, reached[i]),
                 rest = slice(reached[i], shape[i]);
  return e->Add("Concat", {ScatterInto(e, head, i + 1, axis), rest},
                {{"axis", at}});
}

absl::Status ExpandElements(Expansion* e) {
  const Tensor& x = e->T(e->In(0));
  const Tensor& indices = e->T(e->In(1));
  const Tensor& updates = e->T(e->In(2));
  const Node& node = e->node();
  ASSIGN_OR_RETURN(const size_t axis, AxisOf(node, x.shape.size(), 0));
  RETURN_IF_ERROR(CheckUpdates(node, x, updates));
  bool fits = indices.shape.size() == x.shape.size();
  for (size_t i = 0; fits && i < x.shape.size(); ++i) {
    fits = i == axis || indices.shape[i] <= x.shape[i];
  }
  if (!fits || updates.shape != indices.shape) {
    return RejectNode(Rejection::kMismatchingShape, node, "indices of shape ",
                      ShapeToString(indices.shape), " and updates of shape ",
                      ShapeToString(updates.shape),
                      " do not fit an input of shape ", ShapeToString(x.shape),
                      " along axis ", axis);
  }
  RETURN_IF_ERROR(CheckIndices(node, indices, {x.shape[axis]}));
  const DataType type = x.type;
  const bool empty = ElementCount(indices.shape) == 0;
  e->Return(0, empty ? e->In(0) : ScatterInto(e, e->In(0), 0, axis), type);
  return absl::OkStatus();
}

absl::Status ExpandNd(Expansion* e) {
  const Tensor& x = e->T(e->In(0));
  const Tensor& indices = e->T(e->In(1));
  const Tensor& updates = e->T(e->In(2));
  const Node& node = e->node();
  RETURN_IF_ERROR(CheckUpdates(node, x, updates));
  const Shape shape = x.shape;
  bool fits = !shape.empty() && !indices.shape.empty() &&
              indices.shape.back() >= 1 &&
              indices.shape.back() <= static_cast<int64_t>(shape.size());
  Shape sizes, row, wanted;
  if (fits) {
    const auto split = shape.begin() + indices.shape.back();
    sizes.assign(shape.begin(), split);
    row.assign(split, shape.end());
    wanted.assign(indices.shape.begin(), indices.shape.end() - 1);
  }
  const int64_t count = ElementCount(wanted);
  wanted.insert(wanted.end(), row.begin(), row.end());
  if (!fits || updates.shape != wanted) {
    return RejectNode(Rejection::kMismatchingShape, node, "indices of shape ",
                      ShapeToString(indices.shape), " and updates of shape ",
                      ShapeToString(updates.shape),
                      " do not fit an input of shape ", ShapeToString(shape));
  }
  RETURN_IF_ERROR(CheckIndices(node, indices, sizes));
  const int64_t rows = ElementCount(sizes), after = ElementCount(row);
  if (rows > kMostPlaces) {
    return RejectNode(Rejection::kUnsupportedShape, node, "indices choose of ",
                      rows, " places, at most ", kMostPlaces, " are supported");
  }
  const DataType type = x.type;
  if (ElementCount(wanted) == 0) {
    e->Return(0, e->In(0), type);
    return absl::OkStatus();
  }
  const TensorId place =
      e->Add("heddle.Places", {e->In(1)}, {{"sizes", sizes}});
  const TensorId y = Scatter(e, e->Reshape(e->In(0), {1, rows, after}),
                             e->Reshape(place, {1, count, 1}),
                             e->Reshape(e->In(2), {1, count, after}));
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

template <bool extremes>
bool ReductionIsKnown(const Graph& graph, const Node& node,
                      std::string* detail) {
  ScatterKind kind;
  const DataType type = InputOf(graph, node, 0).type;
  *detail = absl::StrCat("it is '", node.StringAttribute("reduction", "none"),
                         "' of ", DataTypeName(type));
  if (!ScatterKindOf(node, &kind)) return false;
  if (kind == ScatterKind::kReplace) return true;
  return Contains(kNumbers | Types(DataType::kDouble), type) &&
         (extremes || kind == ScatterKind::kAdd || kind == ScatterKind::kMul);
}

constexpr Constraint kAddOrMul = {Rejection::kUnsupportedAttribute,
                                  "reduction is none, or add or mul of numbers",
                                  ReductionIsKnown<false>};
constexpr Constraint kAnyReduction = {
    Rejection::kUnsupportedAttribute,
    "reduction is none, or add, mul, max or min of numbers",
    ReductionIsKnown<true>};

Define Elements(const char* op, int since, int until) {
  return Define(op, since, until)
      .Inputs(3, 3, kMovable, kIndices, kMovable)
      .Attr("axis", AttributeKind::kInt);
}
Define Nd(int since, int until) {
  return Define("ScatterND", since, until)
      .Inputs(3, 3, kMovable, kInt64s, kMovable);
}
Define Reducing(Define define, const Constraint& rule) {
  return define.Attr("reduction", AttributeKind::kString).Rules({rule});
}

const OperatorRegistration kScatter(Define("Scatter", 1, kMaxOpset)
                                        .Domain(kInternalDomain)
                                        .Inputs(3, 3, kMovable, kIndices,
                                                kMovable)
                                        .Attr("reduction",
                                              AttributeKind::kString)
                                        .Run(Infer, Evaluate));
const ExpandedOperator kScatter9(Elements("Scatter", 9, 10), ExpandElements);
const ExpandedOperator kElements11(Elements("ScatterElements", 11, 15),
                                   ExpandElements);
const ExpandedOperator kElements16(Reducing(Elements("ScatterElements", 16, 17),
                                            kAddOrMul),
                                   ExpandElements);
const ExpandedOperator kElements18(
    Reducing(Elements("ScatterElements", 18, kMaxOpset), kAnyReduction),
    ExpandElements);
const ExpandedOperator kNd11(Nd(11, 15), ExpandNd);
const ExpandedOperator kNd16(Reducing(Nd(16, 17), kAddOrMul), ExpandNd);
const ExpandedOperator kNd18(Reducing(Nd(18, kMaxOpset), kAnyReduction),
                             ExpandNd);

}  // namespace
}  // namespace heddle::compiler
