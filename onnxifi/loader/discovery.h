// SPDX-License-Identifier: Apache-2.0
// Whether a vendor's library can be trusted with this process: the program
// onnxifi-discover, a separate process with a time limit, loads it, lists its
// devices and queries their names. Only if that succeeds is the library loaded
// here.
#ifndef HEDDLE_ONNXIFI_LOADER_DISCOVERY_H_
#define HEDDLE_ONNXIFI_LOADER_DISCOVERY_H_

#include <cstdint>
#include <string>

#include "onnxifi/loader/search.h"

namespace heddle::onnxifi_loader {

struct Discovered {
  enum Kind {
    kUsable,
    kUnusable,   // `reason` says why; as long as its file stays the same
    kNotTried,   // this process lacks what it takes; the next call tries again
    kNoDevices,  // and no marker, so that its ABI cannot be found out yet
  } kind = kNotTried;
  uint32_t descriptor_bytes = 0;
  unsigned devices = 0;
  std::string reason;
};

// The program is beside the loader, or in one of its neighbours heddle/ and
// ../. May throw std::bad_alloc.
Discovered Discover(const Candidate& candidate);

// What the program wrote. For tests.
Discovered ParseAnswer(const std::string& text);

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_DISCOVERY_H_
