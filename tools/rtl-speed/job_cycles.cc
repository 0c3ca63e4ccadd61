// SPDX-License-Identifier: Apache-2.0
// What a job takes beside its stream, with memories that are better or worse:
//
//   job_cycles [--config h256] [NETWORK | MODEL.onnx ...]
//
// A line per network and memory: cycles of the streams from start to end; of
// the job from the fetch of its descriptor to its completion record (copies of
// inputs and outputs, fetches of descriptor, steps and region tables, half a
// microsecond for each access to the host); and both over those of the ideal
// memory. The bytes that a job leaves are the same for every memory, or it is
// an error.
//
// Memories (simulator/rtl/device_memory.h), cycles beyond the configuration's
// latency: ideal 0; slow 100, 300; irregular 100, each request up to 100 more,
// and each channel stands still in a fifth of the cycles.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/networks.h"
#include "tools/cli/usage.h"
#include "tools/rtl-speed/simulation.h"

namespace heddle::rtl {
namespace {

struct Memory {
  const char* name;
  MemoryOptions options;
};

MemoryOptions Options(uint32_t latency, uint32_t jitter, uint32_t stall) {
  MemoryOptions options;
  options.extra_latency = latency;
  options.jitter = jitter;
  options.stall_percent = stall;
  return options;
}

const Memory kMemories[] = {
    {"ideal", Options(0, 0, 0)},
    {"slow +100", Options(100, 0, 0)},
    {"slow +300", Options(300, 0, 0)},
    {"irregular", Options(100, 100, 20)},
};

absl::Status Measure(const std::string& name, const isa::Config& config) {
  auto model = compiler::NetworkOrFile(name);
  if (!model.ok()) return model.status();
  compiler::CompileOptions options;
  options.config = config.name;
  options.open_dimensions_are_one = true;
  auto compiled = compiler::CompileOnnx(*model, options);
  if (!compiled.ok()) return compiled.status();
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return package.status();
  Simulated ideal_core, ideal_card;
  std::vector<uint8_t> bytes;
  for (const Memory& memory : kMemories) {
    Program on_core = ProgramOf(*package), on_card = on_core;
    auto core = SimulateCore(&on_core, config, memory.options);
    if (!core.ok()) return core.status();
    auto card = SimulateCard(&on_card, config, memory.options);
    if (!card.ok()) return card.status();
    if (bytes.empty()) {
      ideal_core = *core;
      ideal_card = *card;
      bytes = std::move(on_core.memory);
    } else if (on_core.memory != bytes) {
      return absl::InternalError("the bytes depend on the memory");
    }
    if (on_card.memory != bytes) {
      return absl::InternalError("core and card leave different bytes");
    }
    std::printf("%-18s %-10s %12llu %12llu %8.3f %8.3f\n", name.c_str(),
                memory.name, static_cast<unsigned long long>(core->measured),
                static_cast<unsigned long long>(card->measured),
                static_cast<double>(core->measured) /
                    static_cast<double>(ideal_core.measured),
                static_cast<double>(card->measured) /
                    static_cast<double>(ideal_card.measured));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Cycles of jobs on the RTL card with several memories",
               "job_cycles");
  cli::WrapHelp(&app);
  std::string config = isa::kH256.name;
  std::vector<std::string> names;
  app.add_option("--config", config, "hardware configuration")
      ->check([](const std::string& given) {
        return isa::FindConfig(given) != nullptr
                   ? std::string()
                   : "'" + given + "' is not one of h256, h512, h1024";
      });
  app.add_option("names", names, "networks or model files");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::ExitOfParse(app, error);
  }
  if (names.empty()) {
    names = {"autoencoder", "ds_cnn",          "resnet8",
             "vww",         "fully_connected", "mobilenet_v2"};
  }
  std::printf("%-18s %-10s %12s %12s %8s %8s\n", "network", "memory", "stream",
              "job", "ratio", "ratio");
  int bad = 0;
  for (const std::string& name : names) {
    const absl::Status status = Measure(name, *isa::FindConfig(config));
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 std::string(status.message()).c_str());
    ++bad;
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace heddle::rtl

int main(int argc, char** argv) { return heddle::rtl::Main(argc, argv); }
