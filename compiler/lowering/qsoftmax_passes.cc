// SPDX-License-Identifier: Apache-2.0
#include "compiler/lowering/qsoftmax_passes.h"

#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/lowering/lower_gather.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/ops/reduce.h"
#include "compiler/ops/softmax_table.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

Microprogram DistanceProgram(DataType type, bool first, bool last) {
  const auto top =
      static_cast<uint32_t>(QuantizedMax(type) - QuantizedMin(type));
  Microprogram p;
  p.prologue = {
      first ? Micro(MicroOp::kMov, Destination::kV0, Source::kImm, Source::kV0,
                    Source::kV0, static_cast<uint32_t>(QuantizedMin(type)))
            : Micro(MicroOp::kMov, Destination::kV0, Source::kStreamB)};
  p.body = {
      Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kStreamA)};
  p.epilogue = {last ? Micro(MicroOp::kIsub, Destination::kOut, Source::kImm,
                             Source::kV0, Source::kV0, top)
                     : Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
  return p;
}

Microprogram IndexProgram() {
  Microprogram p;
  p.body = {Micro(MicroOp::kIadd, Destination::kOut, Source::kStreamA,
                  Source::kStreamB)};
  return p;
}

Microprogram SumProgram(bool first) {
  Microprogram p;
  if (!first) {
    p.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kStreamB)};
  }
  p.body = {
      Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kStreamA)};
  p.epilogue = {Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
  return p;
}

// rne(f32(f32(a * arg0) / b)) + arg1
Microprogram ScaleProgramOfCodes() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kFmul, Destination::kV0, Source::kStreamA, Source::kArg0),
      Micro(MicroOp::kFdiv, Destination::kV0, Source::kV0, Source::kStreamB),
      Micro(MicroOp::kF2i, Destination::kV0, Source::kV0),
      Micro(MicroOp::kIadd, Destination::kOut, Source::kV0, Source::kArg1)};
  return p;
}

}  // namespace

absl::Status LowerQSoftmaxInPasses(Lowering* l, const Node& node,
                                   const SoftmaxShape& s, float n) {
  const Tensor t = l->tensor(node.outputs[0]);
  const Shape view = {s.outer, s.d, 1, s.inner};
  const Shape row = {s.outer, 1, 1, s.inner};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), view);
  Chain chain;
  chain.stage = {s.outer, s.d, s.inner};
  chain.program = [&](bool first, bool last) {
    return DistanceProgram(t.type, first, last);
  };
  ASSIGN_OR_RETURN(auto distance,
                   AddChain(l, node, chain, from, {}, t.name + "/distance",
                            DataType::kInt32));
  const int index = l->NewTemporary(t.name + "/index", DataType::kInt32, view,
                                    Layout::kDense);
  l->Add(
      MakeElementwise(
          &l->device(), IndexProgram(), {},
          {Operand::Of(from), Operand::Of(l->Reshaped(distance, row))}, index),
      node);
  const std::vector<float> entries = SoftmaxTable(s.d, ScaleOf(*l, node, 1));
  const auto count = static_cast<int64_t>(entries.size());
  const int table = ConstantValue(
      l, t.name + "/table", FromFloats(DataType::kFloat, {count, 1}, entries),
      {count, 1});
  const int e = l->NewTemporary(t.name + "/exponentials", DataType::kFloat,
                                view, Layout::kDense);
  AddGather(l, node, table, index, e);
  chain.program = [](bool first, bool) { return SumProgram(first); };
  ASSIGN_OR_RETURN(auto sums, AddChain(l, node, chain, e, {}, t.name + "/sums",
                                       DataType::kFloat));
  const int to = l->NewTemporary(t.name, t.type, view, Layout::kDense);
  l->Add(MakeElementwise(
             &l->device(), ScaleProgramOfCodes(),
             {FloatBits(n), static_cast<uint32_t>(ZeroOf(*l, node, 4)), 0, 0},
             {Operand::Of(e), Operand::Of(l->Reshaped(sums, row))}, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, t.shape));
  return absl::OkStatus();
}

}  // namespace heddle::compiler
