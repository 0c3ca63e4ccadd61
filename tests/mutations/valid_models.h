// SPDX-License-Identifier: Apache-2.0
// Valid models of one node for every definition of an operator that the
// compiler has: of the random generators where those make the operator, else
// written down.
#ifndef TESTS_MUTATIONS_VALID_MODELS_H_
#define TESTS_MUTATIONS_VALID_MODELS_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>

#include "compiler/ops/operator.h"

namespace heddle::tests {

// A model for MutationsOf; nothing if there is none for this definition.
// Different seeds give different models where a generator makes them.
std::optional<onnx::ModelProto> ValidModel(const compiler::OperatorInfo& info,
                                           uint64_t seed);

// Those that are written down, of an opset that the definition has.
std::optional<onnx::ModelProto> WrittenModel(
    const compiler::OperatorInfo& info);

}  // namespace heddle::tests

#endif  // TESTS_MUTATIONS_VALID_MODELS_H_
