// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/package_program.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace heddle::lockstep {

absl::StatusOr<std::vector<Program>> ProgramsOf(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs) {
  if (inputs.size() != package.inputs.size()) {
    return absl::InvalidArgumentError("number of inputs");
  }
  if (!package.weight_plan.empty()) {
    return absl::InvalidArgumentError(
        "a part of the weights is copied between the streams; compile without "
        "a limit of device memory");
  }
  const auto align = [](uint64_t v) {
    return (v + package::kPageBytes - 1) / package::kPageBytes *
           package::kPageBytes;
  };
  Program program;
  const uint64_t scratch = align(package.weights.size());
  const uint64_t io = scratch + align(package.scratch_bytes);
  program.memory.resize(io + align(package.io_bytes));
  std::copy(package.weights.begin(), package.weights.end(),
            program.memory.begin());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const package::TensorInfo& info = package.inputs[i];
    if (inputs[i].bytes.size() != info.size) {
      return absl::InvalidArgumentError(
          absl::StrCat("size of input ", info.name));
    }
    std::memcpy(&program.memory[io + info.offset], inputs[i].bytes.data(),
                info.size);
  }
  program.regions[0] = {0, package.weights.size(), false};
  program.regions[1] = {scratch, package.scratch_bytes, true};
  program.regions[2] = {io, package.io_bytes, true};
  std::vector<Program> programs;
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    program.words = package.streams[s];
    program.node = [&package, s](uint32_t offset) {
      return package.NodeAt(s, offset);
    };
    programs.push_back(program);
  }
  return programs;
}

}  // namespace heddle::lockstep
