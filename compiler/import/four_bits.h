// SPDX-License-Identifier: Apache-2.0
// Initializers of int4 and uint4, two codes to a byte, the first one in the low
// bits. Tensors of graphs have no such types; but the values are those of int8
// and uint8, and to DequantizeLinear the type makes no other difference.
#ifndef HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_
#define HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_

#include <onnx/onnx_pb.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

bool HasFourBits(const onnx::TensorProto& proto);

// The codes, as int8 or uint8. Rejections as those of FromTensorProto.
absl::StatusOr<TensorData> FromFourBits(const onnx::TensorProto& proto,
                                        const std::string& what,
                                        TensorSource* source);

// UnsupportedDatatype where an initializer of 4 bits is the graph's output or
// read by others than DequantizeLinear, also in the graphs of nodes.
absl::Status CheckFourBitReaders(const onnx::GraphProto& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_
