// SPDX-License-Identifier: Apache-2.0
// GridSample, made of other operators in fp32 or double, rounded once: for
// each sample the rows of the places around it are gathered and weighted, axis
// by axis, the last innermost. A place outside of the image reads 0 (zeros),
// the nearest one inside (border), or that of the image mirrored at its edges
// (reflection).
//
//   x     [images, channels, sizes...]
//   grid  [images, samples..., rank], the last axis' coordinate first, -1 to 1
//         from one edge of the image to the other; NaN is outside
//   y     [images, channels, samples...]
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/rank_rule.h"
#include "compiler/ops/sampling.h"

namespace heddle::compiler {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Tap {
  TensorId place;
  TensorId weight = kNoTensor;  // none: 1
  TensorId valid = kNoTensor;   // none: all are
};

class GridSampler {
 public:
  GridSampler(Expansion* e, const SampledImage& image, Mode mode,
              Padding padding, bool aligned)
      : e_(e),
        m_(e),
        image_(image),
        mode_(mode),
        padding_(padding),
        aligned_(aligned) {}

  // Of the grid [images, samples, rank]: [images * samples, channels].
  TensorId Sample(TensorId grid) {
    samples_ = e_->T(grid).shape;
    samples_.pop_back();
    TensorData numbers =
        TensorData::Zeros(DataType::kInt32, {image_.images(), 1});
    for (int64_t i = 0; i < image_.images(); ++i) {
      numbers.as<int32_t>()[i] = static_cast<int32_t>(i);
    }
    number_ = e_->Constant(std::move(numbers));
    const auto rank = static_cast<int64_t>(image_.rank());
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t at = rank - 1 - axis;
      const TensorId x = e_->Reshape(
          e_->Add("Slice",
                  {grid, e_->Ints({at}), e_->Ints({at + 1}), e_->Ints({2})}),
          samples_);
      taps_.push_back(TapsOf(static_cast<size_t>(axis), x));
    }
    std::vector<TensorId> places;
    return Blend(&places);
  }

 private:
  float Size(size_t axis) const {
    return static_cast<float>(image_.size(axis));
  }
  // Where the image is mirrored.
  float Low() const { return aligned_ ? 0 : -0.5f; }
  float High(size_t axis) const { return Size(axis) - (aligned_ ? 1 : 0.5f); }

  // Into the image, or its mirror images.
  TensorId Reflect(size_t axis, TensorId x) {
    const double low = Low(), high = High(axis), range = high - low;
    if (range <= 0) return m_.Scaled(x, 0);
    const TensorId below = m_.Minus(m_.Number(low), x);
    const TensorId beyond =
        e_->Add("Max", {below, m_.Offset(x, -high), m_.Number(0)});
    const TensorId turns = m_.Floor(e_->Add("Div", {beyond, m_.Number(range)}));
    const TensorId rest = m_.Minus(beyond, m_.Scaled(turns, range));
    const TensorId odd = e_->Add(
        "Greater",
        {m_.Minus(turns, m_.Scaled(m_.Floor(m_.Scaled(turns, 0.5f)), 2)),
         m_.Number(0.5f)});
    const TensorId left = e_->Add("Greater", {below, m_.Number(0)});
    const TensorId from_low = e_->Add("Xor", {left, odd});
    const TensorId mirrored = m_.Where(from_low, m_.Offset(rest, low),
                                       m_.Minus(m_.Number(high), rest));
    return m_.Where(m_.IsWithin(x, low, high), x, mirrored);
  }

  TensorId Padded(size_t axis, TensorId x) {
    switch (padding_) {
      case Padding::kBorder:
        return m_.Clip(x, 0, Size(axis) - 1);
      case Padding::kReflection:
        return Reflect(axis, x);
      case Padding::kZeros:
        break;
    }
    return x;
  }

  // The place, moved into the image.
  Tap At(size_t axis, TensorId place, TensorId weight) {
    Tap tap = {m_.Clip(Padded(axis, place), 0, Size(axis) - 1), weight};
    if (padding_ == Padding::kZeros) {
      tap.valid = m_.IsWithin(place, 0, Size(axis) - 1);
    }
    return tap;
  }

  std::vector<Tap> TapsOf(size_t axis, TensorId x) {
    const float size = Size(axis);
    x = m_.Known(x, -4 * size);
    // One place, from end to end: infinite coordinates times 0 would be none.
    if (aligned_ && image_.size(axis) == 1) x = m_.Clip(x, -1, 1);
    x = aligned_
            ? m_.Scaled(m_.Scaled(m_.Offset(x, 1), 0.5f), size - 1)
            : m_.Scaled(m_.Offset(m_.Scaled(m_.Offset(x, 1), size), -1), 0.5f);
    // Farther away nothing changes; what is cut off there stays finite.
    constexpr float kFar = 1 << 23;
    x = padding_ == Padding::kReflection ? m_.Clip(x, -kFar, kFar)
                                         : m_.Clip(x, -4, size + 3);
    if (mode_ == Mode::kNearest) x = e_->Add("Round", {x});
    // (The places of a cubic's taps are moved one by one.)
    if (mode_ != Mode::kCubic) x = Padded(axis, x);
    if (mode_ == Mode::kNearest) return {At(axis, x, kNoTensor)};
    const TensorId first = m_.Floor(x);
    const TensorId part = m_.Minus(x, first);
    std::vector<Tap> taps;
    if (mode_ == Mode::kLinear) {
      const TensorId next = m_.Offset(first, 1);
      taps.push_back(At(axis, first, m_.Minus(next, x)));
      taps.push_back(At(axis, next, part));
      return taps;
    }
    for (int i = 0; i < 4; ++i) {
      taps.push_back(At(axis, m_.Offset(first, static_cast<float>(i - 1)),
                        Cubic(part, i)));
    }
    return taps;
  }

  // Keys' kernel with a = -0.75 at the distances 1 + part, part, 1 - part,
  // 2 - part.
  TensorId Cubic(TensorId part, int i) {
    constexpr double kA = -0.75;
    const TensorId d =
        i < 2 ? m_.Offset(part, static_cast<float>(1 - i))
              : m_.Minus(m_.Number(static_cast<float>(i - 1)), part);
    const auto horner = [&](std::vector<double> factors) {
      TensorId sum = m_.Scaled(d, factors[0]);
      for (size_t k = 1; k + 1 < factors.size(); ++k) {
        sum = m_.Times(factors[k] == 0 ? sum : m_.Offset(sum, factors[k]), d);
      }
      return m_.Offset(sum, factors.back());
    };
    return i == 1 || i == 2 ? horner({kA + 2, -(kA + 3), 0, 1})
                            : horner({kA, -5 * kA, 8 * kA, -4 * kA});
  }

  // The weighted sum over the taps of the axes that have no place yet.
  TensorId Blend(std::vector<TensorId>* places) {
    if (!e_->status().ok()) return kNoTensor;
    const size_t axis = places->size();
    if (axis == taps_.size()) return image_.Read(number_, *places, samples_);
    TensorId sum = kNoTensor;
    for (const Tap& tap : taps_[axis]) {
      places->push_back(tap.place);
      TensorId value = Blend(places);
      places->pop_back();
      const Shape column = {ElementCount(samples_), 1};
      if (tap.valid != kNoTensor) {
        value = m_.Where(e_->Reshape(tap.valid, column), value, m_.Number(0));
      }
      if (tap.weight != kNoTensor) {
        value = m_.Times(value, e_->Reshape(tap.weight, column));
      }
      sum = sum == kNoTensor ? value : m_.Plus(sum, value);
    }
    return sum;
  }

  Expansion* e_;
  FloatMath m_;
  const SampledImage& image_;
  Mode mode_;
  Padding padding_;
  bool aligned_;
  Shape samples_;                       // [images, samples]
  TensorId number_;                     // of the image
  std::vector<std::vector<Tap>> taps_;  // by axis
};

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape, grid = e->T(e->In(1)).shape;
  const auto rank = static_cast<int64_t>(x.size()) - 2;
  if (grid.size() != x.size() || grid[0] != x[0] || grid.back() != rank) {
    return RejectNode(Rejection::kMismatchingShape, node, "a grid of shape ",
                      ShapeToString(grid), " does not fit an input of shape ",
                      ShapeToString(x));
  }
  const Shape samples(grid.begin() + 1, grid.end() - 1);
  Shape result = {x[0], x[1]};
  result.insert(result.end(), samples.begin(), samples.end());
  if (ElementCount(result) == 0) {
    e->Return(0, e->Constant(TensorData::Zeros(DataType::kFloat, result)),
              e->T(e->In(0)).type);
    return absl::OkStatus();
  }
  if (ElementCount(x) == 0) {
    return RejectNode(Rejection::kUnsupportedShape, node, "an input of ",
                      ShapeToString(x), " has no elements to sample");
  }
  const std::string mode = node.StringAttribute("mode", "linear");
  const std::string padding = node.StringAttribute("padding_mode", "zeros");
  ASSIGN_OR_RETURN(const SampledImage image, SampledImage::Create(e, e->In(0)));
  GridSampler sampler(e, image,
                      mode == "nearest"                      ? Mode::kNearest
                      : mode == "cubic" || mode == "bicubic" ? Mode::kCubic
                                                             : Mode::kLinear,
                      padding == "border"       ? Padding::kBorder
                      : padding == "reflection" ? Padding::kReflection
                                                : Padding::kZeros,
                      node.IntAttribute("align_corners", 0) != 0);
  const int64_t count = ElementCount(samples);
  TensorId y =
      sampler.Sample(e->Reshape(e->Wide(e->In(1)), {x[0], count, rank}));
  y = e->Add("Transpose", {e->Reshape(y, {x[0], count, x[1]})},
             {{"perm", std::vector<int64_t>{0, 2, 1}}});
  e->Return(0, e->Reshape(y, result), e->T(e->In(0)).type);
  return absl::OkStatus();
}

template <bool is_20>
bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode =
      node.StringAttribute("mode", is_20 ? "linear" : "bilinear");
  *detail = absl::StrCat("mode = ", mode);
  return mode == "nearest" || mode == (is_20 ? "linear" : "bilinear") ||
         mode == (is_20 ? "cubic" : "bicubic");
}
bool PaddingIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("padding_mode", "zeros");
  *detail = absl::StrCat("padding_mode = ", mode);
  return mode == "zeros" || mode == "border" || mode == "reflection";
}

Define GridSample(int since, int until) {
  Define define("GridSample", since, until);
  define.Inputs(2, 2, kRealsAndDouble)
      .Attr("align_corners", AttributeKind::kInt)
      .Attr("mode", AttributeKind::kString)
      .Attr("padding_mode", AttributeKind::kString)
      .Rule(Rejection::kInvalidModel,
            "padding_mode is zeros, border or reflection", PaddingIsKnown);
  return define;
}
const ExpandedOperator kGridSample16(
    GridSample(16, 19)
        .Rule(Rejection::kInvalidModel, "mode is nearest, bilinear or bicubic",
              ModeIsKnown<false>)
        .Rule(Rejection::kInvalidModel, "the input has rank 4", RankIs<4, 4>),
    Expand);
const ExpandedOperator kGridSample20(
    GridSample(20, kMaxOpset)
        .Rule(Rejection::kInvalidModel, "mode is nearest, linear or cubic",
              ModeIsKnown<true>)
        .Rule(Rejection::kUnsupportedShape, "the input has rank 3 to 5",
              RankIs<3, 5>),
    Expand);

}  // namespace
}  // namespace heddle::compiler
