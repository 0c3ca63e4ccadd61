// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Shorthand for the ends of calls and for their arrays.
#ifndef HEDDLE_KMD_HOSTED_FILE_OUTCOME_H_
#define HEDDLE_KMD_HOSTED_FILE_OUTCOME_H_

#include <errno.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "kmd/hosted/call.h"
#include "kmd/hosted/clock.h"
#include "kmd/include/uapi/drm/heddle_drm.h"

namespace heddle::hosted {

inline Outcome Ended(int result) {
  Outcome o;
  o.result = result;
  return o;
}

// `call` has a first look; if it has to wait, until `deadline_ns` at the
// latest.
inline Outcome Begin(std::unique_ptr<WaitingCall> call,
                     uint64_t deadline_ns = ~uint64_t{0}) {
  Outcome o;
  if (call->Resume(&o)) return o;
  o.rest = std::move(call);
  o.deadline_ns = deadline_ns;
  return o;
}

inline bool Over(uint64_t deadline_ns) {
  return deadline_ns != ~uint64_t{0} && NowNs() >= deadline_ns;
}

// An element of an array: what the caller knows of it, the rest zero. -E2BIG:
// the caller knows more and uses it.
template <typename T>
int Element(const drm_heddle_array& array, uint32_t i, T* out) {
  const auto* from =
      reinterpret_cast<const uint8_t*>(array.ptr) + uint64_t{i} * array.stride;
  *out = T();
  std::memcpy(out, from, std::min<size_t>(array.stride, sizeof(T)));
  for (size_t b = sizeof(T); b < array.stride; ++b) {
    if (from[b] != 0) return -E2BIG;
  }
  return 0;
}

template <typename T>
void Fill(const drm_heddle_array& array, uint32_t i, const T& value) {
  auto* to = reinterpret_cast<uint8_t*>(array.ptr) + uint64_t{i} * array.stride;
  std::memcpy(to, &value, std::min<size_t>(array.stride, sizeof(T)));
}

// An id that is free in `map`.
template <typename Map>
uint32_t NewId(const Map& map, uint32_t* next) {
  while (*next == 0 || map.count(*next) != 0) ++*next;
  return (*next)++;
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_FILE_OUTCOME_H_
