// SPDX-License-Identifier: Apache-2.0
//
// The commands of a virtio_pcidev device (vhost_user.h): one chain of buffers
// is one access to config space or to BAR0 of the card.
//
// The card answers BAR accesses of 4 bytes. Longer ones whose address and
// length are multiples of 4 become several, in ascending order; all others are
// the card's to refuse (reads are ones, writes are lost). BARs that do not
// exist, and what is behind the end, read as ones.
#ifndef HEDDLE_SIMULATOR_PLATFORM_PCIDEV_COMMANDS_H_
#define HEDDLE_SIMULATOR_PLATFORM_PCIDEV_COMMANDS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "simulator/platform/card.h"
#include "simulator/platform/vhost_user.h"
#include "simulator/platform/virtqueue.h"

namespace heddle::platform {

// Longest access. UML's copies are as long as the guest's driver says, and a
// driver has nothing to look for so far behind the end of the BAR.
inline constexpr uint32_t kMaxPcidevAccess = 1u << 20;

// Runs a chain of `queue`; returns the number of bytes written to it.
// INVALID_ARGUMENT: it is no command, or lies outside the host's memory.
absl::StatusOr<uint32_t> RunPcidevCommand(const Virtqueue& queue,
                                          const Virtqueue::Chain& chain,
                                          Card* card);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_PCIDEV_COMMANDS_H_
