// SPDX-License-Identifier: Apache-2.0
// Compiled random networks, for what compares cycles: seeds take turns between
// graphs of large shapes of all operators (random_graph.h) and quantized
// networks (qdq_network.h).
#ifndef HEDDLE_COMPILER_TESTING_RANDOM_NETWORK_H_
#define HEDDLE_COMPILER_TESTING_RANDOM_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::compiler {

struct RandomNetwork {
  package::Package package;
  std::vector<TensorData> inputs;  // in the package's order
};

// Repeats with the seed. An error where the compiler refuses the graph.
absl::StatusOr<RandomNetwork> MakeRandomNetwork(uint64_t seed,
                                                const std::string& config);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_RANDOM_NETWORK_H_
