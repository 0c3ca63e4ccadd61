// SPDX-License-Identifier: Apache-2.0
// Which inputs of an operator ONNX's definition gives one type: those with the
// same type variable.
#ifndef HEDDLE_COMPILER_OPS_TYPE_VARIABLES_H_
#define HEDDLE_COMPILER_OPS_TYPE_VARIABLES_H_

#include <string>
#include <vector>

#include "compiler/ops/operator.h"

namespace heddle::compiler {

struct TypeVariables {
  const char* op;  // of ai.onnx
  int since;       // until the operator's next row
  // A letter for each input, the same for inputs of one type; '.': a type of
  // its own. A last '*': further inputs have the type of the one before.
  // Empty: no two inputs do.
  const char* inputs;
};

// By operator and version. Those of opsets 1 to 17 are ONNX's schemas, as
// schema_test says; the others are written by hand.
const std::vector<TypeVariables>& AllTypeVariables();

// Of an operator of ai.onnx at an opset; "" if no two inputs have one type.
const char* TypeVariablesOf(const std::string& op, int opset);

// Whether those of a node that have one type by ONNX's definition do.
bool InputsHaveOneType(const Graph& graph, const Node& node);

// The rule "inputs 0 and 1 have one type" for what these inputs are; its text
// lives as long as the process.
Constraint OneTypeRule(const char* inputs);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_TYPE_VARIABLES_H_
