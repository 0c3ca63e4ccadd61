// SPDX-License-Identifier: Apache-2.0
// What a series of latencies says, and how far to trust it.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_BENCH_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_BENCH_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle::run {

// When a measurement ends: after `runs` of them or `seconds`, whichever comes
// first; 0: does not count. One of them does.
struct BenchLimit {
  size_t runs = 0;
  double seconds = 0;
  // The part that is done; 1 or more: all of it.
  double Part(size_t done, double passed) const;
  bool Reached(size_t begun, double passed) const {
    return Part(begun, passed) >= 1;
  }
};

struct BenchSummary {
  size_t runs = 0;
  double min = 0, mean = 0, median = 0, max = 0;  // ms
  // Nearest rank: the smallest value that at least that part of the runs does
  // not exceed. Absent with too few runs to have one run beyond it (10 for P90,
  // 20 for P95, 100 for P99, 1000 for P99.9).
  std::optional<double> p90, p95, p99, p99_9;
  double per_second = 0;  // runs one after another
  // Median distance from the median, as a part of the median.
  double relative_mad = 0;
  // Median of the second half over that of the first, minus 1; and whether that
  // is more than three standard errors of their difference, so that the
  // machine, not chance, changed between them. From 20 runs on.
  double half_difference = 0;
  bool halves_differ = false;
};

BenchSummary Summarize(const std::vector<double>& ms);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_BENCH_H_
