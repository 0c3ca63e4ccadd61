// SPDX-License-Identifier: Apache-2.0
// Whether int64 tensors may be held as int32: the bound that int64 inputs of
// the network must keep so that every int64 value computed from them fits 32
// bits. The runtime compares the inputs with it (TensorInfo::minimum, maximum),
// so that a result is right or refused, never wrapped.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The largest power of two B, at most 2^31, with which interval arithmetic over
// the graph proves the range: inputs in [-B, B - 1]. Add, Sub, Mul, Div and Mod
// are followed, other operators move values or make int32 ones. Rejection
// with the node's name where no bound is small enough.
absl::StatusOr<int64_t> Int64InputBound(const Graph& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_
