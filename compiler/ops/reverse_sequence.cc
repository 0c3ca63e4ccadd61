// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: of each batch the first elements, as many as its length
// says, in reverse; the others stay. A Gather of rows, by indices that are
// computed from the lengths: where t < length, the place of length - 1 - t. A
// length beyond the axis is -2^31, which is no place; none and negative ones
// reverse nothing.
#include <cstdint>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/indices.h"

namespace heddle::compiler {
namespace {

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape shape = e->T(e->In(0)).shape;
  const Tensor& lengths = e->T(e->In(1));
  const DataType type = e->T(e->In(0)).type;
  const int64_t time_axis = node.IntAttribute("time_axis", 0);
  const int64_t batch_axis = node.IntAttribute("batch_axis", 1);
  if (shape.size() < 2 || (time_axis | 1) != 1 || (batch_axis | 1) != 1 ||
      time_axis == batch_axis) {
    return RejectNode(Rejection::kInvalidModel, node, "time_axis = ", time_axis,
                      " and batch_axis = ", batch_axis,
                      " of an input of shape ", ShapeToString(shape),
                      ", must be 0 and 1 or 1 and 0");
  }
  const int64_t times = shape[time_axis], batches = shape[batch_axis];
  if (lengths.shape != Shape{batches}) {
    return RejectNode(Rejection::kMismatchingShape, node,
                      "sequence_lens of shape ", ShapeToString(lengths.shape),
                      " for a batch of ", batches);
  }
  if (lengths.is_constant()) {
    for (int64_t length : ToInts(*lengths.constant)) {
      if (length <= times) continue;
      return RejectNode(Rejection::kInvalidModel, node, "a sequence of ",
                        length, " of an axis of size ", times);
    }
  }
  if (times * batches > kMostPlaces) {
    return RejectNode(Rejection::kUnsupportedShape, node, times * batches,
                      " places, at most ", kMostPlaces, " are supported");
  }
  const int64_t row = ElementCount(Shape(shape.begin() + 2, shape.end()));
  // Over [first axis, second axis]: times and places as they are.
  TensorData time = TensorData::Zeros(DataType::kInt32, {shape[0], shape[1]});
  TensorData place = time;
  const int64_t step = time_axis == 0 ? shape[1] : 1;
  for (int64_t i = 0; i < time.count(); ++i) {
    PaceAt(i);
    time.as<int32_t>()[i] =
        static_cast<int32_t>(time_axis == 0 ? i / shape[1] : i % shape[1]);
    place.as<int32_t>()[i] = static_cast<int32_t>(i);
  }
  // A place moves from t to length - 1 - t: (length - 1 - 2t) steps.
  TensorData back = time;
  for (int64_t i = 0; i < back.count(); ++i) {
    PaceAt(i);
    back.as<int32_t>()[i] = -2 * time.as<int32_t>()[i] - 1;
  }
  const auto scalar = [&](int64_t value) {
    TensorData data = TensorData::Zeros(DataType::kInt32, {});
    *data.as<int32_t>() = static_cast<int32_t>(value);
    return e->Constant(std::move(data));
  };
  const TensorId length =
      e->Reshape(e->Cast(e->In(1), DataType::kInt32),
                 time_axis == 0 ? Shape{1, batches} : Shape{batches, 1});
  const TensorId moved = e->Add(
      "Mul",
      {e->Add("Add", {length, e->Constant(std::move(back))}), scalar(step)});
  const TensorId turns =
      e->Add("Greater", {length, e->Constant(std::move(time))});
  const TensorId reached =
      e->Add("Add", {e->Constant(std::move(place)),
                     e->Add("Where", {turns, moved, scalar(0)})});
  const TensorId index =
      e->Add("Where", {e->Add("Greater", {length, scalar(times)}),
                       scalar(std::numeric_limits<int32_t>::min()), reached});
  const TensorId table = e->Reshape(e->In(0), {times * batches, row});
  const TensorId y =
      e->Add("Gather", {table, e->Reshape(index, {times * batches})},
             {{"axis", int64_t{0}}});
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

const ExpandedOperator kReverseSequence(Define("ReverseSequence", 10, kMaxOpset)
                                            .Inputs(2, 2, kMovable, kInt64s)
                                            .Attr("time_axis",
                                                  AttributeKind::kInt)
                                            .Attr("batch_axis",
                                                  AttributeKind::kInt),
                                        Expand);

}  // namespace
}  // namespace heddle::compiler
