// SPDX-License-Identifier: Apache-2.0
// Names from a model in messages: quoted, shortened, control characters
// escaped, so that a hostile name cannot forge a line of a log.
#ifndef HEDDLE_COMPILER_IMPORT_QUOTE_H_
#define HEDDLE_COMPILER_IMPORT_QUOTE_H_

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace heddle::compiler {

inline std::string Quote(const std::string& name) {
  constexpr size_t kLongest = 200;
  return absl::StrCat("'", absl::Utf8SafeCHexEscape(name.substr(0, kLongest)),
                      name.size() > kLongest ? "..." : "", "'");
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_QUOTE_H_
