// SPDX-License-Identifier: Apache-2.0
// heddle.Elementwise, what a pass makes of elementwise operators that follow
// each other (passes/fuse_elementwise.h): one microprogram. Inputs: streams A,
// B and C of the program, as many as there are, with numpy's broadcasting.
// Attributes: program (the words of its body), arguments (of the command), type
// (the result's, as a DataType), operators (what it was made of, for who reads
// the graph).
#ifndef HEDDLE_COMPILER_OPS_FUSED_PROGRAM_H_
#define HEDDLE_COMPILER_OPS_FUSED_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

// A program of a body only, with the command's arguments.
struct FusedProgram {
  Microprogram program;
  std::array<uint32_t, 4> arguments{};
};

// A node without inputs, outputs and names.
Node MakeElementwiseNode(const FusedProgram& fused, DataType type,
                         const std::vector<std::string>& operators);

// The program of such a node. INTERNAL if it has none.
absl::StatusOr<FusedProgram> FusedProgramOf(const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_FUSED_PROGRAM_H_
