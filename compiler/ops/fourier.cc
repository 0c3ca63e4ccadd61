// SPDX-License-Identifier: Apache-2.0
// What signals are looked at with: the windows HannWindow, HammingWindow and
// BlackmanWindow, which are constant; DFT and STFT as products with a constant
// matrix of cosines and sines, of fp32 or double, rounded once at the end.
//
//   Window  [size]
//   DFT     [..., length, ..., 1 or 2] to [..., bins, ..., 2], along an axis
//   STFT    [batch, length, 1 or 2] to [batch, frames, bins, 2]
//
// Sizes that are computed at run time are those of the declared result where
// its shape tells them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The only element of constant input i; `fallback` if it is absent.
absl::StatusOr<int64_t> OneInt(const Expansion& e, size_t i, const char* what,
                               int64_t fallback) {
  if (!e.HasIn(i)) return fallback;
  const Tensor& t = e.T(e.In(i));
  if (t.is_constant() && t.constant->count() == 1) {
    return ToInts(*t.constant)[0];
  }
  return RejectNode(Rejection::kUnsupportedShape, e.node(), what, " '", t.name,
                    "' is computed at run time, or no single number; make it "
                    "an initializer");
}

// The length of the result where `what`, input i, does not tell it.
absl::StatusOr<int64_t> LengthOf(const Expansion& e, size_t i,
                                 const char* what) {
  if (e.T(e.In(i)).is_constant()) return OneInt(e, i, what, 0);
  ASSIGN_OR_RETURN(const Shape shape, NeedDeclared(e, what, 1));
  return shape[0];
}

absl::Status ExpandWindow(Expansion* e, const std::vector<double>& terms) {
  ASSIGN_OR_RETURN(const int64_t size, LengthOf(*e, 0, "size"));
  if (size < 1) {
    return RejectNode(Rejection::kUnsupportedShape, e->node(), "size = ", size,
                      ": the window has no elements");
  }
  RETURN_IF_ERROR(CheckTable(e->node(), size, 1));
  const bool periodic = e->node().IntAttribute("periodic", 1) != 0;
  const auto period = static_cast<double>(periodic ? size : size - 1);
  const auto type = static_cast<DataType>(e->node().IntAttribute(
      "output_datatype", static_cast<int64_t>(DataType::kFloat)));
  std::vector<double> window;
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (size_t k = 0; k < terms.size(); ++k) {
      const double turns = static_cast<double>(k) * static_cast<double>(i);
      sum += terms[k] * std::cos(2 * kPi * turns / period);
    }
    window.push_back(sum);
  }
  e->Return(0,
            type == DataType::kDouble ? e->Constant(FromDoubles({size}, window))
                                      : e->Numbers({size}, window),
            type);
  return absl::OkStatus();
}

absl::Status ExpandHann(Expansion* e) { return ExpandWindow(e, {0.5, -0.5}); }
absl::Status ExpandHamming(Expansion* e) {
  return ExpandWindow(e, {25.0 / 46, -21.0 / 46});
}
absl::Status ExpandBlackman(Expansion* e) {
  return ExpandWindow(e, {0.42, -0.5, 0.08});
}

struct Transform {
  int64_t length = 0;  // of the transform
  int64_t taken = 0;   // of the signal; what is behind counts as 0
  int64_t bins = 0;
  bool complex = false;
  bool inverse = false;
};

// Rows (step, part of the number), columns (bin, part).
absl::StatusOr<TensorId> AddMatrix(Expansion* e, const Transform& t) {
  const int64_t parts = t.complex ? 2 : 1;
  const int64_t rows = t.taken * parts, columns = 2 * t.bins;
  RETURN_IF_ERROR(CheckTable(e->node(), rows, columns));
  std::vector<double> matrix(static_cast<size_t>(rows * columns));
  const double scale = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  for (int64_t i = 0; i < t.taken; ++i) {
    for (int64_t k = 0; k < t.bins; ++k) {
      // (less than 2^52: both are below 2^26)
      const double angle = 2 * kPi * static_cast<double>(i * k % t.length) /
                           static_cast<double>(t.length);
      const double re = scale * std::cos(angle);
      const double im = scale * std::sin(angle) * (t.inverse ? 1 : -1);
      double* row = matrix.data() + i * parts * columns + 2 * k;
      row[0] = re;
      row[1] = im;
      if (!t.complex) continue;
      row[columns] = -im;
      row[columns + 1] = re;
    }
  }
  return e->Numbers({rows, columns}, matrix);
}

absl::StatusOr<bool> IsOneSided(const Expansion& e, bool complex, bool inverse,
                                int64_t fallback) {
  const bool one_sided = e.node().IntAttribute("onesided", fallback) != 0;
  if (!one_sided || (!complex && !inverse)) return one_sided;
  return RejectNode(
      complex ? Rejection::kInvalidModel : Rejection::kUnsupportedAttribute,
      e.node(), "onesided is for real signals, not ",
      complex ? "complex ones" : "an inverse");
}

absl::Status ExpandDftAlong(Expansion* e, int64_t given_axis) {
  const Node& node = e->node();
  const Shape shape = e->T(e->In(0)).shape;
  const DataType type = e->T(e->In(0)).type;
  size_t axis = 0;
  if (!NormalizeAxis(given_axis, shape.size(), &axis) ||
      axis + 1 == shape.size()) {
    return RejectNode(Rejection::kInvalidModel, node, "axis = ", given_axis,
                      " is out of range for a signal of shape ",
                      ShapeToString(shape));
  }
  Transform t;
  t.complex = shape.back() == 2;
  t.inverse = node.IntAttribute("inverse", 0) != 0;
  ASSIGN_OR_RETURN(const bool one_sided,
                   IsOneSided(*e, t.complex, t.inverse, 0));
  t.length = shape[axis];
  if (e->HasIn(1)) {
    const bool known = e->T(e->In(1)).is_constant();
    if (known || one_sided) {
      ASSIGN_OR_RETURN(t.length, OneInt(*e, 1, "dft_length", 0));
    } else {
      ASSIGN_OR_RETURN(const Shape result,
                       NeedDeclared(*e, "dft_length", shape.size()));
      t.length = result[axis];
    }
  }
  if (t.length < 1 || shape[axis] == 0) {
    return RejectNode(Rejection::kUnsupportedShape, node, "a transform of ",
                      t.length, " elements of a signal of ",
                      ShapeToString(shape));
  }
  t.taken = std::min(t.length, shape[axis]);
  t.bins = one_sided ? t.length / 2 + 1 : t.length;
  if (ElementCount(shape) == 0) {
    Shape empty = shape;
    empty[axis] = t.bins;
    empty.back() = 2;
    e->Return(0, e->Constant(TensorData::Zeros(DataType::kFloat, empty)), type);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const TensorId matrix, AddMatrix(e, t));
  // The axis behind the others; then steps and parts as one.
  TensorId x = e->Wide(e->In(0));
  if (t.taken < shape[axis]) {
    x = e->Add("Slice", {x, e->Ints({0}), e->Ints({t.taken}),
                         e->Ints({static_cast<int64_t>(axis)})});
  }
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> perm, back(shape.size());
  for (int64_t d = 0; d < rank; ++d) {
    if (d != static_cast<int64_t>(axis) && d != rank - 1) perm.push_back(d);
  }
  perm.push_back(static_cast<int64_t>(axis));
  perm.push_back(rank - 1);
  Shape moved;
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    moved.push_back(shape[static_cast<size_t>(perm[i])]);
  }
  x = e->Add("Transpose", {x}, {{"perm", perm}});
  const Shape outer(moved.begin(), moved.end() - 2);
  x = e->Reshape(x, {ElementCount(outer), t.taken * shape.back()});
  moved[moved.size() - 2] = t.bins;
  moved.back() = 2;
  TensorId y = e->Reshape(e->Add("MatMul", {x, matrix}), moved);
  y = e->Add("Transpose", {y}, {{"perm", back}});
  e->Return(0, y, type);
  return absl::OkStatus();
}

absl::Status ExpandDft17(Expansion* e) {
  return ExpandDftAlong(e, e->node().IntAttribute("axis", 1));
}
absl::Status ExpandDft20(Expansion* e) {
  ASSIGN_OR_RETURN(const int64_t axis, OneInt(*e, 2, "axis", -2));
  return ExpandDftAlong(e, axis);
}

// The frames' places in the signal: [frames, length]. A step that is computed
// fits the declared number of frames, or the job ends with an index out of
// bounds.
absl::StatusOr<TensorId> AddPlaces(Expansion* e, int64_t frames, int64_t length,
                                   int64_t step) {
  RETURN_IF_ERROR(CheckTable(e->node(), frames, length));
  const bool known = step > 0;
  TensorData places = TensorData::Zeros(
      DataType::kInt32, known ? Shape{frames, length} : Shape{1, length});
  for (int64_t i = 0; i < places.count(); ++i) {
    places.as<int32_t>()[i] =
        static_cast<int32_t>(i / length * step + i % length);
  }
  const TensorId within = e->Constant(std::move(places));
  if (known) return within;
  TensorData numbers = TensorData::Zeros(DataType::kInt32, {frames, 1});
  for (int64_t i = 0; i < frames; ++i) {
    numbers.as<int32_t>()[i] = static_cast<int32_t>(i);
  }
  const TensorId computed =
      e->Reshape(e->Cast(e->In(1), DataType::kInt32), {1, 1});
  return e->Add(
      "Add",
      {within, e->Add("Mul", {e->Constant(std::move(numbers)), computed})});
}

// [batch, frames, bins, 2] of frames of t.length. `clipped`: places beyond the
// signal are its last one.
absl::StatusOr<TensorId> AddFrames(Expansion* e, Transform t, bool one_sided,
                                   int64_t frames, int64_t step, bool clipped) {
  const Shape shape = e->T(e->In(0)).shape;
  const int64_t parts = t.complex ? 2 : 1;
  t.taken = t.length;
  t.bins = one_sided ? t.length / 2 + 1 : t.length;
  ASSIGN_OR_RETURN(const TensorId matrix, AddMatrix(e, t));
  ASSIGN_OR_RETURN(TensorId places, AddPlaces(e, frames, t.length, step));
  if (clipped) {
    const double last = static_cast<double>(shape[1] - 1);
    places = e->Add("Min", {places, e->Scalar(DataType::kInt32, last)});
  }
  TensorId x = e->Reshape(e->Wide(e->In(0)), {shape[0], shape[1], parts});
  x = GatherAlong(e, x, 1, places);
  if (e->HasIn(2)) {
    x = e->Add("Mul", {x, e->Reshape(e->Wide(e->In(2)), {1, 1, t.length, 1})});
  }
  x = e->Reshape(x, {shape[0] * frames, t.length * parts});
  return e->Reshape(e->Add("MatMul", {x, matrix}),
                    {shape[0], frames, t.bins, 2});
}

// The lengths that a computed frame_length may have: those whose bins, and
// where the step is known whose frames, are as many as the declared result has.
absl::StatusOr<std::vector<int64_t>> LengthsOf(const Expansion& e,
                                               bool one_sided, int64_t step) {
  ASSIGN_OR_RETURN(const Shape result, NeedDeclared(e, "frame_length", 4));
  const int64_t signal = e.T(e.In(0)).shape[1], bins = result[2];
  std::vector<int64_t> lengths;
  for (int64_t n : one_sided ? std::vector<int64_t>{2 * bins - 2, 2 * bins - 1}
                             : std::vector<int64_t>{bins}) {
    if (n < 1 || n > signal) continue;
    if (step != 0 && (signal - n) / step + 1 != result[1]) continue;
    lengths.push_back(n);
  }
  if (!lengths.empty()) return lengths;
  return RejectNode(Rejection::kMismatchingShape, e.node(),
                    "no frame_length gives the declared result of ",
                    ShapeToString(result), " for a signal of ", signal,
                    " elements; declare another, or make frame_length an "
                    "initializer");
}

absl::Status ExpandStft(Expansion* e) {
  const Node& node = e->node();
  const Shape shape = e->T(e->In(0)).shape;
  const int64_t signal = shape[1];
  Transform t;
  t.complex = shape.size() == 3 && shape[2] == 2;
  ASSIGN_OR_RETURN(const bool one_sided, IsOneSided(*e, t.complex, false, 1));
  if (e->HasIn(2)) {
    const Shape& window = e->T(e->In(2)).shape;
    if (window.size() != 1) {
      return RejectNode(Rejection::kInvalidModel, node, "a window of ",
                        ShapeToString(window), " must have rank 1");
    }
    t.length = window[0];
  }
  int64_t step = 0, frames = 0;
  if (e->T(e->In(1)).is_constant()) {
    ASSIGN_OR_RETURN(step, OneInt(*e, 1, "frame_step", 0));
    if (step < 1) {
      return RejectNode(Rejection::kInvalidModel, node, "frame_step = ", step,
                        ", must be positive");
    }
  }
  std::vector<int64_t> lengths;
  if (e->HasIn(2) || !e->HasIn(3) || e->T(e->In(3)).is_constant()) {
    if (!e->HasIn(2)) {
      ASSIGN_OR_RETURN(t.length, OneInt(*e, 3, "frame_length", signal));
    }
    lengths = {t.length};
  } else {
    ASSIGN_OR_RETURN(lengths, LengthsOf(*e, one_sided, step));
    t.length = lengths[0];
  }
  if (t.length < 1 || t.length > signal) {
    return RejectNode(Rejection::kInvalidModel, node, "frames of ", t.length,
                      " elements do not fit a signal of shape ",
                      ShapeToString(shape));
  }
  if (step != 0) {
    frames = (signal - t.length) / step + 1;
  } else {
    ASSIGN_OR_RETURN(const Shape result, NeedDeclared(*e, "frame_step", 4));
    frames = result[1];
  }
  if (shape[0] == 0) {
    const Shape empty = {0, frames, one_sided ? t.length / 2 + 1 : t.length, 2};
    e->Return(0, e->Constant(TensorData::Zeros(DataType::kFloat, empty)),
              e->T(e->In(0)).type);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(TensorId y, AddFrames(e, t, one_sided, frames, step, false));
  if (lengths.size() > 1) {
    // One more may be one too many where the step is computed, too; the frames
    // are then not those that are chosen.
    t.length = lengths[1];
    ASSIGN_OR_RETURN(const TensorId other,
                     AddFrames(e, t, one_sided, frames, step, step == 0));
    const TensorId given = e->Reshape(e->In(3), Shape{});
    const TensorId first =
        e->Scalar(e->T(given).type, static_cast<double>(lengths[0]));
    y = e->Add("Where", {e->Add("Equal", {given, first}), y, other});
  }
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

bool HasParts(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2);
}
bool IsSignal(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() == 2 ||
         (shape.size() == 3 && (shape[2] == 1 || shape[2] == 2));
}
bool TypeIsReal(const Graph&, const Node& node, std::string* detail) {
  const auto type = static_cast<DataType>(node.IntAttribute(
      "output_datatype", static_cast<int64_t>(DataType::kFloat)));
  *detail = absl::StrCat("output_datatype = ", static_cast<int>(type));
  return Contains(kRealsAndDouble, type);
}

Define WindowOf(const char* op) {
  Define define(op, 17, kMaxOpset);
  define.Inputs(1, 1, kIndices)
      .Attr("output_datatype", AttributeKind::kInt)
      .Attr("periodic", AttributeKind::kInt)
      .Rule(Rejection::kUnsupportedDatatype,
            "output_datatype is float, float16 or double", TypeIsReal);
  return define;
}
Define Dft(int since, int until) {
  Define define("DFT", since, until);
  define.Inputs(1, since < 20 ? 2 : 3, kRealsAndDouble, kIndices, kIndices)
      .Attr("inverse", AttributeKind::kInt)
      .Attr("onesided", AttributeKind::kInt)
      .Rule(Rejection::kInvalidModel,
            "the last dimension of the signal is 1 or 2", HasParts);
  return define;
}

const ExpandedOperator kHann(WindowOf("HannWindow"), ExpandHann);
const ExpandedOperator kHamming(WindowOf("HammingWindow"), ExpandHamming);
const ExpandedOperator kBlackman(WindowOf("BlackmanWindow"), ExpandBlackman);
const ExpandedOperator kDft17(Dft(17, 19).Attr("axis", AttributeKind::kInt),
                              ExpandDft17);
const ExpandedOperator kDft20(Dft(20, kMaxOpset), ExpandDft20);
const ExpandedOperator kStft(
    Define("STFT", 17, kMaxOpset)
        .Inputs(2, 4, kRealsAndDouble, kIndices, kRealsAndDouble, kIndices)
        .Attr("onesided", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel,
              "the signal is of [batch, length] or [batch, length, 1 or 2]",
              IsSignal),
    ExpandStft);

}  // namespace
}  // namespace heddle::compiler
