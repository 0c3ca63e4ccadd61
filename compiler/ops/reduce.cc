// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/lanes/lanes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/map_elements.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int kLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float Start(Fold fold) {
  switch (fold) {
    case Fold::kSum:
      return 0;
    case Fold::kProduct:
      return 1;
    case Fold::kMax:
      return -kInfinity;
    case Fold::kMin:
      return kInfinity;
  }
  return 0;
}

// The steps in fp32 are the card's.
float Plus(float a, float b) { return model::FAdd(a, b); }
float Times(float a, float b) { return model::FMul(a, b); }
float Larger(float a, float b) { return model::FMax(a, b); }
float Smaller(float a, float b) { return model::FMin(a, b); }
float SquarePlus(float x, float acc) { return model::Fma(x, x, acc); }
float Quotient(float a, float b) { return model::FDiv(a, b); }
float Root(float x) { return model::FSqrt(x); }
float Magnitude(float x) {
  return model::FromBits(model::Bits(x) & 0x7fffffffu);
}

double Plus(double a, double b) { return a + b; }
double Times(double a, double b) { return a * b; }
double Larger(double a, double b) { return a > b || a != a ? a : b; }
double Smaller(double a, double b) { return a < b || a != a ? a : b; }
double SquarePlus(double x, double acc) { return x * x + acc; }
double Quotient(double a, double b) { return a / b; }
double Root(double x) { return std::sqrt(x); }
double Magnitude(double x) { return std::fabs(x); }

template <typename Real>
Real Combine(Fold fold, Real acc, Real x) {
  switch (fold) {
    case Fold::kSum:
      return Plus(acc, x);
    case Fold::kProduct:
      return Times(acc, x);
    case Fold::kMax:
      return Larger(acc, x);
    case Fold::kMin:
      return Smaller(acc, x);
  }
  return 0;
}

// An accumulator with one element more.
template <Fold fold, Premap premap, typename Real>
Real Folded(Real acc, Real v) {
  if (premap == Premap::kSquare) return SquarePlus(v, acc);
  if (premap == Premap::kAbs) v = Magnitude(v);
  return Combine(fold, acc, v);
}

// A result of elements that lie beside each other, in 16 lanes.
template <Fold fold, Premap premap, typename Real>
Real FoldLanes(const Real* x, int64_t step, int64_t count) {
  Real lanes[kLanes];
  std::fill(lanes, lanes + kLanes, static_cast<Real>(Start(fold)));
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    PaceAt(i);
    const Real* const together = x + i * step;
    if (step == 1) {
      for (int l = 0; l < kLanes; ++l) {
        lanes[l] = Folded<fold, premap>(lanes[l], together[l]);
      }
    } else {
      for (int l = 0; l < kLanes; ++l) {
        lanes[l] = Folded<fold, premap>(lanes[l], together[l * step]);
      }
    }
  }
  for (; i < count; ++i) {
    lanes[i % kLanes] = Folded<fold, premap>(lanes[i % kLanes], x[i * step]);
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) {
      lanes[l] = Combine(fold, lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// A stage: y[outer, inner] of x[outer, count, inner]. Chains of neighbours in
// the last dimension grow together.
template <Fold fold, Premap premap, typename Real>
void FoldStage(const ReduceStage& s, const Real* x, Real* y) {
  const bool in_lanes = s.InLanes(fold);
  for (int64_t o = 0; o < s.outer; ++o) {
    if (in_lanes) {
      Pace(1);
      *y++ = FoldLanes<fold, premap>(x, 1, s.count);
      x += s.count;
      continue;
    }
    std::fill(y, y + s.inner, static_cast<Real>(Start(fold)));
    for (int64_t k = 0; k < s.count; ++k) {
      Pace(s.inner);
      for (int64_t i = 0; i < s.inner; ++i) {
        y[i] = Folded<fold, premap>(y[i], x[i]);
      }
      x += s.inner;
    }
    y += s.inner;
  }
}

template <typename Real>
void FoldStage(Fold fold, Premap premap, const ReduceStage& s, const Real* x,
               Real* y) {
  switch (fold) {
    case Fold::kSum:
      switch (premap) {
        case Premap::kNone:
          return FoldStage<Fold::kSum, Premap::kNone>(s, x, y);
        case Premap::kAbs:
          return FoldStage<Fold::kSum, Premap::kAbs>(s, x, y);
        case Premap::kSquare:
          return FoldStage<Fold::kSum, Premap::kSquare>(s, x, y);
      }
      return;
    case Fold::kProduct:
      return FoldStage<Fold::kProduct, Premap::kNone>(s, x, y);
    case Fold::kMax:
      return FoldStage<Fold::kMax, Premap::kNone>(s, x, y);
    case Fold::kMin:
      return FoldStage<Fold::kMin, Premap::kNone>(s, x, y);
  }
}

// Of floats in vectors; false: these have none. What is left of the order are
// results that need nothing of each other: rows, or columns of a plane.
bool FoldFloats(Fold fold, Premap premap, const ReduceStage& s, const float* x,
                float* y) {
  if (fold == Fold::kProduct || s.count == 0) return false;
  const LaneFold f = fold == Fold::kMax          ? LaneFold::kMax
                     : fold == Fold::kMin        ? LaneFold::kMin
                     : premap == Premap::kSquare ? LaneFold::kSumOfSquares
                     : premap == Premap::kAbs    ? LaneFold::kSumOfMagnitudes
                                                 : LaneFold::kSum;
  const LaneKernels& lanes = BestLanes();
  constexpr double kCost = 0.1;  // of an element
  if (s.inner == 1) {
    Spread(s.outer, kCost * static_cast<double>(s.count),
           [&](int64_t begin, int64_t end) {
             constexpr int64_t kRows = 64;
             for (int64_t r = begin; r < end; r += kRows) {
               const int64_t rows = std::min(kRows, end - r);
               Pace(rows * s.count);
               lanes.fold_rows(f, x + r * s.count, nullptr,
                               static_cast<size_t>(rows),
                               static_cast<size_t>(s.count), y + r);
             }
           });
    return true;
  }
  constexpr int64_t kColumns = 512;
  const int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  const double cost = kCost * static_cast<double>(s.count) *
                      static_cast<double>(std::min(kColumns, s.inner));
  Spread(s.outer * blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b % blocks * kColumns;
      const int64_t n = std::min(kColumns, s.inner - first);
      const float* from = x + b / blocks * s.count * s.inner + first;
      float* const to = y + b / blocks * s.inner + first;
      std::fill(to, to + n, Start(fold));
      for (int64_t k = 0; k < s.count; ++k, from += s.inner) {
        Pace(n);
        lanes.fold_step(f, from, static_cast<size_t>(n), to);
      }
      for (int64_t i = 0; i < n; ++i) to[i] = model::Canonical(to[i]);
    }
  });
  return true;
}
bool FoldFloats(Fold, Premap, const ReduceStage&, const double*, double*) {
  return false;
}

// Stage after stage, then what is made of the results.
template <typename Real>
std::vector<Real> ReduceAll(const Real* x,
                            const std::vector<ReduceStage>& stages,
                            const Reduction& reduction) {
  Premap premap = reduction.premap;
  std::vector<Real> results;
  for (const ReduceStage& s : stages) {
    std::vector<Real> y(s.outer * s.inner);
    if (!FoldFloats(reduction.fold, premap, s, x, y.data())) {
      FoldStage(reduction.fold, premap, s, x, y.data());
    }
    premap = Premap::kNone;
    results = std::move(y);
    x = results.data();
  }
  const auto total = static_cast<Real>(ReducedCount(stages));
  for (Real& v : results) {
    Pace(1);
    if (reduction.finish == Finish::kMean) v = Quotient(v, total);
    if (reduction.finish == Finish::kSqrt) v = Root(v);
  }
  return results;
}

int64_t Product(int64_t a, int64_t b) {
  int64_t c;
  return __builtin_mul_overflow(a, b, &c) ? std::numeric_limits<int64_t>::max()
                                          : c;
}

}  // namespace

float SumLanes(const float* x, int64_t step, int64_t count) {
  return FoldLanes<Fold::kSum, Premap::kNone>(x, step, count);
}

std::vector<ReduceStage> ReduceStages(const Shape& shape,
                                      const std::vector<bool>& reduced) {
  struct Run {
    int64_t n;
    bool reduced;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!runs.empty() && runs.back().reduced == reduced[i]) {
      runs.back().n = Product(runs.back().n, shape[i]);
    } else {
      runs.push_back({shape[i], reduced[i]});
    }
  }
  std::vector<ReduceStage> stages;
  int64_t inner = 1;
  while (!runs.empty()) {
    const Run run = runs.back();
    runs.pop_back();
    if (!run.reduced) {
      inner = Product(inner, run.n);
      continue;
    }
    int64_t outer = 1;
    for (const Run& r : runs) outer = Product(outer, r.n);
    int64_t left = run.n;
    while (left > kMaxRun) {
      int64_t pieces = (left + kMaxRun - 1) / kMaxRun;
      const int64_t most = std::min(kMaxPieces, left / 2);
      while (pieces < most && left % pieces != 0) ++pieces;
      if (pieces > most || left % pieces != 0) break;  // a large prime factor
      stages.push_back({Product(outer, pieces), left / pieces, inner});
      left = pieces;
    }
    stages.push_back({outer, left, inner});
  }
  if (stages.empty()) stages.push_back({ElementCount(shape), 1, 1});
  return stages;
}

float ReducedCount(const std::vector<ReduceStage>& stages) {
  int64_t count = 1;
  for (const ReduceStage& s : stages) count = Product(count, s.count);
  return static_cast<float>(count);
}

absl::StatusOr<ReduceAxes> ResolveReduce(const Graph& graph, const Node& node,
                                         const TensorData* given) {
  const Tensor& x = InputOf(graph, node, 0);
  const size_t rank = x.shape.size();
  std::vector<int64_t> axes = node.IntsAttribute("axes", {});
  if (HasInput(node, 1)) {
    const Tensor& input = InputOf(graph, node, 1);
    if (given == nullptr) given = input.constant.get();
    if (given == nullptr) {
      return RejectNode(Rejection::kUnsupportedShape, node, "axes '",
                        input.name,
                        "' is computed at run time, it must be known when "
                        "compiling");
    }
    if (input.shape.size() > 1) {
      return RejectNode(Rejection::kInvalidModel, node, "axes '", input.name,
                        "' must be a list, its shape is ",
                        ShapeToString(input.shape));
    }
    axes = ToInts(*given);
  }
  ReduceAxes result;
  result.shape = x.shape;
  if (axes.empty() && node.IntAttribute("noop_with_empty_axes", 0) != 0) {
    return result;
  }
  result.reduced.assign(rank, axes.empty());
  for (int64_t axis : axes) {
    size_t normal = 0;
    if (!NormalizeAxis(axis, rank, &normal) || result.reduced[normal]) {
      return RejectNode(Rejection::kInvalidModel, node, "axes ",
                        ShapeToString(axes),
                        " repeat or leave a tensor of rank ", rank);
    }
    result.reduced[normal] = true;
  }
  if (rank == 0) result.reduced.assign(1, true);  // a scalar is one element
  const bool keep = node.IntAttribute("keepdims", 1) != 0;
  result.shape.clear();
  for (size_t i = 0; i < rank; ++i) {
    if (!result.reduced[i]) {
      result.shape.push_back(x.shape[i]);
    } else if (keep) {
      result.shape.push_back(1);
    }
  }
  return result;
}

const Reduction* FindReduction(const std::string& op) {
  static const auto* table = new std::map<std::string, Reduction>{
      {"GlobalAveragePool", {Fold::kSum, Premap::kNone, Finish::kMean}},
      {"GlobalMaxPool", {Fold::kMax, Premap::kNone, Finish::kNone}},
      {"ReduceL1", {Fold::kSum, Premap::kAbs, Finish::kNone}},
      {"ReduceL2", {Fold::kSum, Premap::kSquare, Finish::kSqrt}},
      {"ReduceMax", {Fold::kMax, Premap::kNone, Finish::kNone}},
      {"ReduceMean", {Fold::kSum, Premap::kNone, Finish::kMean}},
      {"ReduceMin", {Fold::kMin, Premap::kNone, Finish::kNone}},
      {"ReduceProd", {Fold::kProduct, Premap::kNone, Finish::kNone}},
      {"ReduceSum", {Fold::kSum, Premap::kNone, Finish::kNone}},
      {"ReduceSumSquare", {Fold::kSum, Premap::kSquare, Finish::kNone}},
  };
  const auto it = table->find(op);
  return it == table->end() ? nullptr : &it->second;
}

template <typename Real>
std::vector<Real> Reduce(std::vector<Real> x,
                         const std::vector<ReduceStage>& stages,
                         const Reduction& reduction) {
  return ReduceAll(x.data(), stages, reduction);
}

template std::vector<float> Reduce(std::vector<float>,
                                   const std::vector<ReduceStage>&,
                                   const Reduction&);
template std::vector<double> Reduce(std::vector<double>,
                                    const std::vector<ReduceStage>&,
                                    const Reduction&);

TensorData ReduceReals(const TensorData& x, const Shape& shape,
                       const std::vector<ReduceStage>& stages,
                       const Reduction& reduction) {
  if (x.type == DataType::kDouble) {
    return FromDoubles(shape, Reduce(ToDoubles(x), stages, reduction));
  }
  if (x.type == DataType::kFloat) {
    return FromFloats(x.type, shape,
                      ReduceAll(x.as<float>(), stages, reduction));
  }
  return FromFloats(x.type, shape, Reduce(ToFloats(x), stages, reduction));
}

std::vector<float> ToFloats(const TensorData& data) {
  if (data.type == DataType::kFloat) {
    return {data.as<float>(), data.as<float>() + data.count()};
  }
  std::vector<float> values(data.count());
  MapElements(data.as<uint16_t>(), data.count(), values.data(),
              model::F16ToF32);
  return values;
}

TensorData FromFloats(DataType type, const Shape& shape,
                      const std::vector<float>& values) {
  TensorData data = TensorData::Zeros(type, shape);
  if (type == DataType::kFloat) {
    std::copy(values.begin(), values.end(), data.as<float>());
    return data;
  }
  MapElements(values.data(), data.count(), data.as<uint16_t>(),
              model::F32ToF16);
  return data;
}

}  // namespace heddle::compiler
