// SPDX-License-Identifier: Apache-2.0
// The core by itself: the streams, with nothing before and after them.
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "simulator/rtl/core_model.h"
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {

absl::StatusOr<uint64_t> Simulate(Program* program) {
  auto core = MakeCore(isa::kH256);
  if (!core.ok()) return core.status();
  (*core)->memory()->Attach(program->memory.data(), program->memory.size());
  for (const Program::Range& stream : program->streams) {
    platform::CoreRequest request;
    request.stream_address = stream.address;
    request.stream_bytes = stream.bytes;
    std::copy(std::begin(program->regions), std::end(program->regions),
              request.regions);
    (*core)->Start(request);
    while ((*core)->busy()) (*core)->Step(1000);
    const model::RunResult& run = (*core)->result().run;
    if (run.status != isa::Error::kOk) {
      return absl::InternalError(absl::StrCat("status ",
                                              static_cast<int>(run.status),
                                              " at offset ", run.fault_offset));
    }
  }
  return (*core)->cycles();
}

}  // namespace heddle::rtl
