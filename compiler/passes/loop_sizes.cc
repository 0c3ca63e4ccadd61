// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/loop_sizes.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/bounds.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/open_values.h"

namespace heddle::compiler {
namespace {

// A constant trip count beyond this stands for "until the condition says so".
constexpr int64_t kMostIterations = int64_t{1} << 24;

class Sizer {
 public:
  Sizer(const LoopToSize& to_size, Graph* graph)
      : given_(to_size),
        graph_(graph),
        own_(to_size.graphs.own_inputs),
        carried_(own_ - 2),
        before_(to_size.loop, graph, &made_.before),
        behind_(to_size.loop, graph, &made_.behind),
        prologue_(to_size.loop, graph, &first_),
        epilogue_(to_size.loop, graph, &last_) {}

  absl::StatusOr<std::optional<Sized>> Run() {
    if (!FindOpen()) return std::nullopt;
    if (!grows_.empty() || given_.collects) {
      if (given_.iterations < 0) return NothingBounds();
      if (!SetMost()) return std::nullopt;
    }
    made_.node = given_.loop;
    made_.graphs.body.refusal = given_.graphs.body.refusal;
    inputs_.assign(given_.loop.inputs.begin(),
                   given_.loop.inputs.begin() + static_cast<int64_t>(own_));
    const Subgraph& body = given_.graphs.body;
    body_inputs_ = body.inputs;
    body_outputs_.assign(
        body.outputs.begin(),
        body.outputs.begin() + static_cast<int64_t>(1 + carried_));
    outputs_.assign(carried_, kNoTensor);
    for (size_t i = 0; i < carried_ && i < given_.loop.outputs.size(); ++i) {
      outputs_[i] = given_.loop.outputs[i];
    }
    for (const auto& [i, open] : open_) Carry(i, open);
    const size_t rows = body.outputs.size() - 1 - carried_;
    if (given_.collects) {
      for (size_t i = 0; i < rows; ++i) Collect(i);
    }
    made_.graphs.own_inputs = inputs_.size();
    inputs_.insert(inputs_.end(),
                   given_.loop.inputs.begin() + static_cast<int64_t>(own_),
                   given_.loop.inputs.end());
    if (!given_.collects) {
      for (size_t i = 0; i < rows; ++i) {
        body_outputs_.push_back(body.outputs[1 + carried_ + i]);
        const size_t at = carried_ + i;
        outputs_.push_back(at < given_.loop.outputs.size()
                               ? given_.loop.outputs[at]
                               : kNoTensor);
      }
    }
    made_.node.inputs = std::move(inputs_);
    made_.node.outputs = std::move(outputs_);
    Subgraph& sized = made_.graphs.body;
    sized.inputs = std::move(body_inputs_);
    sized.outputs = std::move(body_outputs_);
    sized.nodes = std::move(first_);
    sized.nodes.insert(sized.nodes.end(), body.nodes.begin(), body.nodes.end());
    sized.nodes.insert(sized.nodes.end(), last_.begin(), last_.end());
    return std::move(made_);
  }

 private:
  ValueType TypeOf(TensorId id) const {
    return {graph_->tensors[id].type, graph_->tensors[id].shape};
  }
  const std::string& NameOf(TensorId id) const {
    return graph_->tensors[id].name;
  }

  // What is open, with the most as far as it is known; false if there is
  // nothing, or something that stays as it is.
  bool FindOpen() {
    for (size_t i = 0; i < carried_; ++i) {
      const TensorId id = given_.loop.inputs[2 + i];
      const ValueType first = TypeOf(id), next = given_.results[i];
      const AxisSet bounded = given_.bounded.of(id) | given_.open_results[i];
      if (first == next && bounded == 0) continue;
      if (first.type != next.type || first.shape.size() > 63) return false;
      const auto differs = OneAxis(first.shape, next.shape);
      const auto varies = OneAxis(bounded);
      if ((first.shape != next.shape && !differs.has_value()) ||
          (bounded != 0 && !varies.has_value()) ||
          (differs.has_value() && varies.has_value() && differs != varies)) {
        return false;
      }
      OpenTensor open;
      open.id = id;
      open.axis = differs.has_value() ? *differs : *varies;
      open.most = std::max(first.shape[open.axis], next.shape[open.axis]);
      open.type = first;
      open.type.shape[open.axis] = open.most;
      open_[i] = open;
      if (next.shape[open.axis] > first.shape[open.axis]) {
        grows_[i] = next.shape[open.axis] - first.shape[open.axis];
      }
    }
    for (size_t i = carried_; i < given_.open_results.size(); ++i) {
      if (given_.open_results[i] != 0) return false;  // rows of several sizes
    }
    return !open_.empty() || given_.collects;
  }

  // By as much as the first iteration adds, each of them adds. False if that is
  // more than a tensor may have.
  bool SetMost() {
    for (const auto& [i, more] : grows_) {
      OpenTensor& open = open_.at(i);
      int64_t all = 0;
      if (__builtin_mul_overflow(more, given_.iterations, &all) ||
          __builtin_add_overflow(graph_->tensors[open.id].shape[open.axis], all,
                                 &open.most)) {
        return false;
      }
      open.most = std::max(open.most, given_.results[i].shape[open.axis]);
      open.type.shape[open.axis] = open.most;
    }
    return true;
  }

  absl::Status NothingBounds() const {
    return RejectNode(
        Rejection::kUnsupportedShape, given_.loop, "its carried value '",
        NameOf(given_.graphs.body.inputs[2 + grows_.begin()->first]),
        "' grows, but nothing limits the number of iterations; ",
        "give a bound with ", BoundOption(given_.loop, *graph_));
  }

  // A place for it in the body, filled; the body has it as `id`.
  Filled Enter(const OpenTensor& open, TensorId id) {
    Filled inside;
    inside.values = graph_->AddTemporary(NameOf(id) + "/filled", open.type.type,
                                         open.type.shape);
    inside.size =
        graph_->AddTemporary(NameOf(id) + "/size", DataType::kInt64, {1});
    prologue_.Take(open, inside, id);
    return inside;
  }

  // One more carried value, of fixed shape; its place among the outputs.
  size_t CarryMore(TensorId input, TensorId in_body, TensorId result) {
    inputs_.push_back(input);
    body_inputs_.push_back(in_body);
    body_outputs_.push_back(result);
    outputs_.push_back(kNoTensor);
    return outputs_.size() - 1;
  }

  void Carry(size_t i, const OpenTensor& open) {
    const Filled outside = before_.Close(open, given_.bounded);
    const Filled inside = Enter(open, body_inputs_[2 + i]);
    const TensorId made = body_outputs_[1 + i];
    const TensorId size = epilogue_.AtMost(
        epilogue_.SizeOf(open, made), {1}, open.most,
        absl::StrCat("size of ", NameOf(given_.graphs.body.inputs[2 + i])));
    inputs_[2 + i] = outside.values;
    body_inputs_[2 + i] = inside.values;
    body_outputs_[1 + i] = epilogue_.Fill(open, made);
    const TensorId result = outputs_[i];
    Filled last;
    last.values = graph_->AddTemporary(given_.loop.name + "/filled",
                                       open.type.type, open.type.shape);
    outputs_[i] = last.values;
    const size_t at = CarryMore(outside.size, inside.size, size);
    last.size =
        graph_->AddTemporary(given_.loop.name + "/size", DataType::kInt64, {1});
    outputs_[at] = last.size;
    if (result != kNoTensor) behind_.Take(open, last, result);
  }

  // Result i of those with a row of each iteration.
  void Collect(size_t i) {
    const size_t at = carried_ + i;
    const TensorId result =
        at < given_.loop.outputs.size() ? given_.loop.outputs[at] : kNoTensor;
    if (result == kNoTensor) return;
    const Subgraph& body = given_.graphs.body;
    OpenTensor open;
    open.most = given_.iterations;
    open.type = given_.results[at];
    open.type.shape.insert(open.type.shape.begin(), open.most);
    ValueType one = given_.results[at];
    one.shape.insert(one.shape.begin(), 1);
    if (count_.size == kNoTensor) Count();
    const TensorId rows = graph_->AddTemporary(NameOf(result) + "/rows",
                                               open.type.type, open.type.shape);
    const TensorId row = epilogue_.Add(
        "Unsqueeze", {body.outputs[1 + at], epilogue_.List({0})}, one);
    const size_t place =
        CarryMore(before_.Zeros(open.type), rows,
                  epilogue_.Add("ScatterND", {rows, number_, row}, open.type));
    Filled last = count_;
    last.values = graph_->AddTemporary(NameOf(result) + "/rows", open.type.type,
                                       open.type.shape);
    outputs_[place] = last.values;
    behind_.Take(open, last, result);
  }

  // The number of the iteration as an index, and how many there have been.
  void Count() {
    const TensorId iteration = given_.graphs.body.inputs[0];
    const TensorId number =
        epilogue_.AtMost(iteration, {}, given_.iterations - 1,
                         absl::StrCat("iteration of ", given_.loop.name));
    number_ = epilogue_.Add("Unsqueeze", {number, epilogue_.List({0, 1})},
                            {DataType::kInt64, {1, 1}});
    const TensorId next = epilogue_.Add("Add", {iteration, epilogue_.List({1})},
                                        {DataType::kInt64, {1}});
    const TensorId before = graph_->AddTemporary(given_.loop.name + "/count",
                                                 DataType::kInt64, {1});
    const size_t place = CarryMore(before_.List({0}), before, next);
    count_.size = graph_->AddTemporary(given_.loop.name + "/count",
                                       DataType::kInt64, {1});
    outputs_[place] = count_.size;
  }

  const LoopToSize& given_;
  Graph* const graph_;
  const size_t own_, carried_;
  std::map<size_t, OpenTensor> open_;  // by carried value
  std::map<size_t, int64_t> grows_;    // by how much
  Sized made_;
  std::vector<Node> first_, last_;  // of the body
  OpenValues before_, behind_, prologue_, epilogue_;
  std::vector<TensorId> inputs_, outputs_, body_inputs_, body_outputs_;
  TensorId number_ = kNoTensor;
  Filled count_;
};

}  // namespace

int64_t MostIterations(const Node& loop, const Graph& graph,
                       const BoundedTensors& bounded) {
  int64_t most = loop.IntAttribute(kIterationsAttribute, -1);
  const auto take = [&most](int64_t value) {
    if (value > kMostIterations) return;
    value = std::max<int64_t>(value, 0);
    most = most < 0 ? value : std::min(most, value);
  };
  const TensorId trips = loop.inputs[0];
  if (trips == kNoTensor) return most;
  const Tensor& tensor = graph.tensors[trips];
  if (tensor.is_constant()) {
    take(*tensor.constant->as<int64_t>());
  } else if (const OpenSizes* sizes = bounded.sizes(trips);
             sizes != nullptr && sizes->most.count() == 1) {
    take(*sizes->most.as<int64_t>());
  }
  return most;
}

std::string BoundOption(const Node& loop, const Graph& graph) {
  const TensorId trips = loop.inputs[0];
  const bool computed =
      trips != kNoTensor && !graph.tensors[trips].is_constant();
  const std::string& name = computed ? graph.tensors[trips].name : loop.name;
  return name.empty() ? "--bound, after the Loop has been given a name"
                      : absl::StrCat("--bound '", name, "=N'");
}

absl::StatusOr<std::optional<Sized>> SizeLoop(const LoopToSize& to_size,
                                              Graph* graph) {
  return Sizer(to_size, graph).Run();
}

}  // namespace heddle::compiler
