// SPDX-License-Identifier: Apache-2.0
// Pad, Tile, Expand.
#include "compiler/ops/pad.h"

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/computed_moves.h"
#include "compiler/ops/define.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/narrow.h"

namespace heddle::compiler {
namespace {

bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "constant");
  *detail = absl::StrCat("mode = ", mode);
  return mode == "constant" || mode == "reflect" || mode == "edge";
}

bool ModeIsKnown19(const Graph& graph, const Node& node, std::string* detail) {
  return ModeIsKnown(graph, node, detail) ||
         node.StringAttribute("mode", "constant") == "wrap";
}

absl::Status InferPad(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto padding, PaddingOf(*graph, node));
  if (padding.mode == "constant") {
    RETURN_IF_ERROR(PadConstant(*graph, node).status());
  }
  Shape shape = InputOf(*graph, node, 0).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += padding.before[i] + padding.after[i];
  }
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, shape);
}

absl::Status InferTile(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto repeats, RepeatsOf(*graph, node));
  Shape shape = InputOf(*graph, node, 0).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (__builtin_mul_overflow(shape[i], repeats[i], &shape[i])) {
      return RejectNode(Rejection::kUnsupportedShape, node, "repeats ",
                        ShapeToString(repeats), " overflow");
    }
  }
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, shape);
}

absl::Status InferExpand(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  ASSIGN_OR_RETURN(auto wanted, IntsOf(*graph, node, "shape", 1, {}));
  Shape shape;
  bool fits = true;
  for (int64_t n : wanted) fits = fits && n >= 0;
  if (!fits || !BroadcastShapes(x.shape, wanted, &shape)) {
    return RejectNode(Rejection::kMismatchingShape, node, "shape ",
                      ShapeToString(wanted), " and the input's ",
                      ShapeToString(x.shape), " do not broadcast");
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

template <absl::StatusOr<IndexMap> (*map_of)(const Graph&, const Node&, size_t)>
Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  // Without elements a dimension may be of any size: no map for it.
  const Shape& shape = graph.tensors[node.outputs[0]].shape;
  if (ElementCount(shape) == 0) {
    return One(TensorData::Zeros(inputs[0]->type, shape));
  }
  const BoundNode bound = BindInputs(graph, node, inputs);
  ASSIGN_OR_RETURN(auto map, map_of(bound.graph, bound.node, 0));
  return One(TakeElements(*inputs[0], map));
}

constexpr char kModeRule[] = "mode is constant, reflect or edge";

const OperatorRegistration kPad2(Define("Pad", 2, 10)
                                     .Inputs(1, 1, kReals)
                                     .Attr("mode", AttributeKind::kString)
                                     .Attr("pads", AttributeKind::kInts, true)
                                     .Attr("value", AttributeKind::kFloat)
                                     .Rule(Rejection::kUnsupportedAttribute,
                                           kModeRule, ModeIsKnown)
                                     .Run(InferPad, Evaluate<PadMap>));
const ExpandedOperator kPad11(Define("Pad", 11, 17)
                                  .Inputs(2, 3, kMovable, kInt64s, kMovable)
                                  .Attr("mode", AttributeKind::kString)
                                  .Rule(Rejection::kUnsupportedAttribute,
                                        kModeRule, ModeIsKnown),
                              ExpandComputedPad, IsComputedPad, InferPad,
                              Evaluate<PadMap>);
// Only the axes of the last input are padded.
const ExpandedOperator kPad18(
    Define("Pad", 18, 18)
        .Inputs(2, 4, kMovable, kInt64s, kMovable, kIndices)
        .Attr("mode", AttributeKind::kString)
        .Rule(Rejection::kUnsupportedAttribute, kModeRule, ModeIsKnown),
    ExpandComputedPad, IsComputedPad, InferPad, Evaluate<PadMap>);
const MovingOperator kPad19(19, 21, [](const MovedTypes& m) {
  ExpandedOperator(
      Define("Pad", m.since, m.until)
          .Inputs(2, 4, m.types, kInt64s, m.types, kIndices)
          .Attr("mode", AttributeKind::kString)
          .Rule(Rejection::kUnsupportedAttribute,
                "mode is constant, reflect, edge or wrap", ModeIsKnown19),
      ExpandComputedPad, IsComputedPad, InferPad, Evaluate<PadMap>);
});
// `tiles` copies along `axis`; both are numbers of the input's type.
const OperatorRegistration kTile1(Define("Tile", 1, 5)
                                      .Inputs(3, 3, kFloats, kFloats | kInt64s)
                                      .Run(InferTile, Evaluate<TileMap>));
const OperatorRegistration kTile6(Define("Tile", 6, kMaxOpset)
                                      .Inputs(2, 2, kMovable, kInt64s)
                                      .Run(InferTile, Evaluate<TileMap>));
const OperatorRegistration kExpand(Define("Expand", 8, kMaxOpset)
                                       .Inputs(2, 2, kMovable, kInt64s)
                                       .Run(InferExpand, Evaluate<ExpandMap>));

}  // namespace
}  // namespace heddle::compiler
