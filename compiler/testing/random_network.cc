// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/random_network.h"

#include <utility>

#include "compiler/backend/backend.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/device_ops/int64_range.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/testing/qdq_network.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {

absl::StatusOr<RandomNetwork> MakeRandomNetwork(uint64_t seed,
                                                const std::string& config) {
  CompileOptions options;
  options.config = config;
  RandomNetwork network;
  if (seed % 2 == 0) {
    QdqNetwork qdq = MakeQdqNetwork(seed);
    ASSIGN_OR_RETURN(auto compiled, CompileOnnx(qdq.model.Bytes(), options));
    ASSIGN_OR_RETURN(network.package, package::Parse(compiled.package));
    network.inputs = std::move(qdq.inputs);
    return network;
  }
  RandomGraphOptions graph;
  graph.seed = seed;
  graph.allowed = HasLowering;
  graph.reads_int64 = NarrowsInt64;
  graph.large = true;
  graph.max_elements = 200'000;
  graph.min_nodes = 2;
  graph.max_nodes = 12;
  RandomGraph random = MakeRandomGraph(graph);
  ASSIGN_OR_RETURN(BackendResult made, GeneratePackage(random.graph, options));
  // (the weights are beside the package until it is serialised)
  ASSIGN_OR_RETURN(network.package,
                   package::Parse(package::Serialize(made.package,
                                                     std::move(made.weights))));
  network.inputs = std::move(random.inputs);
  return network;
}

}  // namespace heddle::compiler
