// SPDX-License-Identifier: Apache-2.0
// A graph for smaller sizes of a dimension than it was compiled for: inputs are
// padded with copies of their last index, outputs are cut. Only where the
// compiler has proven that this changes no byte
// (compiler/shapes/independence.h). Copies of real values instead of zeros
// ensure that no index goes out of range and no int64 value gets too large.
#ifndef HEDDLE_RUNTIME_SESSION_PADDED_GRAPH_H_
#define HEDDLE_RUNTIME_SESSION_PADDED_GRAPH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"

namespace heddle::session {

// Along one axis, of a tensor: that much of it is real.
struct PaddedAxis {
  int axis = -1;  // -1: all of it is
  int64_t size = 0;
};

// `inputs` and `outputs` in the order of the package of `graph`; sizes are at
// least 1 and at most the package's. Tensors that are padded cannot be
// resident.
std::shared_ptr<Graph> MakePaddedGraph(std::shared_ptr<Graph> graph,
                                       std::vector<PaddedAxis> inputs,
                                       std::vector<PaddedAxis> outputs);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_PADDED_GRAPH_H_
