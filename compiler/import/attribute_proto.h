// SPDX-License-Identifier: Apache-2.0
// The attributes of an onnx.NodeProto.
#ifndef HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_
#define HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_

#include <onnx/onnx_pb.h>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Fills node->attributes. Refusals: kInvalidModel (no name, repeated, value
// that disagrees with the stated type, reference outside a function),
// kUnsupportedAttribute (graphs, sparse tensors, lists of tensors, type
// protos).
absl::Status FromAttributeProtos(const onnx::NodeProto& proto, Node* node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_ATTRIBUTE_PROTO_H_
