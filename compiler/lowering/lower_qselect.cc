// SPDX-License-Identifier: Apache-2.0
// QLinearWhere, in ONNX's order of elements.
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

// Codes of the result's scale: input `i` with its parameters behind it.
absl::StatusOr<Operand> Side(Lowering* l, const Node& node, size_t i,
                             const Shape& shape) {
  const Tensor t = l->tensor(node.inputs[i]);
  // The table is what the operator itself gives for a true condition.
  TensorData yes = TensorData::Zeros(DataType::kBool, {});
  yes.bytes[0] = 1;
  TensorData none = TensorData::Zeros(t.type, {});
  ASSIGN_OR_RETURN(
      auto table,
      TableOf(*l, node, t.type,
              {&yes, nullptr, l->ConstantInput(node, i + 1),
               l->ConstantInput(node, i + 2), &none, l->ConstantInput(node, 5),
               l->ConstantInput(node, 6), l->ConstantInput(node, 7),
               l->ConstantInput(node, 8)},
              1));
  Shape padded = t.shape;
  padded.insert(padded.begin(), shape.size() - padded.size(), 1);
  if (t.is_constant()) {
    auto data = std::make_shared<TensorData>(*t.constant);
    data->shape = padded;
    for (uint8_t& code : data->bytes) code = table[code];
    return Operand::Constant(data);
  }
  bool same = true;
  for (int c = 0; c < 256; ++c) same &= table[c] == c;
  int value = -1;
  if (same) {
    value = l->ValueIn(node.inputs[i], Layout::kDense, node);
  } else {
    const int from = l->ValueIn(node.inputs[i], Layout::kBlocked, node);
    const std::string name = absl::StrCat(t.name, "/side", i);
    const int mapped = l->NewTemporary(name, t.type, t.shape, Layout::kBlocked);
    l->Add(MakeTableOp(l, t.type == DataType::kInt8, std::move(table), from,
                       mapped),
           node);
    value = l->NewTemporary(name + "/dense", t.type, t.shape, Layout::kDense);
    l->Add(MakeRelayout(&l->device(), mapped, value), node);
  }
  return Operand::Of(t.shape == padded ? value : l->Reshaped(value, padded));
}

absl::Status LowerWhere(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {2, 3, 5, 6, 7, 8}));
  const Shape shape = l->tensor(node.outputs[0]).shape;
  ASSIGN_OR_RETURN(auto x, Side(l, node, 1, shape));
  ASSIGN_OR_RETURN(auto y, Side(l, node, 4, shape));
  const Tensor c = l->tensor(node.inputs[0]);
  Shape padded = c.shape;
  padded.insert(padded.begin(), shape.size() - padded.size(), 1);
  Operand condition;
  if (c.is_constant()) {
    auto data = std::make_shared<TensorData>(*c.constant);
    data->shape = padded;
    condition = Operand::Constant(data);
  } else {
    const int value = l->ValueIn(node.inputs[0], Layout::kDense, node);
    condition =
        Operand::Of(c.shape == padded ? value : l->Reshaped(value, padded));
  }
  Microprogram program;
  program.body = {Micro(isa::MicroOp::kSel, isa::Destination::kOut,
                        isa::Operand::kStreamA, isa::Operand::kStreamB,
                        isa::Operand::kStreamC)};
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, program, {}, {condition, x, y}, to);
  return absl::OkStatus();
}

const LoweringRegistration kWhere("com.microsoft", "QLinearWhere", LowerWhere);

}  // namespace
}  // namespace heddle::compiler
