// SPDX-License-Identifier: Apache-2.0
// Graphs of the compiler's random generator as ONNX models.
#ifndef TESTS_VERDICT_RANDOM_MODEL_H_
#define TESTS_VERDICT_RANDOM_MODEL_H_

#include <onnx/onnx_pb.h>

#include "compiler/testing/random_graph.h"

namespace heddle::tests {

onnx::ModelProto ToModel(const compiler::RandomGraph& random);

}  // namespace heddle::tests

#endif  // TESTS_VERDICT_RANDOM_MODEL_H_
