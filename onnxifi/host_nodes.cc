// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/host_nodes.h"

#include <cstdlib>

#include "onnxifi/log.h"

namespace heddle::onnxifi {

HostNodes ParseHostNodes(absl::string_view text) {
  if (text == "refuse") return HostNodes::kRefuse;
  if (text == "success") return HostNodes::kSuccess;
  if (!text.empty() && text != "fallback") {
    Log(DefaultLogLevel(), LogLevel::kWarning, text,
        "HEDDLE_HOST_NODES must be refuse, fallback or success; using fallback "
        "instead of ");
  }
  return HostNodes::kFallback;
}

HostNodes DefaultHostNodes() {
  static const HostNodes policy = [] {
    const char* text = std::getenv("HEDDLE_HOST_NODES");
    return ParseHostNodes(text == nullptr ? "" : text);
  }();
  return policy;
}

}  // namespace heddle::onnxifi
