// SPDX-License-Identifier: Apache-2.0
// onnx.TensorProto to dense data, in every form the format allows: raw_data,
// the typed fields, and files beside the model.
#ifndef HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_
#define HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/import/external_data.h"
#include "compiler/import/wire_check.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The 8-bit and 4-bit types that ONNX has since IR versions 9 to 11: constants
// and what nodes compute have them, a model's inputs and outputs do not.
bool IsNarrow(DataType type);

// The type that a TensorProto.DataType of IR versions 12 and 13 is, which are
// read for the sake of what else models have; null: none of them.
const char* NewerTypeName(int type);

// Bytes that the sparse tensors of a model may take as dense ones: a bound
// against files that are small but expensive to expand.
inline constexpr int64_t kMaxSparseBytes = int64_t{256} << 20;

// Whether a constant may be a view of bytes that others may write while the
// compiler runs, those of a mapped file: it is large, and of a type whose
// values are no indices, which are checked once and then relied upon.
bool MayBeView(DataType type, size_t bytes);

// What tensors draw on beside their own messages; one per model.
struct TensorSource {
  explicit TensorSource(std::string folder) : files(std::move(folder)) {}
  ExternalData files;
  // Where the model's raw_data is, if it was taken out.
  std::optional<TakenBytes> raw;
  // Keeps the bytes of `raw` for as long as tensors are views of them; null:
  // all tensors are copies.
  std::shared_ptr<const void> owner;
  int64_t sparse_bytes = kMaxSparseBytes;  // still free
};

// `what` names the tensor in messages ("initializer 'w'"). Rejections:
// kInvalidModel (sizes that disagree, two value fields, external data that
// cannot be had), kUnsupportedDatatype (strings, undefined).
absl::StatusOr<TensorData> FromTensorProto(const onnx::TensorProto& proto,
                                           const std::string& what,
                                           TensorSource* source);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_TENSOR_PROTO_H_
