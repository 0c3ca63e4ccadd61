// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/properties.h"

#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace heddle::onnxifi {

Outcome ReadBackendProperties(Abi abi, const uint64_t* list,
                              Properties* properties) {
  const uint64_t last = abi == Abi::kExtended ? ONNXIFI_OPTIMIZATION_AOT
                                              : ONNXIFI_OPTIMIZATION_LOW_DELAY;
  // Each property is accepted once, so the loop ends also without a NONE.
  for (; list != nullptr && list[0] != ONNXIFI_BACKEND_PROPERTY_NONE;
       list += 2) {
    if (list[0] == ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION) {
      if (properties->optimization.has_value()) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property OPTIMIZATION is given twice");
      }
      if (list[1] > last) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property OPTIMIZATION has no such value");
      }
      properties->optimization = list[1];
    } else if (list[0] == ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL) {
      if (properties->log_level.has_value()) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property LOG_LEVEL is given twice");
      }
      if (list[1] < ONNXIFI_LOG_LEVEL_DEBUG ||
          list[1] > ONNXIFI_LOG_LEVEL_ERROR) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property LOG_LEVEL has no such value");
      }
      properties->log_level = static_cast<LogLevel>(list[1]);
    } else if (list[0] == HEDDLE_BACKEND_PROPERTY_HOST_NODES) {
      if (properties->host_nodes.has_value()) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property HOST_NODES is given twice");
      }
      if (list[1] > HEDDLE_HOST_NODES_SUCCESS) {
        return Outcome(ONNXIFI_STATUS_INVALID_PROPERTY,
                       "property HOST_NODES has no such value");
      }
      properties->host_nodes = static_cast<HostNodes>(list[1]);
    } else {
      return Outcome(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                     "unknown property in the property list");
    }
  }
  return Outcome();
}

Outcome CheckGraphProperties(const uint64_t* list) {
  if (list == nullptr || list[0] == ONNXIFI_GRAPH_PROPERTY_NONE) {
    return Outcome();
  }
  return Outcome(ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                 "onnxInitGraph takes no properties; OPTIMIZATION, LOG_LEVEL "
                 "and HOST_NODES belong to onnxInitBackend");
}

}  // namespace heddle::onnxifi
