// SPDX-License-Identifier: Apache-2.0
// The whole card: a job that copies the inputs in, runs the streams and copies
// the outputs out. Tensors that are larger than what the host has for them are
// copied as far as that goes; device memory holds the inputs already.
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

absl::StatusOr<uint64_t> Simulate(Program* program) {
  auto host = CardHost::Make(isa::kH256, program->memory.size());
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
  return (*host)->model()->cycles() - before;
}

}  // namespace heddle::rtl
