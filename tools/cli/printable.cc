// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/printable.h"

namespace heddle::cli {

std::string Printable(absl::string_view text) {
  std::string result(text);
  const auto at = [&result](size_t i) {
    return static_cast<unsigned char>(i < result.size() ? result[i] : 0);
  };
  for (size_t i = 0; i < result.size(); ++i) {
    if (at(i) < 0x20 || at(i) == 0x7f) result[i] = '?';
    // U+0080 to U+009F are control characters, too.
    if (at(i) == 0xc2 && at(i + 1) >= 0x80 && at(i + 1) < 0xa0) {
      result[i] = result[i + 1] = '?';
    }
  }
  return result;
}

}  // namespace heddle::cli
