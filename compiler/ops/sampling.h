// SPDX-License-Identifier: Apache-2.0
// Reading an image at computed places, for operators that are made of others:
// rows of all channels are gathered by an index for each sample.
#ifndef HEDDLE_COMPILER_OPS_SAMPLING_H_
#define HEDDLE_COMPILER_OPS_SAMPLING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

// Small arithmetic of tensors of the expansion's numbers, which broadcast.
class FloatMath {
 public:
  explicit FloatMath(Expansion* e) : e_(e) {}
  Expansion* expansion() const { return e_; }
  TensorId Number(double value) const;
  TensorId Plus(TensorId a, TensorId b) const { return e_->Add("Add", {a, b}); }
  // (Names of their own: a TensorId is a number, too.)
  TensorId Offset(TensorId a, double by) const { return Plus(a, Number(by)); }
  TensorId Minus(TensorId a, TensorId b) const {
    return e_->Add("Sub", {a, b});
  }
  TensorId Times(TensorId a, TensorId b) const {
    return e_->Add("Mul", {a, b});
  }
  TensorId Scaled(TensorId a, double by) const { return Times(a, Number(by)); }
  TensorId Clip(TensorId x, double low, double high) const {
    return e_->Add("Clip", {x, Number(low), Number(high)});
  }
  TensorId Floor(TensorId x) const { return e_->Add("Floor", {x}); }
  TensorId Where(TensorId which, TensorId a, TensorId b) const {
    return e_->Add("Where", {which, a, b});
  }
  // What is not a number becomes `value`.
  TensorId Known(TensorId x, double value) const;
  // Bool: low <= x <= high.
  TensorId IsWithin(TensorId x, double low, double high) const;

 private:
  Expansion* e_;
};

// An image [images, channels, sizes...] of which samples are read.
class SampledImage {
 public:
  // UnsupportedShape: places do not fit 32 bits.
  static absl::StatusOr<SampledImage> Create(Expansion* e, TensorId x);

  int64_t images() const { return shape_[0]; }
  int64_t channels() const { return shape_[1]; }
  size_t rank() const { return shape_.size() - 2; }
  int64_t size(size_t axis) const { return shape_[2 + axis]; }

  // The rows [samples, channels] at integral places: `image` (int32) and one
  // real coordinate for each axis, within the image, all of shapes that
  // broadcast to one of `samples` elements.
  TensorId Read(TensorId image, const std::vector<TensorId>& places,
                const Shape& samples) const;

 private:
  SampledImage(Expansion* e, Shape shape, TensorId rows)
      : e_(e), shape_(std::move(shape)), rows_(rows) {}

  Expansion* e_;
  Shape shape_;
  TensorId rows_;  // [images * places, channels]
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_SAMPLING_H_
