// SPDX-License-Identifier: Apache-2.0
#include "compiler/host/host_function.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

uint64_t BytesOf(const Tensor& tensor) {
  return static_cast<uint64_t>(ElementCount(tensor.shape)) *
         ElementBytes(tensor.type);
}

std::string TypeOf(const Tensor& tensor) {
  return absl::StrCat(DataTypeName(tensor.type), ShapeToString(tensor.shape));
}

}  // namespace

absl::Status CheckHostNode(const Graph& graph, const Node& node, Graph* scratch,
                           BoundedTensors* bounded) {
  if (node.domain == kInternalDomain && node.op != kBoundOp) {
    return RejectNode(
        Rejection::kUnsupportedOperator, node,
        "the host runs ONNX operators, not the compiler's internal ones");
  }
  RETURN_IF_ERROR(CheckNode(graph, node));
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info->evaluate == nullptr) {
    return RejectNode(Rejection::kUnsupportedOperator, node,
                      "the operator has no reference that the host could run");
  }
  {
    const SizesAsConstants sizes(node, bounded->find_sizes(), scratch);
    RETURN_IF_ERROR(info->infer(scratch, node));
  }
  RETURN_IF_ERROR(bounded->Add(*scratch, node));
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& stated = graph.tensors[id];
    const Tensor& inferred = scratch->tensors[id];
    // A bound may be the model's own.
    if (stated.type == inferred.type &&
        IsWithin(stated.shape, inferred.shape, bounded->of(id))) {
      continue;
    }
    return RejectNode(Rejection::kMismatchingShape, node, "output '",
                      stated.name, "' is stated as ", TypeOf(stated),
                      ", but is ", TypeOf(inferred));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostFunction> HostFunction::Make(Graph graph,
                                                BoundedTensors inputs) {
  Graph scratch = graph;
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(CheckHostNode(graph, node, &scratch, &inputs));
  }
  HostFunction function(std::move(graph));
  function.bounded_ = std::move(inputs);
  for (const Node& node : function.graph_.nodes) {
    function.direct_.push_back(function.bounded_.Touches(node)
                                   ? nullptr
                                   : MakeDirect(function.graph_, node));
  }
  // What is computed may be larger than the bound that the graph states, which
  // is found out then.
  function.FindLastReaders(scratch);
  return function;
}

void HostFunction::FindLastReaders(const Graph& inferred) {
  std::vector<int> last(graph_.tensors.size(), -1);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (TensorId id : *ids) {
        if (id != kNoTensor) last[id] = static_cast<int>(n);
      }
    }
  }
  done_.resize(graph_.nodes.size());
  const std::vector<int> producers = graph_.Producers();
  std::vector<bool> output(last.size(), false);
  for (TensorId id : graph_.outputs) output[id] = true;
  for (size_t id = 0; id < last.size(); ++id) {
    if (producers[id] >= 0 && !output[id]) {
      done_[last[id]].push_back(static_cast<TensorId>(id));
    }
  }
  uint64_t bytes = 0;  // at most 4 GiB for each of 2^31 tensors
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    for (TensorId id : graph_.nodes[n].outputs) {
      if (id != kNoTensor) bytes += BytesOf(inferred.tensors[id]);
    }
    working_bytes_ = std::max(working_bytes_, bytes);
    for (TensorId id : done_[n]) bytes -= BytesOf(inferred.tensors[id]);
  }
}

absl::Status HostFunction::Run(const std::vector<const uint8_t*>& inputs,
                               const std::vector<uint8_t*>& outputs,
                               const std::function<absl::Status()>& stop,
                               int64_t interval,
                               const std::vector<Shape>* input_shapes,
                               std::vector<Shape>* output_shapes) const {
  const PaceScope scope(stop, interval);
  try {
    return Evaluate(inputs, outputs, stop, input_shapes, output_shapes);
  } catch (const Interrupted&) {
    // (Another thread's, where a node was spread.)
    return scope.status().ok()
               ? absl::CancelledError("the host was interrupted")
               : scope.status();
  }
}

absl::Status HostFunction::Evaluate(const std::vector<const uint8_t*>& inputs,
                                    const std::vector<uint8_t*>& outputs,
                                    const std::function<absl::Status()>& stop,
                                    const std::vector<Shape>* input_shapes,
                                    std::vector<Shape>* output_shapes) const {
  std::vector<TensorData> values(graph_.tensors.size());
  std::vector<const TensorData*> found(graph_.tensors.size(), nullptr);
  for (size_t id = 0; id < values.size(); ++id) {
    found[id] = graph_.tensors[id].constant.get();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = graph_.inputs[i];
    const Tensor& tensor = graph_.tensors[id];
    values[id].type = tensor.type;
    values[id].shape =
        input_shapes == nullptr ? tensor.shape : (*input_shapes)[i];
    values[id].bytes = TensorBytes::View(
        inputs[i],
        static_cast<uint64_t>(values[id].count()) * ElementBytes(tensor.type),
        nullptr);
    found[id] = &values[id];
  }
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    RETURN_IF_ERROR(stop());
    const Node& node = graph_.nodes[n];
    Inputs arguments;
    for (TensorId id : node.inputs) {
      arguments.push_back(id == kNoTensor ? nullptr : found[id]);
    }
    ASSIGN_OR_RETURN(auto results, direct_[n] != nullptr
                                       ? direct_[n]->Run(arguments)
                                   : bounded_.Touches(node)
                                       ? EvaluateActual(graph_, node, arguments)
                                       : EvaluateNode(graph_, node, arguments));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor) continue;
      const Tensor& stated = graph_.tensors[id];
      const TensorData& result = results[i];
      if (result.type != stated.type ||
          !IsWithin(result.shape, stated.shape, bounded_.of(id)) ||
          result.bytes.size() != static_cast<uint64_t>(result.count()) *
                                     ElementBytes(result.type)) {
        if (bounded_.of(id) != 0 && result.type == stated.type) {
          return absl::InvalidArgumentError(absl::StrCat(
              node.Describe(), ": '", stated.name, "' is ",
              ShapeToString(result.shape), ", the model declares at most ",
              ShapeToString(stated.shape)));
        }
        return absl::InternalError(absl::StrCat(
            node.Describe(), " computed a shape other than ", TypeOf(stated)));
      }
      values[id] = std::move(results[i]);
      found[id] = &values[id];
    }
    for (TensorId id : done_[n]) values[id] = TensorData();
  }
  if (output_shapes != nullptr) {
    output_shapes->clear();
    for (TensorId id : graph_.outputs) {
      output_shapes->push_back(found[id]->shape);
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorBytes& bytes = found[graph_.outputs[i]]->bytes;
    if (!bytes.empty()) std::memcpy(outputs[i], bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
