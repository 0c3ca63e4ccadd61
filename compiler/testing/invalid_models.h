// SPDX-License-Identifier: Apache-2.0
// Valid models of one node and the mutations that make them invalid: tables per
// family of operators (invalid_models_*.cc) for invalid_models_test.cc. Each
// registers itself; a new operator's may be a file of its own.
//
// A mutation changes one thing, after which the model contradicts ONNX's
// definition of the operator; one that leaves it valid does not belong here.
#ifndef HEDDLE_COMPILER_TESTING_INVALID_MODELS_H_
#define HEDDLE_COMPILER_TESTING_INVALID_MODELS_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {

using Change = std::function<void(onnx::ModelProto*)>;

struct Mutation {
  std::string what;
  std::vector<Rejection> kinds;  // one of these is right
  Change apply;
};

// The node is the model's only one, its data input "x", its output "y".
struct OperatorCases {
  std::string op;
  std::function<ModelBuilder()> valid;
  std::vector<Mutation> own;  // beside those that suit every operator
  bool variadic = false;      // any number of inputs is valid
};

// For GoogleTest's messages.
inline void PrintTo(const OperatorCases& cases, std::ostream* out) {
  *out << cases.op;
}

// Adds a family's table to those that the test goes through:
//   const InvalidModels kMovement(MovementCases);
class InvalidModels {
 public:
  explicit InvalidModels(std::vector<OperatorCases> (*cases)());
};

// Of all families.
std::vector<OperatorCases> AllInvalidModels();

// Kinds of rejection by what is wrong.
namespace wrong {
using Kinds = std::vector<Rejection>;
// A value that the definition forbids.
inline const Kinds kValue = {Rejection::kInvalidModel};
// Shapes that contradict each other.
inline const Kinds kShapes = {Rejection::kMismatchingShape,
                              Rejection::kInvalidModel};
// A rank that the definition forbids: as ONNX or as the card sees it.
inline const Kinds kRank = {Rejection::kInvalidModel,
                            Rejection::kUnsupportedShape,
                            Rejection::kMismatchingShape};
// A type that the definition forbids for this input.
inline const Kinds kType = {Rejection::kUnsupportedDatatype};
// Types that contradict each other.
inline const Kinds kTypes = {Rejection::kMismatchingDatatype,
                             Rejection::kInvalidModel,
                             Rejection::kUnsupportedDatatype};
// One of the words that an attribute may be.
inline const Kinds kWord = {Rejection::kInvalidModel,
                            Rejection::kUnsupportedAttribute};
}  // namespace wrong

// Changes of the node's attributes (replaced if they are there).
Change Int(const std::string& name, int64_t value);
Change Float(const std::string& name, float value);
Change Ints(const std::string& name, const std::vector<int64_t>& values);
Change String(const std::string& name, const std::string& value);
Change Drop(const std::string& name);
// Changes of a graph input.
Change InputShape(const std::string& name, const Shape& shape);
Change InputType(const std::string& name, DataType type);
// An initializer's new data.
Change Value(const std::string& name, const TensorData& data);
// Only the first `count` inputs of the node remain.
Change Inputs(int count);
// Input `i` is absent.
Change NoInput(int i);
// The outputs of the node.
Change Outputs(const std::vector<std::string>& names);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_INVALID_MODELS_H_
