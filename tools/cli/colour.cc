// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/colour.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace heddle::cli {

bool HasColour(int fd) {
  const char* never = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (never == nullptr || *never == '\0') && term != nullptr &&
         *term != '\0' && absl::string_view(term) != "dumb" && isatty(fd) == 1;
}

std::string Coloured(absl::string_view text, Colour colour, bool on) {
  if (!on) return std::string(text);
  // Bold, so that they are told apart without colours, too.
  const char* code = colour == Colour::kGood      ? "32"
                     : colour == Colour::kWarning ? "33"
                                                  : "31";
  return absl::StrCat("\033[1;", code, "m", text, "\033[0m");
}

}  // namespace heddle::cli
