// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/parse.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace heddle::platform {

absl::StatusOr<uint64_t> ParseNumber(absl::string_view text) {
  uint64_t value;
  const bool ok = absl::StartsWithIgnoreCase(text, "0x")
                      ? absl::SimpleHexAtoi(text.substr(2), &value)
                      : absl::SimpleAtoi(text, &value);
  // The library takes signs and blanks, people who type them made a mistake.
  if (!ok || text.find_first_of("+- \t") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text,
        "' is not a number: give decimal digits, or 0x and hexadecimal"));
  }
  return value;
}

absl::StatusOr<uint64_t> ParseSize(absl::string_view text) {
  absl::string_view digits = text;
  if (absl::EndsWithIgnoreCase(digits, "ib")) digits.remove_suffix(2);
  int shift = 0;
  if (!digits.empty() && !absl::StartsWithIgnoreCase(digits, "0x")) {
    switch (absl::ascii_tolower(static_cast<unsigned char>(digits.back()))) {
      case 'k':
        shift = 10;
        break;
      case 'm':
        shift = 20;
        break;
      case 'g':
        shift = 30;
        break;
    }
    if (shift > 0) digits.remove_suffix(1);
  }
  absl::StatusOr<uint64_t> number = ParseNumber(digits);
  if (!number.ok() || (shift == 0 && digits.size() != text.size()) ||
      *number > std::numeric_limits<uint64_t>::max() >> shift) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not a size: give bytes, or a number with K, M or G"));
  }
  return *number << shift;
}

}  // namespace heddle::platform
