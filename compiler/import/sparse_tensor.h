// SPDX-License-Identifier: Apache-2.0
// onnx.SparseTensorProto (coordinate form) to dense data.
#ifndef HEDDLE_COMPILER_IMPORT_SPARSE_TENSOR_H_
#define HEDDLE_COMPILER_IMPORT_SPARSE_TENSOR_H_

#include <onnx/onnx_pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Both forms of the indices: positions in the flattened tensor ([NNZ]), and
// coordinates ([NNZ, rank]); ascending, without repetition. `what` names the
// tensor. Rejections: kInvalidModel, kUnsupportedDatatype, kNoSystemMemory
// (dense it exceeds what `source` still grants).
absl::StatusOr<TensorData> FromSparseTensorProto(
    const onnx::SparseTensorProto& proto, const std::string& what,
    TensorSource* source);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_SPARSE_TENSOR_H_
