// SPDX-License-Identifier: Apache-2.0
// Property lists of onnxInitBackend and onnxInitGraph. Nothing after the first
// unknown entry is read, because its size is unknown.
#ifndef HEDDLE_ONNXIFI_PROPERTIES_H_
#define HEDDLE_ONNXIFI_PROPERTIES_H_

#include <cstdint>
#include <optional>

#include "onnxifi/descriptor.h"
#include "onnxifi/host_nodes.h"
#include "onnxifi/log.h"
#include "onnxifi/outcome.h"

namespace heddle::onnxifi {

struct Properties {
  std::optional<uint64_t> optimization;  // ONNXIFI_OPTIMIZATION_*
  std::optional<LogLevel> log_level;
  std::optional<HostNodes> host_nodes;
};

// Of onnxInitBackend: {property, value} pairs, ended by NONE; `list` may be
// NULL. ONNX 1.x has no ONNXIFI_OPTIMIZATION_AOT. INVALID_PROPERTY (bad value,
// or given twice), UNSUPPORTED_PROPERTY.
Outcome ReadBackendProperties(Abi abi, const uint64_t* list,
                              Properties* properties);

// Of onnxInitGraph: both headers define the end of the list and nothing else.
// UNSUPPORTED_PROPERTY.
Outcome CheckGraphProperties(const uint64_t* list);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_PROPERTIES_H_
