// SPDX-License-Identifier: Apache-2.0
// Compiles networks for h256 and simulates them on the RTL:
//
//   core_speed, card_speed [--repeat 3] [--check] [NETWORK | MODEL.onnx ...]
//
// Without names: resnet50. Per network: cycles, and how many millions of them
// a second of user CPU time simulates: the best of so many runs, as what else
// the machine does makes runs slower and never faster. --check: device memory
// must be in the end as the functional model leaves it.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/networks.h"
#include "simulator/model/model.h"
#include "tools/cli/usage.h"
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {
namespace {

double UserSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

// Device memory as the functional model leaves it.
absl::StatusOr<std::vector<uint8_t>> Expected(Program program) {
  model::FlatMemory memory(program.memory.data(), program.memory.size());
  model::Model model(isa::kH256, &memory);
  for (const Program::Range& stream : program.streams) {
    std::vector<uint32_t> words(stream.bytes / sizeof(uint32_t));
    std::memcpy(words.data(), &program.memory[stream.address], stream.bytes);
    const model::RunResult run =
        model.Run(words.data(), stream.bytes, program.regions);
    if (run.status != isa::Error::kOk) {
      return absl::InternalError("the functional model faults");
    }
  }
  return std::move(program.memory);
}

// Prints the network's line.
absl::Status Measure(const std::string& name, int repeat, bool check) {
  auto model = compiler::NetworkOrFile(name);
  if (!model.ok()) return model.status();
  compiler::CompileOptions options;
  options.config = isa::kH256.name;
  options.open_dimensions_are_one = true;
  auto compiled = compiler::CompileOnnx(*model, options);
  if (!compiled.ok()) return compiled.status();
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return package.status();
  uint64_t cycles = 0;
  double best = 0;
  for (int i = 0; i < repeat; ++i) {
    Program program = ProgramOf(*package);
    const double before = UserSeconds();
    auto run = Simulate(&program);
    const double seconds = UserSeconds() - before;
    if (!run.ok()) return run.status();
    cycles = *run;
    if (check) {
      auto want = Expected(ProgramOf(*package));
      if (!want.ok()) return want.status();
      const auto at =
          std::mismatch(want->begin(), want->end(), program.memory.begin(),
                        program.memory.end());
      if (at.first != want->end()) {
        return absl::InternalError(absl::StrCat(
            "device memory differs from the functional model's at ",
            at.first - want->begin()));
      }
    }
    if (seconds > 0) best = std::max(best, 1e-6 * cycles / seconds);
  }
  std::printf("%-20s %12llu %9.3f\n", name.c_str(),
              static_cast<unsigned long long>(cycles), best);
  std::fflush(stdout);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Networks on the RTL of h256: how fast it is simulated",
               "rtl-speed");
  cli::WrapHelp(&app);
  int repeat = 1;
  bool check = false;
  std::vector<std::string> names;
  app.add_option("--repeat", repeat, "take the best of so many runs")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--check", check, "compare with the functional model");
  app.add_option("names", names, "networks or model files");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::ExitOfParse(app, error);
  }
  if (names.empty()) names = {"resnet50"};
  std::printf("%-20s %12s %9s\n", "network", "cycles", "Mcycle/s");
  int bad = 0;
  for (const std::string& name : names) {
    if (const absl::Status s = Measure(name, repeat, check); !s.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(),
                   std::string(s.message()).c_str());
      ++bad;
    }
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace heddle::rtl

int main(int argc, char** argv) { return heddle::rtl::Main(argc, argv); }
