// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/bench.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::run {
namespace {

constexpr size_t kFewestToJudge = 20;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double MedianDistance(const std::vector<double>& values, double from) {
  std::vector<double> distances;
  for (double v : values) distances.push_back(std::fabs(v - from));
  return Median(std::move(distances));
}

// Rank of part `numerator`/1000 of sorted values.
std::optional<double> Percentile(const std::vector<double>& sorted,
                                 size_t numerator) {
  const size_t n = sorted.size();
  if (n * (1000 - numerator) < 1000) return std::nullopt;
  return sorted[(n * numerator + 999) / 1000 - 1];
}

}  // namespace

double BenchLimit::Part(size_t done, double passed) const {
  double part = 0;
  if (runs > 0) part = static_cast<double>(done) / static_cast<double>(runs);
  if (seconds > 0) part = std::max(part, passed / seconds);
  return part;
}

BenchSummary Summarize(const std::vector<double>& ms) {
  BenchSummary s;
  s.runs = ms.size();
  if (ms.empty()) return s;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  s.min = sorted.front();
  s.max = sorted.back();
  s.mean = std::accumulate(ms.begin(), ms.end(), 0.0) /
           static_cast<double>(ms.size());
  s.median = Median(ms);
  s.p90 = Percentile(sorted, 900);
  s.p95 = Percentile(sorted, 950);
  s.p99 = Percentile(sorted, 990);
  s.p99_9 = Percentile(sorted, 999);
  if (s.mean > 0) s.per_second = 1000 / s.mean;
  const double mad = MedianDistance(ms, s.median);
  if (s.median > 0) s.relative_mad = mad / s.median;
  if (ms.size() < kFewestToJudge) return s;
  const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
  const std::vector<double> first(ms.begin(), middle), second(middle, ms.end());
  const double a = Median(first), b = Median(second);
  if (a > 0) s.half_difference = b / a - 1;
  // Of a median: 1.2533 sigma / sqrt(n); sigma from the distances within each
  // half, so that a step between them does not hide itself.
  const auto error = [](const std::vector<double>& half, double median) {
    const double sigma = 1.4826 * MedianDistance(half, median);
    return 1.2533 * sigma / std::sqrt(static_cast<double>(half.size()));
  };
  s.halves_differ =
      std::fabs(b - a) > 3 * std::hypot(error(first, a), error(second, b));
  return s;
}

}  // namespace heddle::run
