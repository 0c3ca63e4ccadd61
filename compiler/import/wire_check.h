// SPDX-License-Identifier: Apache-2.0
// A look at the bytes of a protobuf message before it is parsed, so that a
// small file cannot make the parser allocate a large amount of memory or
// recurse without bound.
#ifndef HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_
#define HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
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

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_WIRE_CHECK_H_
