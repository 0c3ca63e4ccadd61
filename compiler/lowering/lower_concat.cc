// SPDX-License-Identifier: Apache-2.0
// Concat and Transpose.
//
// Where the parts of a concatenation are contiguous in the result (one image,
// along channels, say), the operations that compute them write there and
// nothing is moved.
#include <algorithm>

#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/move.h"
#include "compiler/device_ops/move_layout.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

absl::Status LowerConcat(Lowering* l, const Node& node) {
  const TensorId out = node.outputs[0];
  std::vector<TensorId> tensors = node.inputs;
  tensors.push_back(out);
  const Layout layout = MoveLayout(l, node.inputs, tensors);
  const Shape shape = MoveShape(l->tensor(out).shape, layout);
  size_t axis = 0;
  if (!NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), &axis)) {
    return absl::InternalError(node.Describe() + ": axis");
  }
  // Parts without elements have no place.
  std::vector<TensorId> parts;
  for (TensorId id : node.inputs) {
    if (ElementCount(l->tensor(id).shape) > 0) parts.push_back(id);
  }
  const int result = l->NewValue(out, layout);
  const std::vector<int64_t> strides = RowMajor(shape);
  auto box = [&](int input, const Shape& part, int64_t at) {
    MoveBox b = WholeBox(input, part, RowMajor(part));
    for (size_t i = 0; i < part.size(); ++i) b.dims[i].result = strides[i];
    b.result = at * strides[axis];
    return b;
  };
  // In the blocked layout only along channels: elsewhere the order of bytes
  // differs from ONNX's, which region 2 has.
  const bool contiguous =
      ElementCount(Shape(shape.begin(), shape.begin() + axis)) == 1 &&
      (layout == Layout::kDense || axis == 1);
  std::vector<int> operands;
  std::vector<MoveBox> boxes;
  int64_t at = 0;
  std::vector<std::pair<int, uint64_t>> placed;  // operand, byte offset
  const uint64_t element =
      layout == Layout::kBlocked
          ? 16
          : ElementBytes(l->device().StorageOf(result).type);
  bool adopted = false;
  for (TensorId id : parts) {
    const int value = l->ValueIn(id, layout, node);
    const Shape part = MoveShape(l->tensor(id).shape, layout);
    const uint64_t offset = at * strides[axis] * element;
    if (contiguous && l->Adopt(value, result, offset)) {
      adopted = true;
      operands.push_back(-1);
    } else {
      operands.push_back(value);
    }
    placed.push_back({value, offset});
    boxes.push_back(box(boxes.size(), part, at));
    at += part[axis];
  }
  if (!adopted) {
    AddMove(l, node, operands, boxes, result);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (operands[i] < 0) continue;
    const Shape& own = l->tensor(parts[i]).shape;
    const Shape part = MoveShape(own, layout);
    const int place = l->Part(result, placed[i].second, own);
    AddMove(l, node, {operands[i]}, {WholeBox(0, part, RowMajor(part))}, place);
  }
  return absl::OkStatus();
}

absl::Status LowerTranspose(Lowering* l, const Node& node) {
  const TensorId in = node.inputs[0], out = node.outputs[0];
  const Shape& from = l->tensor(in).shape;
  const Shape& to = l->tensor(out).shape;
  const size_t rank = from.size();
  std::vector<int64_t> reversed(rank);
  for (size_t i = 0; i < rank; ++i) reversed[i] = rank - 1 - i;
  const std::vector<int64_t> perm = node.IntsAttribute("perm", reversed);
  const std::vector<int64_t> strides = RowMajor(from);
  std::vector<int64_t> source;
  for (int64_t p : perm) source.push_back(strides[p]);
  const int operand = l->ValueIn(in, Layout::kDense, node);
  // Dimensions that are not 1 in their order: the same bytes.
  int64_t last = -1;
  bool same = true;
  for (int64_t p : perm) {
    if (from[p] == 1) continue;
    same = same && p > last;
    last = p;
  }
  if (same) {
    l->Bind(out, l->Reshaped(operand, to));
    return absl::OkStatus();
  }
  const int result = l->NewValue(out, Layout::kDense);
  AddMove(l, node, {operand}, {WholeBox(0, to, source)}, result);
  return absl::OkStatus();
}

const LoweringRegistration kConcat("", "Concat", LowerConcat, true);
const LoweringRegistration kTranspose("", "Transpose", LowerTranspose, true);

}  // namespace
}  // namespace heddle::compiler
