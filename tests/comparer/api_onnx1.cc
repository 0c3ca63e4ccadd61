// SPDX-License-Identifier: Apache-2.0
// The ABI of ONNX 1.x, through Debian's header.
#include <onnx/onnxifi.h>

#include "tests/comparer/api_internal.h"
#include "tests/comparer/api_template.h"

namespace heddle::comparer {
namespace {

static_assert(sizeof(onnxTensorDescriptorV1) == 56, "not ONNX 1.x's header");

struct Onnx1 {
  static onnxStatus InitGraph(onnxInitGraphFunction function, void* backend,
                              size_t size, const void* model,
                              uint32_t weights_count,
                              const onnxTensorDescriptorV1* weights,
                              void** graph) {
    return function(backend, nullptr, size, model, weights_count, weights,
                    graph);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Api>> LoadOnnx1(const std::string& path) {
  return ApiOf<Onnx1>::Load(path);
}

}  // namespace heddle::comparer
