// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/registry.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/nearest_names.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/algebra.h"
#include "compiler/passes/cancel_moves.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/flatten_rows.h"
#include "compiler/passes/fold_affine.h"
#include "compiler/passes/fold_pad.h"
#include "compiler/passes/fold_table.h"
#include "compiler/passes/fuse_elementwise.h"
#include "compiler/passes/fuse_gelu.h"
#include "compiler/passes/fuse_layer_norm.h"
#include "compiler/passes/fuse_softmax.h"
#include "compiler/passes/infer.h"
#include "compiler/passes/quantize.h"
#include "compiler/passes/share_subexpressions.h"
#include "compiler/passes/simplify.h"
#include "compiler/passes/sink_moves.h"

namespace heddle::compiler {
namespace {

absl::Status Check(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(CheckNode(graph, node));
  }
  return graph.Verify();
}

// A pass on the bodies of a graph. `nodes`: of bodies before.
absl::Status RunOnBodies(const Pass& pass, const PassContext& context,
                         Graph* graph, size_t* nodes) {
  for (Node& node : graph->nodes) {
    if (!IsControl(node)) continue;
    for (auto& [name, value] : node.attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (body == nullptr) continue;
      Graph copy = **body;
      PassContext inner;
      inner.fuse_quantization = context.fuse_quantization;
      inner.fuse_elementwise = context.fuse_elementwise;
      inner.keep_direct = context.keep_direct;
      inner.folded = context.folded;
      // Which of its constants are stand-ins nobody has written down.
      Supposed all;
      if (context.supposed != nullptr) {
        for (size_t id = 0; id < copy.tensors.size(); ++id) {
          if (copy.tensors[id].is_constant()) {
            all.constants.insert(static_cast<TensorId>(id));
          }
        }
        inner.supposed = &all;
      }
      RETURN_IF_ERROR(pass.run(&copy, inner));
      *nodes += copy.nodes.size();
      if (*nodes > kMostBodyNodes) {
        return RejectNode(Rejection::kUnsupportedShape, node,
                          "the bodies of the model's Ifs and Loops have more "
                          "than ",
                          kMostBodyNodes, " nodes; make them smaller");
      }
      RETURN_IF_ERROR(RunOnBodies(pass, context, &copy, nodes));
      *body = std::make_shared<const Graph>(std::move(copy));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Pass>& Passes() {
  static const auto* passes = new std::vector<Pass>{
      {"import", "parse ONNX and check every rule of the format", nullptr},
      {"infer-shapes",
       "infer types and shapes of all tensors; compute constants",
       [](Graph* graph, const PassContext& context) {
         return InferAndFold(graph, context.declared, context.supposed,
                             context.subgraphs);
       }},
      {"drop-identities",
       "remove Identity, Dropout, and Casts to the same type",
       [](Graph* graph, const PassContext&) {
         return SimplifyIdentities(graph);
       }},
      {"fuse-softmax", "replace softmaxes written in primitive operators",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_quantization ? FuseSoftmax(graph)
                                          : absl::OkStatus();
       }},
      {"fuse-quantization",
       "turn DequantizeLinear, operator, QuantizeLinear into one integer "
       "operator",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_quantization ? FuseQuantization(graph)
                                          : absl::OkStatus();
       }},
      {"fuse-layer-norm",
       "replace layer normalisations written in primitive operators",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_quantization ? FuseLayerNorm(graph)
                                          : absl::OkStatus();
       }},
      {"fold-tables",
       "turn float chains between two quantized tensors into a table of 256 "
       "values",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_quantization ? FoldTables(graph)
                                          : absl::OkStatus();
       }},
      {"fuse-gelu", "replace GELUs written in primitive operators",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_quantization ? FuseGelu(graph) : absl::OkStatus();
       }},
      {"fold-affine",
       "fold channel scales and offsets into the preceding float weights",
       [](Graph* graph, const PassContext&) { return FoldAffine(graph); }},
      {"fold-pad", "fold a zero Pad into the following convolution",
       [](Graph* graph, const PassContext&) { return FoldPad(graph); }},
      {"expand", "expand operators that are composed of others",
       [](Graph* graph, const PassContext& context) {
         return ExpandOperators(graph, kMostExpandedNodes, context.keep_direct);
       }},
      {"algebra", "remove operations that return an operand unchanged",
       [](Graph* graph, const PassContext& context) {
         return ApplyAlgebra(graph, context.supposed);
       }},
      {"sink-moves",
       "move transposes and reshapes past elementwise operators, to the next",
       [](Graph* graph, const PassContext&) { return SinkMoves(graph); }},
      {"flatten-rows",
       "turn operators on stacks of rows into operators on matrices",
       [](Graph* graph, const PassContext&) { return FlattenRows(graph); }},
      {"cancel-moves", "merge consecutive transposes, and consecutive reshapes",
       [](Graph* graph, const PassContext&) { return CancelMoves(graph); }},
      {"fold-constants", "fold nodes with constant inputs",
       [](Graph* graph, const PassContext& context) {
         return FoldConstants(graph, context.supposed, context.folded);
       }},
      {"simplify", "remove nodes that do nothing or whose results are not read",
       [](Graph* graph, const PassContext&) { return Simplify(graph); }},
      {"share-subexpressions", "eliminate common subexpressions",
       [](Graph* graph, const PassContext& context) {
         return ShareSubexpressions(graph, context.supposed);
       }},
      {"check", "check every node against the constraints of its operator",
       [](Graph* graph, const PassContext&) { return Check(*graph); }},
      {"fuse-elementwise",
       "fuse elementwise float operators into microprograms",
       [](Graph* graph, const PassContext& context) {
         return context.fuse_elementwise ? FuseElementwise(graph)
                                         : absl::OkStatus();
       }},
      {"lower",
       "turn nodes into device operations, or into stages of the operation "
       "before",
       nullptr},
      {"order-operations",
       "choose the order that needs the least SRAM, where it is faster",
       nullptr},
      {"recompute",
       "recompute cheap tensors for distant readers, where that is faster",
       nullptr},
      {"choose-schedule",
       "choose cascades, tile heights, spills and groups of constants",
       nullptr},
      {"plan-memory", "assign boxes, and addresses in SRAM and device memory",
       nullptr},
      {"emit", "emit commands in program order", nullptr},
      {"synchronise", "add waits and signals; encode the stream", nullptr},
      {"timeline", "estimate start and end of every command", nullptr},
  };
  return *passes;
}

absl::StatusOr<size_t> FindPass(const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < Passes().size(); ++i) {
    if (name == Passes()[i].name) return i;
    names.push_back(Passes()[i].name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown pass '", name, "'; passes, the nearest first: ",
                   absl::StrJoin(NearestFirst(name, names), ", ")));
}

absl::Status RunGraphPasses(const PassContext& context,
                            const CompileOptions& options, Graph* graph) {
  int64_t folded = kMaxFoldedTotal;
  PassContext own = context;
  own.folded = &folded;
  bool inferred = false;  // bodies are, when the graph is
  for (const Pass& pass : Passes()) {
    if (pass.run == nullptr) continue;
    BeginPass(options, pass.name);
    RETURN_IF_ERROR(pass.run(graph, own));
    size_t nodes = 0;
    if (inferred) RETURN_IF_ERROR(RunOnBodies(pass, own, graph, &nodes));
    inferred = true;
    RETURN_IF_ERROR(
        EndPass(options, pass.name, [&] { return graph->ToString(); }));
  }
  return absl::OkStatus();
}

absl::Status ExpandKept(Graph* graph) {
  const bool any =
      std::any_of(graph->nodes.begin(), graph->nodes.end(),
                  [&](const Node& node) { return IsForEither(*graph, node); });
  if (!any) return absl::OkStatus();
  ASSIGN_OR_RETURN(const size_t first, FindPass("expand"));
  ASSIGN_OR_RETURN(const size_t last, FindPass("check"));
  for (size_t i = first; i <= last; ++i) {
    RETURN_IF_ERROR(Passes()[i].run(graph, PassContext()));
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
