// SPDX-License-Identifier: Apache-2.0
// Answers of onnxGetBackendInfo. They are made once per backend ID, so that a
// query needs neither memory nor the device.
#ifndef HEDDLE_ONNXIFI_INFO_H_
#define HEDDLE_ONNXIFI_INFO_H_

#include <cstdint>
#include <map>
#include <string>

#include "heddle/version.h"
#include "onnxifi/engine.h"
#include "onnxifi/include/heddle/onnxifi.h"

namespace heddle::onnxifi {

constexpr char kVersion[] = HEDDLE_VERSION;
// Graphs that a process may have on one device. Each has a thread and a driver
// object; more of them is a leak, not a use.
constexpr uint64_t kMaxGraphs = 256;

// Bytes of each answer by ONNXIFI_BACKEND_*: 8 for numbers, strings with their
// NUL. A question that is absent is UNSUPPORTED_ATTRIBUTE.
using InfoTable = std::map<onnxBackendInfo, std::string>;

InfoTable MakeInfo(const DeviceInfo& device, const OnnxSupport& support);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_INFO_H_
