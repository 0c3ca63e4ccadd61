// SPDX-License-Identifier: Apache-2.0
// lib/heddle/onnx1/libonnxifi-heddle.so: always ONNX 1.x's ABI, for programs
// that were built against libonnx-dev and call the library directly.
#include "onnxifi/api_guard.h"

extern "C" {

// See shim_extended.cc.
ONNXIFI_PUBLIC extern const uint32_t onnxifi_heddle_descriptor_bytes;
const uint32_t onnxifi_heddle_descriptor_bytes =
    heddle::onnxifi::kOnnx1DescriptorBytes;

}  // extern "C"

namespace heddle::onnxifi {

Abi AbiForCaller(const void*) { return Abi::kOnnx1; }

// The header declares nine arguments, so the exported name is given apart.
onnxStatus InitGraphOnnx1(onnxBackend backend, const uint64_t* properties,
                          size_t model_size, const void* model,
                          uint32_t weights_count, const void* weights,
                          onnxGraph* graph) __asm__("onnxInitGraph");

ONNXIFI_PUBLIC onnxStatus InitGraphOnnx1(onnxBackend backend,
                                         const uint64_t* properties,
                                         size_t model_size, const void* model,
                                         uint32_t weights_count,
                                         const void* weights,
                                         onnxGraph* graph) {
  if (graph != nullptr) *graph = nullptr;
  const GraphArguments arguments = {
      properties, model_size, model, weights_count, weights, 0, nullptr};
  return GuardCall(Function::kInitGraph, [&](Library* library, Call* call) {
    return library->InitGraph(call, backend, arguments, graph);
  });
}

}  // namespace heddle::onnxifi
