// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/card_types.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

// Types that device memory and the vector engine can hold.
bool OnDevice(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kBool:
      return true;
    default:
      return false;
  }
}

// Whether the operator's definition has int64 and no int32 where the node reads
// `id`: shapes, axes and the like.
bool NeedsInt64(const Node& node, TensorId id) {
  const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
  for (size_t i = 0; info != nullptr && i < node.inputs.size(); ++i) {
    if (node.inputs[i] != id || info->input_types.empty()) continue;
    const size_t last = info->input_types.size() - 1;
    if (!Contains(info->input_types[std::min(i, last)], DataType::kInt32)) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status CheckType(const Tensor& t, const char* role) {
  if (OnDevice(t.type) || t.type == DataType::kInt64) return absl::OkStatus();
  return Reject(
      Rejection::kUnsupportedDatatype,
      absl::StrCat(role, " '", t.name, "' has type ", DataTypeName(t.type),
                   ", which the card does not support; convert it to "
                   "float or to an integer of 32, 16 or 8 bits"));
}

// Of what the node computes, and of int64 tensors that it reads.
absl::Status CheckTypes(const Graph& graph, const Node& node) {
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    RETURN_IF_ERROR(CheckType(graph.tensors[id], node.Describe().c_str()));
  }
  if (NarrowsInt64(node.domain, node.op)) return absl::OkStatus();
  std::vector<TensorId> all = node.inputs;
  all.insert(all.end(), node.outputs.begin(), node.outputs.end());
  for (TensorId id : all) {
    if (id == kNoTensor || graph.tensors[id].is_constant() ||
        graph.tensors[id].type != DataType::kInt64) {
      continue;
    }
    if (NeedsInt64(node, id)) {
      return Reject(
          Rejection::kUnsupportedShape,
          absl::StrCat(node.Describe(), ": '", graph.tensors[id].name,
                       "' is computed at run time but must be known at compile "
                       "time; make it an initializer or a Constant"));
    }
    return Reject(
        Rejection::kUnsupportedDatatype,
        absl::StrCat(node.Describe(), ": tensor '", graph.tensors[id].name,
                     "' has type int64, which the card only moves and "
                     "converts (as int32); convert it to int32"));
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const Graph& graph) {
  for (TensorId id : graph.inputs) {
    RETURN_IF_ERROR(CheckType(graph.tensors[id], "input"));
  }
  for (TensorId id : graph.outputs) {
    RETURN_IF_ERROR(CheckType(graph.tensors[id], "output"));
  }
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(CheckTypes(graph, node));
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
