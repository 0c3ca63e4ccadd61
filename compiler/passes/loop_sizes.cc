// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/loop_sizes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/bounds.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;  // of the nodes that it makes
// A constant trip count beyond this stands for "until the condition says so".
constexpr int64_t kMostIterations = int64_t{1} << 24;

// A tensor of which a run decides the size on one axis.
struct OpenTensor {
  TensorId id = kNoTensor;
  size_t axis = 0;
  int64_t most = 0;  // on that axis
  ValueType type;    // with the most
};
// The same as control flow takes it.
struct Filled {
  TensorId values = kNoTensor;  // of the most, zeros behind
  TensorId size = kNoTensor;    // int64[1]
};

TensorData Ints(Shape shape, const std::vector<int64_t>& values) {
  TensorData data = TensorData::Zeros(DataType::kInt64, std::move(shape));
  std::copy(values.begin(), values.end(), data.as<int64_t>());
  return data;
}

// The one axis of `shape` that is not as in `other`; none if there is no such.
std::optional<size_t> OneAxis(const Shape& shape, const Shape& other) {
  if (shape.size() != other.size()) return std::nullopt;
  std::optional<size_t> axis;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == other[i]) continue;
    if (axis.has_value()) return std::nullopt;
    axis = i;
  }
  return axis;
}
std::optional<size_t> OneAxis(AxisSet axes) {
  if (axes == 0 || (axes & (axes - 1)) != 0) return std::nullopt;
  size_t axis = 0;
  while ((axes >> axis & 1) == 0) ++axis;
  return axis;
}

// Appends nodes to a list.
class Maker {
 public:
  Maker(const Node& owner, Graph* graph, std::vector<Node>* nodes)
      : owner_(owner), graph_(graph), nodes_(nodes) {}

  TensorId Constant(TensorData data) {
    const TensorId id =
        graph_->AddTemporary(owner_.name + "/constant", data.type, data.shape);
    graph_->tensors[id].constant =
        std::make_shared<const TensorData>(std::move(data));
    return id;
  }
  TensorId Number(int64_t value) { return Constant(Ints({}, {value})); }
  TensorId List(const std::vector<int64_t>& values) {
    return Constant(Ints({static_cast<int64_t>(values.size())}, values));
  }

  TensorId Add(const char* op, std::vector<TensorId> inputs, ValueType type,
               std::map<std::string, Attribute> attributes = {},
               TensorId output = kNoTensor) {
    if (output == kNoTensor) {
      output = graph_->AddTemporary(owner_.name + "/sized", type.type,
                                    std::move(type.shape));
    }
    Node node;
    node.op = op;
    node.name = owner_.name;
    node.sources = owner_.sources;
    node.opset = kOpset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    nodes_->push_back(std::move(node));
    return output;
  }

  // `value`, or the end of the run if it is more; `what` names it there.
  TensorId AtMost(TensorId value, Shape shape, int64_t most,
                  const std::string& what) {
    const TensorId id =
        Add(kBoundOp, {value}, {DataType::kInt64, std::move(shape)},
            {{"most", most}});
    nodes_->back().domain = kInternalDomain;
    nodes_->back().opset = 1;
    nodes_->back().name = what;
    return id;
  }

  TensorId SizeOf(const OpenTensor& open, TensorId id) {
    const auto rank = static_cast<int64_t>(open.type.shape.size());
    const auto axis = static_cast<int64_t>(open.axis);
    const TensorId shape = Add("Shape", {id}, {DataType::kInt64, {rank}});
    return Add("Slice", {shape, List({axis}), List({axis + 1})},
               {DataType::kInt64, {1}});
  }

  // (Nodes: whoever folds constants counts how large they are.)
  TensorId Zeros(const ValueType& type) {
    return Add("Expand",
               {Constant(TensorData::Zeros(type.type, {})), List(type.shape)},
               type);
  }
  TensorId Places(int64_t count) {
    return Add("Range", {Number(0), Number(count), Number(1)},
               {DataType::kInt64, {count}});
  }

  // Zeros behind `id`, which may be of any size up to the most.
  TensorId Fill(const OpenTensor& open, TensorId id) {
    const TensorId zeros = Zeros(open.type);
    ValueType longer = open.type;
    longer.shape[open.axis] *= 2;
    const std::map<std::string, Attribute> axis = {
        {"axis", static_cast<int64_t>(open.axis)}};
    const TensorId both = Add("Concat", {id, zeros}, longer, axis);
    return Add("Gather", {both, Places(open.most)}, open.type, axis);
  }

  // As much of it as there is, as `id`.
  void Take(const OpenTensor& open, const Filled& filled, TensorId id) {
    const TensorId there = Add("Less", {Places(open.most), filled.size},
                               {DataType::kBool, {open.most}});
    Add("Compress", {filled.values, there}, {},
        {{"axis", static_cast<int64_t>(open.axis)}}, id);
  }

 private:
  const Node& owner_;
  Graph* const graph_;
  std::vector<Node>* const nodes_;
};

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

  absl::StatusOr<std::optional<SizedLoop>> Run() {
    if (!FindOpen()) return std::nullopt;
    if (!grows_.empty() || given_.collects) {
      if (given_.iterations < 0) return NothingBounds();
      if (!SetMost()) return std::nullopt;
    }
    made_.loop = given_.loop;
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
    ReadFromOutside();
    if (!given_.collects) {
      for (size_t i = 0; i < rows; ++i) {
        body_outputs_.push_back(body.outputs[1 + carried_ + i]);
        const size_t at = carried_ + i;
        outputs_.push_back(at < given_.loop.outputs.size()
                               ? given_.loop.outputs[at]
                               : kNoTensor);
      }
    }
    made_.loop.inputs = std::move(inputs_);
    made_.loop.outputs = std::move(outputs_);
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
      const AxisSet bounded = given_.bounded.of(id);
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
    for (size_t i = own_; i < given_.loop.inputs.size(); ++i) {
      const AxisSet bounded = given_.bounded.of(given_.loop.inputs[i]);
      if (bounded == 0) continue;
      if (!OneAxis(bounded).has_value()) return false;
      reads_open_ = true;
    }
    return !open_.empty() || reads_open_ || given_.collects;
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
        "' grows, and nothing says how many iterations it makes at most; ",
        "say it with ", BoundOption(given_.loop, *graph_));
  }

  // A tensor from around the Loop, as it takes it.
  Filled Close(const OpenTensor& open) {
    if (given_.bounded.of(open.id) != 0) {
      return {before_.Fill(open, open.id), before_.SizeOf(open, open.id)};
    }
    const int64_t size = graph_->tensors[open.id].shape[open.axis];
    Filled filled;
    filled.size = before_.List({size});
    filled.values = size == open.most ? open.id : before_.Fill(open, open.id);
    return filled;
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
    const Filled outside = Close(open);
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

  // What the body takes from outside: behind its own inputs.
  void ReadFromOutside() {
    for (size_t i = own_; i < given_.loop.inputs.size(); ++i) {
      const TensorId id = given_.loop.inputs[i];
      const AxisSet bounded = given_.bounded.of(id);
      if (bounded == 0) {
        inputs_.push_back(id);
        continue;
      }
      OpenTensor open;
      open.id = id;
      open.axis = *OneAxis(bounded);
      open.type = TypeOf(id);
      open.most = open.type.shape[open.axis];
      const Filled outside = Close(open);
      // (The body's own copy of `id` is what the node there writes.)
      prologue_.Take(open, outside, id);
      inputs_.push_back(outside.values);
      inputs_.push_back(outside.size);
    }
  }

  const LoopToSize& given_;
  Graph* const graph_;
  const size_t own_, carried_;
  std::map<size_t, OpenTensor> open_;  // by carried value
  std::map<size_t, int64_t> grows_;    // by how much
  bool reads_open_ = false;
  SizedLoop made_;
  std::vector<Node> first_, last_;  // of the body
  Maker before_, behind_, prologue_, epilogue_;
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

absl::StatusOr<std::optional<SizedLoop>> SizeLoop(const LoopToSize& to_size,
                                                  Graph* graph) {
  return Sizer(to_size, graph).Run();
}

}  // namespace heddle::compiler
