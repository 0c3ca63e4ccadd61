// SPDX-License-Identifier: Apache-2.0
// The value of --shape: NAME=D,D,...
#ifndef HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_
#define HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::cli {

// Adds each text to *shapes. InvalidArgument: not of that form, or twice.
absl::Status ParseShapes(const std::vector<std::string>& texts,
                         std::map<std::string, compiler::Shape>* shapes);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_
