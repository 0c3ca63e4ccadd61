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

absl::Status CheckHostNode(const Graph& graph, const Node& node,
                           Graph* scratch) {
  if (node.domain == kInternalDomain) {
    return RejectNode(Rejection::kUnsupportedOperator, node,
                      "the host runs operators of ONNX, not those that the "
                      "compiler makes of them");
  }
  RETURN_IF_ERROR(CheckNode(graph, node));
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  if (info->evaluate == nullptr) {
    return RejectNode(Rejection::kUnsupportedOperator, node,
                      "the operator has no reference that the host could run");
  }
  RETURN_IF_ERROR(info->infer(scratch, node));
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& stated = graph.tensors[id];
    const Tensor& inferred = scratch->tensors[id];
    if (stated.type == inferred.type && stated.shape == inferred.shape) {
      continue;
    }
    return RejectNode(Rejection::kMismatchingShape, node, "output '",
                      stated.name, "' is stated as ", TypeOf(stated),
                      ", but is ", TypeOf(inferred));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostFunction> HostFunction::Make(Graph graph) {
  Graph scratch = graph;
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(CheckHostNode(graph, node, &scratch));
  }
  HostFunction function(std::move(graph));
  function.FindLastReaders();
  return function;
}

void HostFunction::FindLastReaders() {
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
      if (id != kNoTensor) bytes += BytesOf(graph_.tensors[id]);
    }
    working_bytes_ = std::max(working_bytes_, bytes);
    for (TensorId id : done_[n]) bytes -= BytesOf(graph_.tensors[id]);
  }
}

absl::Status HostFunction::Run(const std::vector<const uint8_t*>& inputs,
                               const std::vector<uint8_t*>& outputs,
                               const std::function<absl::Status()>& stop,
                               int64_t interval) const {
  const PaceScope scope(stop, interval);
  try {
    return Evaluate(inputs, outputs, stop);
  } catch (const Interrupted&) {
    return scope.status();
  }
}

absl::Status HostFunction::Evaluate(
    const std::vector<const uint8_t*>& inputs,
    const std::vector<uint8_t*>& outputs,
    const std::function<absl::Status()>& stop) const {
  std::vector<TensorData> values(graph_.tensors.size());
  std::vector<const TensorData*> found(graph_.tensors.size(), nullptr);
  for (size_t id = 0; id < values.size(); ++id) {
    found[id] = graph_.tensors[id].constant.get();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = graph_.inputs[i];
    const Tensor& tensor = graph_.tensors[id];
    values[id].type = tensor.type;
    values[id].shape = tensor.shape;
    values[id].bytes = TensorBytes::View(inputs[i], BytesOf(tensor), nullptr);
    found[id] = &values[id];
  }
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    RETURN_IF_ERROR(stop());
    const Node& node = graph_.nodes[n];
    Inputs arguments;
    for (TensorId id : node.inputs) {
      arguments.push_back(id == kNoTensor ? nullptr : found[id]);
    }
    ASSIGN_OR_RETURN(auto results, EvaluateNode(graph_, node, arguments));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor) continue;
      const Tensor& stated = graph_.tensors[id];
      if (results[i].type != stated.type || results[i].shape != stated.shape ||
          results[i].bytes.size() != BytesOf(stated)) {
        return absl::InternalError(absl::StrCat(
            node.Describe(), " computed another shape than ", TypeOf(stated)));
      }
      values[id] = std::move(results[i]);
      found[id] = &values[id];
    }
    for (TensorId id : done_[n]) values[id] = TensorData();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorBytes& bytes = found[graph_.outputs[i]]->bytes;
    if (!bytes.empty()) std::memcpy(outputs[i], bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
