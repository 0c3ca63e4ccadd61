// SPDX-License-Identifier: Apache-2.0
// Measures inferences of which several are in flight, on one card or several.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_BENCH_IN_FLIGHT_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_BENCH_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "runtime/session/session.h"

namespace heddle::run {

struct InFlightBench {
  std::vector<double> ms;  // of each inference: from its start to its end
  double seconds = 0;      // of all, with those that were lost
  uint64_t lost = 0;       // with their card; they were started again
};

// `runs` inferences, at most `in_flight` at a time; one that is lost with its
// card is started again while a card is left. Each must give the bytes of
// `expected`, the outputs in the package's order: DataLoss if not. `said` is
// told from time to time how many have ended, on the calling thread.
absl::StatusOr<InFlightBench> BenchInFlight(
    session::Graph* graph, const std::vector<compiler::TensorData>& inputs,
    const std::vector<compiler::TensorData>& expected, size_t runs,
    size_t in_flight, const std::function<void(size_t)>& said);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_BENCH_IN_FLIGHT_H_
