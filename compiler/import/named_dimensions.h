// SPDX-License-Identifier: Apache-2.0
// Dimensions that a model's inputs give a name instead of a size: one name, one
// value, which the options say, or the shape of an input that has it.
#ifndef HEDDLE_COMPILER_IMPORT_NAMED_DIMENSIONS_H_
#define HEDDLE_COMPILER_IMPORT_NAMED_DIMENSIONS_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

class NamedDimensions {
 public:
  // Takes those of `given` (CompileOptions::input_shapes) that are no inputs.
  NamedDimensions(const onnx::GraphProto& graph,
                  const std::map<std::string, Shape>& given);

  // Whether `given` named it.
  bool IsGiven(const std::string& name) const {
    return given_.count(name) != 0;
  }
  // Takes the values that this shape of the input gives. kMismatchingShape: one
  // of them is another already.
  absl::Status Bind(const onnx::ValueInfoProto& input, const Shape& shape);
  // Null: nobody gave it.
  const int64_t* Find(const std::string& name) const;
  // "; its named dimensions are ...", or "".
  std::string Names() const;

 private:
  struct Binding {
    int64_t value;
    std::string where;  // it was given first
  };
  std::set<std::string> names_, given_;
  std::map<std::string, Binding> bindings_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_NAMED_DIMENSIONS_H_
