// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike and Dropout.
//
// Between types of the card, and from integers to int64 and back (held as
// int32). A float and uint32 have no exact way to int64 here: refused.
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/move.h"
#include "compiler/ops/define.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/vector_math.h"

namespace heddle::compiler {
namespace {

ElementKind KindOf(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return ElementKind::kReal;
    case DataType::kBool:
      return ElementKind::kBool;
    default:
      return ElementKind::kInteger;
  }
}

absl::StatusOr<Microprogram> ProgramOf(Term (*function)(ProgramBuilder*,
                                                        Term)) {
  ProgramBuilder b;
  b.Out(function(&b, b.A()));
  return b.Finish();
}

absl::Status LowerCast(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const DataType from = l->tensor(in).type, to = l->tensor(out).type;
  const ElementKind a = KindOf(from), b = KindOf(to);
  const bool wide = a == ElementKind::kReal || from == DataType::kUint32;
  if (wide && to == DataType::kInt64) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "to = int64: ", DataTypeName(from),
                      " values need not fit int32, as which the card holds "
                      "int64; cast to int32 first");
  }
  const Shape& shape = l->tensor(out).shape;
  const int operand = l->ValueIn(in, Layout::kDense, node);
  const DataType held = to == DataType::kInt64 ? DataType::kInt32 : to;
  if (held == l->device().StorageOf(operand).type) {
    l->Bind(out, operand);
    return absl::OkStatus();
  }
  const int result = l->NewValue(out, Layout::kDense);
  Microprogram program =
      CastProgram(a, b, static_cast<uint32_t>(8 * ElementBytes(held)),
                  OrderOf(held) != Order::kUnsigned);
  if (from == DataType::kUint32 && b == ElementKind::kReal) {
    ASSIGN_OR_RETURN(program, ProgramOf(FromUnsigned));
  } else if (a == ElementKind::kReal && to == DataType::kUint32) {
    ASSIGN_OR_RETURN(program, ProgramOf(ToUnsigned));
  }
  // Rows of any shape, so that any size is cut into tiles.
  const Shape flat = FlatShape(shape, 4);
  l->Add(MakeElementwise(&l->device(), program, {},
                         {Operand::Of(l->Reshaped(operand, flat))},
                         l->Reshaped(result, flat)),
         node);
  return absl::OkStatus();
}

// At inference the input, and a mask of ones.
absl::Status LowerDropout(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0];
  l->Bind(node.outputs[0],
          l->Reshaped(l->ValueOf(in, node), l->tensor(in).shape));
  if (node.outputs.size() < 2 || node.outputs[1] == kNoTensor) {
    return absl::OkStatus();
  }
  const int mask = l->NewValue(node.outputs[1], Layout::kDense);
  MoveBox ones = WholeBox(-1, l->tensor(in).shape,
                          std::vector<int64_t>(l->tensor(in).shape.size(), 0));
  ones.value = 1;
  AddMove(l, node, {}, {ones}, mask);
  return absl::OkStatus();
}

const LoweringRegistration kCast("", "Cast", LowerCast, true);
const LoweringRegistration kCastLike("", "CastLike", LowerCast, true);
const LoweringRegistration kDropout("", "Dropout", LowerDropout, true);

}  // namespace
}  // namespace heddle::compiler
