// SPDX-License-Identifier: Apache-2.0
// The choice, and the variant of any CPU: one element after another.
#include "compiler/lanes/lanes.h"

#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::MicroOp;

// Computes one element while steps are written down.
class ScalarBuilder {
 public:
  using TermType = uint32_t;
  using T = TermType;

  ScalarBuilder(T a, T b, T c, const uint32_t* arguments)
      : streams_{a, b, c}, arguments_(arguments) {}
  T out() const { return out_; }

  T A() const { return streams_[0]; }
  T B() const { return streams_[1]; }
  T C() const { return streams_[2]; }
  T Arg(int i) const { return arguments_[i]; }
  static T Imm(float v) { return model::Bits(v); }
  static T ImmBits(uint32_t v) { return v; }
  void Out(T x) { out_ = x; }

  static T Add(T a, T b) { return model::LaneOp(MicroOp::kFadd, a, b, 0); }
  static T Sub(T a, T b) { return model::LaneOp(MicroOp::kFsub, a, b, 0); }
  static T Mul(T a, T b) { return model::LaneOp(MicroOp::kFmul, a, b, 0); }
  static T Div(T a, T b) { return model::LaneOp(MicroOp::kFdiv, a, b, 0); }
  static T Fma(T a, T b, T c) { return model::LaneOp(MicroOp::kFfma, a, b, c); }
  static T Sqrt(T a) { return model::LaneOp(MicroOp::kFsqrt, a, 0, 0); }
  static T Min(T a, T b) { return model::LaneOp(MicroOp::kFmin, a, b, 0); }
  static T Max(T a, T b) { return model::LaneOp(MicroOp::kFmax, a, b, 0); }
  static T Less(T a, T b) { return model::LaneOp(MicroOp::kFlt, a, b, 0); }
  static T LessEqual(T a, T b) { return model::LaneOp(MicroOp::kFle, a, b, 0); }
  static T Equal(T a, T b) { return model::LaneOp(MicroOp::kFeq, a, b, 0); }
  static T Select(T mask, T a, T b) {
    return model::LaneOp(MicroOp::kSel, mask, a, b);
  }
  static T Round(T a) { return model::LaneOp(MicroOp::kF2i, a, 0, 0); }
  static T Truncate(T a) { return model::LaneOp(MicroOp::kF2iTrunc, a, 0, 0); }
  static T FromInt(T a) { return model::LaneOp(MicroOp::kI2f, a, 0, 0); }
  static T IAdd(T a, T b) { return a + b; }
  static T ISub(T a, T b) { return a - b; }
  static T And(T a, T b) { return a & b; }
  static T Or(T a, T b) { return a | b; }
  static T Xor(T a, T b) { return a ^ b; }
  static T Shl(T a, uint32_t n) { return a << n; }
  static T Sar(T a, uint32_t n) {
    return model::LaneOp(MicroOp::kIsar, a, n, 0);
  }

 private:
  T streams_[3], out_ = 0;
  const uint32_t* arguments_;
};

template <typename Steps>
void Each(const LaneOperands& o, size_t n, uint32_t* out) {
  const auto at = [&o](int s, size_t i) {
    const LaneStream& stream = o.streams[s];
    return stream.data == nullptr ? 0 : stream.data[stream.single ? 0 : i];
  };
  for (size_t i = 0; i < n; ++i) {
    ScalarBuilder b(at(0, i), at(1, i), at(2, i), o.arguments);
    Steps::Of(&b);
    out[i] = b.out();
  }
}

void Compute(LaneFunction function, const LaneOperands& operands, size_t n,
             uint32_t* out) {
  switch (function) {
#define HEDDLE_LANE_FUNCTION(name, expression) \
  case LaneFunction::k##name:                  \
    return Each<lane_steps::Make##name>(operands, n, out);
    HEDDLE_LANE_FUNCTIONS(HEDDLE_LANE_FUNCTION)
#undef HEDDLE_LANE_FUNCTION
    default:
      return;
  }
}

float Folded(LaneFold fold, float acc, float x, const float* center) {
  switch (fold) {
    case LaneFold::kSum:
      return model::FAdd(acc, x);
    case LaneFold::kSumOfMagnitudes:
      return model::FAdd(acc, model::FromBits(model::Bits(x) & 0x7fffffffu));
    case LaneFold::kSumOfSquares:
      if (center != nullptr) x = model::FSub(x, *center);
      return model::Fma(x, x, acc);
    case LaneFold::kMax:
      return model::FMax(acc, x);
    case LaneFold::kMin:
      return model::FMin(acc, x);
  }
  return acc;
}

float Combined(LaneFold fold, float a, float b) {
  switch (fold) {
    case LaneFold::kMax:
      return model::FMax(a, b);
    case LaneFold::kMin:
      return model::FMin(a, b);
    default:
      return model::FAdd(a, b);
  }
}

float Start(LaneFold fold) {
  return fold == LaneFold::kMax   ? -terms::kInfinity
         : fold == LaneFold::kMin ? terms::kInfinity
                                  : 0;
}

void FoldRows(LaneFold fold, const float* x, const float* centers, size_t rows,
              size_t count, float* out) {
  constexpr size_t kLanes = 16;
  for (size_t r = 0; r < rows; ++r, x += count) {
    float lanes[kLanes];
    for (float& v : lanes) v = Start(fold);
    for (size_t i = 0; i < count; ++i) {
      lanes[i % kLanes] = Folded(fold, lanes[i % kLanes], x[i],
                                 centers == nullptr ? nullptr : centers + r);
    }
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t l = 0; l < half; ++l) {
        lanes[l] = Combined(fold, lanes[l], lanes[l + half]);
      }
    }
    out[r] = lanes[0];
  }
}

void FoldStep(LaneFold fold, const float* x, size_t n, float* acc) {
  for (size_t i = 0; i < n; ++i) acc[i] = Folded(fold, acc[i], x[i], nullptr);
}

constexpr LaneKernels kPortable = {"portable", Compute, FoldRows, FoldStep};

}  // namespace

const LaneKernels* PortableLanes() { return &kPortable; }

const LaneKernels& BestLanes() {
  static const LaneKernels* const best = [] {
    if (const LaneKernels* k = Avx512Lanes()) return k;
    if (const LaneKernels* k = Avx2Lanes()) return k;
    return PortableLanes();
  }();
  return *best;
}

}  // namespace heddle::compiler
