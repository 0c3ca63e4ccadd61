// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages: "1 node", "6 nodes", "0 boxes".
#ifndef HEDDLE_COMPILER_BASE_COUNT_TEXT_H_
#define HEDDLE_COMPILER_BASE_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {

// `plural` where it is not the singular and an s.
inline std::string CountText(uint64_t count, absl::string_view singular,
                             absl::string_view plural = "") {
  if (count == 1) return absl::StrCat("1 ", singular);
  return plural.empty() ? absl::StrCat(count, " ", singular, "s")
                        : absl::StrCat(count, " ", plural);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_COUNT_TEXT_H_
