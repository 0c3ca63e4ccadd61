// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "simulator/rtl/core_model.h"
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {

absl::StatusOr<Simulated> SimulateCore(Program* program,
                                       const isa::Config& config,
                                       const MemoryOptions& memory) {
  auto core = MakeCore(config, memory);
  if (!core.ok()) return core.status();
  (*core)->memory()->Attach(program->memory.data(), program->memory.size());
  Simulated simulated;
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
    simulated.measured += (*core)->result().cycles;
  }
  simulated.cycles = (*core)->cycles();
  return simulated;
}

}  // namespace heddle::rtl
