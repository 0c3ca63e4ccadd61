// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors give way to tensors before import, wherever the model
// itself says what is in them:
//
//   SequenceConstruct, -Empty, -Insert, -Erase   at constant positions: nothing
//   SplitToSequence   into constant sizes: a Split; into equal pieces, of which
//                     a run says how many: nothing, its readers slice
//   SequenceAt        a Gather or Slice of what was split (of pieces of one row
//                     at any position), else the tensor itself
//   SequenceLength    a constant, or computed from a Shape
//   ConcatFromSequence   a Concat, or what was split
//   Loop              that appends one tensor to an empty sequence in each
//                     iteration: a scan output of the Loop
//
// The definitions are ONNX's: the nodes put in place give the bytes of those
// that they replace. Only an index behind the last of equal pieces, which is an
// error, gives a tensor without elements where pieces have more than one row.
#ifndef HEDDLE_COMPILER_IMPORT_SEQUENCES_H_
#define HEDDLE_COMPILER_IMPORT_SEQUENCES_H_

#include <onnx/onnx_pb.h>

#include <string>

#include "compiler/import/inline.h"
#include "compiler/import/wire_check.h"

namespace heddle::compiler {

// Whether an operator of the default domain reads or makes sequences.
bool IsOfSequences(const std::string& op);

// Replaces them all, in the graph and in those inside of its nodes; or leaves
// the model as it is, and says which node prevents it and why (for a sentence:
// "SequenceAt 'a': its position is computed, ..."). Empty: there are none left.
// `raw`: where the raw_data of the model's tensors is. `placed` follows the
// nodes.
std::string ReplaceSequences(onnx::ModelProto* model, const TakenBytes& raw,
                             PlacedGraphs* placed);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_SEQUENCES_H_
