// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fuse_elementwise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/program_operator.h"
#include "compiler/passes/compose_programs.h"
#include "compiler/passes/elementwise_parts.h"
#include "compiler/passes/rewriter.h"
#include "compiler/stream/microcode.h"
#include "simulator/model/micro.h"

namespace heddle::compiler {
namespace {

constexpr size_t kMaxNodes = 64;
constexpr size_t kMaxStreams = 3;
// What storing and loading 16 elements of a type is taken to cost, in cycles:
// half of their way to device memory and back on h256, as some tensors stay in
// SRAM.
int64_t RoundTrip(DataType type) {
  return static_cast<int64_t>(ElementBytes(type));
}

// Vectors of 16 lanes that a loop over `shape` takes where operands of
// `operands` broadcast: dimensions that all walk through in one go are one,
// and the innermost is the lanes unless it is short and another is longer.
int64_t Vectors(const Shape& shape, const std::vector<Shape>& operands) {
  std::vector<std::vector<int64_t>> strides = {BroadcastStrides(shape, shape)};
  for (const Shape& s : operands) strides.push_back(BroadcastStrides(s, shape));
  constexpr int64_t kLanes = isa::kVectorLanes;
  std::vector<int64_t> counts;
  size_t inner = 0;  // the dimension at which the last count begins
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    const bool merged = !counts.empty() &&
                        std::all_of(strides.begin(), strides.end(),
                                    [&](const std::vector<int64_t>& s) {
                                      return counts.back() * s[inner] == s[i];
                                    });
    if (merged) {
      counts.back() *= shape[i];
    } else {
      counts.push_back(shape[i]);
      inner = i;
    }
  }
  if (counts.empty()) return 1;
  size_t lanes = 0;
  if (counts[0] < kLanes) {
    for (size_t i = 1; i < counts.size(); ++i) {
      if (std::min(counts[i], kLanes) > std::min(counts[lanes], kLanes)) {
        lanes = i;
      }
    }
  }
  int64_t vectors = (counts[lanes] + kLanes - 1) / kLanes;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i != lanes) vectors *= counts[i];
  }
  return vectors;
}

// An operand from outside: a tensor, or data that is none yet.
struct External {
  TensorId tensor = kNoTensor;
  std::shared_ptr<const TensorData> data;
};

struct Group {
  std::vector<int> nodes;  // in topological order, the root last
  std::vector<External> externals;
  FusedProgram fused;
  int64_t cycles = 0;  // of a vector
};

class Fuser {
 public:
  explicit Fuser(Rewriter* r) : r_(*r) {}

  // But what is `bounded`: the host's operators are ONNX's.
  void Run(const BoundedTensors& bounded) {
    const int count = r_.size();
    for (int n = 0; n < count; ++n) {
      parts_.push_back(ElementwiseParts(r_.graph(), r_.node(n)));
      if (!parts_[n].empty() &&
          (IsClampOfProduct(n) || bounded.Touches(r_.node(n)))) {
        parts_[n].clear();
      }
    }
    for (int n = count; n-- > 0;) {
      if (r_.alive(n) && !parts_[n].empty() &&
          !r_.IsOp(n, "DequantizeLinear")) {
        Fuse(n);
      }
    }
  }

 private:
  // A Relu or Clip that vmac does at the end of the chain that it follows.
  bool IsClampOfProduct(int n) const {
    if (!r_.IsOp(n, "Relu") && !r_.IsOp(n, "Clip")) return false;
    const int p = r_.Producer(r_.node(n).inputs[0]);
    return (r_.IsOp(p, "Conv") || r_.IsOp(p, "ConvTranspose") ||
            r_.IsOp(p, "Gemm") || r_.IsOp(p, "MatMul")) &&
           r_.OnlyUse(r_.node(p).outputs[0]);
  }

  const Tensor& ResultOf(int n) const {
    return r_.tensor(r_.node(n).outputs[0]);
  }
  const Shape& ShapeOf(int n) const { return ResultOf(n).shape; }

  // Whether node n can be computed inside a group: by `group` alone, or once
  // more.
  bool MayJoin(int n, const std::set<int>& group, const Shape& shape) const {
    if (n < 0 || parts_[n].empty() || group.count(n) > 0 ||
        r_.IsOp(n, "QuantizeLinear") || ShapeOf(n) != shape) {
      return false;
    }
    const TensorId out = r_.node(n).outputs[0];
    const bool again = r_.IsOp(n, "DequantizeLinear");
    if (r_.graph().IsOutput(out)) return false;
    for (int reader : r_.Consumers(out)) {
      if (group.count(reader) > 0) continue;
      if (!again || parts_at(reader).empty()) return false;
    }
    return true;
  }
  const std::vector<ElementwisePart>& parts_at(int n) const {
    static const auto* none = new std::vector<ElementwisePart>();
    return n < static_cast<int>(parts_.size()) ? parts_[n] : *none;
  }

  // A node that may join and has not been tried, the last one; -1: none.
  int Candidate(const std::set<int>& group, const std::set<int>& tried,
                const Shape& shape) const {
    int best = -1;
    for (int n : group) {
      for (TensorId id : r_.node(n).inputs) {
        const int p = id == kNoTensor ? -1 : r_.Producer(id);
        if (p > best && tried.count(p) == 0 && MayJoin(p, group, shape)) {
          best = p;
        }
      }
    }
    return best;
  }

  void Fuse(int root) {
    const Shape shape = ShapeOf(root);
    std::set<int> all = {root};
    while (all.size() < kMaxNodes) {
      const int n = Candidate(all, {}, shape);
      if (n < 0) break;
      all.insert(n);
    }
    // Alone a node is made a program where that is much shorter with its
    // constants (a division that is a product), or where it is of a pass's own.
    if (auto group = Compose(all)) {
      if (all.size() == 1 && r_.node(root).domain.empty() &&
          2 * group->cycles > CyclesOf(root)) {
        return;
      }
      Replace(root, *group);
      return;
    }
    // One after another, as long as it fits.
    std::set<int> some = {root}, tried;
    std::optional<Group> best;
    while (some.size() < kMaxNodes) {
      const int n = Candidate(some, tried, shape);
      if (n < 0) break;
      some.insert(n);
      if (auto group = Compose(some)) {
        best = std::move(group);
      } else {
        some.erase(n);
        tried.insert(n);
      }
    }
    if (best) Replace(root, *best);
  }

  int64_t CyclesOf(int n) const {
    int64_t cycles = 0;
    for (const ElementwisePart& p : parts_[n]) cycles += BodyCycles(p.program);
    return cycles;
  }

  // The bits of a constant of one element, as a lane loads them.
  static bool BitsOf(const TensorData& data, uint32_t* bits) {
    if (data.count() != 1) return false;
    const TensorData loadable = LaneData(data);
    isa::ElementType element;
    if (!LaneType(loadable.type, &element)) return false;
    *bits = model::LoadElement(element, loadable.bytes.data());
    return true;
  }

  // The group as one program; nothing if it does not fit or does not pay.
  std::optional<Group> Compose(const std::set<int>& nodes) const {
    Group group;
    group.nodes.assign(nodes.begin(), nodes.end());
    std::vector<ProgramPart> parts;
    std::map<TensorId, int> made;  // tensor of the group: its part
    std::map<TensorId, size_t> streams;
    std::vector<Shape> shapes;  // of the externals
    int64_t separate = 0;       // cycles
    int64_t saved = 0;          // by 16 elements
    const auto stream = [&](External external, const Shape& shape) {
      group.externals.push_back(std::move(external));
      shapes.push_back(shape);
      return group.externals.size() - 1;
    };
    for (int n : group.nodes) {
      const Node& node = r_.node(n);
      const DataType type = ResultOf(n).type;
      if (n != group.nodes.back()) saved += RoundTrip(type);
      int previous = -1;
      for (const ElementwisePart& p : parts_[n]) {
        ProgramPart part{p.program, p.arguments, {}};
        if (&p == &parts_[n].back()) part.type = type;
        const uint32_t read = StreamsOf(p.program);
        std::vector<Shape> own;
        for (size_t k = 0; k < p.operands.size(); ++k) {
          const StepOperand& o = p.operands[k];
          PartSource source{PartSource::kBits, 0};
          const TensorId id = o.input >= 0 ? node.inputs[o.input] : kNoTensor;
          const TensorData* data = o.data != nullptr ? o.data.get()
                                   : id != kNoTensor
                                       ? r_.tensor(id).constant.get()
                                       : nullptr;
          if ((read >> k & 1) == 0) {
            // Nothing of it is needed.
          } else if (o.input == StepOperand::kPrevious) {
            source = {PartSource::kPart, static_cast<uint32_t>(previous)};
          } else if (data != nullptr && BitsOf(*data, &source.value)) {
            // An argument or immediate.
          } else if (o.data != nullptr) {
            source = {PartSource::kInput,
                      static_cast<uint32_t>(
                          stream({kNoTensor, o.data}, o.data->shape)),
                      o.data->type};
            own.push_back(o.data->shape);
          } else if (made.count(id) > 0) {
            source = {PartSource::kPart, static_cast<uint32_t>(made[id])};
          } else {
            const Tensor& t = r_.tensor(id);
            isa::ElementType element;
            if (!LaneType(t.type, &element)) return std::nullopt;
            const auto [it, fresh] = streams.try_emplace(id, 0);
            if (fresh) it->second = stream({id, nullptr}, t.shape);
            source = {PartSource::kInput, static_cast<uint32_t>(it->second),
                      t.type};
            own.push_back(t.shape);
          }
          part.streams.push_back(source);
        }
        separate += BodyCycles(p.program) * Vectors(ShapeOf(n), own);
        previous = static_cast<int>(parts.size());
        parts.push_back(std::move(part));
      }
      made[node.outputs[0]] = previous;
    }
    const int root = group.nodes.back();
    const Shape& shape = ShapeOf(root);
    if (group.externals.empty() || group.externals.size() > kMaxStreams) {
      return std::nullopt;
    }
    Shape result;
    for (const Shape& s : shapes) {
      const Shape before = result;
      if (!BroadcastShapes(before, s, &result)) return std::nullopt;
    }
    if (result != shape) return std::nullopt;
    auto fused = ComposePrograms(parts);
    if (!fused.ok()) return std::nullopt;
    group.fused = *std::move(fused);
    // A copy moves bits, and would not convert between types.
    if (group.fused.program.Bytes() == CopyProgram().Bytes()) {
      return std::nullopt;
    }
    group.cycles = BodyCycles(group.fused.program);
    const int64_t together = group.cycles * Vectors(shape, shapes);
    if (together > separate + saved * (ElementCount(shape) / 16)) {
      return std::nullopt;
    }
    return group;
  }

  void Replace(int root, const Group& group) {
    const Node last = r_.node(root);
    const DataType type = r_.tensor(last.outputs[0]).type;
    std::vector<std::string> operators, sources;
    for (int n : group.nodes) {
      const Node& node = r_.node(n);
      operators.push_back(node.op);
      sources.insert(sources.end(), node.sources.begin(), node.sources.end());
    }
    Node fused = MakeElementwiseNode(group.fused, type, operators);
    fused.name = last.name;
    fused.sources = std::move(sources);
    fused.outputs = last.outputs;
    for (const External& e : group.externals) {
      fused.inputs.push_back(
          e.data == nullptr
              ? e.tensor
              : r_.NewConstant(r_.tensor(last.outputs[0]).name + "/factor",
                               *e.data));
    }
    if (!CheckNode(r_.graph(), fused).ok()) return;
    for (size_t i = group.nodes.size(); i-- > 0;) {
      const int n = group.nodes[i];
      const TensorId out = r_.node(n).outputs[0];
      if (n == root || r_.Consumers(out).empty()) r_.Remove(n);
    }
    r_.Add(std::move(fused));
  }

  Rewriter& r_;
  std::vector<std::vector<ElementwisePart>> parts_;  // by node
};

}  // namespace

absl::Status FuseElementwise(Graph* graph) {
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  Rewriter rewriter(graph);
  Fuser(&rewriter).Run(bounded);
  return rewriter.Finish();
}

}  // namespace heddle::compiler
