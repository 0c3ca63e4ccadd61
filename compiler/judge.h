// SPDX-License-Identifier: Apache-2.0
// Whether a model can be compiled, for onnxGetBackendCompatibility.
#ifndef HEDDLE_COMPILER_JUDGE_H_
#define HEDDLE_COMPILER_JUDGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/compiler.h"

namespace heddle::compiler {

struct Judgement {
  Graph graph;  // as analysed
  // Some of its nodes would run on the host (CompileOptions.host_nodes).
  bool uses_host = false;
};

// The judgement if CompileOnnx(model, options) would succeed, else its
// rejection: the same check to its end, without the search for a fast schedule.
//
// Inputs of a model without initializers may be weights of which only type and
// shape are known (options.weights is then empty). Such a model is accepted if
// it compiles as it is, or with some of the inputs as weights (suppose.h):
// their values are taken for ordinary ones, and what only they decide for
// right. The graph is then one of stand-ins, good for looking at its operators.
//
// Nothing is the host's in a graph with tensors that have no elements
// (HasEmptyTensors): ONNXIFI has none.
absl::StatusOr<Judgement> JudgeOnnx(absl::string_view model,
                                    const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_JUDGE_H_
