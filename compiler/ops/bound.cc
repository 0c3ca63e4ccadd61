// SPDX-License-Identifier: Apache-2.0
// heddle.Bound(values) -> values: integers of which the user says the most that
// they may be (CompileOptions::bounds; import/bounds.h puts it in), so that
// what is made of them has a largest size (open_sizes.h). A run in which one is
// more ends with an error that names the tensor.
#include "absl/strings/str_cat.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& values = InputOf(*graph, node, 0);
  return SetOutput(graph, node, 0, values.type, values.shape);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const int64_t most = node.IntAttribute("most", 0);
  for (int64_t value : ToInts(*inputs[0])) {
    if (value <= most) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor '", node.name, "' is ", value, ", more than the bound of ",
        most, " that the model was compiled with (--bound)"));
  }
  return One(*inputs[0]);
}

const OperatorRegistration kBound(
    Define(kBoundOp, 1, kMaxOpset)
        .Domain(kInternalDomain)
        .Inputs(1, 1, Types(DataType::kInt32, DataType::kInt64))
        .Attr("most", AttributeKind::kInt, true)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
