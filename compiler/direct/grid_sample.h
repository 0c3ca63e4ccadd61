// SPDX-License-Identifier: Apache-2.0
// GridSample on the host: where each sample lies is computed once for all
// channels.
#ifndef HEDDLE_COMPILER_DIRECT_GRID_SAMPLE_H_
#define HEDDLE_COMPILER_DIRECT_GRID_SAMPLE_H_

#include <memory>

#include "compiler/direct/direct.h"

namespace heddle::compiler {

// Of a node that IsDirect.
std::unique_ptr<DirectKernel> MakeGridSample(const Graph& graph,
                                             const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DIRECT_GRID_SAMPLE_H_
