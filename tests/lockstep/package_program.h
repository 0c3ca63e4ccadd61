// SPDX-License-Identifier: Apache-2.0
// A compiled package as programs for a core: one per stream, with device memory
// as the driver would lay it out, and the ONNX nodes of the commands.
#ifndef HEDDLE_TESTS_LOCKSTEP_PACKAGE_PROGRAM_H_
#define HEDDLE_TESTS_LOCKSTEP_PACKAGE_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"
#include "tests/lockstep/lockstep.h"

namespace heddle::lockstep {

// `package` must outlive the programs. All have the memory before the first
// stream; the next stream starts with what the one before left. Region 2, where
// the outputs will be, is at regions[2].base.
absl::StatusOr<std::vector<Program>> ProgramsOf(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs);

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_PACKAGE_PROGRAM_H_
