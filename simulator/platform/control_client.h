// SPDX-License-Identifier: Apache-2.0
//
// The other end of the control socket: one command, one answer.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CONTROL_CLIENT_H_
#define HEDDLE_SIMULATOR_PLATFORM_CONTROL_CLIENT_H_

#include <string>

#include "absl/status/statusor.h"

namespace heddle::platform {

// Sends a line (commands.h) to the simulator that listens at `path` and returns
// its answer without the newline. UNAVAILABLE: nobody listens, or the simulator
// ended before it answered.
absl::StatusOr<std::string> SendCommand(const std::string& path,
                                        const std::string& command);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CONTROL_CLIENT_H_
