// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people write them on command lines.
#ifndef HEDDLE_SIMULATOR_PLATFORM_PARSE_H_
#define HEDDLE_SIMULATOR_PLATFORM_PARSE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::platform {

// Decimal, or hexadecimal with 0x.
absl::StatusOr<uint64_t> ParseNumber(absl::string_view text);
// Bytes: a number with an optional suffix K, M or G (powers of 1024; KiB, MiB,
// GiB mean the same).
absl::StatusOr<uint64_t> ParseSize(absl::string_view text);

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_PARSE_H_
