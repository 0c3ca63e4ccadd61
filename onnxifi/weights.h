// SPDX-License-Identifier: Apache-2.0
// Weight descriptors of onnxInitGraph: checked against the model and copied.
#ifndef HEDDLE_ONNXIFI_WEIGHTS_H_
#define HEDDLE_ONNXIFI_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "onnxifi/descriptor.h"
#include "onnxifi/signature.h"

namespace heddle::onnxifi {

// `array` has `count` descriptors of the ABI; `reader` is
// deferredWeightReader. The weights, which no longer refer to the caller's
// memory. Statuses are those of onnxInitGraph and descriptor.h, INVALID_NAME
// (unknown or twice), INVALID_MODEL (the model has initializers as well),
// MISMATCHING_SHAPE, MISMATCHING_DATATYPE (the quantization included),
// UNSUPPORTED_DATATYPE,
// INVALID_POINTER (offline without a reader), INTERNAL_ERROR (reader failed).
absl::StatusOr<std::map<std::string, compiler::TensorData>> ReadWeights(
    Abi abi, const void* array, uint32_t count, void* reader,
    const Signature& signature);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_WEIGHTS_H_
