// SPDX-License-Identifier: Apache-2.0
// What to say of a device that is not there.
#ifndef HEDDLE_TOOLS_CLI_MISSING_DEVICE_H_
#define HEDDLE_TOOLS_CLI_MISSING_DEVICE_H_

#include <string>

namespace heddle::cli {

// `device`, in the syntax of HEDDLE_DEVICE, has no card at present: says which
// one is missing, and which there are, in that syntax, or who finds out why
// there are none. Looks at nodes and sockets; starts nothing.
std::string MissingDevice(const std::string& device);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_MISSING_DEVICE_H_
