// SPDX-License-Identifier: Apache-2.0
// The steps of ops/grid_sample.cc. Coordinates are never NaN (those become -4
// sizes), so plain arithmetic has the bits of the card's there; of samples only
// the last result can be seen, so only that is made the one NaN.
#include "compiler/direct/grid_sample.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/ops/half.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

constexpr int kMostTaps = 4;

// One of the places along an axis that a sample is made of.
struct Tap {
  int32_t place = 0;  // within the image
  float weight = 1;
  bool valid = true;  // else it reads 0
};

float Clip(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

class Axis {
 public:
  Axis(int64_t size, Mode mode, Padding padding, bool aligned)
      : size_(static_cast<float>(size)),
        mode_(mode),
        padding_(padding),
        aligned_(aligned) {}

  void Find(float x, Tap* taps) const {
    x = Scaled(x);
    if (mode_ == Mode::kNearest) {
      taps[0] = At(Padded(std::nearbyint(x)), 1);
      return;
    }
    if (mode_ == Mode::kLinear) x = Padded(x);
    const float first = std::floor(x), part = x - first;
    if (mode_ == Mode::kLinear) {
      const float next = first + 1;
      taps[0] = At(first, next - x);
      taps[1] = At(next, part);
      return;
    }
    for (int i = 0; i < kMostTaps; ++i) {
      taps[i] = At(first + static_cast<float>(i - 1), Cubic(part, i));
    }
  }

 private:
  // From -1 to 1 to places.
  float Scaled(float x) const {
    if (x != x) x = -4 * size_;
    if (aligned_ && size_ == 1) x = Clip(x, -1, 1);
    x = aligned_ ? (x + 1) * 0.5f * (size_ - 1)
                 : ((x + 1) * size_ + -1.0f) * 0.5f;
    constexpr float kFar = 1 << 23;
    return padding_ == Padding::kReflection ? Clip(x, -kFar, kFar)
                                            : Clip(x, -4, size_ + 3);
  }

  float Reflected(float x) const {
    const float low = aligned_ ? 0 : -0.5f;
    const float high = size_ - (aligned_ ? 1 : 0.5f);
    const float range = high - low;
    if (range <= 0) return x * 0;
    if (x >= low && x <= high) return x;
    const float below = low - x;
    const float beyond = std::max(std::max(below, x + -high), 0.0f);
    const float turns = std::floor(beyond / range);
    const float rest = beyond - turns * range;
    const bool odd = turns - std::floor(turns * 0.5f) * 2 > 0.5f;
    return (below > 0) != odd ? rest + low : high - rest;
  }

  float Padded(float x) const {
    switch (padding_) {
      case Padding::kBorder:
        return Clip(x, 0, size_ - 1);
      case Padding::kReflection:
        return Reflected(x);
      case Padding::kZeros:
        break;
    }
    return x;
  }

  Tap At(float place, float weight) const {
    return {static_cast<int32_t>(Clip(Padded(place), 0, size_ - 1)), weight,
            padding_ != Padding::kZeros || (place >= 0 && place <= size_ - 1)};
  }

  static float Horner(float d, float a, float b, float c, float e) {
    float sum = (d * a + b) * d;
    if (c != 0) sum += c;
    return sum * d + e;
  }
  // Keys' kernel with a = -0.75.
  static float Cubic(float part, int i) {
    constexpr float kA = -0.75f;
    const float d = i < 2 ? part + static_cast<float>(1 - i)
                          : static_cast<float>(i - 1) - part;
    return i == 1 || i == 2 ? Horner(d, kA + 2, -(kA + 3), 0, 1)
                            : Horner(d, kA, -5 * kA, 8 * kA, -4 * kA);
  }

  const float size_;
  const Mode mode_;
  const Padding padding_;
  const bool aligned_;
};

// Where the four places of a linear sample of an image lie, those that read 0
// behind the plane, and their weights.
struct Quad {
  int32_t at[2][2];
  float row[2], column[2];
};

class GridSampleKernel : public DirectKernel {
 public:
  GridSampleKernel(const Graph& graph, const Node& node) {
    const std::string mode = node.StringAttribute("mode", "linear");
    mode_ = mode == "nearest"                      ? Mode::kNearest
            : mode == "cubic" || mode == "bicubic" ? Mode::kCubic
                                                   : Mode::kLinear;
    const std::string padding = node.StringAttribute("padding_mode", "zeros");
    padding_ = padding == "border"       ? Padding::kBorder
               : padding == "reflection" ? Padding::kReflection
                                         : Padding::kZeros;
    const bool aligned = node.IntAttribute("align_corners", 0) != 0;
    const Shape& x = graph.tensors[node.inputs[0]].shape;
    const Shape& grid = graph.tensors[node.inputs[1]].shape;
    for (size_t axis = 2; axis < x.size(); ++axis) {
      axes_.emplace_back(x[axis], mode_, padding_, aligned);
      size_.push_back(x[axis]);
    }
    plane_ = ElementCount(size_);
    images_ = x[0];
    channels_ = x[1];
    result_ = {x[0], x[1]};
    result_.insert(result_.end(), grid.begin() + 1, grid.end() - 1);
    count_ = ElementCount(result_) / (images_ * channels_);
    taps_ = mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4;
    // Where planes must be copied, so many samples of each make it pay.
    constexpr int64_t kCopied = 8;
    const bool copies = padding_ == Padding::kZeros;
    quads_ = mode_ == Mode::kLinear && axes_.size() == 2 &&
             (!copies || plane_ <= kCopied * count_);
    if (quads_ && copies) piece_ = std::max(piece_, plane_ / kCopied);
  }

  Results Run(const Inputs& inputs) const override {
    const model::ScopedFpEnvironment environment;
    const Widened in(inputs);
    const float* const x = in[0]->as<float>();
    const float* const grid = in[1]->as<float>();
    TensorData y = TensorData::Zeros(DataType::kFloat, result_);
    const int64_t pieces = (count_ + piece_ - 1) / piece_;
    const double cost = kPlaceCost * static_cast<double>(piece_) +
                        kSampleCost * static_cast<double>(piece_ * channels_);
    Spread(images_ * pieces, cost, [&](int64_t begin, int64_t end) {
      Piece piece;
      for (int64_t p = begin; p < end; ++p) {
        const int64_t image = p / pieces, first = p % pieces * piece_;
        const int64_t n = std::min(piece_, count_ - first);
        const float* const at = grid + (image * count_ + first) *
                                           static_cast<int64_t>(axes_.size());
        const float* const from = x + image * channels_ * plane_;
        float* const to = y.as<float>() + image * channels_ * count_ + first;
        Place(at, n, &piece);
        for (int64_t channel = 0; channel < channels_; ++channel) {
          Pace(kMostTaps * n);
          const float* const plane = from + channel * plane_;
          float* const out = to + channel * count_;
          if (quads_) {
            Blend(WithZero(plane, &piece), piece.quads, n, out);
          } else {
            Sample(plane, piece.taps, n, out);
          }
        }
      }
    });
    std::vector<TensorData> results;
    results.push_back(Narrowed(std::move(y), inputs[0]->type));
    return results;
  }

 private:
  static constexpr double kPlaceCost = 10, kSampleCost = 3;

  struct Piece {
    std::vector<Tap> taps;  // by sample, axis
    std::vector<Quad> quads;
    std::vector<float> plane;  // and a zero behind it
  };

  void Place(const float* at, int64_t n, Piece* piece) const {
    const auto rank = static_cast<int64_t>(axes_.size());
    Pace(kMostTaps * n * rank);
    if (quads_) return PlaceQuads(at, n, piece);
    piece->taps.resize(static_cast<size_t>(n * rank * taps_));
    Tap* tap = piece->taps.data();
    for (int64_t i = 0; i < n; ++i, at += rank) {
      for (int64_t axis = 0; axis < rank; ++axis, tap += taps_) {
        axes_[axis].Find(at[rank - 1 - axis], tap);
      }
    }
  }

  void PlaceQuads(const float* at, int64_t n, Piece* piece) const {
    const auto width = static_cast<int32_t>(size_[1]);
    piece->quads.resize(static_cast<size_t>(n));
    for (Quad& quad : piece->quads) {
      Tap rows[2], columns[2];
      axes_[0].Find(at[1], rows);
      axes_[1].Find(at[0], columns);
      at += 2;
      for (int r = 0; r < 2; ++r) {
        quad.row[r] = rows[r].weight;
        quad.column[r] = columns[r].weight;
        for (int c = 0; c < 2; ++c) {
          // (Weights are not negative: what is 0 before stays +0.)
          quad.at[r][c] = rows[r].valid && columns[c].valid
                              ? rows[r].place * width + columns[c].place
                              : static_cast<int32_t>(plane_);
        }
      }
    }
  }

  const float* WithZero(const float* plane, Piece* piece) const {
    if (padding_ != Padding::kZeros) return plane;
    piece->plane.resize(static_cast<size_t>(plane_) + 1);
    std::copy_n(plane, plane_, piece->plane.data());
    return piece->plane.data();
  }

  static void Blend(const float* plane, const std::vector<Quad>& quads,
                    int64_t n, float* y) {
    for (int64_t i = 0; i < n; ++i) {
      const Quad& q = quads[i];
      const float above =
          plane[q.at[0][0]] * q.column[0] + plane[q.at[0][1]] * q.column[1];
      const float below =
          plane[q.at[1][0]] * q.column[0] + plane[q.at[1][1]] * q.column[1];
      y[i] = model::Canonical(above * q.row[0] + below * q.row[1]);
    }
  }

  void Sample(const float* plane, const std::vector<Tap>& taps, int64_t n,
              float* y) const {
    const auto each = static_cast<int64_t>(axes_.size()) * taps_;
    for (int64_t i = 0; i < n; ++i) {
      const float v = Sum(0, 0, taps.data() + i * each, plane);
      y[i] = mode_ == Mode::kNearest ? v : model::Canonical(v);
    }
  }

  // The weighted sum over the taps of this axis and those behind it.
  float Sum(size_t axis, int64_t place, const Tap* taps,
            const float* plane) const {
    if (axis == axes_.size()) return plane[place];
    float sum = 0;
    for (int i = 0; i < taps_; ++i) {
      float v = Sum(axis + 1, place * size_[axis] + taps[i].place, taps + taps_,
                    plane);
      if (!taps[i].valid) v = 0;
      if (mode_ == Mode::kNearest) return v;
      v *= taps[i].weight;
      sum = i == 0 ? v : sum + v;
    }
    return sum;
  }

  Mode mode_;
  Padding padding_;
  std::vector<Axis> axes_;
  Shape size_, result_;
  int taps_ = 1;  // along an axis
  bool quads_ = false;
  // Samples at a time, so that what is known of them stays in a cache.
  int64_t piece_ = 2048;
  int64_t images_ = 0, channels_ = 0, plane_ = 0, count_ = 0;
};

}  // namespace

std::unique_ptr<DirectKernel> MakeGridSample(const Graph& graph,
                                             const Node& node) {
  return std::make_unique<GridSampleKernel>(graph, node);
}

}  // namespace heddle::compiler
