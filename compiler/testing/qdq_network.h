// SPDX-License-Identifier: Apache-2.0
// Random networks in QuantizeLinear/DequantizeLinear form in which every
// operator is fused to one on codes: convolutions, products, additions,
// poolings, tables, moved and double pairs, with random scales and zero points.
#ifndef HEDDLE_COMPILER_TESTING_QDQ_NETWORK_H_
#define HEDDLE_COMPILER_TESTING_QDQ_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {

struct QdqNetwork {
  ModelBuilder model{13};
  std::vector<TensorData> inputs;  // in the model's order
  std::vector<std::string> names;  // of the inputs
  std::vector<std::string> codes;  // results of QuantizeLinear
};

// Repeats with the seed. Networks of int8 and of uint8 activations alternate.
QdqNetwork MakeQdqNetwork(uint64_t seed);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_QDQ_NETWORK_H_
