// SPDX-License-Identifier: Apache-2.0
// heddle.Places: lanes are results, the indices of each are r1. What is outside
// leaves a sign, which makes the place -2^31: the command that reads it faults.
#include <cstring>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

absl::StatusOr<Microprogram> PlacesProgram() {
  ProgramBuilder b;
  const Term place = b.Variable(), outside = b.Variable();
  b.In(ProgramBuilder::kBody);
  const Term index = b.Op(isa::MicroOp::kMov, b.A());
  const Term size = b.Op(isa::MicroOp::kMov, b.B());
  const Term at = b.IAdd(index, b.And(b.Sar(index, 31), size));
  const Term over = b.ILess(at, size);  // all ones if it is not
  b.Assign(outside, b.Or(outside, b.Or(at, b.Xor(over, b.ImmBits(~0u)))));
  b.Assign(place, b.IAdd(b.IMul(place, size), at));
  b.In(ProgramBuilder::kEpilogue);
  const Term is_outside = b.ILess(outside, b.ImmBits(0));
  b.Out(b.Select(is_outside, b.ImmBits(0x80000000u), place));
  return b.Finish();
}

class PlacesOp : public ClonableOp<PlacesOp> {
 public:
  PlacesOp(const std::vector<int64_t>& sizes, Microprogram program, int from,
           int to)
      : count_(static_cast<int64_t>(sizes.size())),
        program_(std::move(program)) {
    engine = "vector";
    output = to;
    tileable = true;
    inputs.resize(1);
    inputs[0].value = from;
    inputs[0].rows.kind = AxisNeed::kSame;
    const std::vector<int32_t> words(sizes.begin(), sizes.end());
    std::vector<uint8_t> blob(words.size() * sizeof(int32_t));
    std::memcpy(blob.data(), words.data(), blob.size());
    SetConstants(std::move(blob));
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const auto stream = [&](uint32_t base, int64_t row, int64_t step) {
      ReductionStream s;
      s.base = base;
      s.type = isa::ElementType::kS32;
      s.row = row;
      s.step = step;
      return s;
    };
    const TileView &from = tile.inputs[0], &to = tile.output;
    ReductionLoop lines;
    lines.rows = tile.rows;
    lines.count = count_;
    EmitReductionLoop(emitter, emitter->Run(program_), lines,
                      {stream(RowBase(from, tile.row0), from.pitch, from.xstep),
                       stream(tile.constants, 0, sizeof(int32_t))},
                      stream(RowBase(to, tile.row0), to.pitch, 0));
  }

 private:
  int64_t count_;
  Microprogram program_;
};

absl::Status LowerPlaces(Lowering* l, const Node& node) {
  const auto sizes = node.IntsAttribute("sizes", {});
  const Tensor& y = l->tensor(node.outputs[0]);
  const int64_t count = ElementCount(y.shape);
  ASSIGN_OR_RETURN(auto program, PlacesProgram());
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(std::make_unique<PlacesOp>(
             sizes, std::move(program),
             l->Reshaped(from, {count, static_cast<int64_t>(sizes.size())}),
             l->Reshaped(to, {count, 1})),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kPlaces(kInternalDomain, "Places", LowerPlaces,
                                   true);

}  // namespace
}  // namespace heddle::compiler
