// SPDX-License-Identifier: Apache-2.0
// Slice, Split.
#include "compiler/ops/slice.h"

#include "compiler/base/status_macros.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"

namespace heddle::compiler {
namespace {

constexpr int kMostParts = 65536;

absl::Status InferSlice(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto ranges, SliceRanges(*graph, node));
  Shape shape;
  for (const AxisRange& r : ranges) shape.push_back(r.count);
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, shape);
}

Results EvaluateSlice(const Graph& graph, const Node& node,
                      const Inputs& inputs) {
  const BoundNode bound = BindInputs(graph, node, inputs);
  ASSIGN_OR_RETURN(auto map, SliceMap(bound.graph, bound.node, 0));
  return One(TakeElements(*inputs[0], map));
}

absl::Status InferSplit(Graph* graph, const Node& node) {
  size_t axis = 0;
  ASSIGN_OR_RETURN(auto sizes, SplitSizes(*graph, node, &axis));
  Shape shape = InputOf(*graph, node, 0).shape;
  const DataType type = InputOf(*graph, node, 0).type;
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape[axis] = sizes[i];
    RETURN_IF_ERROR(SetOutput(graph, node, i, type, shape));
  }
  return absl::OkStatus();
}

Results EvaluateSplit(const Graph& graph, const Node& node,
                      const Inputs& inputs) {
  const BoundNode bound = BindInputs(graph, node, inputs);
  std::vector<TensorData> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    ASSIGN_OR_RETURN(auto map, SplitMap(bound.graph, bound.node, i));
    results.push_back(TakeElements(*inputs[0], map));
  }
  return results;
}

bool SaysParts(const Graph&, const Node& node, std::string* detail) {
  const bool list = HasInput(node, 1);
  *detail = list ? "it has both" : "it has neither";
  return list != (node.attributes.count("num_outputs") != 0);
}

bool CountsOutputs(const Graph&, const Node& node, std::string* detail) {
  const auto count = static_cast<int64_t>(node.outputs.size());
  const int64_t said = node.IntAttribute("num_outputs", count);
  *detail = absl::StrCat("it is ", said, " and there are ", count);
  return said == count;
}

const OperatorRegistration kSlice1(Define("Slice", 1, 9)
                                       .Inputs(1, 1, kMovable)
                                       .Attr("starts", AttributeKind::kInts,
                                             true)
                                       .Attr("ends", AttributeKind::kInts, true)
                                       .Attr("axes", AttributeKind::kInts)
                                       .Run(InferSlice, EvaluateSlice));
const ExpandedOperator kSlice10(
    Define("Slice", 10, kMaxOpset).Inputs(3, 5, kMovable, kIndices),
    ExpandComputedSlice, IsComputedSlice, InferSlice, EvaluateSlice);
const OperatorRegistration kSplit2(Define("Split", 2, 12)
                                       .Inputs(1, 1, kMovable)
                                       .Outputs(kMostParts)
                                       .Attr("axis", AttributeKind::kInt)
                                       .Attr("split", AttributeKind::kInts)
                                       .Run(InferSplit, EvaluateSplit));
const OperatorRegistration kSplit13(Define("Split", 13, 17)
                                        .Inputs(1, 2, kMovable, kInt64s)
                                        .Outputs(kMostParts)
                                        .Attr("axis", AttributeKind::kInt)
                                        .Run(InferSplit, EvaluateSplit));
const OperatorRegistration kSplit18(
    Define("Split", 18, kMaxOpset)
        .Inputs(1, 2, kMovable, kInt64s)
        .Outputs(kMostParts)
        .Attr("axis", AttributeKind::kInt)
        .Attr("num_outputs", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel,
              "either the input split or num_outputs is given, not both",
              SaysParts)
        .Rule(Rejection::kInvalidModel,
              "num_outputs is the number of the outputs", CountsOutputs)
        .Run(InferSplit, EvaluateSplit));

}  // namespace
}  // namespace heddle::compiler
