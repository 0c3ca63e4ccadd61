// SPDX-License-Identifier: Apache-2.0
#ifndef HEDDLE_TOOLS_CLI_VERSION_H_
#define HEDDLE_TOOLS_CLI_VERSION_H_

#include "heddle/version.h"

namespace heddle::cli {

// What --version prints after the tool's name.
inline constexpr char kVersion[] = HEDDLE_VERSION;

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_VERSION_H_
