// SPDX-License-Identifier: Apache-2.0
// One pass on a graph just inferred: what it leaves, and that no byte changes.
#ifndef HEDDLE_COMPILER_TESTING_PASS_CASE_H_
#define HEDDLE_COMPILER_TESTING_PASS_CASE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The operators after `pass`, in order, by names with blanks between; dead ones
// are gone. Evaluates the graph before and after with random inputs: outputs of
// other bytes are a failure of the test, and so is any error. `graph`, if
// given, receives the graph.
std::string OpsAfter(const std::string& model,
                     const std::function<absl::Status(Graph*)>& pass,
                     Graph* graph = nullptr);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_PASS_CASE_H_
