// SPDX-License-Identifier: Apache-2.0
// DeformConv of images, made of samples and MatMul in fp32 or double, rounded
// once at the end: each weight reads the image, linearly between its pixels and
// 0 outside, at its own place plus an offset that is computed, times a mask.
//
//   x       [images, channels, height, width]
//   w       [out channels, channels / group, kernel height, kernel width]
//   offset  [images, offset_group * kernel * 2, out height, out width]: along
//           the height, then along the width, of each weight
//   bias    [out channels], or absent
//   mask    [images, offset_group * kernel, out height, out width], or absent
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/sampling.h"

namespace heddle::compiler {
namespace {

struct Form {
  Shape x, w, out;  // out: height and width
  Shape strides, dilations, pads;
  int64_t group = 1, offset_group = 1;
  int64_t kernel() const { return w[2] * w[3]; }
};

absl::StatusOr<Form> FormOf(const Expansion& e) {
  const Node& node = e.node();
  Form f;
  f.x = e.T(e.In(0)).shape;
  f.w = e.T(e.In(1)).shape;
  f.group = node.IntAttribute("group", 1);
  f.offset_group = node.IntAttribute("offset_group", 1);
  f.strides = node.IntsAttribute("strides", {1, 1});
  f.dilations = node.IntsAttribute("dilations", {1, 1});
  f.pads = node.IntsAttribute("pads", {0, 0, 0, 0});
  const auto refuse = [&](Rejection kind, const auto&... why) {
    return RejectNode(kind, node, "input ", ShapeToString(f.x), ", weights ",
                      ShapeToString(f.w), ": ", why...);
  };
  if (f.x.size() != 4 || f.w.size() != 4) {
    return refuse(Rejection::kUnsupportedShape, "both must have rank 4");
  }
  // Without images or results there are none; other sums would be of nothing.
  if (f.x[1] == 0 || f.x[2] == 0 || f.x[3] == 0 || f.w[1] == 0 || f.w[2] == 0 ||
      f.w[3] == 0) {
    return refuse(Rejection::kUnsupportedShape, "one has no elements");
  }
  if (f.group < 1 || f.offset_group < 1 || f.x[1] % f.group != 0 ||
      f.x[1] % f.offset_group != 0 || f.w[0] % f.group != 0 ||
      f.w[1] != f.x[1] / f.group) {
    return refuse(Rejection::kMismatchingShape,
                  "channels do not fit group = ", f.group,
                  " and offset_group = ", f.offset_group);
  }
  const Shape kernel = node.IntsAttribute("kernel_shape", {f.w[2], f.w[3]});
  if (f.strides.size() != 2 || f.dilations.size() != 2 || f.pads.size() != 4 ||
      kernel != Shape{f.w[2], f.w[3]}) {
    return refuse(Rejection::kInvalidModel,
                  "strides, dilations, pads or kernel_shape do not fit");
  }
  for (size_t i = 0; i < 2; ++i) {
    for (int64_t v : {f.strides[i], f.dilations[i]}) {
      if (v < 1 || v > kMostTableElements) {
        return refuse(Rejection::kInvalidModel, "stride or dilation ", v);
      }
    }
    for (int64_t v : {f.pads[i], f.pads[i + 2]}) {
      if (v < 0 || v > kMostTableElements) {
        return refuse(Rejection::kInvalidModel, "pad ", v);
      }
    }
    const int64_t room = f.x[i + 2] + f.pads[i] + f.pads[i + 2] - 1;
    if (room / f.dilations[i] < f.w[i + 2] - 1) {
      return refuse(Rejection::kMismatchingShape,
                    "the kernel is larger than the padded input");
    }
    f.out.push_back((room - (f.w[i + 2] - 1) * f.dilations[i]) / f.strides[i] +
                    1);
  }
  const int64_t points = f.offset_group * f.kernel();
  const Shape offset = {f.x[0], points * 2, f.out[0], f.out[1]};
  if (e.T(e.In(2)).shape != offset) {
    return refuse(Rejection::kMismatchingShape, "offset must be of ",
                  ShapeToString(offset));
  }
  if (e.HasIn(3) && e.T(e.In(3)).shape != Shape{f.w[0]}) {
    return refuse(Rejection::kMismatchingShape, "bias must be of [", f.w[0],
                  "]");
  }
  const Shape mask = {f.x[0], points, f.out[0], f.out[1]};
  if (e.HasIn(4) && e.T(e.In(4)).shape != mask) {
    return refuse(Rejection::kMismatchingShape, "mask must be of ",
                  ShapeToString(mask));
  }
  RETURN_IF_ERROR(CheckTable(node, f.kernel(), f.out[0]));
  RETURN_IF_ERROR(CheckTable(node, f.kernel() * f.out[0], f.out[1]));
  return f;
}

class Sampler {
 public:
  Sampler(Expansion* e, const Form& f) : e_(e), m_(e), f_(f) {}

  // [images * offset_group * kernel * out, channels / offset_group].
  absl::StatusOr<TensorId> Samples() {
    const int64_t images = f_.x[0] * f_.offset_group;
    samples_ = {images, f_.kernel(), f_.out[0] * f_.out[1]};
    const TensorId parts = e_->Reshape(
        e_->In(0), {images, f_.x[1] / f_.offset_group, f_.x[2], f_.x[3]});
    ASSIGN_OR_RETURN(const SampledImage image, SampledImage::Create(e_, parts));
    const TensorId offsets =
        e_->Reshape(e_->Wide(e_->In(2)), {images, f_.kernel(), 2, samples_[2]});
    const TensorId y = Places(offsets, 0), x = Places(offsets, 1);
    TensorData numbers = TensorData::Zeros(DataType::kInt32, {images, 1, 1});
    for (int64_t i = 0; i < images; ++i) {
      numbers.as<int32_t>()[i] = static_cast<int32_t>(i);
    }
    const TensorId number = e_->Constant(std::move(numbers));
    const int64_t count = ElementCount(samples_);
    TensorId sum = kNoTensor;
    for (const bool low : {true, false}) {
      const Corner row = CornerOf(y, low, f_.x[2]);
      for (const bool left : {true, false}) {
        const Corner column = CornerOf(x, left, f_.x[3]);
        const TensorId weight =
            e_->Reshape(m_.Times(row.weight, column.weight), {count, 1});
        const TensorId part = m_.Times(
            image.Read(number, {row.place, column.place}, samples_), weight);
        sum = sum == kNoTensor ? part : m_.Plus(sum, part);
      }
    }
    if (!e_->HasIn(4)) return sum;
    return m_.Times(sum, e_->Reshape(e_->Wide(e_->In(4)), {count, 1}));
  }

 private:
  // Places along an axis, of the shape of the samples.
  TensorId Places(TensorId offsets, int64_t axis) {
    const int64_t kernel = f_.kernel(), count = samples_[2];
    std::vector<double> base(static_cast<size_t>(kernel * count));
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t weight = axis == 0 ? k / f_.w[3] : k % f_.w[3];
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = axis == 0 ? i / f_.out[1] : i % f_.out[1];
        base[k * count + i] =
            static_cast<double>(at * f_.strides[axis] +
                                weight * f_.dilations[axis] - f_.pads[axis]);
      }
    }
    const TensorId own =
        e_->Reshape(e_->Add("Slice", {offsets, e_->Ints({axis}),
                                      e_->Ints({axis + 1}), e_->Ints({2})}),
                    samples_);
    // What is no number is far outside.
    return m_.Known(m_.Plus(own, e_->Numbers({1, kernel, count}, base)), -2);
  }

  struct Corner {
    TensorId place, weight;  // 0 outside
  };
  Corner CornerOf(TensorId x, bool low, int64_t size) {
    const auto last = static_cast<float>(size - 1);
    // (far away the difference would not be a fraction)
    const TensorId near = m_.Clip(x, -2, last + 2);
    const TensorId floor = m_.Floor(near);
    const TensorId place = low ? floor : m_.Offset(floor, 1);
    const TensorId fraction = m_.Minus(near, floor);
    const TensorId weight = low ? m_.Minus(m_.Number(1), fraction) : fraction;
    return {m_.Clip(place, 0, last),
            m_.Where(m_.IsWithin(place, 0, last), weight, m_.Number(0))};
  }

  Expansion* e_;
  FloatMath m_;
  const Form& f_;
  Shape samples_;
};

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Form f, FormOf(*e));
  if (f.x[0] == 0 || f.w[0] == 0) {
    const Shape empty = {f.x[0], f.w[0], f.out[0], f.out[1]};
    e->Return(0, e->Constant(TensorData::Zeros(DataType::kFloat, empty)),
              e->T(e->In(0)).type);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(TensorId y, Sampler(e, f).Samples());
  const int64_t count = f.out[0] * f.out[1];
  // Rows of each group of the weights: channels, then kernel.
  y = e->Reshape(
      y, {f.x[0] * f.offset_group, f.kernel(), count, f.x[1] / f.offset_group});
  y = e->Add("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  y = e->Reshape(y, {f.x[0], f.group, f.w[1] * f.kernel(), count});
  const TensorId w = e->Reshape(
      e->Wide(e->In(1)), {1, f.group, f.w[0] / f.group, f.w[1] * f.kernel()});
  y = e->Reshape(e->Add("MatMul", {w, y}),
                 {f.x[0], f.w[0], f.out[0], f.out[1]});
  if (e->HasIn(3)) {
    y = e->Add("Add", {y, e->Reshape(e->Wide(e->In(3)), {1, f.w[0], 1, 1})});
  }
  e->Return(0, y, e->T(e->In(0)).type);
  return absl::OkStatus();
}

const ExpandedOperator kDeformConv(Define("DeformConv", 19, kMaxOpset)
                                       .Inputs(3, 5, kRealsAndDouble)
                                       .Optional(3)
                                       .Attr("dilations", AttributeKind::kInts)
                                       .Attr("group", AttributeKind::kInt)
                                       .Attr("kernel_shape",
                                             AttributeKind::kInts)
                                       .Attr("offset_group",
                                             AttributeKind::kInt)
                                       .Attr("pads", AttributeKind::kInts)
                                       .Attr("strides", AttributeKind::kInts),
                                   Expand);

}  // namespace
}  // namespace heddle::compiler
