// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/infer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"
#include "compiler/passes/bfloat16.h"
#include "compiler/passes/control.h"
#include "compiler/passes/deduce.h"
#include "compiler/passes/place_branch.h"
#include "compiler/passes/slice_by_values.h"
#include "compiler/passes/suppose.h"
#include "compiler/passes/unroll.h"

namespace heddle::compiler {
namespace {

// Multiply-adds that folding one node may cost; a bound against models that
// are small but expensive to fold.
constexpr int64_t kMaxFoldedWork = int64_t{1} << 30;

bool IsQuantizationBoundary(const Node& node) {
  return node.op == "DequantizeLinear";
}

bool ReadsOnlyShapes(const Node& node) {
  return node.domain.empty() &&
         (node.op == "Shape" || node.op == "Size" || node.op == "EyeLike");
}

// Values that the node may be evaluated with now; false if some are missing.
// The results of Shape, Size and EyeLike need no data, only the shape of the
// input, if that is no bound.
bool ConstantInputs(const Graph& graph, const Node& node,
                    const BoundedTensors& bounded,
                    std::vector<TensorData>* shape_only, Inputs* inputs) {
  shape_only->reserve(node.inputs.size());
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) {
      inputs->push_back(nullptr);
      continue;
    }
    const Tensor& tensor = graph.tensors[id];
    if (tensor.is_constant()) {
      inputs->push_back(tensor.constant.get());
    } else if (ReadsOnlyShapes(node) && bounded.of(id) == 0) {
      TensorData data;
      data.type = tensor.type;
      data.shape = tensor.shape;
      shape_only->push_back(std::move(data));
      inputs->push_back(&shape_only->back());
    } else {
      return false;
    }
  }
  return true;
}

bool IsAffordable(const Graph& graph, const Node& node) {
  int64_t outputs = 1, largest = 1;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph.tensors[id];
    const int64_t count = ElementCount(tensor.shape);
    if (count >
        kMaxFoldedBytes / std::max<int64_t>(1, ElementBytes(tensor.type))) {
      return false;
    }
    outputs = std::max(outputs, count);
  }
  // Work is at most outputs times the largest input for products, and about
  // the outputs for everything else.
  if (node.op.find("Conv") == std::string::npos &&
      node.op.find("MatMul") == std::string::npos &&
      node.op.find("Gemm") == std::string::npos &&
      node.op.find("Pool") == std::string::npos) {
    return true;
  }
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    largest = std::max(largest, ElementCount(graph.tensors[id].shape));
  }
  return outputs <= kMaxFoldedWork / largest;
}

bool TakeBytes(const Graph& graph, const Node& node, int64_t* budget) {
  int64_t bytes = 0;  // each output is affordable: no overflow
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph.tensors[id];
    bytes += ElementCount(tensor.shape) *
             static_cast<int64_t>(ElementBytes(tensor.type));
  }
  if (bytes > *budget) return false;
  *budget -= bytes;
  return true;
}

bool ReadsSupposed(const Node& node, const Supposed* supposed) {
  return supposed != nullptr && !ReadsOnlyShapes(node) &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
           return supposed->constants.count(id) != 0;
         });
}

// Makes the outputs, whose types and shapes are known, constants of stand-ins.
void SupposeOutputs(const Node& node, Graph* graph, Supposed* supposed) {
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor& tensor = graph->tensors[id];
    tensor.constant =
        std::make_shared<const TensorData>(StandIn(tensor.type, tensor.shape));
    supposed->constants.insert(id);
  }
}

// Gives the outputs constant values if that is possible.
// `budget`: bytes that folded tensors may still take.
absl::StatusOr<bool> Fold(Graph* graph, const Node& node,
                          const BoundedTensors& bounded, int64_t* budget,
                          Supposed* supposed) {
  // Nobody knows how long a Loop takes.
  if (IsControl(node)) return false;
  std::vector<TensorData> shape_only;
  Inputs inputs;
  if (!ConstantInputs(*graph, node, bounded, &shape_only, &inputs) ||
      !IsAffordable(*graph, node) || !TakeBytes(*graph, node, budget)) {
    return false;
  }
  if (ReadsSupposed(node, supposed)) {
    SupposeOutputs(node, graph, supposed);
    return true;
  }
  auto results = EvaluateNode(*graph, node, inputs);
  if (!results.ok()) {
    // An error that every run would meet, e.g. an index out of range.
    return Reject(Rejection::kInvalidModel,
                  std::string(results.status().message()));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    Tensor& tensor = graph->tensors[node.outputs[i]];
    tensor.type = (*results)[i].type;
    tensor.shape = (*results)[i].shape;
    tensor.shape_known = true;
    tensor.constant =
        std::make_shared<const TensorData>(std::move((*results)[i]));
  }
  return true;
}

bool IsTooLarge(const Tensor& tensor) {
  const auto element =
      static_cast<int64_t>(std::max<size_t>(1, ElementBytes(tensor.type)));
  return ElementCount(tensor.shape) > kMaxTensorBytes / element;
}

absl::Status CheckSize(const Graph& graph, const Node& node) {
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph.tensors[id];
    if (IsTooLarge(tensor)) {
      return RejectNode(Rejection::kUnsupportedShape, node, "output '",
                        tensor.name, "' has shape ",
                        ShapeToString(tensor.shape), ", the limit is ",
                        kMaxTensorBytes, " bytes");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInputSizes(const Graph& graph) {
  for (TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.shape_known && IsTooLarge(tensor)) {
      return Reject(
          Rejection::kUnsupportedShape,
          absl::StrCat("input '", tensor.name, "' has shape ",
                       ShapeToString(tensor.shape), ", the limit is ",
                       kMaxTensorBytes, " bytes; give a smaller shape"));
    }
  }
  return absl::OkStatus();
}

// A declared size takes the place of an upper bound above it: the run says
// whether it is one.
absl::Status CheckDeclared(Graph* graph_in, const Node& node,
                           const std::map<TensorId, Declaration>& declared,
                           const BoundedTensors& bounded) {
  Graph& graph = *graph_in;
  for (TensorId id : node.outputs) {
    const auto it = declared.find(id);
    if (it == declared.end()) continue;
    const Declaration& expected = it->second;
    Tensor& tensor = graph.tensors[id];
    if (expected.type != DataType::kUndefined && expected.type != tensor.type) {
      return RejectNode(Rejection::kMismatchingDatatype, node, "output '",
                        tensor.name, "' is declared as ",
                        DataTypeName(expected.type), ", but is ",
                        DataTypeName(tensor.type));
    }
    bool fits =
        !expected.has_shape || expected.shape.size() == tensor.shape.size();
    for (size_t i = 0; fits && i < expected.shape.size(); ++i) {
      fits = expected.shape[i] == -1 || expected.shape[i] == tensor.shape[i];
      const bool is_bound = i < 64 && (bounded.of(id) >> i & 1) != 0;
      if (fits || !is_bound || expected.shape[i] > tensor.shape[i]) continue;
      tensor.shape[i] = expected.shape[i];
      fits = true;
    }
    if (!fits) {
      return RejectNode(Rejection::kMismatchingShape, node, "output '",
                        tensor.name, "' is declared with shape ",
                        ShapeToString(expected.shape), ", but has ",
                        ShapeToString(tensor.shape));
    }
  }
  return absl::OkStatus();
}

// Whether the model declares all of the node's results, completely.
bool IsDeclared(const std::map<TensorId, Declaration>& declared,
                const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](TensorId id) {
                       if (id == kNoTensor) return true;
                       const auto it = declared.find(id);
                       return it != declared.end() && it->second.has_shape &&
                              it->second.type != DataType::kUndefined &&
                              !std::count(it->second.shape.begin(),
                                          it->second.shape.end(), -1);
                     });
}

// Where inference needs values that are not there, the model's own declaration
// stands in, if it is complete.
bool TakeDeclared(const std::map<TensorId, Declaration>& declared,
                  const Node& node, Graph* graph) {
  if (!IsDeclared(declared, node)) return false;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor& tensor = graph->tensors[id];
    const Declaration& declaration = declared.find(id)->second;
    tensor.type = declaration.type;
    tensor.shape = declaration.shape;
    tensor.shape_known = true;
  }
  return true;
}

bool NeedsMissingValues(const Graph& graph, const Node& node) {
  // All operands of these are parameters, not only those after the first.
  const bool parameters = node.op == "ConstantOfShape" || node.op == "Range" ||
                          node.op == "HannWindow" ||
                          node.op == "HammingWindow" ||
                          node.op == "BlackmanWindow";
  for (size_t i = parameters ? 0 : 1; i < node.inputs.size(); ++i) {
    if (HasInput(node, i) && !InputOf(graph, node, i).is_constant()) {
      return true;
    }
  }
  return false;
}

// Infers the outputs of a node that has been checked. Where that needs values
// which are not there, the model's declaration stands in, and parameters that
// it leaves no choice for become constants of `node`.
absl::Status InferOutputs(Graph* graph,
                          const std::map<TensorId, Declaration>& declared,
                          Node* node) {
  const auto infer = FindOperator(node->domain, node->op, node->opset)->infer;
  const absl::Status first = infer(graph, *node);
  // (Without a declaration the run's k says how much of the axis there is.)
  const bool open = first.ok() && node->domain.empty() && node->op == "TopK" &&
                    IsDeclared(declared, *node);
  if ((RejectionOf(first) != Rejection::kUnsupportedShape && !open) ||
      !NeedsMissingValues(*graph, *node)) {
    return first;
  }
  if (DeduceEmpty(graph, node) && infer(graph, *node).ok()) {
    return absl::OkStatus();
  }
  if (!TakeDeclared(declared, *node, graph)) return first;
  Node settled = *node;
  if (DeduceParameters(graph, &settled) && CheckNode(*graph, settled).ok() &&
      infer(graph, settled).ok()) {
    *node = settled;
    return absl::OkStatus();
  }
  TakeDeclared(declared, *node, graph);
  // An operator that needs no more than the shape says what else is wrong.
  const absl::Status again = infer(graph, *node);
  if (again.ok()) return again;
  if (RejectionOf(again) != Rejection::kUnsupportedShape) return again;
  TakeDeclared(declared, *node, graph);
  return absl::OkStatus();
}

// The nodes that stand for one of a form which only the front end knows; none
// if it stays as it is, or if what it reads is not known yet.
absl::StatusOr<std::vector<Node>> Converted(Graph* graph, const Node& node) {
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info == nullptr || info->convert == nullptr) return std::vector<Node>();
  for (TensorId id : node.inputs) {
    if (id != kNoTensor && !graph->tensors[id].shape_known) {
      return std::vector<Node>();
    }
  }
  RETURN_IF_ERROR(CheckNode(*graph, node));
  return info->convert(graph, node);
}

// Hides the values of supposed constants while it lives, so that nothing can be
// concluded from them.
class HiddenValues {
 public:
  HiddenValues(const Node& node, const std::set<TensorId>& supposed,
               Graph* graph)
      : graph_(graph) {
    for (TensorId id : node.inputs) {
      if (supposed.count(id) == 0) continue;
      auto& constant = graph->tensors[id].constant;
      if (constant != nullptr) values_.emplace_back(id, std::move(constant));
      constant = nullptr;
    }
  }
  ~HiddenValues() {
    for (auto& [id, value] : values_) {
      graph_->tensors[id].constant = std::move(value);
    }
  }

 private:
  Graph* const graph_;
  std::vector<std::pair<TensorId, std::shared_ptr<const TensorData>>> values_;
};

// Inference over a graph with supposed weights.
class Supposition {
 public:
  Supposition(const std::map<TensorId, Declaration>& declared, Graph* graph,
              Supposed* supposed)
      : declared_(declared), graph_(graph), supposed_(supposed) {}

  // Whether the shapes of the outputs are known now, the node checked and to be
  // kept or folded; false: it was left out.
  absl::StatusOr<bool> Infer(const Node& node) {
    for (TensorId id : node.inputs) {
      if (id != kNoTensor && !graph_->tensors[id].shape_known) {
        LeaveOut(node);
        return false;
      }
    }
    absl::Status checked = CheckNode(*graph_, node);
    if (!checked.ok() && SupposeZeros(node)) {
      // The ratio of a Dropout, for one, is less than 1.
      checked = CheckNode(*graph_, node);
    }
    // Such an input cannot be a parameter that a weight gives.
    const bool at_run_time = NeedsMissingValues(*graph_, node);
    {
      const HiddenValues hidden(node, supposed_->constants, graph_);
      if (!checked.ok()) {
        // What the stand-ins violate, the weights may satisfy.
        if (auto s = CheckNode(*graph_, node); !s.ok()) return checked;
      }
      // A k that weights give is none that a run decides.
      if (node.domain.empty() && node.op == "TopK" &&
          supposed_->constants.count(node.input(1)) != 0) {
        LeaveOut(node);
        return false;
      }
      const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
      const absl::Status inferred = info->infer(graph_, node);
      if (inferred.ok()) {
        if (!checked.ok()) return checked;
        return true;
      }
      if ((RejectionOf(inferred) != Rejection::kUnsupportedShape &&
           RejectionOf(inferred) != Rejection::kUnsupportedAttribute) ||
          at_run_time || !NeedsMissingValues(*graph_, node)) {
        return inferred;
      }
    }
    LeaveOut(node);
    return false;
  }

  // Notes a node that stays in the graph for now: the results of one that reads
  // constants only (it quantises, or comes behind one that does) are constants
  // when all is folded.
  void Keep(const Node& node) {
    const bool constant =
        !node.inputs.empty() &&
        std::all_of(node.inputs.begin(), node.inputs.end(),
                    [this](TensorId id) { return IsConstant(id); });
    if (constant) {
      later_constants_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  // Whether what decides a branch or a number of iterations is not known yet:
  // a shape, or, of `values`, what weights say.
  bool IsOpen(const std::vector<TensorId>& deciders, bool values) const {
    return std::any_of(deciders.begin(), deciders.end(), [&](TensorId id) {
      return !graph_->tensors[id].shape_known ||
             (values && supposed_->constants.count(id) != 0);
    });
  }

  // What is known besides the graph's tensors.
  struct Mark {
    std::set<TensorId> later_constants, unknown_constants, frontier, left_out;
    std::set<TensorId> supposed;
    size_t left_out_nodes = 0, inputs = 0;
  };
  Mark Here() const {
    return {later_constants_,
            unknown_constants_,
            frontier_,
            left_out_,
            supposed_->constants,
            supposed_->left_out.size(),
            graph_->inputs.size()};
  }
  void GoBackTo(Mark mark) {
    later_constants_ = std::move(mark.later_constants);
    unknown_constants_ = std::move(mark.unknown_constants);
    frontier_ = std::move(mark.frontier);
    left_out_ = std::move(mark.left_out);
    supposed_->constants = std::move(mark.supposed);
    supposed_->left_out.resize(mark.left_out_nodes);
    graph_->inputs.resize(mark.inputs);
  }

  void LeaveOut(const Node& node) {
    bool constant = true;
    for (TensorId id : node.inputs) {
      if (IsConstant(id)) continue;
      if (graph_->tensors[id].shape_known) frontier_.insert(id);
      if (!ReadsOnlyShapes(node)) constant = false;
    }
    left_out_.insert(node.outputs.begin(), node.outputs.end());
    if (!constant) supposed_->left_out.push_back(node);
    if (!TakeDeclared(declared_, node, graph_)) {
      if (!constant) return;
      unknown_constants_.insert(node.outputs.begin(), node.outputs.end());
      return;
    }
    if (constant) {
      SupposeOutputs(node, graph_, supposed_);
      return;
    }
    for (TensorId id : node.outputs) {
      if (id != kNoTensor) graph_->inputs.push_back(id);
    }
  }

  // Takes what was left out from the graph's outputs.
  void Finish() {
    auto& outputs = graph_->outputs;
    outputs.erase(std::remove_if(
                      outputs.begin(), outputs.end(),
                      [this](TensorId id) { return left_out_.count(id) != 0; }),
                  outputs.end());
    for (TensorId id : frontier_) {
      if (left_out_.count(id) != 0 ||
          std::count(outputs.begin(), outputs.end(), id) != 0) {
        continue;
      }
      outputs.push_back(id);
    }
  }

 private:
  // Makes the supposed parameters of a node zeros; false if it has none.
  bool SupposeZeros(const Node& node) {
    bool any = false;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (supposed_->constants.count(id) == 0) continue;
      Tensor& tensor = graph_->tensors[id];
      tensor.constant = std::make_shared<const TensorData>(
          TensorData::Zeros(tensor.type, tensor.shape));
      any = true;
    }
    return any;
  }

  bool IsConstant(TensorId id) const {
    return id == kNoTensor || graph_->tensors[id].is_constant() ||
           later_constants_.count(id) != 0 || unknown_constants_.count(id) != 0;
  }

  const std::map<TensorId, Declaration>& declared_;
  Graph* const graph_;
  Supposed* const supposed_;
  std::set<TensorId> later_constants_;
  // Results of constants only, of which not even the shape is known.
  std::set<TensorId> unknown_constants_;
  std::set<TensorId> frontier_, left_out_;
};

// What a graph and its bodies share.
struct Limits {
  UnrollCharges charges;
  int64_t folded = kMaxFoldedTotal;
  // Loops and Scans, by name, that have turned out too long: copies of them in
  // iterations of another are not tried again.
  std::set<std::string> too_long;
};

class Inference {
 public:
  Inference(Graph* graph, const std::map<TensorId, Declaration>& declared,
            Supposed* supposed, const SubgraphMap& subgraphs, int depth,
            Limits* limits)
      : graph_(graph),
        declared_(declared),
        supposed_(supposed),
        depth_(depth),
        limits_(limits),
        unroller_(graph, subgraphs, &limits->charges),
        supposition_(declared, graph, supposed) {}

  absl::Status Run() {
    RETURN_IF_ERROR(CheckInputSizes(*graph_));
    // `graph->nodes` is not touched while nodes are looked at. The next one
    // last.
    left_.assign(graph_->nodes.rbegin(), graph_->nodes.rend());
    while (!left_.empty()) {
      const Node original = std::move(left_.back());
      left_.pop_back();
      if (IsIf(original) || IsLoop(original)) {
        RETURN_IF_ERROR(ReplaceControl(original));
        continue;
      }
      ASSIGN_OR_RETURN(auto converted, Converted(graph_, original));
      if (converted.empty() && IsSizeOpen(original)) {
        converted = SliceByValues(graph_, original, bounded_);
      }
      if (converted.empty() && ComputesBfloat16(*graph_, original)) {
        RETURN_IF_ERROR(TakeByFloat(original));
        continue;
      }
      for (size_t i = 0; i < std::max<size_t>(converted.size(), 1); ++i) {
        RETURN_IF_ERROR(Take(converted.empty() ? original : converted[i]));
      }
    }
    if (supposed_ != nullptr) supposition_.Finish();
    graph_->nodes = std::move(kept_);
    return absl::OkStatus();
  }

 private:
  absl::Status TakeByFloat(const Node& node) {
    const std::vector<Node> nodes = ToFloat(node, graph_);
    for (const Node& made : nodes) RETURN_IF_ERROR(Take(made));
    for (Node& made : FromFloat(node, nodes.back(), graph_)) {
      RETURN_IF_ERROR(Take(std::move(made)));
    }
    return absl::OkStatus();
  }

  absl::Status Take(Node node) {
    {
      const SizesAsConstants sizes(node, bounded_.find_sizes(), graph_);
      if (supposed_ != nullptr) {
        ASSIGN_OR_RETURN(auto known, supposition_.Infer(node));
        if (!known) return absl::OkStatus();
      } else {
        RETURN_IF_ERROR(CheckNode(*graph_, node));
        RETURN_IF_ERROR(InferOutputs(graph_, declared_, &node));
      }
    }
    RETURN_IF_ERROR(CheckSize(*graph_, node));
    RETURN_IF_ERROR(bounded_.Add(*graph_, node));
    RETURN_IF_ERROR(CheckDeclared(graph_, node, declared_, bounded_));
    if (!IsQuantizationBoundary(node)) {
      ASSIGN_OR_RETURN(auto folded, Fold(graph_, node, bounded_,
                                         &limits_->folded, supposed_));
      if (folded) {
        if (!bounded_.Touches(node)) return absl::OkStatus();
        // Now they are what they are.
        for (TensorId id : node.outputs) bounded_.Set(id, 0);
        return CheckDeclared(graph_, node, declared_, bounded_);
      }
    }
    if (supposed_ != nullptr) supposition_.Keep(node);
    kept_.push_back(std::move(node));
    return absl::OkStatus();
  }

  // What the node reads is known, and of its results no shape is declared.
  bool IsSizeOpen(const Node& node) const {
    const bool known =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
          return id == kNoTensor || graph_->tensors[id].shape_known;
        });
    return known && !IsDeclared(declared_, node);
  }

  // Puts what takes the node's place next.
  void Put(std::vector<Node> nodes) {
    left_.insert(left_.end(), std::make_move_iterator(nodes.rbegin()),
                 std::make_move_iterator(nodes.rend()));
  }

  absl::Status ReplaceControl(const Node& node) {
    const bool loop = IsLoop(node);
    if (supposed_ != nullptr &&
        supposition_.IsOpen(loop ? unroller_.Deciders(node)
                                 : std::vector<TensorId>{node.inputs[0]},
                            node.op != "Scan")) {
      supposition_.LeaveOut(node);
      return absl::OkStatus();
    }
    if (!loop) {
      const Tensor& condition = graph_->tensors[node.inputs[0]];
      absl::StatusOr<std::vector<Node>> branch =
          BranchOf(*graph_, node, unroller_.subgraphs());
      if (branch.ok()) {
        Put(*std::move(branch));
        return absl::OkStatus();
      }
      if (condition.is_constant()) return branch.status();
      return LeaveToRun(node, branch.status());
    }
    if (node.op == "Loop" && limits_->too_long.count(node.name) != 0) {
      RETURN_IF_ERROR(unroller_.CheckLoop(node));
      return LeaveToRun(node,
                        RejectNode(Rejection::kUnsupportedShape, node,
                                   "its iterations expand to too many nodes; "
                                   "use fewer iterations or a smaller body"));
    }
    // A Loop comes again behind each of its iterations.
    const auto [begun, first] =
        begun_.try_emplace(FirstOutputOf(node), Attempt());
    if (first) {
      begun->second.kept = kept_.size();
      begun->second.tensors = graph_->tensors.size();
      begun->second.charges = limits_->charges;
      begun->second.bounded = bounded_;
      if (supposed_ != nullptr) begun->second.mark = supposition_.Here();
    }
    absl::StatusOr<std::vector<Node>> nodes = unroller_.Next(node);
    if (nodes.ok()) {
      const bool again = !nodes->empty() && IsLoop(nodes->back()) &&
                         nodes->back().outputs == node.outputs;
      if (!again) begun_.erase(begun);
      Put(*std::move(nodes));
      return absl::OkStatus();
    }
    if (!unroller_.LeftToRun()) return nodes.status();
    if (limits_->charges.exceeded) limits_->too_long.insert(node.name);
    TakeBack(node);
    return LeaveToRun(node, nodes.status());
  }

  // As if nobody had tried its iterations.
  void TakeBack(const Node& node) {
    const auto begun = begun_.find(FirstOutputOf(node));
    Attempt attempt = std::move(begun->second);
    begun_.erase(begun);
    unroller_.TakeBack(node, attempt.tensors, attempt.charges);
    kept_.resize(attempt.kept);
    // Tensors that come get the numbers of those that went.
    bounded_ = std::move(attempt.bounded);
    if (supposed_ != nullptr) supposition_.GoBackTo(attempt.mark);
  }

  // If there is no room left even for that, then those around it are left, too,
  // instead of their iterations.
  absl::Status LeaveToRun(Node node, absl::Status why) {
    for (;;) {
      const absl::Status left = Leave(node, why);
      if (left.ok() || !limits_->charges.exceeded) return left;
      while (!left_.empty() && begun_.count(FirstOutputOf(left_.back())) == 0) {
        left_.pop_back();
      }
      if (left_.empty()) return left;
      node = std::move(left_.back());
      left_.pop_back();
      why = left;
      TakeBack(node);
    }
  }

  // Rows that a Loop stacks for nobody need no number.
  Node WithoutUnread(Node node) const {
    const auto graphs = unroller_.subgraphs().find(FirstOutputOf(node));
    if (node.op != "Loop" || graphs == unroller_.subgraphs().end()) return node;
    std::set<TensorId> read(graph_->outputs.begin(), graph_->outputs.end());
    for (const Node& next : left_) {
      read.insert(next.inputs.begin(), next.inputs.end());
    }
    const TensorId first = FirstOutputOf(node);  // which stands for the node
    for (size_t i = graphs->second.own_inputs - 2; i < node.outputs.size();
         ++i) {
      TensorId& id = node.outputs[i];
      if (id != first && read.count(id) == 0) id = kNoTensor;
    }
    return node;
  }

  absl::Status Leave(const Node& whole, const absl::Status& why) {
    const Node node = WithoutUnread(whole);
    if (depth_ >= kMostControlDepth) {
      return RejectNode(Rejection::kUnsupportedShape, node, "more than ",
                        kMostControlDepth,
                        " run-time Ifs and Loops are nested");
    }
    const auto infer =
        [this](Graph* body, const SubgraphMap& subgraphs,
               Supposed* supposed) -> absl::StatusOr<BoundedTensors> {
      static const std::map<TensorId, Declaration> kNothing;
      Inference inside(body, kNothing, supposed, subgraphs, depth_ + 1,
                       limits_);
      RETURN_IF_ERROR(inside.Run());
      return std::move(inside.bounded_);
    };
    ASSIGN_OR_RETURN(
        auto nodes,
        compiler::LeaveToRun({node, unroller_.subgraphs(), why, declared_,
                              supposed_, bounded_, &unroller_, infer},
                             graph_));
    if (nodes.empty()) {
      supposition_.LeaveOut(node);
      return absl::OkStatus();
    }
    for (Node& made : nodes) RETURN_IF_ERROR(Take(std::move(made)));
    return absl::OkStatus();
  }

  // A Loop that gives way to its iterations, or does not after all.
  struct Attempt {
    size_t kept = 0, tensors = 0;
    UnrollCharges charges;
    BoundedTensors bounded;
    Supposition::Mark mark;
  };

  Graph* const graph_;
  const std::map<TensorId, Declaration>& declared_;
  Supposed* const supposed_;
  const int depth_;
  Limits* const limits_;
  Unroller unroller_;
  Supposition supposition_;
  BoundedTensors bounded_;
  std::vector<Node> kept_, left_;
  std::map<TensorId, Attempt> begun_;
};

}  // namespace

absl::Status InferAndFold(Graph* graph,
                          const std::map<TensorId, Declaration>& declared,
                          Supposed* supposed, const SubgraphMap& subgraphs) {
  Limits limits;
  return Inference(graph, declared, supposed, subgraphs, 0, &limits).Run();
}

absl::Status FoldConstants(Graph* graph, Supposed* supposed, int64_t* budget) {
  int64_t all = kMaxFoldedTotal;
  if (budget == nullptr) budget = &all;
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  std::vector<Node> kept;
  for (const Node& node : graph->nodes) {
    ASSIGN_OR_RETURN(auto folded, Fold(graph, node, bounded, budget, supposed));
    if (!folded) kept.push_back(node);
  }
  graph->nodes = std::move(kept);
  return absl::OkStatus();
}

}  // namespace heddle::compiler
