// SPDX-License-Identifier: Apache-2.0
// LSTM, made of other operators (recurrent.h). With i, o, f the gates of the
// first activation, P's part of each only where the node has peepholes:
//
//   i = f(x Wi^T + h Ri^T + b + Pi c)
//   f = f(x Wf^T + h Rf^T + b + Pf c), with input_forget 1 - i
//   c = f c + i g(x Wc^T + h Rc^T + b)
//   o = f(x Wo^T + h Ro^T + b + Po c)
//   h = o h(c)
#include "compiler/ops/doubles.h"
#include "compiler/ops/recurrent.h"

namespace heddle::compiler {
namespace {

// Gates in W, R and B, and in P.
enum Gate { kInput, kOutput, kForget, kCell };

RecurrentState Step(RecurrentDirection* d, Expansion* e, int64_t step,
                    const RecurrentState& state) {
  const auto gate = [&](int which, TensorId cell) {
    const TensorId x = d->Gate(which, step, state.h);
    return which == kCell ? x : d->Peephole(which, x, cell);
  };
  const TensorId in = d->Activate(0, gate(kInput, state.c));
  const TensorId cell = d->Activate(1, gate(kCell, state.c));
  RecurrentState next;
  next.c = e->Add("Mul", {in, cell});
  if (state.c != kNoTensor) {
    const bool coupled = e->node().IntAttribute("input_forget", 0) != 0;
    const TensorId forget = coupled ? e->Add("Sub", {e->Number(1), in})
                                    : d->Activate(0, gate(kForget, state.c));
    next.c = e->Add("Add", {e->Add("Mul", {forget, state.c}), next.c});
  }
  const TensorId out = d->Activate(0, gate(kOutput, next.c));
  next.h = e->Add("Mul", {out, d->Activate(2, next.c, false)});
  return next;
}

absl::Status Expand(Expansion* e) {
  RecurrentKind kind{4, {"Sigmoid", "Tanh", "Tanh"}};
  kind.cell = true;
  kind.alike = 4;
  return ExpandRecurrent(
      e, kind,
      [e](RecurrentDirection* d, int64_t step, const RecurrentState& state) {
        return Step(d, e, step, state);
      });
}

Define Lstm(int since, int until) {
  Define define = DefineRecurrent("LSTM", since, until);
  define
      .Inputs(3, 8, kRealsAndDouble, kRealsAndDouble, kRealsAndDouble,
              kRealsAndDouble, kInt32s, kRealsAndDouble)
      .Attr("input_forget", AttributeKind::kInt)
      .Outputs(3);
  return define;
}

const ExpandedOperator kLstm1(Lstm(1, 6).Attr("output_sequence",
                                              AttributeKind::kInt),
                              Expand);
const ExpandedOperator kLstm7(Lstm(7, 13), Expand);
const ExpandedOperator kLstm14(
    Lstm(14, kMaxOpset).Attr("layout", AttributeKind::kInt), Expand);

}  // namespace
}  // namespace heddle::compiler
