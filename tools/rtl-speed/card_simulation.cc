// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "simulator/rtl/card_host.h"
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {
namespace {

// Of all inputs, and of all outputs.
constexpr uint64_t kCopied = CardHost::kHostBytes / 4;
// No job takes that long.
constexpr uint64_t kLimit = 10'000'000'000;

}  // namespace

absl::StatusOr<Simulated> SimulateCard(Program* program,
                                       const isa::Config& config,
                                       const MemoryOptions& memory) {
  CardOptions options;
  options.memory = memory;
  auto host = CardHost::Make(config, program->memory.size(), options);
  if (!host.ok()) return host.status();
  (*host)->device() = program->memory;
  (*host)->model()->SetDeviceMemory((*host)->device().data(),
                                    (*host)->device().size());
  std::vector<desc::Step> steps;
  uint64_t left = kCopied;
  for (const Program::Range& in : program->inputs) {
    const uint64_t bytes = std::min(in.bytes, left);
    left -= bytes;
    if (bytes == 0) continue;
    const auto from = program->memory.begin() + in.address;
    steps.push_back((*host)->CopyIn(in.address, {from, from + bytes}));
  }
  std::vector<desc::Region> regions;
  for (const model::Region& r : program->regions) {
    desc::Region region;
    region.base = r.base;
    region.size = r.size;
    region.flags = r.writable ? desc::kRegionFlagsWritableMask : 0;
    regions.push_back(region);
  }
  for (const Program::Range& stream : program->streams) {
    steps.push_back((*host)->Run(stream.address, stream.bytes, regions));
  }
  left = kCopied;
  for (const Program::Range& out : program->outputs) {
    const uint64_t bytes = std::min(out.bytes, left);
    left -= bytes;
    if (bytes == 0) continue;
    steps.push_back(
        (*host)->CopyOut(out.address, bytes, (*host)->Alloc(bytes)));
  }
  const uint64_t before = (*host)->model()->cycles();
  (*host)->Queue(steps);
  desc::Completion record;
  if (!(*host)->Wait(&record, kLimit)) {
    return absl::InternalError("the job does not end");
  }
  if (record.status != 0) {
    return absl::InternalError(absl::StrCat(
        "status ", record.status, " at offset ", record.fault_offset));
  }
  program->memory = (*host)->device();
  return Simulated{(*host)->model()->cycles() - before, record.cycles};
}

}  // namespace heddle::rtl
