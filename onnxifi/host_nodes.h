// SPDX-License-Identifier: Apache-2.0
// What to do with a model that has nodes which the card cannot run.
#ifndef HEDDLE_ONNXIFI_HOST_NODES_H_
#define HEDDLE_ONNXIFI_HOST_NODES_H_

#include "absl/strings/string_view.h"

namespace heddle::onnxifi {

// The values are HEDDLE_HOST_NODES_* of onnxifi_ext.h.
enum class HostNodes {
  kRefuse = 0,    // it is refused, with the status of the first of them
  kFallback = 1,  // they run on the host: FALLBACK
  kSuccess = 2,   // the same, but SUCCESS, which some clients wait for
};

// What HEDDLE_HOST_NODES=refuse|fallback|success says, read at the first call;
// fallback without it, and, with one warning, if it says something else. The
// property of a backend goes before it.
HostNodes DefaultHostNodes();
// For tests: as if HEDDLE_HOST_NODES had been `text` ("" = unset).
HostNodes ParseHostNodes(absl::string_view text);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_HOST_NODES_H_
