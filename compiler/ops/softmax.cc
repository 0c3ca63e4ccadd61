// SPDX-License-Identifier: Apache-2.0
// Softmax:    y = f32(exp(f32(x - m)) * f32(1 / s))
// LogSoftmax: y = f32(f32(x - m) - log(s))
// m is the largest element (a NaN anywhere makes all of its row NaN), s the sum
// of exp(f32(x - m)): where the elements of a row lie beside each other in 16
// lanes as in reduce.h, but never cut into pieces; elsewhere one chain in
// increasing index, from +0. exp and log are those of vector_math.h. float16 is
// computed in fp32 and rounded once at the end. (Which of two zeros is the
// largest element does not show in a result.)
#include "compiler/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/half.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(
      ResolveSoftmax(node, InputOf(*graph, node, 0).shape).status());
  return InferSame(graph, node);
}

const uint32_t* Bits(const float* v) {
  return reinterpret_cast<const uint32_t*>(v);
}

// Of n elements, each with its m and, of the last step, its factor: one for
// all, or one for each.
struct Steps {
  bool log;
  bool single;
  LaneOperands Operands(const float* x, const float* m,
                        const float* factor) const {
    LaneOperands o;
    o.streams[0] = {Bits(x), false};
    o.streams[1] = {Bits(m), single};
    o.streams[2] = {Bits(factor), single};
    return o;
  }
  void Exp(const float* x, const float* m, int64_t n, float* e) const {
    Compute(LaneFunction::kExpOfDifference, Operands(x, m, m), n,
            reinterpret_cast<uint32_t*>(e));
  }
  // What a row's sum becomes.
  void Factors(const float* sums, int64_t n, float* factors) const {
    Compute(log ? LaneFunction::kLog : LaneFunction::kReciprocal,
            Operands(sums, sums, sums), n,
            reinterpret_cast<uint32_t*>(factors));
  }
  // `y` holds the exponentials.
  void Last(const float* x, const float* m, const float* factor, int64_t n,
            float* y) const {
    auto* const to = reinterpret_cast<uint32_t*>(y);
    if (log) {
      Compute(LaneFunction::kDifferenceOfDifference, Operands(x, m, factor), n,
              to);
    } else {
      Compute(LaneFunction::kProduct, Operands(y, factor, factor), n, to);
    }
  }
};

// Rows of elements beside each other, a few at a time.
void SoftmaxOfRows(bool log, const float* x, int64_t rows, int64_t count,
                   float* y) {
  constexpr int64_t kRows = 4;
  const LaneKernels& lanes = BestLanes();
  const Steps steps = {log, true};
  const auto size = static_cast<size_t>(count);
  for (int64_t r = 0; r < rows; r += kRows) {
    const int64_t n = std::min(kRows, rows - r);
    const auto some = static_cast<size_t>(n);
    float m[kRows], sums[kRows], factors[kRows];
    Pace(2 * n * count);
    lanes.fold_rows(LaneFold::kMax, x + r * count, nullptr, some, size, m);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = (r + i) * count;
      steps.Exp(x + at, m + i, count, y + at);
    }
    lanes.fold_rows(LaneFold::kSum, y + r * count, nullptr, some, size, sums);
    steps.Factors(sums, n, factors);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = (r + i) * count;
      steps.Last(x + at, m + i, factors + i, count, y + at);
    }
  }
}

// `columns` of [count, inner], whose elements lie `inner` apart.
void SoftmaxOfColumns(bool log, const float* x, int64_t count, int64_t inner,
                      int64_t columns, float* y) {
  const LaneKernels& lanes = BestLanes();
  const Steps steps = {log, false};
  const auto n = static_cast<size_t>(columns);
  std::vector<float> m(n, -std::numeric_limits<float>::infinity()), sums(n),
      factors(n);
  for (int64_t k = 0; k < count; ++k) {
    Pace(columns);
    lanes.fold_step(LaneFold::kMax, x + k * inner, n, m.data());
  }
  for (int64_t k = 0; k < count; ++k) {
    steps.Exp(x + k * inner, m.data(), columns, y + k * inner);
    lanes.fold_step(LaneFold::kSum, y + k * inner, n, sums.data());
  }
  for (float& v : sums) v = model::Canonical(v);
  steps.Factors(sums.data(), columns, factors.data());
  for (int64_t k = 0; k < count; ++k) {
    steps.Last(x + k * inner, m.data(), factors.data(), columns, y + k * inner);
  }
}

// The same of doubles, each row in increasing index.
TensorData SoftmaxOfDoubles(const TensorData& x, const ReduceStage& s,
                            bool log) {
  TensorData y = TensorData::Zeros(x.type, x.shape);
  for (int64_t r = 0; r < s.outer * s.inner; ++r) {
    Pace(s.count);
    const int64_t first = r / s.inner * s.count * s.inner + r % s.inner;
    const double* from = x.as<double>() + first;
    double* to = y.as<double>() + first;
    double m = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < s.count; ++k) {
      const double v = from[k * s.inner];
      if (v > m || v != v) m = v;
    }
    for (int64_t k = 0; k < s.count; ++k) {
      to[k * s.inner] = std::exp(from[k * s.inner] - m);
      sum += to[k * s.inner];
    }
    const double log_sum = std::log(sum);
    for (int64_t k = 0; k < s.count; ++k) {
      double& v = to[k * s.inner];
      v = log ? from[k * s.inner] - m - log_sum : v / sum;
    }
  }
  return y;
}

template <bool log>
Results EvaluateSoftmax(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto stage, ResolveSoftmax(node, inputs[0]->shape));
  const ReduceStage& s = stage;
  if (inputs[0]->type == DataType::kDouble) {
    return One(SoftmaxOfDoubles(*inputs[0], s, log));
  }
  std::vector<float> wide;
  const float* x = nullptr;
  if (inputs[0]->type == DataType::kFloat16) {
    wide = ToFloats(*inputs[0]);
    x = wide.data();
  } else {
    x = inputs[0]->as<float>();
  }
  TensorData result = TensorData::Zeros(DataType::kFloat, inputs[0]->shape);
  float* const y = result.as<float>();
  constexpr double kCost = 0.7;  // of an element
  if (s.inner == 1) {
    Spread(s.outer, kCost * static_cast<double>(s.count),
           [&](int64_t begin, int64_t end) {
             const int64_t first = begin * s.count;
             SoftmaxOfRows(log, x + first, end - begin, s.count, y + first);
           });
  } else {
    constexpr int64_t kColumns = 512;
    const int64_t blocks = (s.inner + kColumns - 1) / kColumns;
    const double columns = static_cast<double>(std::min(kColumns, s.inner));
    Spread(s.outer * blocks, kCost * static_cast<double>(s.count) * columns,
           [&](int64_t begin, int64_t end) {
             for (int64_t b = begin; b < end; ++b) {
               const int64_t column = b % blocks * kColumns;
               const int64_t first = b / blocks * s.count * s.inner + column;
               SoftmaxOfColumns(log, x + first, s.count, s.inner,
                                std::min(kColumns, s.inner - column),
                                y + first);
             }
           });
  }
  return One(Narrowed(std::move(result), inputs[0]->type));
}

OperatorInfo Normalised(const char* op,
                        decltype(OperatorInfo::evaluate) evaluate) {
  return Define(op, 1, kMaxOpset)
      .Inputs(1, 1, kRealsAndDouble)
      .Attr("axis", AttributeKind::kInt)
      .Run(Infer, evaluate);
}

const OperatorRegistration kSoftmax(Normalised("Softmax",
                                               EvaluateSoftmax<false>));
const OperatorRegistration kLogSoftmax(Normalised("LogSoftmax",
                                                  EvaluateSoftmax<true>));

}  // namespace
}  // namespace heddle::compiler
