// SPDX-License-Identifier: Apache-2.0
// Softmax:    y = f32(exp(f32(x - m)) * f32(1 / s))
// LogSoftmax: y = f32(f32(x - m) - log(s))
// m is the largest element (a NaN anywhere makes all of its row NaN), s the sum
// of exp(f32(x - m)): where the elements of a row lie beside each other in 16
// lanes as in reduce.h, but never cut into pieces; elsewhere one chain in
// increasing index, from +0. exp and log are those of vector_math.h. float16 is
// computed in fp32 and rounded once at the end.
#include "compiler/ops/softmax.h"

#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
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

template <bool log>
Results EvaluateSoftmax(const Graph&, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto stage, ResolveSoftmax(node, inputs[0]->shape));
  const ReduceStage& s = stage;
  std::vector<float> x = ToFloats(*inputs[0]);
  const int64_t rows = s.outer * s.inner;
  auto row_of = [&](int64_t i) {
    return i / (s.count * s.inner) * s.inner + i % s.inner;
  };
  const auto size = static_cast<int64_t>(x.size());
  std::vector<float> m(rows, -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < size; ++i) {
    PaceAt(i);
    m[row_of(i)] = model::FMax(m[row_of(i)], x[i]);
  }
  std::vector<float> maxima(size), e(size), sums(rows), factors(rows),
      spread(size), y(size);
  for (int64_t i = 0; i < size; ++i) {
    PaceAt(i);
    maxima[i] = m[row_of(i)];
  }
  ProgramBuilder exp;
  exp.Out(ExpTerm(&exp, exp.A(), exp.B()));
  RETURN_IF_ERROR(Run(exp.Finish(), {&x, &maxima}, &e));
  for (int64_t r = 0; r < rows; ++r) {
    Pace(s.count);
    const float* first =
        e.data() + r / s.inner * s.count * s.inner + r % s.inner;
    if (s.inner == 1) {
      sums[r] = SumLanes(first, 1, s.count);
      continue;
    }
    for (int64_t k = 0; k < s.count; ++k) {
      sums[r] = model::FAdd(sums[r], first[k * s.inner]);
    }
  }
  ProgramBuilder row;
  row.Out(RowTerm(&row, log, row.Op(isa::MicroOp::kMov, row.A())));
  RETURN_IF_ERROR(Run(row.Finish(), {&sums}, &factors));
  for (int64_t i = 0; i < size; ++i) {
    PaceAt(i);
    spread[i] = factors[row_of(i)];
  }
  ProgramBuilder last;
  last.Out(SoftmaxTerm(&last, log, last.A(), last.B(), last.C()));
  RETURN_IF_ERROR(Run(last.Finish(), {&x, &maxima, &spread}, &y));
  return One(FromFloats(inputs[0]->type, inputs[0]->shape, y));
}

OperatorInfo Normalised(const char* op,
                        decltype(OperatorInfo::evaluate) evaluate) {
  return Define(op, 1, kMaxOpset)
      .Inputs(1, 1, kReals)
      .Attr("axis", AttributeKind::kInt)
      .Run(Infer, evaluate);
}

const OperatorRegistration kSoftmax(Normalised("Softmax",
                                               EvaluateSoftmax<false>));
const OperatorRegistration kLogSoftmax(Normalised("LogSoftmax",
                                                  EvaluateSoftmax<true>));

}  // namespace
}  // namespace heddle::compiler
