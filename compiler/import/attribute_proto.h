// SPDX-License-Identifier: Apache-2.0
// The attributes of an onnx.NodeProto.
#ifndef HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_
#define HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_

#include <onnx/onnx_pb.h>

#include "absl/status/status.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Fills node->attributes. Rejections: kInvalidModel (no name, repeated, value
// that disagrees with the stated type, reference outside a function, a sparse
// tensor elsewhere than in Constant's sparse_value), kUnsupportedAttribute
// (graphs, lists of tensors, type protos), and those of tensors.
//
// A number or a string without a value is 0 or "": messages of proto3 do not
// hold such values.
absl::Status FromAttributeProtos(const onnx::NodeProto& proto,
                                 TensorSource* source, Node* node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_
