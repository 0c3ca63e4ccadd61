// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/heads.h"

#include <algorithm>
#include <vector>

#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/lowering.h"

namespace heddle::compiler {
namespace {

using Perm = std::vector<int64_t>;

// Transposes that one Reshape may have: each looks at all of them. Attention
// has one or two.
constexpr size_t kMostReaders = 16;

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

bool Is(const Node* node, const char* op) {
  return node != nullptr && node->domain.empty() && node->op == op;
}

// Without a leading dimension of 1; nothing if there is more than one image.
Shape OneImage(const Shape& shape) {
  if (shape.size() == 3) return shape;
  if (shape.size() == 4 && shape[0] == 1) {
    return Shape(shape.begin() + 1, shape.end());
  }
  return {};
}

// The order of the dimensions of OneImage.
Perm PermOf(const Node& node, size_t rank) {
  Perm perm(rank);
  for (size_t i = 0; i < rank; ++i)
    perm[i] = static_cast<int64_t>(rank - 1 - i);
  perm = node.IntsAttribute("perm", perm);
  if (rank != 4) return perm;
  if (perm[0] != 0) return {};
  return {perm[1] - 1, perm[2] - 1, perm[3] - 1};
}

class Heads {
 public:
  Heads(Lowering* lowering, const Node& node) : l_(*lowering), node_(node) {}

  bool Run() {
    const TensorId out = node_.outputs[0];
    if (!IsCode(l_.tensor(out).type) || l_.graph().IsOutput(out)) return false;
    if (Is(&node_, "Transpose")) {
      if (Split()) return true;
      // Its Reshape makes the view.
      return Merges(node_);
    }
    if (!Is(&node_, "Reshape")) return false;
    return Splits(node_) || Merge();
  }

 private:
  const Node* ReaderOf(TensorId id, int i) const {
    return &l_.graph().nodes[l_.consumers(id)[i]];
  }

  // Does `reshape` make [tokens, heads, features] of a blocked matrix, for
  // Transposes that all give a stack of matrices to products?
  bool Splits(const Node& reshape) const {
    const TensorId in = reshape.inputs[0], out = reshape.outputs[0];
    const Shape heads = OneImage(l_.tensor(out).shape);
    if (heads.empty() || heads[2] % kCodeBlock != 0 ||
        l_.tensor(in).shape != Shape{heads[0], heads[1] * heads[2]} ||
        l_.graph().IsOutput(out) || l_.consumers(out).size() > kMostReaders ||
        !l_.IsLowered(in) || l_.tensor(in).is_constant() ||
        l_.device().StorageOf(l_.ValueOf(in, node_)).layout !=
            Layout::kBlocked) {
      return false;
    }
    for (size_t i = 0; i < l_.consumers(out).size(); ++i) {
      if (!GivesHeads(*ReaderOf(out, static_cast<int>(i)))) return false;
    }
    return !l_.consumers(out).empty();
  }

  // Does the Transpose of [tokens, heads, features] give a stack of matrices,
  // or of their transposes, that only products read?
  bool GivesHeads(const Node& transpose) const {
    const TensorId out = transpose.outputs[0];
    if (!Is(&transpose, "Transpose") || l_.graph().IsOutput(out)) return false;
    const Shape& shape = l_.tensor(out).shape;
    const Perm perm = PermOf(transpose, shape.size());
    const bool transposed = perm == Perm{1, 2, 0};
    if (!transposed && perm != Perm{1, 0, 2}) return false;
    for (int reader : l_.consumers(out)) {
      const Node& n = l_.graph().nodes[reader];
      if (n.op != "QLinearMatMul" || n.inputs[0] == n.inputs[3] ||
          (transposed && n.inputs[3] != out)) {
        return false;
      }
      const TensorId other = n.inputs[n.inputs[0] == out ? 3 : 0];
      const Shape& theirs = l_.tensor(other).shape;
      if (l_.tensor(other).is_constant() || theirs.size() != shape.size() ||
          !std::equal(shape.begin(), shape.end() - 2, theirs.begin())) {
        return false;
      }
    }
    return !l_.consumers(out).empty();
  }

  bool Split() {
    const Node* reshape = l_.ProducerOf(node_.inputs[0]);
    if (!Is(reshape, "Reshape") || !Splits(*reshape)) return false;
    const Shape heads = OneImage(l_.tensor(reshape->outputs[0]).shape);
    const Perm perm = PermOf(node_, l_.tensor(node_.outputs[0]).shape.size());
    const int matrix = l_.ValueOf(reshape->inputs[0], node_);
    l_.BindRows(node_.outputs[0],
                {l_.Reshaped(matrix, {heads[1], heads[2], heads[0], 1}),
                 perm == Perm{1, 2, 0}, false});
    return true;
  }

  // Does the Transpose bring a stack of matrices in rows to [tokens, heads,
  // features], for Reshapes to a matrix?
  bool Merges(const Node& transpose) const {
    const TensorId out = transpose.outputs[0];
    const StackInRows* rows = l_.FindRows(transpose.inputs[0]);
    const Shape heads = OneImage(l_.tensor(out).shape);
    if (rows == nullptr || !rows->own || heads.empty() ||
        heads[2] % kCodeBlock != 0 || l_.graph().IsOutput(out) ||
        PermOf(transpose, l_.tensor(out).shape.size()) != Perm{1, 0, 2} ||
        l_.device().values[rows->value].shape !=
            Shape{heads[1], heads[2], heads[0], 1}) {
      return false;
    }
    for (int reader : l_.consumers(out)) {
      const Node& n = l_.graph().nodes[reader];
      if (!Is(&n, "Reshape") || l_.tensor(n.outputs[0]).shape !=
                                    Shape{heads[0], heads[1] * heads[2]}) {
        return false;
      }
    }
    return !l_.consumers(out).empty();
  }

  bool Merge() {
    const Node* transpose = l_.ProducerOf(node_.inputs[0]);
    if (!Is(transpose, "Transpose") || !Merges(*transpose)) return false;
    const int rows = l_.FindRows(transpose->inputs[0])->value;
    const Shape shape = l_.tensor(node_.outputs[0]).shape;
    const int matrix = l_.Reshaped(rows, shape);
    l_.Bind(node_.outputs[0], matrix);
    // In ONNX's order it is the matrix.
    l_.SetRowOrder(transpose->inputs[0], l_.device().values[matrix].extent);
    return true;
  }

  Lowering& l_;
  const Node& node_;
};

}  // namespace

bool LowerHeads(Lowering* lowering, const Node& node) {
  return Heads(lowering, node).Run();
}

}  // namespace heddle::compiler
