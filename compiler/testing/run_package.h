// SPDX-License-Identifier: Apache-2.0
// Runs a package on the functional model, without driver or runtime.
#ifndef HEDDLE_COMPILER_TESTING_RUN_PACKAGE_H_
#define HEDDLE_COMPILER_TESTING_RUN_PACKAGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"
#include "simulator/model/model.h"

namespace heddle::compiler {

// A segment of the host, each time the package ran it.
struct HostSegmentRun {
  size_t nodes = 0;
  std::string first_node;
  uint64_t estimated_ns = 0;  // of the package
  double cpu_seconds = 0;     // the least of its runs
};

struct PackageRun {
  std::map<std::string, TensorData> outputs;  // and taps
  uint64_t macs = 0;
  double cpu_seconds = 0;  // of the commands, without setting up the memory
  std::vector<HostSegmentRun> host_segments;
  std::vector<std::string> findings;  // races, with the nodes of both sides
};

// `inputs` in the order of the package's inputs. Each stream begins with SRAM
// and accumulators that hold anything. Errors: a fault of the stream,
// inputs that do not fit. `host_runs`: each segment of the host is run so
// often, as in a session, where only the first run has no memory of the one
// before.
absl::StatusOr<PackageRun> RunPackage(const package::Package& package,
                                      const std::vector<TensorData>& inputs,
                                      const model::Options& options = {},
                                      int host_runs = 1);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_RUN_PACKAGE_H_
