// SPDX-License-Identifier: Apache-2.0
// onnx.TensorProto to dense data, in every form the format allows.
#ifndef HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_
#define HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_

#include <onnx/onnx_pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// `what` names the tensor in messages ("initializer 'w'"). Refusals:
// kInvalidModel (sizes that disagree, two value fields, external data),
// kUnsupportedDatatype (strings, undefined).
absl::StatusOr<TensorData> FromTensorProto(const onnx::TensorProto& proto,
                                           const std::string& what);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_
