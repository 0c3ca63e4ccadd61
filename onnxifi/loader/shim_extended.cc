// SPDX-License-Identifier: Apache-2.0
// lib/heddle/extended/libonnxifi.so: for programs of heddle/onnxifi.h.
#include "onnxifi/loader/loader.h"

const uint32_t onnxifi_heddle_descriptor_bytes =
    heddle::onnxifi_loader::kExtendedBytes;

extern "C" onnxStatus onnxInitGraph(onnxBackend backend,
                                    const uint64_t* properties, size_t size,
                                    const void* model, uint32_t weights_count,
                                    const onnxTensorDescriptorV1* weights,
                                    onnxGraph* graph, uint32_t max_sequence,
                                    void* reader) {
  return heddle::onnxifi_loader::InitGraph(backend, properties, size, model,
                                           weights_count, weights, graph,
                                           max_sequence, reader);
}
