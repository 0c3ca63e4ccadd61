// SPDX-License-Identifier: Apache-2.0
// The most that integers may be which a run computes, as the user says it
// (CompileOptions::bounds): nodes heddle.Bound behind what makes them. The name
// of a Loop stands for the number of its iterations.
#ifndef HEDDLE_COMPILER_IMPORT_BOUNDS_H_
#define HEDDLE_COMPILER_IMPORT_BOUNDS_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Of a Loop, if the user says so: the most iterations that it makes.
inline constexpr char kIterationsAttribute[] = "heddle.iterations";

// Those of `given`, and those that the model states in its metadata, which are
// the way for who has no options (ONNXIFI): key "heddle.bound.NAME", value N.
// kInvalidModel: a value that is no number.
absl::StatusOr<std::map<std::string, int64_t>> BoundsOf(
    const onnx::ModelProto& model, const std::map<std::string, int64_t>& given);

// The graph has just been imported: nothing is inferred. kUnsupportedAttribute:
// a name that no node of it writes and that is no input, or a negative bound.
absl::Status InsertBounds(const std::map<std::string, int64_t>& bounds,
                          Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_BOUNDS_H_
