// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/sink_moves.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/passes/elementwise_parts.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

// How far behind a move another one is looked for.
constexpr int kMostSteps = 64;

// What goes behind an elementwise node: a permutation, or a change of the shape
// from `from`.
struct Move {
  bool transpose = true;
  std::vector<int64_t> perm;
  Shape from;
  bool operator==(const Move& o) const {
    return transpose == o.transpose && perm == o.perm && from == o.from;
  }
};

class Sinking {
 public:
  explicit Sinking(Graph* graph) : rewriter_(graph) {
    for (const Tensor& tensor : graph->tensors) {
      fixed_.push_back(tensor.is_constant());
    }
    for (const Node& node : graph->nodes) {
      const bool fixed = std::all_of(
          node.inputs.begin(), node.inputs.end(),
          [this](TensorId id) { return id == kNoTensor || fixed_[id]; });
      for (TensorId id : node.outputs) {
        if (id != kNoTensor) fixed_[id] = fixed && !node.inputs.empty();
      }
    }
  }

  absl::Status Run() {
    // What sinks is added at the end and seen again, until its chain ends.
    // What only a run's values size has no shape that could be stated again.
    ASSIGN_OR_RETURN(const BoundedTensors bounded,
                     FindBounded(rewriter_.graph()));
    for (int n = 0; n < rewriter_.size(); ++n) {
      if (!rewriter_.alive(n) || bounded.Touches(rewriter_.node(n))) continue;
      const auto move = Sinkable(n);
      if (!move.has_value() || !Pays(n, *move)) continue;
      RETURN_IF_ERROR(Sink(n, *move));
    }
    return rewriter_.Finish();
  }

 private:
  std::optional<Move> MoveOf(int n) const {
    if (n < 0) return std::nullopt;
    const Node& node = rewriter_.node(n);
    Move move;
    if (rewriter_.IsOp(n, "Transpose")) {
      const size_t rank = rewriter_.tensor(node.inputs[0]).shape.size();
      for (size_t i = rank; i-- > 0;) {
        move.perm.push_back(static_cast<int64_t>(i));
      }
      move.perm = node.IntsAttribute("perm", move.perm);
      return move;
    }
    if (rewriter_.IsOp(n, "Reshape") || rewriter_.IsOp(n, "Flatten") ||
        rewriter_.IsOp(n, "Squeeze") || rewriter_.IsOp(n, "Unsqueeze")) {
      move.transpose = false;
      move.from = rewriter_.tensor(node.inputs[0]).shape;
      return move;
    }
    return std::nullopt;
  }

  bool Elementwise(int n) const {
    const Node& node = rewriter_.node(n);
    // Which axis is that of the channels, or of the scales, is part of these.
    if (rewriter_.IsOp(n, "BatchNormalization")) return false;
    if ((rewriter_.IsOp(n, "QuantizeLinear") ||
         rewriter_.IsOp(n, "DequantizeLinear")) &&
        ElementCount(rewriter_.tensor(node.inputs[1]).shape) != 1) {
      return false;
    }
    return node.outputs.size() == 1 &&
           !rewriter_.graph().IsOutput(node.outputs[0]) &&
           !ElementwiseParts(rewriter_.graph(), node).empty();
  }

  // An operand that a node may have beside what is moved: of one element, or,
  // if axes change places, a constant that broadcasts.
  bool Follows(TensorId id, const Move& move) const {
    const Tensor& tensor = rewriter_.tensor(id);
    if (ElementCount(tensor.shape) == 1) {
      return move.transpose || tensor.shape.size() <= move.from.size();
    }
    return move.transpose && tensor.is_constant();
  }

  // The move of node n's operands, if it may go behind the node.
  std::optional<Move> Sinkable(int n) const {
    if (!MayBe(n)) return std::nullopt;
    const Node& node = rewriter_.node(n);
    const Shape& out = rewriter_.tensor(node.outputs[0]).shape;
    // To a Reshape a size of 0 says something else.
    if (ElementCount(out) == 0) return std::nullopt;
    std::optional<Move> move;
    for (TensorId id : node.inputs) {
      if (id == kNoTensor) continue;
      auto one = MoveOf(rewriter_.Producer(id));
      if (!one.has_value() || !Moved(id, *one, out)) continue;
      if (move.has_value() && !(*one == *move)) return std::nullopt;
      move = std::move(one);
    }
    if (!move.has_value()) return std::nullopt;
    for (TensorId id : node.inputs) {
      if (id != kNoTensor && !Moved(id, *move, out) && !Follows(id, *move)) {
        return std::nullopt;
      }
    }
    return Elementwise(n) ? move : std::nullopt;
  }

  // A cheap first look.
  bool MayBe(int n) const {
    const Node& node = rewriter_.node(n);
    if (node.outputs.size() != 1 || node.outputs[0] == kNoTensor) return false;
    return std::any_of(
        node.inputs.begin(), node.inputs.end(), [this](TensorId id) {
          return id != kNoTensor && MoveOf(rewriter_.Producer(id)).has_value();
        });
  }

  // Operand `id` is what `move` gives, all of the result's size: behind a
  // broadcast there would be more to move.
  bool Moved(TensorId id, const Move& move, const Shape& out) const {
    const auto one = MoveOf(rewriter_.Producer(id));
    return one.has_value() && *one == move && rewriter_.OnlyUse(id) &&
           rewriter_.tensor(id).shape == out && !IsFixed(Before(id));
  }

  // What the move that gives `id` moves.
  TensorId Before(TensorId id) const {
    return rewriter_.node(rewriter_.Producer(id)).inputs[0];
  }

  bool Pays(int n, const Move& move) const {
    const Shape& out = rewriter_.tensor(rewriter_.node(n).outputs[0]).shape;
    int moved = 0;
    for (TensorId id : rewriter_.node(n).inputs) {
      moved += id != kNoTensor && Moved(id, move, out);
    }
    if (moved > 1) return true;
    // A Reshape costs nothing itself; but it keeps what is before and behind it
    // from being one pass.
    if (!move.transpose && BehindElementwise(n, move)) return true;
    for (int step = 0; step < kMostSteps; ++step) {
      const TensorId id = rewriter_.node(n).outputs[0];
      if (!rewriter_.OnlyUse(id)) return false;
      n = *rewriter_.Consumers(id).begin();
      const auto next = MoveOf(n);
      if (next.has_value()) {
        return rewriter_.node(n).inputs[0] == id &&
               next->transpose == move.transpose &&
               (move.transpose ||
                rewriter_.tensor(rewriter_.node(n).outputs[0]).shape ==
                    move.from);
      }
      if (rewriter_.node(n).outputs.size() != 1 || !Elementwise(n) ||
          rewriter_.tensor(id).shape !=
              rewriter_.tensor(rewriter_.node(n).outputs[0]).shape) {
        return false;
      }
      for (TensorId other : rewriter_.node(n).inputs) {
        if (other != kNoTensor && other != id && !Follows(other, move)) {
          return false;
        }
      }
    }
    return false;
  }

  // What the node's move moves is an elementwise result that nobody else reads.
  bool BehindElementwise(int n, const Move& move) const {
    const Shape& out = rewriter_.tensor(rewriter_.node(n).outputs[0]).shape;
    for (TensorId id : rewriter_.node(n).inputs) {
      if (id == kNoTensor || !Moved(id, move, out)) continue;
      const TensorId before = Before(id);
      const int p = rewriter_.Producer(before);
      return p >= 0 && rewriter_.OnlyUse(before) && Elementwise(p);
    }
    return false;
  }

  // The shape that `move` makes `shape` of.
  static Shape ShapeBefore(const Shape& shape, const Move& move) {
    if (!move.transpose) return move.from;
    Shape before(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) before[move.perm[i]] = shape[i];
    return before;
  }

  // A constant as it is in front of the Transpose.
  TensorId TransposedBack(const Node& reader, TensorId id, const Move& move) {
    const Tensor tensor = rewriter_.tensor(id);
    const size_t rank = move.perm.size();
    TensorId wide = id;
    Shape shape = tensor.shape;
    if (shape.size() != rank) {
      shape.insert(shape.begin(), rank - shape.size(), 1);
      wide = rewriter_.NewTensor(tensor.name + "/wide", tensor.type, shape);
      rewriter_.AddReshape(id, wide);
    }
    Node node;
    node.op = "Transpose";
    node.name = reader.name;
    node.opset = reader.opset;
    std::vector<int64_t> inverse(rank);
    for (size_t i = 0; i < rank; ++i) {
      inverse[move.perm[i]] = static_cast<int64_t>(i);
    }
    node.attributes["perm"] = inverse;
    const TensorId back = rewriter_.NewTensor(
        tensor.name + "/back", tensor.type, ShapeBefore(shape, move));
    node.inputs = {wide};
    node.outputs = {back};
    rewriter_.Add(std::move(node));
    return back;
  }

  absl::Status Sink(int n, const Move& move) {
    Node node = rewriter_.node(n);
    const TensorId out = node.outputs[0];
    const Tensor result = rewriter_.tensor(out);
    std::vector<int> gone;
    Node last;  // one of the moves
    for (TensorId& id : node.inputs) {
      if (id == kNoTensor) continue;
      const int p = rewriter_.Producer(id);
      if (Moved(id, move, result.shape)) {
        last = rewriter_.node(p);
        if (std::find(gone.begin(), gone.end(), p) == gone.end()) {
          gone.push_back(p);
        }
        id = last.inputs[0];
      } else if (move.transpose &&
                 ElementCount(rewriter_.tensor(id).shape) != 1) {
        id = TransposedBack(node, id, move);
      }
    }
    const TensorId inner = rewriter_.NewTensor(
        result.name + "/unmoved", result.type, ShapeBefore(result.shape, move));
    node.outputs = {inner};
    rewriter_.Remove(n);
    for (int p : gone) rewriter_.Remove(p);
    rewriter_.Add(std::move(node));
    if (!move.transpose) {
      rewriter_.AddReshape(inner, out);
      return absl::OkStatus();
    }
    last.inputs = {inner};
    last.outputs = {out};
    last.attributes["perm"] = move.perm;
    rewriter_.Add(std::move(last));
    return absl::OkStatus();
  }

  // Computed of constants alone: FoldConstants does it all.
  bool IsFixed(TensorId id) const {
    return static_cast<size_t>(id) < fixed_.size() && fixed_[id];
  }

  Rewriter rewriter_;
  std::vector<bool> fixed_;  // by tensor of the graph as it was
};

}  // namespace

absl::Status SinkMoves(Graph* graph) { return Sinking(graph).Run(); }

}  // namespace heddle::compiler
