// SPDX-License-Identifier: Apache-2.0
// Taps of tensors that fusion into the output stage has removed.
//
// Such a tensor exists nowhere while the production commands run. So that every
// quantized tensor can still be compared, a package with taps computes them
// once more behind the production commands, which stay what they are: for each,
// the same matrix operation with fewer output stages, whose operands are loaded
// from the taps of the operation's operands.
#ifndef HEDDLE_COMPILER_SCHEDULE_TAPS_H_
#define HEDDLE_COMPILER_SCHEDULE_TAPS_H_

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// The operations for `graph`'s fused-away tensors that have a place in region 2
// (tap_offset). Operands without a tap of their own get a place at the end of
// region 2 (io_bytes). `owners` receives for each the index in graph->ops.
// Their constants are not placed yet.
DeviceGraph MakeTapGraph(DeviceGraph* graph, std::vector<uint32_t>* owners);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_TAPS_H_
