// SPDX-License-Identifier: Apache-2.0
// A model on the card against the reference semantics: what every test of a
// lowering is made of.
//
//   ModelBuilder b;  b.Input("x", ...); b.Node("Relu", {"x"}, {"y"}); ...
//   ExpectCardEqualsReference(b.Bytes(), {Floats({1, 3}, {...})});
#ifndef HEDDLE_COMPILER_TESTING_CARD_CASE_H_
#define HEDDLE_COMPILER_TESTING_CARD_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct CardCase {
  // Sizes of SRAM to compile for; 0 = all of the configuration's.
  std::vector<uint64_t> sram_bytes = {0};
  // A rejection is accepted for sizes other than 0.
  bool may_refuse_less_sram = true;
  bool detect_races = true;
  // CompileOptions::host_nodes; what the card can take is the card's.
  bool host_nodes = false;
};

// Compiles the ONNX bytes for every configuration and size of SRAM, runs the
// package on the functional model, and expects every output to have the bytes
// of EvaluateGraph, no fault, and no finding of the race detector. Failures are
// reported through GoogleTest. Returns the outputs of h256 with all of its
// SRAM, in the model's order (empty after a failure), for further checks.
std::vector<TensorData> ExpectCardEqualsReference(
    const std::string& model, const std::vector<TensorData>& inputs,
    const CardCase& options = {});

// Values for tests: floats in [low, high], every code, small integers; repeat
// with the seed.
TensorData RandomData(DataType type, const Shape& shape, uint64_t seed,
                      float low = -4, float high = 4);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_CARD_CASE_H_
