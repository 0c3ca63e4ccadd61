// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The command-stream validator for C++ callers that validate a stream in one
// go. The includer chooses the kmd/core (tests have faulty ones).
#ifndef HEDDLE_KMD_HOSTED_VALIDATE_STREAM_H_
#define HEDDLE_KMD_HOSTED_VALIDATE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" {
#include "heddle_validate.h"
}

namespace heddle::hosted {

// Whether the driver takes the stream; the result is filled in either way.
inline bool ValidateStream(const heddle_config* config, const uint32_t* words,
                           size_t bytes, heddle_validate_result* result) {
  constexpr u32 kAllCommands = ~u32{0};
  heddle_validation validation;
  heddle_validate_begin(&validation, config, words, bytes, result);
  return heddle_validate_step(&validation, kAllCommands) == 0;
}

inline bool ValidateStream(uint32_t config, const std::vector<uint32_t>& words,
                           heddle_validate_result* result) {
  return ValidateStream(heddle_find_config(config), words.data(),
                        words.size() * sizeof(words[0]), result);
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_VALIDATE_STREAM_H_
