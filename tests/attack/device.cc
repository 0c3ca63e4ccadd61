// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/device.h"

#include <errno.h>

#include <algorithm>

#include "drm/heddle_drm.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/hosted_transport.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/streams.h"

namespace heddle::attack {
namespace {

// As many as fit into the longest stream, or nearly.
constexpr uint64_t kCommandsMax = 200000;

// A command fills so many bytes so many times, at 16 bytes per cycle: few make
// a long job, which is validated soon.
constexpr uint32_t kBytes = 65535;
constexpr uint32_t kTimes = 32;
constexpr uint64_t kCommandCycles = uint64_t{kTimes} * (kBytes / 16);

constexpr char kHosted[] = "hosted:";
constexpr char kDrm[] = "drm:";

}  // namespace

void* File::Mmap(uint64_t, size_t, int* error) {
  *error = -EOPNOTSUPP;
  return nullptr;
}

std::unique_ptr<File> Open(const std::string& device) {
  absl::StatusOr<std::unique_ptr<hal::Transport>> transport =
      absl::InvalidArgumentError(device);
  if (device.rfind(kHosted, 0) == 0) {
    transport = hal::OpenHosted(device.substr(sizeof(kHosted) - 1), 0);
  } else if (device.rfind(kDrm, 0) == 0) {
    transport = hal::OpenDrm(device.substr(sizeof(kDrm) - 1));
  } else if (device == "drm") {
    const auto nodes = hal::ListDrm();
    if (nodes.ok() && !nodes->empty()) transport = hal::OpenDrm(nodes->front());
  }
  return transport.ok() ? std::make_unique<File>(*std::move(transport))
                        : nullptr;
}

std::vector<uint32_t> BusyStream(uint32_t commands) {
  std::vector<uapi::Command> all(
      commands,
      uapi::Command("fill").Set("n0", kBytes).Set("t0", 1).Set("n1", kTimes));
  all.push_back(uapi::Command("barrier"));
  all.push_back(uapi::Command("end"));
  return uapi::Stream(all);
}

uint32_t LongestStream(File* file, uint32_t context) {
  uint32_t id = 0;
  uint64_t commands = std::min<uint64_t>(
      kCommandsMax, uapi::Limits(file).run_cycles / kCommandCycles);
  for (; commands > 0; commands -= (commands + 7) / 8) {
    if (uapi::CreateStream(file, BusyStream(commands), &id) != 0) continue;
    // Behind a job that is there already it cannot start: it is only asked for.
    const int err = uapi::Submit(file, context, {uapi::RunStream(id)});
    if (err == 0) return id;
    uapi::DestroyStream(file, id);
  }
  return 0;
}

}  // namespace heddle::attack
