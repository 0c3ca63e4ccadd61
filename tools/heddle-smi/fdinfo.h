// SPDX-License-Identifier: Apache-2.0
// What each process uses of the cards of heddle.ko, from /proc/PID/fdinfo/FD
// with the keys that all DRM drivers share (drm-usage-stats of the kernel's
// documentation), lines of "KEY: VALUE [UNIT]":
//
//   drm-driver: heddle          drm-engine-npu: 123 ns
//   drm-pdev: 0000:00:04.0      drm-total-device: 16 KiB   (or drm-memory-)
//   drm-client-id: 7            drm-total-memory: 4 KiB    (system memory)
//                               heddle-jobs: 12            (our own key)
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_FDINFO_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_FDINFO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/heddle-smi/rooted.h"

namespace heddle::smi {

// An open file of a card.
struct Client {
  std::string pdev;  // "0000:00:04.0"
  uint64_t id = 0;
  std::map<std::string, uint64_t> engine_ns;     // by name
  std::map<std::string, uint64_t> memory_bytes;  // by region
  uint64_t jobs = 0;
};

// Nothing: not an open file of this driver, or without a client id. A line that
// is not understood is passed over.
std::optional<Client> ParseFdinfo(absl::string_view text);

struct ProcessUse {
  int pid = 0;       // 0: of another system, such as a container
  std::string name;  // of the program, printable
  std::string card;  // id of a hosted card; "" for cards of heddle.ko
  Client client;     // one row for each of its clients
};

struct ProcessList {
  std::vector<ProcessUse> rows;
  int hidden = 0;               // processes that may not be looked at
  uint32_t hidden_clients = 0;  // of hosted cards and other users
};

// Each client once for each process that has it open.
ProcessList ScanProcesses(const Rooted& root);

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_FDINFO_H_
