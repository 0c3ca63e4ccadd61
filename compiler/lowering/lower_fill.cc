// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape, where the result is too large to be a constant of the
// package: the card writes it.
#include <cstring>
#include <limits>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/move.h"
#include "compiler/ops/define.h"
#include "compiler/ops/filler.h"

namespace heddle::compiler {
namespace {

absl::Status LowerFill(Lowering* l, const Node& node) {
  ASSIGN_OR_RETURN(auto filler, FillerOf(node));
  uint32_t bits = 0;
  if (filler.type == DataType::kInt64) {
    // The card holds int64 as int32.
    const int64_t value = filler.as<int64_t>()[0];
    if (value < std::numeric_limits<int32_t>::min() ||
        value > std::numeric_limits<int32_t>::max()) {
      return RejectNode(Rejection::kUnsupportedDatatype, node, "value is ",
                        value,
                        ", beyond the 32 bits in which the card holds int64");
    }
    bits = static_cast<uint32_t>(value);
  } else {
    std::memcpy(&bits, filler.bytes.data(), filler.bytes.size());
  }
  const TensorId out = node.outputs[0];
  const int result = l->NewValue(out, Layout::kDense);
  const Shape& shape = l->tensor(out).shape;
  MoveBox box = WholeBox(-1, shape, Shape(shape.size(), 0));
  box.value = bits;
  AddMove(l, node, {}, {box}, result);
  return absl::OkStatus();
}

const LoweringRegistration kConstantOfShape("", "ConstantOfShape", LowerFill,
                                            true);

}  // namespace
}  // namespace heddle::compiler
