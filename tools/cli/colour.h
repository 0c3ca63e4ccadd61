// SPDX-License-Identifier: Apache-2.0
// Colour of words on terminals. Nothing changes elsewhere, where the variable
// NO_COLOR is set (https://no-color.org), or where TERM is "dumb" or missing.
#ifndef HEDDLE_TOOLS_CLI_COLOUR_H_
#define HEDDLE_TOOLS_CLI_COLOUR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace heddle::cli {

enum class Colour { kGood, kWarning, kBad };

// Whether what is written to `fd` may have colour.
bool HasColour(int fd);

// `text` in that colour if `on`, otherwise as it is.
std::string Coloured(absl::string_view text, Colour colour, bool on);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_COLOUR_H_
