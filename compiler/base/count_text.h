// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages: "1 node", "6 nodes", "0 boxes"; and of bytes,
// whose digits nobody can compare by eye.
#ifndef HEDDLE_COMPILER_BASE_COUNT_TEXT_H_
#define HEDDLE_COMPILER_BASE_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {

// `plural` where it is not the singular and an s.
inline std::string CountText(uint64_t count, absl::string_view singular,
                             absl::string_view plural = "") {
  if (count == 1) return absl::StrCat("1 ", singular);
  return plural.empty() ? absl::StrCat(count, " ", singular, "s")
                        : absl::StrCat(count, " ", plural);
}

// "160.0 MiB (167772160 bytes)"; "4096 bytes" of less than a MiB.
inline std::string BytesText(uint64_t bytes) {
  const std::string exact = CountText(bytes, "byte");
  if (bytes < 1 << 20) return exact;
  return absl::StrFormat("%.1f MiB (%s)",
                         static_cast<double>(bytes) / (1 << 20), exact);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_COUNT_TEXT_H_
