// SPDX-License-Identifier: Apache-2.0
// Graphs inside of graphs, put in place before import:
//
//   If          with a condition that is an initializer or a Constant: the
//               nodes of its branch
//   functions   a call of one of the model's own functions: the function's
//   nodes
//
// Names that belong to the inner graph get the prefix "<first output>/", its
// nodes "<node>/". What cannot be put in place stays, and is refused as an
// operator that is not supported.
#ifndef HEDDLE_COMPILER_IMPORT_INLINE_H_
#define HEDDLE_COMPILER_IMPORT_INLINE_H_

#include <onnx/onnx_pb.h>

#include "absl/status/status.h"
#include "compiler/import/wire_check.h"

namespace heddle::compiler {

// Rejections: kInvalidModel (a branch or function that contradicts its use, a
// function that calls itself), kUnsupportedVersion (a function of other opsets
// than the model), kNoSystemMemory (functions that grow beyond all measure).
// `raw`: where the raw_data of the model's tensors is.
absl::Status InlineGraphs(onnx::ModelProto* model, const TakenBytes& raw);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_INLINE_H_
