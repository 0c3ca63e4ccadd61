// SPDX-License-Identifier: Apache-2.0
//
// Versions of the hardware contract as the VERSION register has them: major
// << 16 | minor. A card runs what was compiled for its major version and its
// minor version or an earlier one.
#ifndef RTL_SPEC_VERSION_H_
#define RTL_SPEC_VERSION_H_

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::reg {

constexpr uint32_t MajorOf(uint32_t version) {
  return (version & kVersionMajorMask) >> kVersionMajorShift;
}
constexpr uint32_t MinorOf(uint32_t version) {
  return (version & kVersionMinorMask) >> kVersionMinorShift;
}
constexpr uint32_t MakeVersion(uint32_t major, uint32_t minor) {
  return major << kVersionMajorShift | minor << kVersionMinorShift;
}

// Whether who knows version `has` can do what version `needs` defines.
constexpr bool Provides(uint32_t has, uint32_t needs) {
  return MajorOf(has) == MajorOf(needs) && MinorOf(has) >= MinorOf(needs);
}

// "1.1".
inline std::string VersionText(uint32_t version) {
  return absl::StrCat(MajorOf(version), ".", MinorOf(version));
}

// The other way; false: `text` is no such version.
inline bool ParseVersion(absl::string_view text, uint32_t* version) {
  const size_t point = text.find('.');
  uint32_t major = 0, minor = 0;
  if (point == absl::string_view::npos ||
      !absl::SimpleAtoi(text.substr(0, point), &major) ||
      !absl::SimpleAtoi(text.substr(point + 1), &minor) || major > 0xffff ||
      minor > kVersionMinorMask) {
    return false;
  }
  *version = MakeVersion(major, minor);
  return true;
}

}  // namespace heddle::reg

#endif  // RTL_SPEC_VERSION_H_
