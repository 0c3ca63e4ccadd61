// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN have in common: they are unrolled over the steps of
// the sequence (expanded.h), in fp32, rounded once at the end.
//
//   inputs   x * W^T + biases of all steps: one Gemm for each gate
//   step     Gemm of the state with R^T, its accumulator beginning with the
//            row of the inputs; a state that is absent is 0, and is no product
//   clip     of what goes into an activation, but the cell of an LSTM
//   gates    those that take one state are one Gemm, where the batch is 1 and
//            each is a part of it as it lies there
//   lengths  the state of a batch entry stays what it was outside of its
//            sequence, the outputs there are 0: constant lengths or computed
//            ones, the latter between 0 and the number of steps
#ifndef HEDDLE_COMPILER_OPS_RECURRENT_H_
#define HEDDLE_COMPILER_OPS_RECURRENT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

// Steps that are unrolled, over all directions.
inline constexpr int64_t kMaxUnrolled = 8192;

struct RecurrentKind {
  int gates;
  std::vector<std::string> defaults;  // activations of a direction
  bool cell = false;      // LSTM: an initial and a last cell, peepholes
  bool separate = false;  // the last gate's recurrent bias is no input's
  // So many gates, the first, take their product with one state.
  int alike = 1;
};

// What a step hands on, [batch, hidden]; kNoTensor: zeros.
struct RecurrentState {
  TensorId h = kNoTensor, c = kNoTensor;
};

// One direction of a node that is being expanded.
class RecurrentDirection {
 public:
  // x * W^T + W's bias and, where it is no gate of its own, R's: of a step.
  TensorId Input(int gate, int64_t step);
  // Input + state * R^T, state as in the step before; it may be kNoTensor.
  TensorId Gate(int gate, int64_t step, TensorId state);
  // start + state * R^T; either may be kNoTensor.
  TensorId Product(int gate, TensorId state, TensorId start);
  // R's bias of a gate that is `separate`; kNoTensor if there is none.
  TensorId RecurrentBias(int gate) const { return recurrent_bias_[gate]; }
  // x + P * cell, if there are peepholes and a cell.
  TensorId Peephole(int which, TensorId x, TensorId cell);
  // Activation `which` of the clipped x.
  TensorId Activate(int which, TensorId x, bool clipped = true);

 private:
  friend class Recurrence;
  Expansion* e_ = nullptr;
  const class Recurrence* node_ = nullptr;
  std::vector<TensorId> inputs_;  // by gate: all steps, [steps * batch, hidden]
  std::vector<TensorId> r_, recurrent_bias_, peepholes_;
  // Of gates that are one Gemm: the inputs, R, and the result of a step, each
  // gate a row of it.
  TensorId joined_inputs_ = kNoTensor, joined_r_ = kNoTensor;
  TensorId joined_ = kNoTensor;
  int64_t joined_step_ = -1;
  size_t first_activation_ = 0;
};

using RecurrentStep = std::function<RecurrentState(
    RecurrentDirection* direction, int64_t step, const RecurrentState& state)>;

// The whole of an expansion; the node has passed its rules.
absl::Status ExpandRecurrent(Expansion* e, const RecurrentKind& kind,
                             const RecurrentStep& step);

// A definition with the attributes and rules that the three have.
Define DefineRecurrent(const char* op, int since, int until);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_RECURRENT_H_
