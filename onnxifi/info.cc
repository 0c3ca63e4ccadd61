// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/info.h"

#include "absl/strings/str_cat.h"
#include "onnxifi/extensions.h"
#include "onnxifi/host_nodes.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace heddle::onnxifi {
namespace {

std::string Number(uint64_t value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string Text(std::string text) {
  text.push_back('\0');
  return text;
}

}  // namespace

InfoTable MakeInfo(const DeviceInfo& device, const OnnxSupport& support) {
  std::string ir_versions, opsets;
  for (int v = support.min_ir_version; v <= support.max_ir_version; ++v) {
    absl::StrAppend(&ir_versions, ir_versions.empty() ? "" : " ", v);
  }
  for (const auto& [domain, version] : support.opsets) {
    absl::StrAppend(&opsets, opsets.empty() ? "" : " ", domain, ":", version);
  }
  // Such outputs are the host's.
  const uint64_t variable = DefaultHostNodes() == HostNodes::kRefuse
                                ? 0
                                : ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE |
                                      ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS;
  InfoTable info = {
      {ONNXIFI_BACKEND_ONNXIFI_VERSION, Number(uint64_t{1} << 32)},
      {ONNXIFI_BACKEND_NAME, Text("Heddle")},
      {ONNXIFI_BACKEND_VENDOR, Text("Heddle Project")},
      {ONNXIFI_BACKEND_VERSION, Text(kVersion)},
      {ONNXIFI_BACKEND_EXTENSIONS, Text(ExtensionNames())},
      {ONNXIFI_BACKEND_DEVICE, Text(device.name)},
      {ONNXIFI_BACKEND_DEVICE_TYPE, Number(ONNXIFI_DEVICE_TYPE_NPU)},
      {ONNXIFI_BACKEND_ONNX_IR_VERSION, Text(ir_versions)},
      {ONNXIFI_BACKEND_OPSET_VERSION, Text(opsets)},
      {ONNXIFI_BACKEND_CAPABILITIES,
       Number(ONNXIFI_CAPABILITY_THREAD_SAFE |
              ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE |
              ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS |
              ONNXIFI_CAPABILITY_HOT_PLUGGABLE | variable)},
      {ONNXIFI_BACKEND_INIT_PROPERTIES,
       Number(HEDDLE_BACKEND_PROPERTY_HOST_NODES)},
      {ONNXIFI_BACKEND_MEMORY_TYPES, Number(ONNXIFI_MEMORY_TYPE_CPU)},
      {ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES, Number(0)},
      {ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES,
       Number(ONNXIFI_SYNCHRONIZATION_EVENT)},
      {ONNXIFI_BACKEND_MEMORY_SIZE, Number(device.memory_bytes)},
      {ONNXIFI_BACKEND_MAX_GRAPH_SIZE, Number(device.memory_bytes)},
      {ONNXIFI_BACKEND_MAX_GRAPH_COUNT, Number(kMaxGraphs)},
      // 16-bit floats are converted on the way; the arithmetic is fp32's.
      {ONNXIFI_BACKEND_MACS_FP16, Number(0)},
  };
  if (device.macs_fp32 != 0) {
    info[ONNXIFI_BACKEND_MACS_FP32] = Number(device.macs_fp32);
  }
  if (device.memory_bandwidth != 0) {
    info[ONNXIFI_BACKEND_MEMORY_BANDWIDTH] = Number(device.memory_bandwidth);
  }
  if (device.pci.has_value()) {
    info[ONNXIFI_BACKEND_PCI_BUS_ID] = Number(device.pci->bus);
    info[ONNXIFI_BACKEND_PCI_DEVICE_ID] = Number(device.pci->device);
    info[ONNXIFI_BACKEND_PCI_DOMAIN_ID] = Number(device.pci->domain);
  }
  return info;
}

}  // namespace heddle::onnxifi
