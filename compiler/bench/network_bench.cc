// SPDX-License-Identifier: Apache-2.0
// Whole networks through compiler and functional model, by CPU time of one
// thread:
//
//   network_bench [--config h256] [--repeat 3] [NETWORK | MODEL.onnx ...]
//
// Without names: all of compiler/testing/networks.h. Per network: MACs, time to
// compile, time of one inference (best of the repetitions), GMAC/s, the
// estimated cycles with the share of the array that they mean,
// and the bound of bound.h with the estimate as a multiple of it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/bench/bound.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/cpu_seconds.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

// False, with a line on stderr, if the network cannot be compiled or run.
bool Measure(const std::string& name, const std::string& config, int repeat) {
  auto model = NetworkOrFile(name);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", std::string(model.status().message()).c_str());
    return false;
  }
  CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  options.details = true;
  const double start = CpuSeconds();
  auto result = CompileOnnx(*model, options);
  const double compiled = CpuSeconds() - start;
  if (!result.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 result.status().ToString().c_str());
    return false;
  }
  auto package = package::Parse(result->package);
  std::vector<TensorData> inputs;
  for (const package::TensorInfo& info : package->inputs) {
    inputs.push_back(RandomData(info.type, info.shape, inputs.size() + 1));
  }
  double best = 0;
  for (int i = 0; i < repeat; ++i) {
    auto run = RunPackage(*package, inputs);
    if (!run.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(),
                   run.status().ToString().c_str());
      return false;
    }
    best = i == 0 ? run->cpu_seconds : std::min(best, run->cpu_seconds);
  }
  const CompileReport& r = result->report;
  const double bound = LayerBound(r, *package, *isa::FindConfig(config));
  std::printf(
      "%-14s %9.1f %9.1f %9.1f %8.1f %9.1f %12llu %6.1f %% %12.0f %6.3f\n",
      name.c_str(), r.macs * 1e-6, compiled * 1e3, best * 1e3,
      best > 0 ? r.macs * 1e-9 / best : 0, r.dram_bytes * 1e-6,
      static_cast<unsigned long long>(r.estimated_cycles),
      100 * r.estimated_utilisation, bound,
      static_cast<double>(r.estimated_cycles) / bound);
  return true;
}

int Main(int argc, char** argv) {
  CLI::App app("Whole networks through compiler and functional model");
  std::string config = "h256";
  int repeat = 3;
  std::vector<std::string> names;
  app.add_option("--config", config, "hardware configuration");
  app.add_option("--repeat", repeat,
                 "inferences; the best counts; 0: compile only")
      ->check(CLI::NonNegativeNumber);
  app.add_option("names", names, "networks or model files (default: all)");
  CLI11_PARSE(app, argc, argv);
  if (names.empty()) names = NetworkNames();
  std::printf("%-14s %9s %9s %9s %8s %9s %12s %8s %12s %6s\n", "network",
              "MMACs", "compile ms", "run ms", "GMAC/s", "MB moved",
              "est. cycles", "of peak", "bound", "times");
  bool good = true;
  for (const std::string& name : names) {
    good = Measure(name, config, repeat) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) { return heddle::compiler::Main(argc, argv); }
