// SPDX-License-Identifier: Apache-2.0
// Softmax:    y = f32(exp(f32(x - m)) * f32(1 / s))
// LogSoftmax: y = f32(f32(x - m) - log(s))
// m is the largest element (a NaN anywhere makes all of its row NaN), s the sum
// of exp(f32(x - m)): where the elements of a row lie beside each other in 16
// lanes as in reduce.h, but never cut into pieces; elsewhere one chain in
// increasing index, from +0. exp and log are those of vector_math.h. float16 is
// computed in fp32 and rounded once at the end.
#include "compiler/ops/softmax.h"

#include <cmath>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(
      ResolveSoftmax(node, InputOf(*graph, node, 0).shape).status());
  return InferSame(graph, node);
}

uint32_t* BitsOf(std::vector<float>* v) {
  return reinterpret_cast<uint32_t*>(v->data());
}

// `streams` of equal length through the program.
absl::Status Run(const absl::StatusOr<Microprogram>& program,
                 std::vector<std::vector<float>*> streams,
                 std::vector<float>* out) {
  if (!program.ok()) return program.status();
  std::array<HostStream, 3> host;
  for (size_t i = 0; i < streams.size(); ++i) host[i].data = BitsOf(streams[i]);
  return Evaluate(*program, {}, host, static_cast<int64_t>(out->size()),
                  BitsOf(out));
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
  std::vector<float> x = ToFloats(*inputs[0]);
  const int64_t rows = s.outer * s.inner;
  const auto size = static_cast<int64_t>(x.size());
  // For each element its index and that of its row, in order.
  const auto for_each = [&s](auto body) {
    int64_t i = 0;
    for (int64_t o = 0; o < s.outer; ++o) {
      const int64_t first = o * s.inner;
      for (int64_t k = 0; k < s.count; ++k) {
        Pace(s.inner);
        for (int64_t r = first; r < first + s.inner; ++r) body(i++, r);
      }
    }
  };
  std::vector<float> m(rows, -std::numeric_limits<float>::infinity());
  for_each([from = x.data(), to = m.data()](int64_t i, int64_t r) {
    to[r] = model::FMax(to[r], from[i]);
  });
  std::vector<float> maxima(size), e(size), sums(rows), factors(rows),
      spread(size), y(size);
  for_each([from = m.data(), to = maxima.data()](int64_t i, int64_t r) {
    to[i] = from[r];
  });
  ProgramBuilder exp;
  exp.Out(ExpTerm(&exp, exp.A(), exp.B()));
  RETURN_IF_ERROR(Run(exp.Finish(), {&x, &maxima}, &e));
  if (s.inner == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      Pace(s.count);
      sums[r] = SumLanes(e.data() + r * s.count, 1, s.count);
    }
  } else {
    for_each([from = e.data(), to = sums.data()](int64_t i, int64_t r) {
      to[r] = model::FAdd(to[r], from[i]);
    });
  }
  ProgramBuilder row;
  row.Out(RowTerm(&row, log, row.Op(isa::MicroOp::kMov, row.A())));
  RETURN_IF_ERROR(Run(row.Finish(), {&sums}, &factors));
  for_each([from = factors.data(), to = spread.data()](int64_t i, int64_t r) {
    to[i] = from[r];
  });
  ProgramBuilder last;
  last.Out(SoftmaxTerm(&last, log, last.A(), last.B(), last.C()));
  RETURN_IF_ERROR(Run(last.Finish(), {&x, &maxima, &spread}, &y));
  return One(FromFloats(inputs[0]->type, inputs[0]->shape, y));
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
