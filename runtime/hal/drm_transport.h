// SPDX-License-Identifier: Apache-2.0
// The transport to heddle.ko: an open device node.
#ifndef HEDDLE_RUNTIME_HAL_DRM_TRANSPORT_H_
#define HEDDLE_RUNTIME_HAL_DRM_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/hal/drm_system.h"
#include "runtime/hal/transport.h"

namespace heddle::hal {

// Render nodes of driver "heddle" that are there now and can be opened.
// PermissionDenied: there are some, but none can be opened; the message says
// how to get the right.
absl::StatusOr<std::vector<std::string>> ListDrm(
    DrmSystem& system = DrmSystem::Get());

// The node of the card with this serial number. Unavailable: there is none.
absl::StatusOr<std::string> FindDrm(uint64_t serial,
                                    DrmSystem& system = DrmSystem::Get());

// Unavailable: no such node, or its card is gone. PermissionDenied: as above.
// InvalidArgument: not a node of this driver. FailedPrecondition: the driver
// speaks another version of the interface.
absl::StatusOr<std::unique_ptr<Transport>> OpenDrm(
    const std::string& node, DrmSystem& system = DrmSystem::Get());

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_DRM_TRANSPORT_H_
