// SPDX-License-Identifier: Apache-2.0
// Answers of the compiler to "what became of this node" and "what is missing".
#ifndef HEDDLE_COMPILER_REPORT_EXPLAIN_H_
#define HEDDLE_COMPILER_REPORT_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/compiler.h"

namespace heddle::compiler {

struct Explanation {
  // Lines for a person: what the model says of the node, what the front end
  // made of it, which operations of the card do it, with tiles, places,
  // commands and estimated cycles.
  std::string text;
  // Why the model is refused; OK if it is not.
  absl::Status rejection;
};

// `name` is that of a node, or of a tensor that a node computes. NotFound if
// the model has neither; the message names the nearest ones. Another error if
// the bytes are not a model.
absl::StatusOr<Explanation> ExplainNode(absl::string_view model,
                                        const CompileOptions& options,
                                        const std::string& name);

// An operator of the model that the card cannot run, nor the host if it may.
struct MissingOperator {
  std::string op, domain;
  size_t count = 0;
  std::string first_node;
};
// All of them, also inside the graphs of If, Loop and Scan, by how often they
// occur; empty if there are none or the bytes
// are not a model.
std::vector<MissingOperator> MissingOperators(absl::string_view model,
                                              const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_REPORT_EXPLAIN_H_
