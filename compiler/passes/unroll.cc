// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/unroll.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

size_t BytesOf(const Attribute& attribute) {
  struct Size {
    size_t operator()(const std::string& s) const { return s.size(); }
    size_t operator()(const std::vector<std::string>& list) const {
      size_t bytes = 0;
      for (const std::string& s : list) bytes += sizeof(s) + s.size();
      return bytes;
    }
    size_t operator()(const std::vector<int64_t>& v) const {
      return v.size() * sizeof(int64_t);
    }
    size_t operator()(const std::vector<float>& v) const {
      return v.size() * sizeof(float);
    }
    size_t operator()(const std::shared_ptr<const TensorData>&) const {
      return 0;  // shared by the copies
    }
    size_t operator()(const std::shared_ptr<const Graph>&) const {
      return 0;  // no node of a model as imported has one
    }
    size_t operator()(int64_t) const { return 0; }
    size_t operator()(float) const { return 0; }
  };
  return std::visit(Size(), attribute);
}

TensorData Int64Scalar(int64_t value) {
  TensorData data = TensorData::Zeros(DataType::kInt64, {});
  *data.as<int64_t>() = value;
  return data;
}

TensorData Int64List(const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64,
                                      {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), data.as<int64_t>());
  return data;
}

absl::Status HasNoElements(const Node& node) {
  return RejectNode(Rejection::kUnsupportedShape, node,
                    "it has no iterations, so a result has no elements");
}

}  // namespace

void Unroller::Charge(const Node& node) {
  ++charges_->nodes;
  ++charges_->tried;
  charges_->bytes +=
      sizeof(Node) + node.name.size() +
      (node.inputs.size() + node.outputs.size()) * sizeof(TensorId);
  for (const std::string& s : node.sources) {
    charges_->bytes += sizeof(s) + s.size();
  }
  for (const auto& [name, value] : node.attributes) {
    charges_->bytes += BytesOf(value);
  }
}

absl::Status Unroller::CheckCharges(const Node& owner) {
  if (charges_->tried > kMostTriedNodes) {
    return RejectNode(Rejection::kUnsupportedShape, owner,
                      "unrolling the model's Loops takes more than ",
                      kMostTriedNodes,
                      " nodes; use fewer iterations or smaller bodies");
  }
  if (charges_->nodes <= kMostUnrolledNodes &&
      charges_->bytes <= kMostUnrolledBytes) {
    return absl::OkStatus();
  }
  return TooMuch(owner);
}

absl::Status Unroller::ChargeCopy(const Node& owner,
                                  const std::vector<Node>& nodes) {
  for (const Node& node : nodes) Charge(node);
  return CheckCharges(owner);
}

void Unroller::TakeBack(const Node& node, size_t tensors,
                        const UnrollCharges& before) {
  const auto first = static_cast<TensorId>(tensors);
  progress_.erase(FirstOutputOf(node));
  progress_.erase(progress_.lower_bound(first), progress_.end());
  subgraphs_.erase(subgraphs_.lower_bound(first), subgraphs_.end());
  graph_->tensors.resize(tensors);
  charges_->nodes = before.nodes;
  charges_->bytes = before.bytes;
  left_to_run_ = charges_->exceeded = false;
}

TensorId Unroller::NewTensor(const std::string& name) {
  Tensor tensor;
  tensor.name = absl::StrCat(name, "/", ++names_);
  charges_->bytes += sizeof(Tensor) + tensor.name.size();
  return graph_->AddTensor(std::move(tensor));
}

TensorId Unroller::Constant(const Node& owner, TensorData data) {
  std::string name =
      absl::StrCat(graph_->tensors[FirstOutputOf(owner)].name, "/", ++names_);
  charges_->bytes += sizeof(Tensor) + name.size() + data.bytes.size();
  return graph_->AddConstant(std::move(name), std::move(data));
}

TensorId Unroller::Append(const Node& owner, const std::string& op,
                          std::vector<TensorId> inputs,
                          const std::map<std::string, Attribute>& attributes,
                          TensorId result, std::vector<Node>* nodes) {
  if (result == kNoTensor) {
    result = NewTensor(graph_->tensors[FirstOutputOf(owner)].name);
  }
  Node node;
  node.op = op;
  node.opset = 13;
  node.name = owner.name;
  node.sources = owner.sources;
  node.inputs = std::move(inputs);
  node.outputs = {result};
  node.attributes = attributes;
  Charge(node);
  nodes->push_back(std::move(node));
  return result;
}

absl::StatusOr<Subgraph> Unroller::Copy(const Node& owner, const Subgraph& from,
                                        Replacements known) {
  Subgraph copy;
  copy.refusal = from.refusal;
  charges_->bytes +=
      (from.inputs.size() + from.outputs.size()) * sizeof(TensorId);
  for (TensorId id : from.inputs) {
    auto [it, fresh] = known.try_emplace(id, kNoTensor);
    if (fresh) it->second = NewTensor(graph_->tensors[id].name);
    copy.inputs.push_back(it->second);
  }
  const auto replaced = [&known](TensorId id) {
    const auto it = known.find(id);
    return it == known.end() ? id : it->second;
  };
  for (const Node& original : from.nodes) {
    Charge(original);
    RETURN_IF_ERROR(CheckCharges(owner));
    Node node = original;
    for (TensorId& id : node.inputs) id = replaced(id);
    for (TensorId& id : node.outputs) {
      if (id == kNoTensor) continue;
      const TensorId fresh = NewTensor(graph_->tensors[id].name);
      known[id] = fresh;
      id = fresh;
    }
    const auto graphs = subgraphs_.find(FirstOutputOf(original));
    if ((IsIf(node) || IsLoop(node)) && graphs != subgraphs_.end()) {
      // (A copy: adding to the map moves nothing, but what is copied adds.)
      const Subgraphs theirs = graphs->second;
      Subgraphs own;
      own.own_inputs = theirs.own_inputs;
      ASSIGN_OR_RETURN(own.then_branch, Copy(owner, theirs.then_branch, known));
      ASSIGN_OR_RETURN(own.else_branch, Copy(owner, theirs.else_branch, known));
      ASSIGN_OR_RETURN(own.body, Copy(owner, theirs.body, known));
      subgraphs_.emplace(FirstOutputOf(node), std::move(own));
    }
    copy.nodes.push_back(std::move(node));
  }
  for (TensorId id : from.outputs) copy.outputs.push_back(replaced(id));
  return copy;
}

absl::Status Unroller::Stack(const Node& owner,
                             const std::vector<TensorId>& parts, int64_t axis,
                             bool batch, TensorId result,
                             std::vector<Node>* nodes) {
  const TensorId axes =
      Constant(owner, Int64List(batch ? std::vector<int64_t>{0, 1}
                                      : std::vector<int64_t>{axis}));
  std::vector<TensorId> wide;
  for (TensorId id : parts) {
    wide.push_back(
        Append(owner, "Unsqueeze", {id, axes}, {}, kNoTensor, nodes));
    RETURN_IF_ERROR(CheckCharges(owner));
  }
  Append(owner, "Concat", std::move(wide), {{"axis", batch ? 1 : axis}}, result,
         nodes);
  return CheckCharges(owner);
}

absl::StatusOr<std::vector<Node>> Unroller::Next(const Node& node) {
  left_to_run_ = false;
  return node.op == "Loop" ? NextOfLoop(node) : AllOfScan(node);
}

std::vector<TensorId> Unroller::Deciders(const Node& node) const {
  std::vector<TensorId> ids;
  const auto graphs = subgraphs_.find(FirstOutputOf(node));
  if (graphs == subgraphs_.end()) return ids;
  const size_t own = graphs->second.own_inputs;
  if (node.op == "Scan") {
    ids.assign(node.inputs.begin(),
               node.inputs.begin() + static_cast<int64_t>(own));
  } else {
    const auto at = progress_.find(FirstOutputOf(node));
    if (own > 0) ids.push_back(node.inputs[0]);
    if (at != progress_.end()) {
      ids.push_back(at->second.condition);
    } else if (own > 1) {
      ids.push_back(node.inputs[1]);
    }
  }
  ids.erase(std::remove(ids.begin(), ids.end(), kNoTensor), ids.end());
  return ids;
}

absl::Status Unroller::CheckLoop(const Node& node) const {
  const auto graphs = subgraphs_.find(FirstOutputOf(node));
  if (graphs == subgraphs_.end()) {
    return absl::InternalError(node.Describe() + " has no body");
  }
  const Subgraph& body = graphs->second.body;
  const size_t own = graphs->second.own_inputs;
  const size_t carried = own < 2 ? 0 : own - 2;
  if (own < 2 || body.inputs.size() != carried + 2 ||
      body.outputs.size() < carried + 1 ||
      node.outputs.size() > body.outputs.size() - 1) {
    return RejectNode(Rejection::kInvalidModel, node, own, " inputs and ",
                      node.outputs.size(), " outputs do not fit a body of ",
                      body.inputs.size(), " and ", body.outputs.size());
  }
  for (size_t i = 0; i < carried; ++i) {
    if (node.inputs[2 + i] != kNoTensor) continue;
    return RejectNode(Rejection::kInvalidModel, node, "input ", 2 + i,
                      " is missing");
  }
  return absl::OkStatus();
}

absl::Status Unroller::TooMuch(const Node& owner) {
  left_to_run_ = charges_->exceeded = true;
  return RejectNode(Rejection::kUnsupportedShape, owner,
                    "its iterations take more than ", kMostUnrolledNodes,
                    " nodes or ", kMostUnrolledBytes,
                    " bytes; use fewer iterations or a smaller body");
}

absl::StatusOr<std::vector<Node>> Unroller::NextOfLoop(const Node& node) {
  RETURN_IF_ERROR(CheckLoop(node));
  const Subgraphs& graphs = subgraphs_.find(FirstOutputOf(node))->second;
  const Subgraph body = graphs.body;
  const size_t carried = graphs.own_inputs - 2;
  const size_t own = graphs.own_inputs;
  const auto [at, begins] = progress_.try_emplace(FirstOutputOf(node));
  Progress& progress = at->second;
  if (begins) {
    progress.condition = node.inputs[1];
    progress.carried.assign(node.inputs.begin() + 2,
                            node.inputs.begin() + static_cast<int64_t>(own));
    progress.scanned.resize(body.outputs.size() - 1 - carried);
  }
  const auto constant = [&](TensorId id, DataType type, const char* what,
                            const TensorData** data) -> absl::Status {
    const Tensor& t = graph_->tensors[id];
    if (!t.is_constant()) {
      left_to_run_ = true;
      return RejectNode(Rejection::kUnsupportedOperator, node, what, " '",
                        t.name,
                        "' is computed at run time; without the host, it must "
                        "be constant or follow from shapes");
    }
    if (t.type != type || t.constant->count() != 1) {
      return RejectNode(Rejection::kInvalidModel, node, what, " '", t.name,
                        "' is ", DataTypeName(t.type), ShapeToString(t.shape),
                        ", must be one ", DataTypeName(type));
    }
    *data = t.constant.get();
    return absl::OkStatus();
  };
  bool goes_on = true;
  const TensorData* data = nullptr;
  if (node.inputs[0] != kNoTensor) {
    RETURN_IF_ERROR(
        constant(node.inputs[0], DataType::kInt64, "trip count", &data));
    goes_on = progress.iterations < *data->as<int64_t>();
  }
  if (goes_on && progress.condition != kNoTensor) {
    RETURN_IF_ERROR(
        constant(progress.condition, DataType::kBool, "condition", &data));
    goes_on = data->bytes[0] != 0;
  }
  std::vector<Node> nodes;
  if (goes_on) {
    RETURN_IF_ERROR(body.refusal);
    Charge(node);
    RETURN_IF_ERROR(CheckCharges(node));
    Replacements known;
    known[body.inputs[0]] = Constant(node, Int64Scalar(progress.iterations));
    TensorId condition = progress.condition;
    if (condition == kNoTensor) {
      TensorData yes = TensorData::Zeros(DataType::kBool, {});
      yes.bytes[0] = 1;
      condition = Constant(node, std::move(yes));
    }
    known[body.inputs[1]] = condition;
    for (size_t i = 0; i < carried; ++i) {
      known[body.inputs[2 + i]] = progress.carried[i];
    }
    ASSIGN_OR_RETURN(Subgraph copy, Copy(node, body, std::move(known)));
    ++progress.iterations;
    progress.condition = copy.outputs[0];
    for (size_t i = 0; i < carried; ++i) {
      progress.carried[i] = copy.outputs[1 + i];
    }
    for (size_t i = 0; i < progress.scanned.size(); ++i) {
      progress.scanned[i].push_back(copy.outputs[1 + carried + i]);
    }
    nodes = std::move(copy.nodes);
    nodes.push_back(node);
    return nodes;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    if (i < carried) {
      Append(node, "Identity", {progress.carried[i]}, {}, node.outputs[i],
             &nodes);
      RETURN_IF_ERROR(CheckCharges(node));
      continue;
    }
    const std::vector<TensorId>& parts = progress.scanned[i - carried];
    if (parts.empty()) return HasNoElements(node);
    RETURN_IF_ERROR(Stack(node, parts, 0, false, node.outputs[i], &nodes));
  }
  progress_.erase(at);
  return nodes;
}

absl::StatusOr<std::vector<Node>> Unroller::AllOfScan(const Node& node) {
  const auto graphs = subgraphs_.find(FirstOutputOf(node));
  if (graphs == subgraphs_.end()) {
    return absl::InternalError(node.Describe() + " has no body");
  }
  const Subgraph body = graphs->second.body;
  RETURN_IF_ERROR(body.refusal);
  // Of opset 8: lengths first, then states and sequences of a batch.
  const bool batch = node.opset < 9;
  const auto own = static_cast<int64_t>(graphs->second.own_inputs);
  const int64_t first = batch ? 1 : 0;
  const int64_t scans = node.IntAttribute("num_scan_inputs", 0);
  const bool counted = scans >= 1 && scans <= own - first;
  const int64_t states = counted ? own - first - scans : 0;
  const auto outputs = static_cast<int64_t>(body.outputs.size());
  if (!counted || static_cast<int64_t>(body.inputs.size()) != states + scans ||
      outputs < states || static_cast<int64_t>(node.outputs.size()) > outputs) {
    return RejectNode(Rejection::kInvalidModel, node, own,
                      " inputs, num_scan_inputs = ", scans, " and ",
                      node.outputs.size(), " outputs do not fit a body of ",
                      body.inputs.size(), " and ", outputs);
  }
  if (batch && node.inputs[0] != kNoTensor) {
    return RejectNode(Rejection::kUnsupportedOperator, node,
                      "sequence_lens of opset 8 are not supported; convert the "
                      "model to opset 9");
  }
  const auto list = [&](const char* name, int64_t count, int64_t low,
                        int64_t high,
                        std::vector<int64_t>* values) -> absl::Status {
    *values = node.IntsAttribute(
        name, std::vector<int64_t>(static_cast<size_t>(count), 0));
    bool good = static_cast<int64_t>(values->size()) == count;
    for (int64_t v : *values) good = good && v >= low && v <= high;
    if (good) return absl::OkStatus();
    return RejectNode(Rejection::kInvalidModel, node, name, " is ",
                      ShapeToString(*values), ", must be ", count,
                      " numbers from ", low, " to ", high);
  };
  constexpr int64_t kMostRank = 64;
  std::vector<int64_t> in_axes, out_axes, in_turns, out_turns;
  RETURN_IF_ERROR(
      list("scan_input_axes", scans, -kMostRank, kMostRank, &in_axes));
  RETURN_IF_ERROR(list("scan_output_axes", outputs - states, -kMostRank,
                       kMostRank, &out_axes));
  RETURN_IF_ERROR(list(batch ? "directions" : "scan_input_directions", scans, 0,
                       1, &in_turns));
  RETURN_IF_ERROR(
      list("scan_output_directions", outputs - states, 0, 1, &out_turns));
  int64_t count = -1;
  for (int64_t i = first; i < own; ++i) {
    if (node.inputs[i] == kNoTensor) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is missing");
    }
    const Shape& shape = graph_->tensors[node.inputs[i]].shape;
    if (batch && (shape.empty() || shape[0] != 1)) {
      return RejectNode(Rejection::kUnsupportedShape, node, "input ", i,
                        " has shape ", ShapeToString(shape),
                        "; of opset 8 only a batch of 1 is supported, convert "
                        "the model to opset 9");
    }
    if (i < first + states) continue;
    const auto at = static_cast<size_t>(i - first - states);
    size_t axis = 0;
    if (!NormalizeAxis(batch ? 1 : in_axes[at], shape.size(), &axis)) {
      return RejectNode(Rejection::kInvalidModel, node, "axis ", in_axes[at],
                        " is out of range for input ", i, " of shape ",
                        ShapeToString(shape));
    }
    in_axes[at] = static_cast<int64_t>(axis);
    if (count >= 0 && count != shape[axis]) {
      return RejectNode(Rejection::kMismatchingShape, node,
                        "sequences have lengths ", count, " and ", shape[axis]);
    }
    count = shape[axis];
  }
  // (A node at least besides those of the body: what it reads of a sequence.)
  if (count >
      static_cast<int64_t>(kMostUnrolledNodes / (body.nodes.size() + 1))) {
    return TooMuch(node);
  }
  std::vector<Node> nodes;
  const TensorId zero = batch ? Constant(node, Int64List({0})) : kNoTensor;
  const auto entry = [&](TensorId id) {  // the only one of the batch
    return batch ? Append(node, "Squeeze", {id, zero}, {}, kNoTensor, &nodes)
                 : id;
  };
  std::vector<TensorId> carried;
  for (int64_t i = 0; i < states; ++i) {
    carried.push_back(entry(node.inputs[first + i]));
    RETURN_IF_ERROR(CheckCharges(node));
  }
  std::vector<std::vector<TensorId>> scanned(
      static_cast<size_t>(outputs - states));
  for (int64_t t = 0; t < count; ++t) {
    Charge(node);
    RETURN_IF_ERROR(CheckCharges(node));
    Replacements known;
    for (int64_t i = 0; i < states; ++i) known[body.inputs[i]] = carried[i];
    for (int64_t i = 0; i < scans; ++i) {
      const int64_t step = in_turns[i] != 0 ? count - 1 - t : t;
      const TensorId index = Constant(node, Int64Scalar(step));
      known[body.inputs[states + i]] =
          entry(Append(node, "Gather", {node.inputs[first + states + i], index},
                       {{"axis", in_axes[i]}}, kNoTensor, &nodes));
      RETURN_IF_ERROR(CheckCharges(node));
    }
    ASSIGN_OR_RETURN(Subgraph copy, Copy(node, body, std::move(known)));
    std::move(copy.nodes.begin(), copy.nodes.end(), std::back_inserter(nodes));
    for (int64_t i = 0; i < states; ++i) carried[i] = copy.outputs[i];
    for (size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(copy.outputs[states + i]);
    }
  }
  for (int64_t i = 0; i < static_cast<int64_t>(node.outputs.size()); ++i) {
    const TensorId result = node.outputs[i];
    if (result == kNoTensor) continue;
    if (i < states) {
      if (batch) {
        Append(node, "Unsqueeze", {carried[i], zero}, {}, result, &nodes);
      } else {
        Append(node, "Identity", {carried[i]}, {}, result, &nodes);
      }
      RETURN_IF_ERROR(CheckCharges(node));
      continue;
    }
    const auto at = static_cast<size_t>(i - states);
    std::vector<TensorId>& parts = scanned[at];
    if (parts.empty()) return HasNoElements(node);
    if (out_turns[at] != 0) std::reverse(parts.begin(), parts.end());
    RETURN_IF_ERROR(Stack(node, parts, out_axes[at], batch, result, &nodes));
  }
  return nodes;
}

}  // namespace heddle::compiler
