// SPDX-License-Identifier: Apache-2.0
// Types and shapes of all tensors, and the values of those that are known when
// compiling, in one walk: the shape of a Reshape may come from a chain of
// Shape, Gather and Concat nodes.
#ifndef HEDDLE_COMPILER_PASSES_INFER_H_
#define HEDDLE_COMPILER_PASSES_INFER_H_

#include <map>

#include "absl/status/status.h"
#include "compiler/import/importer.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {

// Largest tensor that a graph may have, in bytes: the largest card's memory.
inline constexpr int64_t kMaxTensorBytes = int64_t{4} << 30;
// Larger results stay computed at run time, rather than grow the package.
inline constexpr int64_t kMaxFoldedBytes = int64_t{64} << 20;
// All folded tensors of a graph together.
inline constexpr int64_t kMaxFoldedTotal = int64_t{1} << 30;

// Checks every node, infers its outputs, compares them with what the model
// declares (kMismatchingShape, kMismatchingDatatype), and replaces nodes whose
// inputs are all constant by constants. DequantizeLinear of constants is kept:
// quantized weights must stay visible to the quantization pass.
//
// An If gives way to the branch that its condition takes, a Loop or Scan to its
// iterations (unroll.h); those that a run decides become nodes with bodies, of
// which all this holds, too (control.h). `subgraphs`: of the graph's nodes.
//
// `supposed`: some constants are stand-ins for weights that are not known
// (suppose.h). What is computed from them alone is one of them too. A
// node whose result has a shape that such values decide is left out: what the
// model declares completely goes on as an input of the graph, what it does not
// is unknown, and so is all that is computed from it. What such a node would
// read is an output.
absl::Status InferAndFold(Graph* graph,
                          const std::map<TensorId, Declaration>& declared,
                          Supposed* supposed = nullptr,
                          const SubgraphMap& subgraphs = {});

// Replaces nodes whose inputs are all constant, DequantizeLinear included.
// Shapes must be known. `budget`: bytes that results may still take, of several
// graphs together; null: kMaxFoldedTotal.
absl::Status FoldConstants(Graph* graph, Supposed* supposed = nullptr,
                           int64_t* budget = nullptr);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_INFER_H_
