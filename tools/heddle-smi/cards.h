// SPDX-License-Identifier: Apache-2.0
// The cards of this system and what they are doing.
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_CARDS_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_CARDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "drm/heddle_drm.h"
#include "tools/heddle-smi/fdinfo.h"
#include "tools/heddle-smi/rooted.h"

namespace heddle::smi {

struct Card {
  std::string id;       // what HEDDLE_DEVICE takes
  std::string where;    // "drm" or "hosted"
  absl::Status status;  // not OK: why the rest is not known
  std::string config, core;
  std::string pdev;  // PCI address as fdinfo has it; "" if not of this system
  drm_heddle_device_info info = {};
  drm_heddle_memory_info memory = {};
  drm_heddle_counters counters = {};
};

struct CardList {
  std::vector<Card> cards;
  // Places where cards could be and that could not be looked at.
  std::vector<std::string> notes;
};

// `device` as HEDDLE_DEVICE; "" means all: render nodes and the heddle-hosted
// of the system. Starts nothing. InvalidArgument: `device` cannot be listed.
absl::StatusOr<CardList> ListCards(const std::string& device);

// Adds the clients of the hosted cards, as heddle-hosted tells them, to
// *processes, with their programs as /proc of `files` has them. Notes in *list
// what is not told.
void AddHostedClients(const Rooted& files, CardList* list,
                      ProcessList* processes);

// "0000:00:04.0" from drm_heddle_device_info.
std::string PciAddress(uint32_t bdf);

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_CARDS_H_
