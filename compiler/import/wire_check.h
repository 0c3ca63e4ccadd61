// SPDX-License-Identifier: Apache-2.0
// A look at the bytes of a protobuf message before it is parsed, so that a
// small file cannot make the parser allocate a large amount of memory or
// recurse without bound.
#ifndef HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_
#define HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace heddle::compiler {

struct WireLimits {
  // Strings, byte fields and messages: each costs memory even when empty.
  int64_t max_objects = 4'000'000;
  int max_depth = 64;
};

// Walks every field of `bytes`, a message of `type`. kInvalidProtobuf if it is
// not well-formed or too deep, kNoSystemMemory if it has too many objects.
absl::Status CheckWire(absl::string_view bytes,
                       const google::protobuf::Descriptor& type,
                       const WireLimits& limits = {});

// A message without the values of one of its bytes fields, wherever that
// occurs: in their place are numbers.
struct TakenBytes {
  // Values of fewer bytes stay; so those of `rest` that have kNumberBytes are
  // numbers, and there are no others of that size or more.
  static constexpr size_t kNumberBytes = 8;

  std::string rest;                      // the message, to be parsed
  std::vector<absl::string_view> taken;  // by number; parts of the message

  // The value that stands in `rest` as `value`.
  absl::string_view Of(absl::string_view value) const;
};

// CheckWire, and takes the values of `field` out. So what is large is neither
// copied by the parser nor read again: `rest` stays as it was checked, also
// when the bytes are those of a file that somebody writes.
absl::StatusOr<TakenBytes> TakeBytes(
    absl::string_view bytes, const google::protobuf::Descriptor& type,
    const google::protobuf::FieldDescriptor& field,
    const WireLimits& limits = {});

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_
