// SPDX-License-Identifier: Apache-2.0
// The value of --shape: NAME=D,D,... (of an input, or NAME=D of a dimension
// that has this name), and a hint when it is missing; of --bound: NAME=N.
#ifndef HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_
#define HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/import/input_declaration.h"
#include "compiler/ir/graph.h"

namespace heddle::cli {

// Adds each text to *shapes. InvalidArgument: not of that form, or twice.
absl::Status ParseShapes(const std::vector<std::string>& texts,
                         std::map<std::string, compiler::Shape>* shapes);

// A UsageError if a name in `shapes` is that of no input and of no dimension of
// one, or a dimension is given several sizes.
absl::Status CheckShapeNames(
    const std::map<std::string, compiler::Shape>& shapes,
    const std::vector<compiler::InputDeclaration>& inputs);

// The values of --bound, NAME=N, into *bounds. InvalidArgument: not of that
// form, or twice.
absl::Status ParseBounds(const std::vector<std::string>& texts,
                         std::map<std::string, int64_t>* bounds);

// For a model that leaves dimensions of its inputs open beyond `shapes`:
// `command`, a tool and its arguments, with options that give those, too, of
// invented sizes, for instance "heddle-compile model.onnx -o model.hpk --shape
// batch=1". Otherwise "".
std::string ShapeExample(const std::vector<std::string>& command,
                         absl::string_view model,
                         const std::map<std::string, compiler::Shape>& shapes);

// Prints "TOOL: for example: EXAMPLE" to stderr, after the error; nothing for
// "".
void PrintExample(const char* tool, const std::string& example);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_SHAPE_OPTION_H_
