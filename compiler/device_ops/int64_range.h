// SPDX-License-Identifier: Apache-2.0
// Whether int64 tensors may be held as int32: the bound that int64 inputs of
// the network must keep so that every int64 value computed from them fits 32
// bits. The runtime compares the inputs with it (TensorInfo::minimum, maximum),
// so that a result is right or refused, never wrapped.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_
#define HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// The largest power of two B, at most 2^31, with which interval arithmetic over
// the graph proves the range: inputs in [-B, B - 1]. Add, Sub, Mul, Div and Mod
// are followed, other operators move values or make int32 ones. Rejection
// with the node's name where no bound is small enough.
absl::StatusOr<int64_t> Int64InputBound(const Graph& graph);

// By tensor: whether it may have int64 values beyond 32 bits even if what is
// known of no other value is as small as the smallest bound of inputs: in a
// graph that card and host share, the card must not have it, though it would
// take each of its readers alone. `wide_inputs`: whether inputs are such.
std::vector<bool> FindWideInt64(const Graph& graph,
                                const std::vector<bool>& wide_inputs);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_INT64_RANGE_H_
