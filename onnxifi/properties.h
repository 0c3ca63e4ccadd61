// SPDX-License-Identifier: Apache-2.0
// Property lists of onnxInitBackend and onnxInitGraph.
#ifndef HEDDLE_ONNXIFI_PROPERTIES_H_
#define HEDDLE_ONNXIFI_PROPERTIES_H_

#include <cstdint>
#include <optional>

#include "onnxifi/log.h"
#include "onnxifi/outcome.h"

namespace heddle::onnxifi {

struct Properties {
  std::optional<uint64_t> optimization;  // ONNXIFI_OPTIMIZATION_*
  std::optional<LogLevel> log_level;
};

// {property, value} pairs, ended by NONE; `list` may be NULL.
// INVALID_PROPERTY (bad value, or given twice), UNSUPPORTED_PROPERTY.
Outcome ReadProperties(const uint64_t* list, Properties* properties);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_PROPERTIES_H_
