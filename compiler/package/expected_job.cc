// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/expected_job.h"

#include "compiler/stream/job_cycles.h"

namespace heddle::package {

uint64_t ExpectedJobCycles(const Package& package) {
  if (package.estimated_cycles == 0 || !package.segments.empty() ||
      !package.weight_plan.empty()) {
    return 0;
  }
  uint64_t bytes = 0;
  for (const auto* tensors : {&package.inputs, &package.outputs}) {
    for (const TensorInfo& tensor : *tensors) bytes += tensor.size;
  }
  return compiler::JobCycles(package.estimated_cycles, package.streams.size(),
                             bytes,
                             package.inputs.size() + package.outputs.size());
}

}  // namespace heddle::package
