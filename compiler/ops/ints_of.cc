// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/define.h"
#include "compiler/ops/layout.h"

namespace heddle::compiler {

absl::StatusOr<std::vector<int64_t>> IntsOf(const Graph& graph,
                                            const Node& node, const char* name,
                                            size_t index,
                                            std::vector<int64_t> fallback) {
  if (!HasInput(node, index)) return node.IntsAttribute(name, fallback);
  const Tensor& input = InputOf(graph, node, index);
  if (!input.is_constant()) {
    return RejectNode(Rejection::kUnsupportedShape, node, name, " '",
                      input.name,
                      "' is computed at run time, it must be known when "
                      "compiling");
  }
  if (input.shape.size() > 1 ||
      (input.type != DataType::kInt64 && input.type != DataType::kInt32)) {
    return RejectNode(Rejection::kInvalidModel, node, name, " '", input.name,
                      "' must be a list of integers, but is ",
                      DataTypeName(input.type), ShapeToString(input.shape));
  }
  return ToInts(*input.constant);
}

}  // namespace heddle::compiler
