// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/sampling.h"

#include <limits>
#include <utility>

namespace heddle::compiler {

TensorId FloatMath::Number(double value) const { return e_->Number(value); }

TensorId FloatMath::Known(TensorId x, double value) const {
  return Where(e_->Add("Equal", {x, x}), x, Number(value));
}

TensorId FloatMath::IsWithin(TensorId x, double low, double high) const {
  return e_->Add("And", {e_->Add("GreaterOrEqual", {x, Number(low)}, {}, 16),
                         e_->Add("LessOrEqual", {x, Number(high)}, {}, 16)});
}

absl::StatusOr<SampledImage> SampledImage::Create(Expansion* e, TensorId x) {
  const Shape shape = e->T(x).shape;
  const Shape sizes(shape.begin() + 2, shape.end());
  const int64_t places = ElementCount(sizes);
  if (shape[0] * places > std::numeric_limits<int32_t>::max()) {
    return RejectNode(Rejection::kUnsupportedShape, e->node(), shape[0],
                      " images of ", places,
                      " places; a place must have a number of 31 bits");
  }
  TensorId rows = e->Reshape(e->Wide(x), {shape[0], shape[1], places});
  rows = e->Add("Transpose", {rows}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  rows = e->Reshape(rows, {shape[0] * places, shape[1]});
  return SampledImage(e, shape, rows);
}

TensorId SampledImage::Read(TensorId image, const std::vector<TensorId>& places,
                            const Shape& samples) const {
  TensorId index = image;
  for (size_t axis = 0; axis < places.size(); ++axis) {
    TensorData scale = TensorData::Zeros(DataType::kInt32, {});
    *scale.as<int32_t>() = static_cast<int32_t>(size(axis));
    index =
        e_->Add("Add", {e_->Add("Mul", {index, e_->Constant(std::move(scale))}),
                        e_->Cast(places[axis], DataType::kInt32)});
  }
  index = e_->Reshape(index, {ElementCount(samples)});
  return e_->Add("Gather", {rows_, index}, {{"axis", int64_t{0}}});
}

}  // namespace heddle::compiler
