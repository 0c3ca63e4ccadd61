// SPDX-License-Identifier: Apache-2.0
// What a model says of itself before any shape is bound: for tools that list
// it, bind symbolic dimensions, or tell the user to.
#ifndef HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_
#define HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// "[batch,3,?,224]" of a shape with -1 where it is open, and the names, or "",
// of its dimensions.
std::string OpenShapeText(const Shape& shape,
                          const std::vector<std::string>& symbols);

struct InputDeclaration {
  std::string name;
  DataType type = DataType::kUndefined;  // or no tensor
  bool has_shape = false;                // otherwise not even the rank is known
  Shape shape;                           // -1: open
  std::vector<std::string> symbols;      // per dimension; "" without a name

  std::string ShapeText() const { return OpenShapeText(shape, symbols); }
};

struct ModelSummary {
  std::string graph, producer;
  int64_t ir_version = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;  // domain, version
  size_t nodes = 0, initializers = 0;  // of the graph, not of its bodies
  // Inputs are those that a caller gives, as for DeclaredInputs.
  std::vector<InputDeclaration> inputs, outputs;
};
// Operators and shapes are not looked at. Rejections: those of ParseModel.
absl::StatusOr<ModelSummary> SummariseModel(absl::string_view model);

// The inputs that a caller of the model gives, in the model's order: those
// without an initializer. Empty if the bytes are no model.
std::vector<InputDeclaration> DeclaredInputs(absl::string_view model);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_INPUT_DECLARATION_H_
