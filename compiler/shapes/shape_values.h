// SPDX-License-Identifier: Apache-2.0
// Values of symbolic dimensions as the user writes them:
//   batch=1..8;height=224,320;width=256..512:64
#ifndef HEDDLE_COMPILER_SHAPES_SHAPE_VALUES_H_
#define HEDDLE_COMPILER_SHAPES_SHAPE_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/import/input_declaration.h"

namespace heddle::compiler {

// Ascending, without repetition, by symbol.
using ShapeValues = std::map<std::string, std::vector<int64_t>>;

// Adds what the text says; "" says nothing. InvalidArgument: not of that form,
// a symbol twice, or more than 256 values of one.
absl::Status ParseShapeValues(absl::string_view text, ShapeValues* values);

// The name of an open dimension: the model's, or "INPUT:AXIS" if it has none.
std::string SymbolOf(const InputDeclaration& input, size_t axis);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SHAPES_SHAPE_VALUES_H_
