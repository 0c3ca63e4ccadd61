// SPDX-License-Identifier: Apache-2.0
// lib/libonnxifi.so: for programs of ONNX 1.x's header, as Debian's wrapper of
// this name.
#include "onnxifi/loader/loader.h"

const uint32_t onnxifi_heddle_descriptor_bytes =
    heddle::onnxifi_loader::kOnnx1Bytes;

namespace heddle::onnxifi_loader {

// The header declares nine arguments, so the exported name is given apart.
ONNXIFI_PUBLIC onnxStatus InitGraphOnnx1(
    onnxBackend backend, const uint64_t* properties, size_t size,
    const void* model, uint32_t weights_count,
    const onnxTensorDescriptorV1* weights,
    onnxGraph* graph) __asm__("onnxInitGraph");

onnxStatus InitGraphOnnx1(onnxBackend backend, const uint64_t* properties,
                          size_t size, const void* model,
                          uint32_t weights_count,
                          const onnxTensorDescriptorV1* weights,
                          onnxGraph* graph) {
  return InitGraph(backend, properties, size, model, weights_count, weights,
                   graph, 0, nullptr);
}

}  // namespace heddle::onnxifi_loader
