// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul on the vector engine, with broadcasting, in the
// blocked layout unless the operands are in ONNX's order already.
#include <cmath>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/define.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

// out = rne(f32(f32(f32((a - arg0) * (b - arg1)) * arg2) + arg3)), to be stored
// with saturation.
Microprogram QLinearMulProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kIsub, Destination::kV0, Source::kStreamA, Source::kArg0),
      Micro(MicroOp::kIsub, Destination::kV1, Source::kStreamB, Source::kArg1),
      Micro(MicroOp::kImul, Destination::kV0, Source::kV0, Source::kV1),
      Micro(MicroOp::kI2f, Destination::kV0, Source::kV0),
      Micro(MicroOp::kFmul, Destination::kV0, Source::kV0, Source::kArg2),
      Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kArg3),
      Micro(MicroOp::kF2i, Destination::kOut, Source::kV0)};
  return p;
}

Shape Padded(Shape shape, size_t rank) {
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

// Constants that vary along channels only, in the result's rank.
bool VariesAlongChannels(const Shape& padded) {
  for (size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] != 1 && !Operand::IsChannel(i, padded.size())) return false;
  }
  return true;
}

// Whether the operation runs in blocked layout: it can, and not all of its
// computed operands are dense already.
bool TakesBlocked(Lowering* l, const Node& node, const Shape& shape) {
  bool any_blocked = false, any_value = false;
  for (size_t i : {0, 3}) {
    const Tensor& t = l->tensor(node.inputs[i]);
    if (shape.size() > 4 && t.shape != shape) return false;
    if (t.is_constant()) {
      if (shape.size() > 4) return false;
      continue;
    }
    any_value = true;
    const Layout layout =
        l->device().StorageOf(l->ValueOf(node.inputs[i], node)).layout;
    any_blocked |= layout != Layout::kDense;
  }
  return any_blocked || (any_value && shape.size() >= 3);
}

Operand OperandOf(Lowering* l, const Node& node, size_t i, const Shape& shape,
                  bool blocked) {
  const TensorId id = node.inputs[i];
  const Tensor& t = l->tensor(id);
  const Shape padded = Padded(t.shape, shape.size());
  if (t.is_constant() && (!blocked || VariesAlongChannels(padded))) {
    auto data = std::make_shared<TensorData>(*t.constant);
    data->shape = padded;
    return Operand::Constant(data);
  }
  if (blocked) return Operand::Of(BlockedOperand(l, node, id, shape));
  const int value = l->ValueIn(id, Layout::kDense, node);
  return Operand::Of(t.shape == padded ? value : l->Reshaped(value, padded));
}

// One operand of the formulas, and which input it is.
struct Quantized {
  size_t input;
  float scale;
  int32_t zero;
};

absl::Status LowerQLinearBinary(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 4, 5, 6, 7}));
  const model::ScopedFpEnvironment environment;
  Quantized a{0, ScaleOf(*l, node, 1), ZeroOf(*l, node, 2)};
  Quantized b{3, ScaleOf(*l, node, 4), ZeroOf(*l, node, 5)};
  const float cs = ScaleOf(*l, node, 6);
  const auto cz = static_cast<float>(ZeroOf(*l, node, 7));
  const Shape shape = l->tensor(node.outputs[0]).shape;
  Microprogram program;
  std::array<uint32_t, 4> arguments;
  if (node.op == "QLinearMul") {
    program = QLinearMulProgram();
    const float r = model::FDiv(model::FMul(a.scale, b.scale), cs);
    arguments = {static_cast<uint32_t>(a.zero), static_cast<uint32_t>(b.zero),
                 FloatBits(r), FloatBits(cz)};
  } else {
    // Operands change places where the first is the repeated one: the innermost
    // dimension that is not 1 in both is 1 in it.
    const Shape as = Padded(l->tensor(node.inputs[0]).shape, shape.size());
    const Shape bs = Padded(l->tensor(node.inputs[3]).shape, shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
      if (as[i] == 1 && bs[i] == 1) continue;
      if (as[i] == 1) std::swap(a, b);
      break;
    }
    program = QLinearAddProgram();
    const float ra = model::FDiv(a.scale, cs), rb = model::FDiv(b.scale, cs);
    const float k = model::FSub(
        cz, model::Fma(ra, static_cast<float>(a.zero),
                       model::FMul(rb, static_cast<float>(b.zero))));
    arguments = {FloatBits(ra), FloatBits(rb), FloatBits(k), 0};
  }
  const bool blocked = TakesBlocked(l, node, shape);
  const std::vector<Operand> operands = {
      OperandOf(l, node, a.input, shape, blocked),
      OperandOf(l, node, b.input, shape, blocked)};
  const int result =
      l->NewValue(node.outputs[0], blocked ? Layout::kBlocked : Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, arguments, operands, result),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kAdd("com.microsoft", "QLinearAdd",
                                LowerQLinearBinary);
const LoweringRegistration kMul("com.microsoft", "QLinearMul",
                                LowerQLinearBinary);

}  // namespace
}  // namespace heddle::compiler
