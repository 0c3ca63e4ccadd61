// SPDX-License-Identifier: Apache-2.0
// Makes a Pad with zeros part of the convolution behind it.
#ifndef HEDDLE_COMPILER_PASSES_FOLD_PAD_H_
#define HEDDLE_COMPILER_PASSES_FOLD_PAD_H_

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Pad with mode constant, value +0, no negative pads and none on batch and
// channels, that only a Conv without automatic padding reads. (Pooling is no
// such reader: its padding does not count.) Needs inferred shapes.
absl::Status FoldPad(Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_FOLD_PAD_H_
