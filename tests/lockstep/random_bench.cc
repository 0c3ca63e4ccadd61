// SPDX-License-Identifier: Apache-2.0
// The compiler's estimates against the RTL core, on random networks that
// nothing was fitted to:
//
//   random_bench [--config h256] [--first 1] [--networks 50] [--least 2000]
//                [--most 3000000] [--max-error 5]
//
// The networks are those of compiler/testing/random_network.h. Networks whose
// estimate is outside
// [--least, --most] cycles are passed over: those that are a few commands, and
// those that take the RTL too long. Printed are each network's cycles, estimate
// and error, and the distribution of the errors. Exit code 1: one is larger
// than
// --max-error percent.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/testing/random_network.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("Estimates of random networks against the RTL core");
  std::string config = isa::kConfigs[0].name;
  uint64_t first = 1, least = 2000, most = 3'000'000;
  size_t networks = 50;
  double max_error = 0;
  app.add_option("--config", config, "hardware configuration");
  app.add_option("--first", first, "first seed");
  app.add_option("--networks", networks, "how many");
  app.add_option("--least", least, "estimated cycles, at least");
  app.add_option("--most", most, "estimated cycles, at most");
  app.add_option("--max-error", max_error, "percent; 0: none");
  CLI11_PARSE(app, argc, argv);
  std::vector<double> errors;
  size_t passed_over = 0;
  std::printf("%6s %10s %10s %8s\n", "seed", "cycles", "estimate", "error");
  for (uint64_t seed = first; errors.size() < networks; ++seed) {
    auto network = compiler::MakeRandomNetwork(seed, config);
    if (!network.ok()) continue;  // refused
    const uint64_t estimate = network->package.estimated_cycles;
    if (estimate < least || estimate > most) {
      ++passed_over;
      continue;
    }
    RunOptions options;
    options.look = false;
    auto run = RunOnCore(network->package, network->inputs, options);
    if (!run.ok()) {
      std::fprintf(stderr, "seed %zu: %s\n", size_t(seed),
                   std::string(run.status().message()).c_str());
      return 1;
    }
    errors.push_back(
        100 *
        (static_cast<double>(estimate) / static_cast<double>(run->cycles) - 1));
    std::printf("%6zu %10zu %10zu %+7.2f %%\n", size_t(seed),
                size_t(run->cycles), size_t(estimate), errors.back());
    std::fflush(stdout);
  }
  std::vector<double> sizes;
  double sum = 0;
  for (double e : errors) {
    sizes.push_back(std::abs(e));
    sum += e;
  }
  std::sort(sizes.begin(), sizes.end());
  if (sizes.empty()) return 0;
  const auto within = [&](double limit) {
    return static_cast<size_t>(
        std::upper_bound(sizes.begin(), sizes.end(), limit) - sizes.begin());
  };
  std::printf(
      "%s: %zu networks (%zu passed over), mean %+.2f %%, median of the size "
      "%.2f %%, 90th of 100 %.2f %%, largest %.2f %%; within 1 %%: %zu, 2 %%: "
      "%zu, 5 %%: %zu\n",
      config.c_str(), sizes.size(), passed_over,
      sum / static_cast<double>(sizes.size()), sizes[sizes.size() / 2],
      sizes[(sizes.size() - 1) * 9 / 10], sizes.back(), within(1), within(2),
      within(5));
  return max_error > 0 && sizes.back() > max_error ? 1 : 0;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
