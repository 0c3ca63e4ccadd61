// SPDX-License-Identifier: Apache-2.0
// Tensors of 4 bits, two codes to a byte, the first one in the low bits.
// Weights of int4 and uint4 that only DequantizeLinear reads have the values of
// int8 and uint8, and to it the type makes no other difference: they become
// those, which the card knows.
#ifndef HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_
#define HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_

#include <onnx/onnx_pb.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

bool HasFourBits(const onnx::TensorProto& proto);

// An element in each byte, those with a sign extended. Rejections as those of
// FromTensorProto.
absl::StatusOr<TensorData> FromFourBits(const onnx::TensorProto& proto,
                                        const std::string& what,
                                        TensorSource* source);

// Initializers of int4 and uint4 that only DequantizeLinear reads, as codes or
// zero points, also in the graphs of nodes.
std::set<std::string> FourBitsAsBytes(const onnx::GraphProto& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_FOUR_BITS_H_
