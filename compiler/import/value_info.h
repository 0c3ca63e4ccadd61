// SPDX-License-Identifier: Apache-2.0
// What an onnx.ValueInfoProto says of a tensor.
#ifndef HEDDLE_COMPILER_IMPORT_VALUE_INFO_H_
#define HEDDLE_COMPILER_IMPORT_VALUE_INFO_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// What the model declares about a computed tensor; a dimension that it leaves
// open is -1.
struct Declaration {
  DataType type = DataType::kUndefined;
  bool has_shape = false;
  Shape shape;
  std::vector<std::string> symbols = {};  // per dimension; "" without a name
};

// Type and shape; what the message leaves open stays open. `what` begins the
// rejections: kInvalidModel (an element type or a dimension that is none),
// kUnsupportedDatatype (no dense tensor; strings and complex numbers).
absl::Status FromValueInfoProto(const onnx::ValueInfoProto& proto,
                                const std::string& what, Declaration* declared);

// Rejections: kMismatchingDatatype, kMismatchingShape.
absl::Status CheckDeclared(const std::string& what, const Declaration& declared,
                           DataType type, const Shape& shape);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_VALUE_INFO_H_
