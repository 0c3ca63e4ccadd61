// SPDX-License-Identifier: Apache-2.0
// GRU and RNN, made of other operators (recurrent.h).
//
//   GRU  z = f(x Wz^T + h Rz^T + b)
//        r = f(x Wr^T + h Rr^T + b)
//        n = g(x Wh^T + (r h) Rh^T + b), with linear_before_reset
//            g(x Wh^T + bW + r (h Rh^T + bR))
//        h = (1 - z) n + z h
//   RNN  h = f(x W^T + h R^T + b)
#include "compiler/ops/doubles.h"
#include "compiler/ops/recurrent.h"

namespace heddle::compiler {
namespace {

enum Gate { kUpdate, kReset, kHidden };

RecurrentState GruStep(RecurrentDirection* d, Expansion* e, bool linear,
                       int64_t step, const RecurrentState& state) {
  const TensorId h = state.h;
  const auto gate = [&](int which) {
    return d->Activate(0, d->Gate(which, step, h));
  };
  const TensorId update = gate(kUpdate);
  TensorId next = d->Input(kHidden, step);
  if (linear) {
    const TensorId product = d->Product(kHidden, h, d->RecurrentBias(kHidden));
    if (product != kNoTensor) {
      next = e->Add("Add", {next, e->Add("Mul", {gate(kReset), product})});
    }
  } else if (h != kNoTensor) {
    next = d->Product(kHidden, e->Add("Mul", {gate(kReset), h}), next);
  }
  next = d->Activate(1, next);
  const TensorId rest = e->Add("Sub", {e->Number(1), update});
  next = e->Add("Mul", {rest, next});
  if (h != kNoTensor) {
    next = e->Add("Add", {next, e->Add("Mul", {update, h})});
  }
  return {next, kNoTensor};
}

absl::Status ExpandGru(Expansion* e) {
  const bool linear = e->node().IntAttribute("linear_before_reset", 0) != 0;
  RecurrentKind kind{3, {"Sigmoid", "Tanh"}};
  kind.separate = linear;
  kind.alike = 2;
  return ExpandRecurrent(
      e, kind,
      [=](RecurrentDirection* d, int64_t step, const RecurrentState& state) {
        return GruStep(d, e, linear, step, state);
      });
}

absl::Status ExpandRnn(Expansion* e) {
  return ExpandRecurrent(
      e, {1, {"Tanh"}},
      [](RecurrentDirection* d, int64_t step, const RecurrentState& state) {
        const TensorId x = d->Product(0, state.h, d->Input(0, step));
        return RecurrentState{d->Activate(0, x), kNoTensor};
      });
}

Define Simple(const char* op, int since, int until) {
  Define define = DefineRecurrent(op, since, until);
  define
      .Inputs(3, 6, kRealsAndDouble, kRealsAndDouble, kRealsAndDouble,
              kRealsAndDouble, kInt32s, kRealsAndDouble)
      .Outputs(2);
  return define;
}
Define Gru(int since, int until) {
  Define define = Simple("GRU", since, until);
  if (since >= 3) define.Attr("linear_before_reset", AttributeKind::kInt);
  if (since < 7) define.Attr("output_sequence", AttributeKind::kInt);
  return define;
}

const ExpandedOperator kGru1(Gru(1, 2), ExpandGru);
const ExpandedOperator kGru3(Gru(3, 6), ExpandGru);
const ExpandedOperator kGru7(Gru(7, 13), ExpandGru);
const ExpandedOperator kGru14(
    Gru(14, kMaxOpset).Attr("layout", AttributeKind::kInt), ExpandGru);
const ExpandedOperator kRnn1(
    Simple("RNN", 1, 6).Attr("output_sequence", AttributeKind::kInt),
    ExpandRnn);
const ExpandedOperator kRnn7(Simple("RNN", 7, 13), ExpandRnn);
const ExpandedOperator kRnn14(
    Simple("RNN", 14, kMaxOpset).Attr("layout", AttributeKind::kInt),
    ExpandRnn);

}  // namespace
}  // namespace heddle::compiler
