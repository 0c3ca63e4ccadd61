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
#include "tools/heddle-run/bench.h"

namespace heddle::run {

struct InFlightBench {
  std::vector<double> ms;  // of each inference: from its start to its end
  double seconds = 0;      // of all, with those that were lost
  uint64_t lost = 0;       // with their card; they were started again
};

// Inferences until `limit` is reached, at least one, at most `in_flight` at a
// time; one that is lost with its card is started again while a card is left.
// Each must give the bytes of `expected`, the outputs in the package's order:
// DataLoss if not. `said` is called with the number of those that have ended
// and the seconds that have passed, on the calling thread.
absl::StatusOr<InFlightBench> BenchInFlight(
    session::Graph* graph, const std::vector<compiler::TensorData>& inputs,
    const std::vector<compiler::TensorData>& expected, const BenchLimit& limit,
    size_t in_flight, const std::function<void(size_t, double)>& said);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_BENCH_IN_FLIGHT_H_
