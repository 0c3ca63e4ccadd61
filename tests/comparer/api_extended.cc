// SPDX-License-Identifier: Apache-2.0
// The extended ABI, through our header.
#include "onnxifi/include/heddle/onnxifi.h"
#include "tests/comparer/api_internal.h"
#include "tests/comparer/api_template.h"

namespace heddle::comparer {
namespace {

static_assert(sizeof(onnxTensorDescriptorV1) == 96, "not the extended header");

struct Extended {
  static onnxStatus InitGraph(onnxInitGraphFunction function, void* backend,
                              size_t size, const void* model,
                              uint32_t weights_count,
                              const onnxTensorDescriptorV1* weights,
                              void** graph) {
    return function(backend, nullptr, size, model, weights_count, weights,
                    graph, 0, nullptr);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Api>> LoadExtended(const std::string& path) {
  return ApiOf<Extended>::Load(path);
}

}  // namespace heddle::comparer
