// SPDX-License-Identifier: Apache-2.0
// BitCast: the same bits as values of another type of the same size. The host
// computes it.
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

// ONNX has bool, too, of which only two of the 256 codes mean something: it is
// taken as what is read, not as what is made.
constexpr TypeSet kBits = kMovable & ~Types(DataType::kBool);

DataType TargetOf(const Node& node) {
  return static_cast<DataType>(node.IntAttribute("to", 0));
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Shape shape = InputOf(*graph, node, 0).shape;
  return SetOutput(graph, node, 0, TargetOf(node), shape);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  TensorData y = *inputs[0];
  y.type = TargetOf(node);
  return One(std::move(y));
}

bool TargetHasBits(const Graph&, const Node& node, std::string* detail) {
  *detail = absl::StrCat("to = ", DataTypeName(TargetOf(node)));
  return Contains(kBits, TargetOf(node));
}

bool SizesAreEqual(const Graph& graph, const Node& node, std::string* detail) {
  const DataType from = InputOf(graph, node, 0).type, to = TargetOf(node);
  *detail = absl::StrCat(DataTypeName(from), " to ", DataTypeName(to));
  return ElementBytes(from) == ElementBytes(to);
}

const OperatorRegistration kBitCast(
    Define("BitCast", 26, kMaxOpset)
        .Inputs(1, 1, kMovable)
        .Attr("to", AttributeKind::kInt, true)
        .Rule(Rejection::kUnsupportedDatatype,
              "the target is a number of fixed size", TargetHasBits)
        .Rule(Rejection::kInvalidModel, "both types are of one size",
              SizesAreEqual)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
