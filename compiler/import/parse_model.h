// SPDX-License-Identifier: Apache-2.0
// Bytes to an onnx.ModelProto, under limits, without its large parts.
#ifndef HEDDLE_COMPILER_IMPORT_PARSE_MODEL_H_
#define HEDDLE_COMPILER_IMPORT_PARSE_MODEL_H_

#include <onnx/onnx_pb.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/import/wire_check.h"

namespace heddle::compiler {

// The raw_data of all tensors is taken out: `*raw` says where in `bytes` it is.
// Rejections: those of CheckWire, kInvalidProtobuf.
absl::Status ParseModel(absl::string_view bytes, onnx::ModelProto* model,
                        TakenBytes* raw);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_PARSE_MODEL_H_
