// SPDX-License-Identifier: Apache-2.0
// What a model says of its inputs before any shape is bound: for tools that
// bind symbolic dimensions, or tell the user that he must.
#ifndef HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_
#define HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct InputDeclaration {
  std::string name;
  bool has_shape = false;            // otherwise not even the rank is known
  Shape shape;                       // -1: open
  std::vector<std::string> symbols;  // per dimension; "" without a name

  // "[batch,3,?,224]".
  std::string ShapeText() const;
};

// The inputs that a caller of the model gives, in the model's order: those
// without an initializer. Empty if the bytes are no model.
std::vector<InputDeclaration> DeclaredInputs(absl::string_view model);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_
