// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/bounded.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded_rules.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

// More than a set holds.
bool HasManyAxes(const Graph& graph, const Node& node) {
  const auto many = [&](TensorId id) {
    return id != kNoTensor && graph.tensors[id].shape.size() >= 64;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), many) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), many);
}

}  // namespace

void BoundedTensors::Set(TensorId id, AxisSet axes) {
  if (id < 0 || (axes == 0 && static_cast<size_t>(id) >= axes_.size())) return;
  if (static_cast<size_t>(id) >= axes_.size()) axes_.resize(id + 1, 0);
  axes_[id] = axes;
  any_ |= axes != 0;
}

void BoundedTensors::SetSizes(TensorId id,
                              std::shared_ptr<const OpenSizes> sizes) {
  if (sizes == nullptr) {
    sizes_.erase(id);
    return;
  }
  sizes_[id] = std::move(sizes);
  any_ = true;
}

void BoundedTensors::Copy(const BoundedTensors& from, TensorId id,
                          TensorId to) {
  Set(to, from.of(id));
  const auto it = from.sizes_.find(id);
  SetSizes(to, it == from.sizes_.end() ? nullptr : it->second);
}

// Values of which the user says the most.
absl::Status BoundedTensors::AddBound(const Graph& graph, const Node& node) {
  const Tensor& values = graph.tensors[node.inputs[0]];
  if (values.is_constant()) return absl::OkStatus();
  if (of(node.inputs[0]) != 0 || ElementCount(values.shape) > kMostSizes) {
    return RejectNode(Rejection::kUnsupportedShape, node, "a bound is for ",
                      kMostSizes, " integers at most, of a known number");
  }
  auto sizes = std::make_shared<OpenSizes>();
  sizes->most = TensorData::Zeros(values.type, values.shape);
  const int64_t most = node.IntAttribute("most", 0);
  for (int64_t i = 0; i < sizes->most.count(); ++i) {
    if (values.type == DataType::kInt32) {
      sizes->most.as<int32_t>()[i] = static_cast<int32_t>(
          std::min<int64_t>(most, std::numeric_limits<int32_t>::max()));
    } else {
      sizes->most.as<int64_t>()[i] = most;
    }
  }
  sizes->varies.assign(static_cast<size_t>(sizes->most.count()), true);
  SetSizes(node.outputs[0], std::move(sizes));
  return absl::OkStatus();
}

bool BoundedTensors::Touches(const Node& node) const {
  const auto is_bounded = [this](TensorId id) {
    return of(id) != 0 || sizes(id) != nullptr;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_bounded) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_bounded);
}

absl::Status BoundedTensors::Add(const Graph& graph, const Node& node) {
  if (node.domain == kInternalDomain && node.op == kBoundOp) {
    return AddBound(graph, node);
  }
  const bool source = DecidesSizes(node);
  const auto reads = std::find_if(node.inputs.begin(), node.inputs.end(),
                                  [this](TensorId id) { return of(id) != 0; });
  if (!sizes_.empty() || reads != node.inputs.end()) {
    auto followed = FollowSizes(graph, node, find_sizes(), [&](size_t axis) {
      return axis < 64 && (of(node.inputs[0]) & AxisBit(axis)) != 0;
    });
    // (Of what no list of sizes and no bounded tensor goes into, nothing.)
    if (followed.has_value() && (reads != node.inputs.end() ||
                                 (node.op != "Shape" && node.op != "Size"))) {
      SetSizes(node.outputs[0],
               std::make_shared<const OpenSizes>(*std::move(followed)));
    }
  }
  // What is made of sizes that it is given.
  const TensorId given = SizesOperand(node);
  const bool makes = given != kNoTensor && sizes(given) != nullptr &&
                     sizes(node.outputs[0]) == nullptr;
  if (!source && !makes && reads == node.inputs.end()) return absl::OkStatus();
  AxisSet output = 0;
  const BoundedRule rule = FindBoundedRule(node);
  if (rule == nullptr || HasManyAxes(graph, node) ||
      !rule({graph, node, *this}, &output)) {
    return RejectNode(
        Rejection::kUnsupportedOperator, node, "it reads '",
        graph
            .tensors[reads != node.inputs.end() ? *reads
                     : makes                    ? given
                                                : node.inputs[0]]
            .name,
        "', whose size is known only at run time; the host "
        "follows such a size through operators for which fewer rows mean a "
        "smaller result (elementwise ones, Conv, MatMul, Gather, Concat, "
        "Reshape with one -1 and the like), but not here; make the size known "
        "before, by TopK or a declared shape");
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    // Unique: indices and counts are lists, and of what is at each place there
    // is as much as there are places.
    const bool list = node.op == "Unique" && i > 0;
    // (Scale and zero point are one element.)
    const bool one = i > 0 && node.op == "DynamicQuantizeLinear";
    Set(node.outputs[i], one ? 0 : !list ? output : i == 2 ? 0 : AxisBit(0));
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundedTensors> FindBounded(const Graph& graph,
                                           BoundedTensors inputs) {
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(inputs.Add(graph, node));
  }
  return inputs;
}

bool IsWithin(const Shape& shape, const Shape& stated, AxisSet bounded) {
  if (shape.size() != stated.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == stated[i]) continue;
    if (i >= 64 || (bounded & AxisBit(i)) == 0 || shape[i] > stated[i]) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<std::vector<TensorData>> EvaluateActual(
    const Graph& graph, const Node& node,
    const std::vector<const TensorData*>& inputs) {
  Graph actual;
  Node copy = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    Tensor tensor = graph.tensors[node.inputs[i]];
    tensor.shape = inputs[i]->shape;
    // Sizes that it is given are what they are now.
    if (node.inputs[i] == SizesOperand(node)) {
      tensor.constant = std::make_shared<const TensorData>(*inputs[i]);
    }
    copy.inputs[i] = actual.AddTensor(std::move(tensor));
  }
  for (TensorId& id : copy.outputs) {
    if (id != kNoTensor) id = actual.AddTensor(graph.tensors[id]);
  }
  absl::Status status = CheckNode(actual, copy);
  if (status.ok()) {
    status =
        FindOperator(node.domain, node.op, node.opset)->infer(&actual, copy);
  }
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "with the sizes that the run's values give: ", status.message()));
  }
  // Of nothing at all the definitions need not know.
  std::vector<TensorData> nothing;
  for (TensorId id : copy.outputs) {
    if (id == kNoTensor) {
      nothing.emplace_back();
      continue;
    }
    const Tensor& tensor = actual.tensors[id];
    if (ElementCount(tensor.shape) != 0) {
      return EvaluateNode(actual, copy, inputs);
    }
    nothing.push_back(TensorData::Zeros(tensor.type, tensor.shape));
  }
  return nothing;
}

}  // namespace heddle::compiler
