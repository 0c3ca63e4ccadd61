// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/control.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"
#include "compiler/passes/branch_shapes.h"
#include "compiler/passes/loop_sizes.h"

namespace heddle::compiler {
namespace {

constexpr int kPlainOpset = 13;  // of the nodes that are added

// A graph that stands for itself, made of nodes inside of another.
class BodyBuilder {
 public:
  BodyBuilder(const Graph& outer, const SubgraphMap& subgraphs,
              const std::string& name)
      : outer_(outer), subgraphs_(subgraphs) {
    body_.name = name;
  }

  // The own tensor of one of the outer graph. Constants share their bytes.
  TensorId Own(TensorId id) {
    if (id == kNoTensor) return id;
    const auto [it, fresh] = own_.try_emplace(id, kNoTensor);
    if (fresh) it->second = body_.AddTensor(outer_.tensors[id]);
    return it->second;
  }

  // A new input of the body, which stands for the outer tensor `id`, if any.
  TensorId AddInput(TensorId id, const std::string& name, ValueType type) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = type.type;
    tensor.shape = std::move(type.shape);
    tensor.shape_known = true;
    const TensorId own = body_.AddTensor(std::move(tensor));
    if (id != kNoTensor) own_[id] = own;
    body_.inputs.push_back(own);
    return own;
  }
  void AddConstant(TensorId id, TensorData data) {
    own_[id] = body_.AddConstant(outer_.tensors[id].name, std::move(data));
  }

  void Add(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) body_.nodes.push_back(Owned(node));
  }

  // A result of its own, and nobody else's: what it copies may be an input, or
  // a result twice.
  void AddOutput(const Node& owner, const std::string& name, TensorId id) {
    Tensor tensor;
    tensor.name = name;
    Node copy;
    copy.op = "Identity";
    copy.opset = kPlainOpset;
    copy.name = owner.name;
    copy.sources = owner.sources;
    copy.inputs = {Own(id)};
    copy.outputs = {body_.AddTensor(std::move(tensor))};
    body_.outputs.push_back(copy.outputs[0]);
    body_.nodes.push_back(std::move(copy));
  }

  Supposed SupposedInside(const Supposed& outside) const {
    Supposed inside;
    for (const auto& [outer, own] : own_) {
      if (outside.constants.count(outer) != 0) inside.constants.insert(own);
    }
    return inside;
  }

  Graph& body() { return body_; }
  const SubgraphMap& inner() const { return inner_; }

 private:
  Node Owned(Node node) {
    const TensorId first = FirstOutputOf(node);
    for (TensorId& id : node.inputs) id = Own(id);
    for (TensorId& id : node.outputs) id = Own(id);
    const auto graphs = subgraphs_.find(first);
    if ((IsIf(node) || IsLoop(node)) && graphs != subgraphs_.end()) {
      Subgraphs own;
      own.own_inputs = graphs->second.own_inputs;
      own.then_branch = Owned(graphs->second.then_branch);
      own.else_branch = Owned(graphs->second.else_branch);
      own.body = Owned(graphs->second.body);
      inner_.emplace(FirstOutputOf(node), std::move(own));
    }
    return node;
  }
  Subgraph Owned(const Subgraph& graph) {
    Subgraph own;
    own.refusal = graph.refusal;
    for (TensorId id : graph.inputs) own.inputs.push_back(Own(id));
    for (const Node& node : graph.nodes) own.nodes.push_back(Owned(node));
    for (TensorId id : graph.outputs) own.outputs.push_back(Own(id));
    return own;
  }

  const Graph& outer_;
  const SubgraphMap& subgraphs_;
  Graph body_;
  SubgraphMap inner_;
  std::map<TensorId, TensorId> own_;
};

class Leaver {
 public:
  Leaver(const LeftToRun& left, Graph* graph)
      : left_(left), node_(left.node), graph_(graph) {}

  absl::StatusOr<std::vector<Node>> Run() {
    const auto graphs = left_.subgraphs.find(FirstOutputOf(node_));
    if (graphs == left_.subgraphs.end()) {
      return absl::InternalError(node_.Describe() + " has no graphs");
    }
    graphs_ = &graphs->second;
    made_.op = IsIf(node_) ? "If" : "Loop";
    made_.domain = kInternalDomain;
    made_.opset = kPlainOpset;
    made_.name = node_.name;
    made_.sources = node_.sources;
    made_.attributes["kind"] = static_cast<int64_t>(RejectionOf(left_.why));
    made_.attributes["why"] = std::string(left_.why.message());
    RETURN_IF_ERROR(FindCaptures());
    const absl::Status made = IsIf(node_)          ? MakeIf()
                              : node_.op == "Loop" ? MakeLoop()
                                                   : MakeScan();
    RETURN_IF_ERROR(made);
    if (open_) return std::vector<Node>();
    before_.insert(before_.end(), std::make_move_iterator(nodes_.begin()),
                   std::make_move_iterator(nodes_.end()));
    return std::move(before_);
  }

 private:
  std::string NameOf(const char* what, size_t i) const {
    return absl::StrCat(graph_->tensors[FirstOutputOf(node_)].name, "/", what,
                        i);
  }
  ValueType TypeOf(TensorId id) const {
    return {graph_->tensors[id].type, graph_->tensors[id].shape};
  }

  // What the graphs read from outside and a run computes.
  absl::Status FindCaptures() {
    for (size_t i = graphs_->own_inputs; i < node_.inputs.size(); ++i) {
      const TensorId id = node_.inputs[i];
      if (!graph_->tensors[id].is_constant()) captures_.push_back(id);
    }
    return CloseCaptures(node_, left_.bounded, graph_, &captures_, &before_,
                         &taken_);
  }
  void AddCaptures(BodyBuilder* builder) const {
    for (TensorId id : captures_) {
      builder->AddInput(id, graph_->tensors[id].name, TypeOf(id));
    }
  }

  // Infers the body, whose inputs are there, from the graph as imported.
  absl::Status Finish(const char* name, const Subgraph& from, size_t outputs,
                      BodyBuilder* builder) {
    RETURN_IF_ERROR(from.refusal);
    RETURN_IF_ERROR(left_.unroller->ChargeCopy(node_, from.nodes));
    builder->Add(taken_);
    builder->Add(from.nodes);
    for (size_t i = 0; i < outputs; ++i) {
      builder->AddOutput(node_, NameOf("result_", i), from.outputs[i]);
    }
    Graph& body = builder->body();
    const std::vector<TensorId> in = body.inputs, out = body.outputs;
    BoundedTensors bounded;
    if (left_.supposed == nullptr) {
      ASSIGN_OR_RETURN(bounded, left_.infer(&body, builder->inner(), nullptr));
    } else {
      Supposed inside = builder->SupposedInside(*left_.supposed);
      ASSIGN_OR_RETURN(bounded, left_.infer(&body, builder->inner(), &inside));
      open_ |= !inside.left_out.empty();
    }
    open_ |= body.inputs != in || body.outputs != out;
    body.RemoveDeadNodes();
    bodies_.push_back({name, std::move(body), std::move(bounded)});
    return absl::OkStatus();
  }

  // What is left as it is has fixed shapes.
  absl::Status CheckSizes() const {
    for (const Body& body : bodies_) {
      for (TensorId id : body.graph.outputs) {
        if (body.bounded.of(id) == 0) continue;
        return RejectNode(
            Rejection::kUnsupportedShape, node_, "'",
            body.graph.tensors[id].name, "', a result of its ", body.name,
            ", has a size that depends on run-time values; reduce it to a "
            "tensor of fixed shape there");
      }
    }
    for (size_t i = 0; i < graphs_->own_inputs; ++i) {
      const TensorId id = node_.inputs[i];
      if (left_.bounded.of(id) == 0) continue;
      return RejectNode(
          Rejection::kUnsupportedShape, node_, "it reads '",
          graph_->tensors[id].name,
          "', whose size depends on run-time values, as does its control flow; "
          "reduce the tensor to a fixed shape before it, or make the condition "
          "or trip count constant");
    }
    return absl::OkStatus();
  }

  absl::Status MakeIf() {
    made_.inputs = {node_.inputs[0]};
    const Tensor& condition = graph_->tensors[node_.inputs[0]];
    if (condition.type != DataType::kBool ||
        ElementCount(condition.shape) != 1) {
      return NotOne("condition", condition, DataType::kBool);
    }
    for (const auto& [name, branch] :
         {std::make_pair("then_branch", &graphs_->then_branch),
          std::make_pair("else_branch", &graphs_->else_branch)}) {
      BodyBuilder builder(*graph_, left_.subgraphs, name);
      AddCaptures(&builder);
      RETURN_IF_ERROR(Finish(name, *branch, node_.outputs.size(), &builder));
    }
    if (open_) return absl::OkStatus();
    if (!left_.sized) {
      ASSIGN_OR_RETURN(const bool done, SizeIf());
      if (done) return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckSizes());
    made_.outputs = node_.outputs;
    for (size_t i = 0; i < made_.outputs.size(); ++i) {
      TensorId& id = made_.outputs[i];
      if (id == kNoTensor) id = NewTensor(NameOf("unread_", i));
    }
    std::vector<Node> behind;
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      const ValueType then = Result(0, i), other = Result(1, i);
      if (then.type == other.type && CanBeOneShape(then.shape, other.shape)) {
        for (Node& node : MakeOneShape(
                 i, {&bodies_[0].graph, &bodies_[1].graph}, &made_, graph_)) {
          behind.push_back(std::move(node));
        }
        continue;
      }
      RETURN_IF_ERROR(Same("result", OutputName(i), "in the one branch", then,
                           "in the other", other, "rank"));
    }
    Take(captures_, 0);
    RETURN_IF_ERROR(Done());
    nodes_.insert(nodes_.end(), std::make_move_iterator(behind.begin()),
                  std::make_move_iterator(behind.end()));
    return absl::OkStatus();
  }

  absl::Status MakeLoop() {
    const size_t own = graphs_->own_inputs;
    const Subgraph& from = graphs_->body;
    const size_t carried = own - 2;  // (the Unroller has looked at these)
    made_.inputs = {node_.inputs[0], node_.inputs[1]};
    BodyBuilder builder(*graph_, left_.subgraphs, "body");
    builder.AddInput(from.inputs[0], NameOf("iteration_", 0),
                     {DataType::kInt64, {}});
    // A body runs only where the condition holds.
    TensorData holds = TensorData::Zeros(
        DataType::kBool, node_.inputs[1] == kNoTensor
                             ? Shape()
                             : graph_->tensors[node_.inputs[1]].shape);
    for (uint8_t& byte : holds.bytes) byte = 1;
    for (size_t i = 0; i < 2; ++i) {
      if (node_.inputs[i] == kNoTensor) continue;
      const Tensor& tensor = graph_->tensors[node_.inputs[i]];
      const DataType type = i == 0 ? DataType::kInt64 : DataType::kBool;
      if (tensor.type != type || ElementCount(tensor.shape) != 1) {
        return NotOne(i == 0 ? "trip count" : "condition", tensor, type);
      }
    }
    builder.AddConstant(from.inputs[1], std::move(holds));
    for (size_t i = 0; i < carried; ++i) {
      const TensorId id = node_.inputs[2 + i];
      made_.inputs.push_back(id);
      builder.AddInput(from.inputs[2 + i], NameOf("carried_", i), TypeOf(id));
    }
    AddCaptures(&builder);
    RETURN_IF_ERROR(Finish("body", from, from.outputs.size(), &builder));
    if (open_) return absl::OkStatus();
    if (!left_.sized) {
      ASSIGN_OR_RETURN(const bool done, SizeLoop(carried));
      if (done) return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckSizes());
    Graph& body = bodies_[0].graph;
    const Tensor& condition = body.tensors[body.outputs[0]];
    if (condition.type != DataType::kBool ||
        ElementCount(condition.shape) != 1) {
      return NotOne("the body's condition", condition, DataType::kBool);
    }
    const bool conditional =
        !condition.is_constant() || condition.constant->bytes[0] == 0;
    if (!conditional) body.outputs.erase(body.outputs.begin());
    const size_t first = conditional ? 1 : 0;
    RETURN_IF_ERROR(CheckCarried(carried, first));
    TakeOutputs(carried, first);
    int64_t trips = -1;
    if (made_.outputs.size() > carried) {
      ASSIGN_OR_RETURN(trips, TripsOf(carried, conditional));
    }
    SetLoop(carried, 0, conditional, trips);
    Take(captures_, 1 + carried);
    return Done();
  }

  // Leaves another node, which needs no other one, instead of this one.
  absl::Status LeaveInstead(Sized sized) {
    SubgraphMap subgraphs = left_.subgraphs;
    subgraphs[FirstOutputOf(sized.node)] = std::move(sized.graphs);
    const LeftToRun again = {sized.node,     subgraphs,      left_.why,
                             left_.declared, left_.supposed, left_.bounded,
                             left_.unroller, left_.infer,    true};
    ASSIGN_OR_RETURN(nodes_, Leaver(again, graph_).Run());
    open_ = nodes_.empty();
    before_ = std::move(sized.before);
    nodes_.insert(nodes_.end(), std::make_move_iterator(sized.behind.begin()),
                  std::make_move_iterator(sized.behind.end()));
    return absl::OkStatus();
  }

  // Whether results of the If have sizes that a run decides, so that another
  // one has taken its place.
  absl::StatusOr<bool> SizeIf() {
    std::vector<BranchResult> results;
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      results.push_back(
          {{Result(0, i), Result(1, i)}, OpenResult(0, i) | OpenResult(1, i)});
    }
    auto sized = SizeBranches(node_, *graphs_, results, graph_);
    if (!sized.has_value()) return false;
    RETURN_IF_ERROR(LeaveInstead(*std::move(sized)));
    return true;
  }

  // The same of a Loop, of which something has no fixed size. Its body is known
  // for the first values.
  absl::StatusOr<bool> SizeLoop(size_t carried) {
    std::vector<ValueType> results;
    std::vector<AxisSet> open_results;
    for (size_t i = 1; i < bodies_[0].graph.outputs.size(); ++i) {
      results.push_back(Result(0, i));
      open_results.push_back(OpenResult(0, i));
    }
    bool collects = false;
    for (size_t i = carried; i < node_.outputs.size(); ++i) {
      collects |= node_.outputs[i] != kNoTensor;
    }
    const int64_t most = MostIterations(node_, *graph_, left_.bounded);
    if (collects) {
      const Graph& body = bodies_[0].graph;
      const Tensor& goes_on = body.tensors[body.outputs[0]];
      const bool conditional =
          !goes_on.is_constant() || goes_on.constant->bytes[0] == 0;
      // (Without a bound, the message is that of TripsOf.)
      collects = most >= 0 && !TripsOf(carried, conditional).ok();
    }
    ASSIGN_OR_RETURN(
        auto sized, compiler::SizeLoop({node_, *graphs_, left_.bounded, results,
                                        open_results, most, collects},
                                       graph_));
    if (!sized.has_value()) return false;
    RETURN_IF_ERROR(LeaveInstead(*std::move(sized)));
    return true;
  }

  // A Scan that would take too many nodes (the Unroller has looked at it).
  absl::Status MakeScan() {
    const auto own = static_cast<int64_t>(graphs_->own_inputs);
    const int64_t sequences = node_.IntAttribute("num_scan_inputs", 0);
    const int64_t states = own - sequences;
    if (node_.opset < 9) return left_.why;
    const Subgraph& from = graphs_->body;
    const auto outputs = static_cast<int64_t>(from.outputs.size());
    const auto list = [&](const char* name, int64_t count) {
      return node_.IntsAttribute(
          name, std::vector<int64_t>(static_cast<size_t>(count), 0));
    };
    const auto axes = list("scan_input_axes", sequences);
    const auto turns = list("scan_input_directions", sequences);
    made_.inputs = {kNoTensor, kNoTensor};
    BodyBuilder builder(*graph_, left_.subgraphs, "body");
    builder.AddInput(kNoTensor, NameOf("iteration_", 0),
                     {DataType::kInt64, {}});
    for (int64_t i = 0; i < states; ++i) {
      made_.inputs.push_back(node_.inputs[i]);
      builder.AddInput(from.inputs[i], NameOf("carried_", i),
                       TypeOf(node_.inputs[i]));
    }
    int64_t count = 0;
    for (int64_t i = 0; i < sequences; ++i) {
      TensorId id = node_.inputs[states + i];
      const ValueType whole = TypeOf(id);
      size_t axis = 0;
      NormalizeAxis(axes[i], whole.shape.size(), &axis);
      count = whole.shape[axis];
      std::vector<int64_t> order(whole.shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(), order.begin() + static_cast<int64_t>(axis),
                  order.begin() + static_cast<int64_t>(axis) + 1);
      if (axis != 0) id = Transpose(id, order, kNoTensor);
      if (turns[i] != 0) id = Turn(id, count, kNoTensor);
      made_.inputs.push_back(id);
      ValueType row = whole;
      row.shape.erase(row.shape.begin() + static_cast<int64_t>(axis));
      builder.AddInput(from.inputs[states + i], NameOf("row_", i), row);
    }
    made_.inputs[0] = Trips(count);
    AddCaptures(&builder);
    RETURN_IF_ERROR(Finish("body", from, outputs, &builder));
    if (open_) return absl::OkStatus();
    RETURN_IF_ERROR(CheckSizes());
    RETURN_IF_ERROR(CheckCarried(states, 0));
    const std::vector<TensorId> results = node_.outputs;
    TakeOutputs(states, 0);
    SetLoop(states, sequences, false, count);
    Take(captures_, 1 + states + sequences);
    const auto out_axes = list("scan_output_axes", outputs - states);
    const auto out_turns = list("scan_output_directions", outputs - states);
    // Rows lie in order along the first axis; the model wants them elsewhere.
    std::vector<Node> before = std::move(nodes_);
    nodes_.clear();
    std::vector<TensorId*> scanned;
    for (size_t i = states; i < made_.outputs.size(); ++i) {
      scanned.push_back(&made_.outputs[i]);
    }
    size_t at = 0;
    for (int64_t i = 0; i < outputs - states; ++i) {
      const auto place = static_cast<size_t>(states + i);
      if (place >= results.size() || results[place] == kNoTensor) continue;
      const ValueType row = Result(0, states + at);
      size_t axis = 0;
      if (!NormalizeAxis(out_axes[i], row.shape.size() + 1, &axis)) {
        return RejectNode(Rejection::kInvalidModel, node_, "scan_output_axes ",
                          out_axes[i], " is not an axis of result '",
                          graph_->tensors[results[place]].name, "'");
      }
      if (axis != 0 || out_turns[i] != 0) {
        TensorId rows = NewTensor(NameOf("rows_", i));
        *scanned[at] = rows;
        if (out_turns[i] != 0) {
          rows = Turn(rows, count, axis == 0 ? results[place] : kNoTensor);
        }
        if (axis != 0) {
          std::vector<int64_t> order(row.shape.size() + 1);
          std::iota(order.begin(), order.end(), 0);
          std::rotate(order.begin(), order.begin() + 1,
                      order.begin() + static_cast<int64_t>(axis) + 1);
          Transpose(rows, order, results[place]);
        }
      }
      ++at;
    }
    std::vector<Node> after = std::move(nodes_);
    nodes_ = std::move(before);
    RETURN_IF_ERROR(Done());
    nodes_.insert(nodes_.end(), after.begin(), after.end());
    return absl::OkStatus();
  }

  TensorId NewTensor(const std::string& name) {
    Tensor tensor;
    tensor.name = name;
    return graph_->AddTensor(std::move(tensor));
  }
  TensorId AddPlain(const std::string& op, std::vector<TensorId> inputs,
                    TensorId result, const std::string& attribute,
                    Attribute value) {
    if (result == kNoTensor) result = NewTensor(NameOf("turned_", ++names_));
    Node node;
    node.op = op;
    node.opset = kPlainOpset;
    node.name = node_.name;
    node.sources = node_.sources;
    node.inputs = std::move(inputs);
    node.outputs = {result};
    node.attributes[attribute] = std::move(value);
    nodes_.push_back(std::move(node));
    return result;
  }
  TensorId Transpose(TensorId id, const std::vector<int64_t>& order,
                     TensorId result) {
    return AddPlain("Transpose", {id}, result, "perm", order);
  }
  // Rows in reverse.
  TensorId Turn(TensorId id, int64_t count, TensorId result) {
    TensorData order = TensorData::Zeros(DataType::kInt64, {count});
    for (int64_t i = 0; i < count; ++i) order.as<int64_t>()[i] = count - 1 - i;
    const TensorId indices =
        graph_->AddConstant(NameOf("order_", ++names_), std::move(order));
    return AddPlain("Gather", {id, indices}, result, "axis", int64_t{0});
  }
  TensorId Trips(int64_t count) {
    TensorData trips = TensorData::Zeros(DataType::kInt64, {});
    *trips.as<int64_t>() = count;
    return graph_->AddConstant(NameOf("trips_", ++names_), std::move(trips));
  }

  absl::Status NotOne(const char* what, const Tensor& tensor, DataType type) {
    return RejectNode(Rejection::kInvalidModel, node_, what, " '", tensor.name,
                      "' is ", DataTypeName(tensor.type),
                      ShapeToString(tensor.shape), ", must be one ",
                      DataTypeName(type));
  }
  ValueType Result(size_t body, size_t i) const {
    const Graph& graph = bodies_[body].graph;
    const Tensor& tensor = graph.tensors[graph.outputs[i]];
    return {tensor.type, tensor.shape};
  }
  AxisSet OpenResult(size_t body, size_t i) const {
    return bodies_[body].bounded.of(bodies_[body].graph.outputs[i]);
  }
  std::string OutputName(size_t i) const {
    const TensorId id = i < node_.outputs.size() ? node_.outputs[i] : kNoTensor;
    return id == kNoTensor ? absl::StrCat(i) : graph_->tensors[id].name;
  }
  absl::Status Same(const char* what, const std::string& name,
                    const char* where, const ValueType& a,
                    const char* elsewhere, const ValueType& b,
                    const char* keeps) const {
    if (a == b) return absl::OkStatus();
    return RejectNode(a.type == b.type ? Rejection::kUnsupportedShape
                                       : Rejection::kMismatchingDatatype,
                      node_, what, " '", name, "' is ", DataTypeName(a.type),
                      ShapeToString(a.shape), " ", where, " and ",
                      DataTypeName(b.type), ShapeToString(b.shape), " ",
                      elsewhere, "; run-time control flow must keep type and ",
                      keeps);
  }
  absl::Status CheckCarried(size_t carried, size_t first) const {
    for (size_t i = 0; i < carried; ++i) {
      RETURN_IF_ERROR(
          Same("carried value", OutputName(i), "at first",
               TypeOf(made_.inputs[2 + i]), "after an iteration",
               Result(0, first + i),
               "shape, or grow on one axis by the same amount in each "
               "iteration; otherwise carry a tensor of the largest size that "
               "it may have, and the number of elements in use (ScatterND "
               "writes at a computed place)"));
    }
    return absl::OkStatus();
  }

  // The results of the node: all that is carried, and what is scanned if
  // somebody may read it.
  void TakeOutputs(size_t carried, size_t first) {
    Graph& body = bodies_[0].graph;
    std::vector<TensorId> kept(
        body.outputs.begin(),
        body.outputs.begin() + static_cast<int64_t>(first + carried));
    for (size_t i = 0; first + i < body.outputs.size(); ++i) {
      const TensorId id =
          i < node_.outputs.size() ? node_.outputs[i] : kNoTensor;
      if (i < carried) {
        made_.outputs.push_back(
            id != kNoTensor ? id : NewTensor(NameOf("last_", i)));
      } else if (id != kNoTensor) {
        made_.outputs.push_back(id);
        kept.push_back(body.outputs[first + i]);
      }
    }
    body.outputs = std::move(kept);
    body.RemoveDeadNodes();
  }

  // The number of iterations that results with a row of each must have.
  absl::StatusOr<int64_t> TripsOf(size_t carried, bool conditional) const {
    const auto constant = [&](size_t i) -> const TensorData* {
      const TensorId id = node_.inputs[i];
      return id == kNoTensor ? nullptr : graph_->tensors[id].constant.get();
    };
    const bool begins = node_.inputs[1] == kNoTensor ||
                        (constant(1) != nullptr && constant(1)->bytes[0] != 0);
    if (constant(0) != nullptr && !conditional && begins) {
      return std::max<int64_t>(0, *constant(0)->as<int64_t>());
    }
    int64_t trips = -1;
    for (size_t i = carried; i < node_.outputs.size(); ++i) {
      const auto declared = left_.declared.find(node_.outputs[i]);
      if (declared == left_.declared.end() || !declared->second.has_shape ||
          declared->second.shape.empty() || declared->second.shape[0] < 0) {
        continue;
      }
      trips = declared->second.shape[0];
    }
    if (trips >= 0) return trips;
    return RejectNode(
        Rejection::kUnsupportedShape, node_, "result '",
        graph_
            ->tensors[*std::find_if(
                node_.outputs.begin() + static_cast<int64_t>(carried),
                node_.outputs.end(),
                [](TensorId id) { return id != kNoTensor; })]
            .name,
        "' has a row per iteration, and their number is known "
        "only at run time; give a bound with ",
        BoundOption(node_, *graph_),
        ", declare its shape (value_info), give the Loop a "
        "constant trip count and no computed condition, "
        "or carry a tensor of fixed shape instead");
  }

  void SetLoop(size_t carried, size_t sequences, bool conditional,
               int64_t trips) {
    made_.attributes["carried"] = static_cast<int64_t>(carried);
    made_.attributes["sequences"] = static_cast<int64_t>(sequences);
    made_.attributes["conditional"] = int64_t{conditional};
    made_.attributes["trips"] = trips;
  }

  // Lets the bodies read those of the captures that one of them needs; they are
  // inputs from `first` on.
  void Take(const std::vector<TensorId>& captures, size_t first) {
    std::vector<bool> needed(captures.size(), false);
    for (const Body& body : bodies_) {
      std::vector<bool> read(body.graph.tensors.size(), false);
      for (const Node& node : body.graph.nodes) {
        for (TensorId id : node.inputs) {
          if (id != kNoTensor) read[id] = true;
        }
      }
      for (size_t i = 0; i < captures.size(); ++i) {
        if (read[body.graph.inputs[first + i]]) needed[i] = true;
      }
    }
    for (Body& body : bodies_) {
      const std::vector<TensorId> all = body.graph.inputs;
      body.graph.inputs.resize(first);
      for (size_t i = 0; i < captures.size(); ++i) {
        if (needed[i]) body.graph.inputs.push_back(all[first + i]);
      }
    }
    for (size_t i = 0; i < captures.size(); ++i) {
      if (needed[i]) made_.inputs.push_back(captures[i]);
    }
  }

  absl::Status Done() {
    for (Body& body : bodies_) {
      RETURN_IF_ERROR(body.graph.Verify());
      made_.attributes[body.name] =
          std::make_shared<const Graph>(std::move(body.graph));
    }
    nodes_.push_back(std::move(made_));
    return absl::OkStatus();
  }

  struct Body {
    const char* name;
    Graph graph;
    BoundedTensors bounded;
  };

  const LeftToRun& left_;
  const Node& node_;
  Graph* const graph_;
  const Subgraphs* graphs_ = nullptr;
  Node made_;
  std::vector<Body> bodies_;
  std::vector<TensorId> captures_;
  std::vector<Node> before_, taken_;  // of CloseCaptures
  std::vector<Node> nodes_;
  bool open_ = false;
  size_t names_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Node>> LeaveToRun(const LeftToRun& left,
                                             Graph* graph) {
  return Leaver(left, graph).Run();
}

}  // namespace heddle::compiler
