// SPDX-License-Identifier: Apache-2.0
// Whole networks on the RTL core, without driver or runtime:
//
//   rtl_bench [--config h256,...] [--json] [--layers] [--commands] [--check]
//             [--max-error 5] [--max-cycles NAME=CYCLES] [--speed] [NETWORK |
//             MODEL.onnx ...]
//
// Without names: those of compiler/testing/networks.h that are small enough for
// a coffee. Per network: cycles, MACs, the share of the array's peak, how long
// each engine had work, and where the cycles went: a cycle belongs to the
// combination of engines that have a command under way in it. "matrix" alone is
// as good as it gets; "load" alone means that all wait for device memory;
// "nobody" is fetch, dispatch and semaphores. --check compares every output
// with the functional model.
//
// "distance": cycles over the three bounds of rtl_run.h. "error": the
// compiler's estimate against the RTL; --max-error makes more than so many
// percent a failure, --max-cycles more than so many cycles. --layers prints the
// layers; --json has them always, and every command with --commands. --speed
// does not look into the core, so that Mcycle/s is the simulator's own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/networks.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

nlohmann::json SetsToJson(const CyclesBySet& sets) {
  nlohmann::json json = nlohmann::json::object();
  for (uint32_t s = 0; s < kEngineSets; ++s) {
    if (sets[s] > 0) json[EngineSetName(s)] = sets[s];
  }
  return json;
}

nlohmann::json ToJson(const MatrixWaits& waits) {
  return {{"weights", waits.weights},
          {"operands", waits.operands},
          {"output", waits.output}};
}

nlohmann::json ToJson(const Bounds& bounds) {
  return {{"ideal", bounds.ideal},
          {"layers", bounds.layers},
          {"array", bounds.array}};
}

// 0 where there is no bound.
nlohmann::json Distance(uint64_t cycles, const Bounds& bounds) {
  const auto over = [cycles](double bound) {
    return bound > 0 ? static_cast<double>(cycles) / bound : 0.0;
  };
  return {{"ideal", over(bounds.ideal)},
          {"layers", over(bounds.layers)},
          {"array", over(bounds.array)}};
}

double Share(uint64_t macs, uint64_t cycles, const isa::Config& config) {
  return cycles == 0
             ? 0
             : static_cast<double>(macs) / (static_cast<double>(cycles) *
                                            config.lanes_in * config.lanes_out);
}

nlohmann::json ToJson(const package::Package& package, const NetworkRun& run,
                      const NetworkBounds& bounds, size_t i,
                      const isa::Config& config) {
  const package::Layer& layer = package.layers[i];
  const LayerRun& l = run.layers[i];
  return {{"name", package.nodes[layer.node]},
          {"engine", layer.engine},
          {"cycles", l.cycles},
          {"first_cycle", l.first},
          {"last_cycle", l.last},
          {"estimated_cycles", layer.estimated_cycles},
          {"macs", layer.macs},
          {"utilisation", Share(layer.macs, l.cycles, config)},
          {"dram_bytes", layer.dram_bytes},
          {"commands", l.commands},
          {"bounds", ToJson(bounds.layers[i])},
          {"distance", Distance(l.cycles, bounds.layers[i])},
          {"cycles_by_engines", SetsToJson(l.sets)},
          {"matrix_waits", ToJson(l.waits)}};
}

nlohmann::json ToJson(const std::string& name, const isa::Config& config,
                      const NetworkRun& m, const package::Package& package,
                      bool commands) {
  const double estimated = static_cast<double>(package.estimated_cycles);
  const NetworkBounds bounds = BoundsOf(package, config);
  nlohmann::json json = {
      {"network", name},
      {"config", config.name},
      {"cycles", m.cycles},
      {"estimated_cycles", estimated},
      {"error_percent", 100 * (estimated / static_cast<double>(m.cycles) - 1)},
      {"bounds", ToJson(bounds.whole)},
      {"distance", Distance(m.cycles, bounds.whole)},
      {"macs", m.macs},
      {"macs_per_cycle", config.lanes_in * config.lanes_out},
      {"utilisation", Share(m.macs, m.cycles, config)},
      {"weight_bytes", package.weights.size()},
      {"commands", m.commands},
      {"bytes_loaded", m.bytes_loaded},
      {"bytes_stored", m.bytes_stored},
      {"matrix_busy", m.matrix_busy},
      {"vector_busy", m.vector_busy},
      {"dma_busy", m.dma_busy},
      {"memory_beats", m.beats},
      {"cpu_seconds", m.cpu_seconds}};
  if (!m.observed) return json;
  json["cycles_by_engines"] = SetsToJson(m.sets);
  json["matrix_waits"] = ToJson(m.waits);
  json["layers"] = nlohmann::json::array();
  for (size_t i = 0; i < m.layers.size(); ++i) {
    json["layers"].push_back(ToJson(package, m, bounds, i, config));
  }
  if (commands) {
    for (const CommandTime& c : m.commands_in_time) {
      json["commands_in_time"].push_back({{"engine", c.engine},
                                          {"layer", c.layer},
                                          {"offset", c.offset},
                                          {"accepted", c.accepted},
                                          {"done", c.done}});
    }
  }
  return json;
}

void Print(const nlohmann::json& j) {
  const double cycles = std::max(1.0, j["cycles"].get<double>());
  const auto share = [&](const char* key) {
    return 100 * j[key].get<double>() / cycles;
  };
  std::printf("%-14s %-6s %12.0f %9.2f %7.1f %7.1f %7.1f %7.1f %7.1f %8.2f\n",
              j["network"].get<std::string>().c_str(),
              j["config"].get<std::string>().c_str(), cycles,
              j["macs"].get<double>() * 1e-6,
              100 * j["utilisation"].get<double>(), share("matrix_busy"),
              share("vector_busy"), share("dma_busy"), share("memory_beats"),
              j["cpu_seconds"].get<double>() > 0
                  ? cycles / j["cpu_seconds"].get<double>() * 1e-6
                  : 0.0);
  std::printf("%22s", "distance:");
  for (const auto& [bound, n] : j["distance"].items()) {
    if (n.get<double>() > 0) {
      std::printf("  %s %.3f", bound.c_str(), n.get<double>());
    }
  }
  std::printf("   estimate %.0f, error %+.2f %%\n",
              j["estimated_cycles"].get<double>(),
              j["error_percent"].get<double>());
  if (!j.contains("layers")) return;
  for (const auto& [reason, n] : j["matrix_waits"].items()) {
    const double percent = 100 * n.get<double>() / cycles;
    if (percent >= 1) {
      std::printf("%20.1f %%  matrix engine waits for %s\n", percent,
                  reason.c_str());
    }
  }
  // The largest first.
  std::vector<std::pair<uint64_t, std::string>> sets;
  for (const auto& [name, n] : j["cycles_by_engines"].items()) {
    sets.push_back({n.get<uint64_t>(), name});
  }
  std::sort(sets.rbegin(), sets.rend());
  for (const auto& [n, name] : sets) {
    const double percent = 100 * static_cast<double>(n) / cycles;
    if (percent >= 1) std::printf("%20.1f %%  %s\n", percent, name.c_str());
  }
}

// A line per layer: what it makes the whole longer, and why.
void PrintLayers(const nlohmann::json& j) {
  std::printf("  %10s %9s %7s %7s %7s %7s %9s %9s %9s  %s\n", "cycles", "MMACs",
              "% peak", "ideal", "layers", "array", "weights", "operands",
              "output", "layer (waits of the array in cycles)");
  for (const nlohmann::json& l : j["layers"]) {
    const auto number = [](const nlohmann::json& n) { return n.get<double>(); };
    std::printf(
        "  %10.0f %9.3f %7.1f %7.3f %7.3f %7.3f %9.0f %9.0f %9.0f  %s %s",
        number(l["cycles"]), number(l["macs"]) * 1e-6,
        number(l["utilisation"]) * 100, number(l["distance"]["ideal"]),
        number(l["distance"]["layers"]), number(l["distance"]["array"]),
        number(l["matrix_waits"]["weights"]),
        number(l["matrix_waits"]["operands"]),
        number(l["matrix_waits"]["output"]),
        l["engine"].get<std::string>().c_str(),
        l["name"].get<std::string>().c_str());
    for (const auto& [set, n] : l["cycles_by_engines"].items()) {
      // What the array had nothing to do with.
      if (set.find("matrix") == std::string::npos && number(n) > 0) {
        std::printf("; %s %.0f", set.c_str(), number(n));
      }
    }
    std::printf("\n");
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Networks on the RTL core");
  std::vector<std::string> names, configs = {isa::kConfigs[0].name};
  bool json = false, check = false, speed = false;
  bool layers = false, commands = false;
  double max_error = 0;
  std::vector<std::string> max_cycles;
  app.add_option("--config", configs,
                 "hardware configuration; several with commas, or again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--layers", layers, "print the layers");
  app.add_flag("--commands", commands, "with --json: every command");
  app.add_flag("--check", check, "compare the outputs with the model");
  app.add_option("--max-error", max_error,
                 "fail when the compiler's estimate is further off, percent");
  app.add_option("--max-cycles", max_cycles,
                 "fail when a network takes more: NAME=CYCLES; several with "
                 "commas, or again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--speed", speed, "do not look into the core");
  app.add_option("names", names, "networks or model files");
  CLI11_PARSE(app, argc, argv);
  if (names.empty()) names = {"autoencoder", "ds_cnn", "resnet8", "vww"};
  nlohmann::json all = nlohmann::json::array();
  if (!json) {
    std::printf("%-14s %-6s %12s %9s %7s %7s %7s %7s %7s %8s\n", "network",
                "config", "cycles", "MMACs", "% peak", "% mat", "% vec",
                "% dma", "% dram", "Mcycle/s");
  }
  bool good = true;
  for (const std::string& config : configs) {
    for (const std::string& name : names) {
      auto model = compiler::NetworkOrFile(name);
      compiler::CompileOptions options;
      options.config = config;
      options.open_dimensions_are_one = true;
      absl::Status status = model.status();
      absl::StatusOr<NetworkRun> run = absl::UnknownError("");
      package::Package package;
      if (model.ok()) {
        auto compiled = compiler::CompileOnnx(*model, options);
        status = compiled.status();
        if (compiled.ok()) {
          package = *package::Parse(compiled->package);
          run = RunOnCore(package, InputsFor(package), {!speed, check});
          status = run.status();
        }
      }
      if (!status.ok()) {
        std::fprintf(stderr, "%s, %s: %s\n", name.c_str(), config.c_str(),
                     std::string(status.message()).c_str());
        good = false;
        continue;
      }
      all.push_back(
          ToJson(name, *isa::FindConfig(config), *run, package, commands));
      if (!json) Print(all.back());
      if (!json && layers && !speed) PrintLayers(all.back());
      for (const std::string& limit : max_cycles) {
        const std::pair<std::string, std::string> parts =
            absl::StrSplit(limit, absl::MaxSplits('=', 1));
        uint64_t most = 0;
        if (!absl::SimpleAtoi(parts.second, &most)) {
          std::fprintf(stderr, "--max-cycles %s: give NAME=CYCLES\n",
                       limit.c_str());
          good = false;
        } else if (parts.first == name && run->cycles > most) {
          std::fprintf(stderr, "%s, %s: %zu cycles, more than %zu\n",
                       name.c_str(), config.c_str(), size_t(run->cycles),
                       size_t(most));
          good = false;
        }
      }
      const double error = all.back()["error_percent"].get<double>();
      if (max_error > 0 && std::abs(error) > max_error) {
        std::fprintf(stderr, "%s, %s: the estimate is off by %.2f %%\n",
                     name.c_str(), config.c_str(), error);
        good = false;
      }
    }
  }
  if (json) std::printf("%s\n", all.dump(1).c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
