// SPDX-License-Identifier: Apache-2.0
// What a run of heddle-run found, as text and as JSON.
//
// JSON, keys stable within a schema version; a part that was not asked for is
// absent:
//   {"schema": "heddle-run/1", "model", "config", "device", "core",
//   "simulated",
//    "device_bytes", "latency_ms", "model_macs", "macs", "cycles",
//    "cycles_estimated", "utilisation", "commands", "bytes_loaded",
//    "bytes_stored", "host_operators": 0, "outputs": [{"name", "type", "shape",
//    "equal", "max_error", "differing",
//                 "first": {"index", "value", "expected"}, "problem"}],
//    "bench": {"runs", "min_ms", "median_ms", "p95_ms", "mean_ms",
//              "per_second"},
//    "images": {"count", "correct", "top1"},
//    "layers": [{"node", "engine", "macs", "dram_bytes", "estimated_cycles"}]}
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/package/package.h"
#include "runtime/session/session.h"
#include "tools/heddle-run/compare.h"

namespace heddle::run {

struct BenchResult {
  std::vector<double> ms;  // of each inference
};

struct ImageResult {
  size_t count = 0;
  std::optional<size_t> correct;  // with labels
};

struct Result {
  session::DeviceDescription device;
  uint64_t device_bytes = 0;
  double latency_ms = 0;  // of the last inference
  session::RunStatistics statistics;
  std::vector<Comparison> comparisons;  // one per output, with --check
  std::optional<BenchResult> bench;
  std::optional<ImageResult> images;
  bool layers = false;

  bool matches() const;
};

std::string ToText(const package::Package& package, const Result& result);
std::string ToJson(const package::Package& package, const Result& result);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_
