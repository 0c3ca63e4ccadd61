// SPDX-License-Identifier: Apache-2.0
// Names from models on terminals.
#ifndef HEDDLE_TOOLS_CLI_PRINTABLE_H_
#define HEDDLE_TOOLS_CLI_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace heddle::cli {

// `text` with control characters replaced by '?': a name cannot move the
// cursor, change colours or begin a new line.
std::string Printable(absl::string_view text);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_PRINTABLE_H_
