// SPDX-License-Identifier: Apache-2.0
// Whole networks on the RTL core, without driver or runtime:
//
//   rtl_bench [--config h256] [--json] [--check] [--max-error 5] [--speed]
//             [NETWORK | MODEL.onnx ...]
//
// Without names: those of compiler/testing/networks.h that are small enough for
// a coffee. Per network: cycles, MACs, the share of the array's peak, how long
// each engine had work, and where the cycles went: a cycle belongs to the
// combination of engines that have a command under way in it. "matrix" alone is
// as good as it gets; "load" alone means that all wait for device memory;
// "nobody" is fetch, dispatch and semaphores. --check compares every output
// with the functional model.
//
// Distances, cycles over the bound (performance is judged by all three):
//   ideal      max(MACs / P, (weights + inputs + outputs) / B): nothing but the
//              arithmetic, or nothing but the bytes that must move
//   layers     sum over layers of max(MACs / P, its bytes of device memory / B)
//   array      closed-form cycles of the matrix commands, one after another
// P = lanes_in * lanes_out, B = dram_bytes_per_cycle. "error": the compiler's
// estimate against the RTL; --max-error makes more than so many percent a
// failure. --speed does not look into the core, so that Mcycle/s is the
// simulator's own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/timeline.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/run_package.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/package_program.h"

namespace heddle::lockstep {
namespace {

constexpr uint32_t kSets =
    16;  // of engines: load 1, store 2, matrix 4, vector 8

std::string SetName(uint32_t set) {
  static constexpr const char* kNames[] = {"load", "store", "matrix", "vector"};
  std::string name;
  for (uint32_t e = 0; e < 4; ++e) {
    if (set >> e & 1)
      absl::StrAppend(&name, name.empty() ? "" : "+", kNames[e]);
  }
  return name.empty() ? "nobody" : name;
}

// Counts the commands that engines have under way.
class Activity : public rtl::CoreObserver {
 public:
  void OnAccept(isa::Engine engine) override { ++under_way_[Index(engine)]; }
  void OnDone(isa::Engine engine) override { --under_way_[Index(engine)]; }
  void OnSramWrite(isa::Engine, uint32_t, const uint8_t*, uint32_t) override {}
  void OnMemoryWrite(uint64_t, uint32_t) override {}
  void OnMatrixWait(uint32_t reasons) override {
    // The first reason there is, in this order.
    ++waits_[reasons & rtl::kWaitOutput    ? 2
             : reasons & rtl::kWaitWeights ? 0
                                           : 1];
  }
  const uint64_t* waits() const { return waits_; }
  uint32_t set() const {
    uint32_t set = 0;
    for (uint32_t e = 0; e < 4; ++e) set |= (under_way_[e] > 0) << e;
    return set;
  }

 private:
  static uint32_t Index(isa::Engine engine) {
    return static_cast<uint32_t>(engine) - 1;
  }
  int under_way_[4] = {};
  uint64_t waits_[3] = {};
};

struct Measured {
  uint64_t cycles = 0, macs = 0, bytes_loaded = 0, bytes_stored = 0;
  uint64_t matrix_busy = 0, vector_busy = 0, dma_busy = 0, commands = 0;
  uint64_t beats = 0;
  uint64_t sets[kSets] = {};
  uint64_t waits[3] = {};  // of the matrix engine: weights, operands, output
  bool observed = false;
  double seconds = 0;
};

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

absl::StatusOr<Measured> Run(const package::Package& package,
                             const std::vector<compiler::TensorData>& inputs,
                             bool check, bool look) {
  const isa::Config* config = isa::FindConfig(package.config);
  auto programs = ProgramsOf(package, inputs);
  if (!programs.ok()) return programs.status();
  auto core = rtl::MakeCore(*config);
  if (!core.ok()) return core.status();
  Activity activity;
  Measured m;
  m.observed = look && (*core)->Observe(&activity);
  std::vector<uint8_t> memory = programs->front().memory;
  const uint64_t code = (memory.size() + 4095) / 4096 * 4096;
  const double before = CpuSeconds();
  for (const Program& program : *programs) {
    const size_t bytes = program.words.size() * 4;
    memory.resize(code + bytes);
    std::memcpy(&memory[code], program.words.data(), bytes);
    (*core)->memory()->Attach(memory.data(), memory.size());
    platform::CoreRequest request;
    request.stream_address = code;
    request.stream_bytes = bytes;
    std::copy(std::begin(program.regions), std::end(program.regions),
              request.regions);
    (*core)->Start(request);
    while ((*core)->busy()) {
      if (m.observed) {
        ++m.sets[activity.set()];
        (*core)->Step(1);
      } else {
        (*core)->Step(1000);
      }
    }
    const platform::CoreResult& r = (*core)->result();
    if (r.run.status != isa::Error::kOk) {
      return absl::InternalError(
          absl::StrCat("status ", static_cast<int>(r.run.status), " at offset ",
                       r.run.fault_offset, ", node '",
                       program.node(r.run.fault_offset), "'"));
    }
    m.cycles += r.cycles;
    m.macs += r.run.macs;
    m.commands += r.run.commands;
    m.bytes_loaded += r.run.bytes_loaded;
    m.bytes_stored += r.run.bytes_stored;
    m.matrix_busy += r.matrix_busy;
    m.vector_busy += r.vector_busy;
    m.dma_busy += r.dma_busy;
  }
  m.seconds = CpuSeconds() - before;
  std::copy(activity.waits(), activity.waits() + 3, m.waits);
  rtl::DeviceMemory* dram = (*core)->memory();
  m.beats = dram->read_beats() + dram->write_beats();
  if (check) {
    auto want = compiler::RunPackage(package, inputs);
    if (!want.ok()) return want.status();
    const uint64_t io = programs->front().regions[2].base;
    for (const package::TensorInfo& info : package.outputs) {
      if (std::memcmp(&memory[io + info.offset],
                      want->outputs[info.name].bytes.data(), info.size) != 0) {
        return absl::InternalError(
            absl::StrCat("output '", info.name, "' differs from the model"));
      }
    }
  }
  return m;
}

// See the comment at the top.
nlohmann::json Bounds(const package::Package& package,
                      const isa::Config& config) {
  const double peak = 1.0 * config.lanes_in * config.lanes_out;
  const double bus = config.dram_bytes_per_cycle;
  double macs = 0, layers = 0, array = 0;
  for (const package::Layer& l : package.layers) {
    macs += static_cast<double>(l.macs);
    layers += std::max(static_cast<double>(l.macs) / peak,
                       static_cast<double>(l.dram_bytes) / bus);
  }
  double bytes = static_cast<double>(package.weights.size());
  for (const auto* tensors : {&package.inputs, &package.outputs}) {
    for (const package::TensorInfo& t : *tensors) {
      bytes += static_cast<double>(t.size);
    }
  }
  for (const auto& stream : package.streams) {
    auto timeline = compiler::SimulateTimeline(stream, config);
    if (timeline.ok()) {
      array += static_cast<double>(timeline->engines[2].busy);
    }
  }
  return {{"ideal", std::max(macs / peak, bytes / bus)},
          {"layers", layers},
          {"array", array}};
}

nlohmann::json ToJson(const std::string& name, const isa::Config& config,
                      const Measured& m, const package::Package& package) {
  const double estimated = static_cast<double>(package.estimated_cycles);
  nlohmann::json sets = nlohmann::json::object();
  for (uint32_t s = 0; s < kSets; ++s) {
    if (m.sets[s] > 0) sets[SetName(s)] = m.sets[s];
  }
  return {
      {"network", name},
      {"config", config.name},
      {"cycles", m.cycles},
      {"estimated_cycles", estimated},
      {"error_percent", 100 * (estimated / static_cast<double>(m.cycles) - 1)},
      {"bounds", Bounds(package, config)},
      {"macs", m.macs},
      {"utilisation",
       static_cast<double>(m.macs) / (static_cast<double>(m.cycles) *
                                      config.lanes_in * config.lanes_out)},
      {"commands", m.commands},
      {"bytes_loaded", m.bytes_loaded},
      {"bytes_stored", m.bytes_stored},
      {"matrix_busy", m.matrix_busy},
      {"vector_busy", m.vector_busy},
      {"dma_busy", m.dma_busy},
      {"memory_beats", m.beats},
      {"cycles_by_engines", sets},
      {"matrix_waits",
       {{"weights", m.waits[0]},
        {"operands", m.waits[1]},
        {"output", m.waits[2]}}},
      {"cpu_seconds", m.seconds}};
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
  for (const auto& [bound, n] : j["bounds"].items()) {
    if (n.get<double>() > 0) {
      std::printf("  %s %.3f", bound.c_str(), cycles / n.get<double>());
    }
  }
  std::printf("   estimate %.0f, error %+.2f %%\n",
              j["estimated_cycles"].get<double>(),
              j["error_percent"].get<double>());
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

int Main(int argc, char** argv) {
  CLI::App app("Networks on the RTL core");
  std::vector<std::string> names, configs = {isa::kConfigs[0].name};
  bool json = false, check = false, speed = false;
  double max_error = 0;
  app.add_option("--config", configs, "hardware configurations");
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--check", check, "compare the outputs with the model");
  app.add_option("--max-error", max_error,
                 "fail when the compiler's estimate is further off, percent");
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
      absl::Status status = model.status();
      absl::StatusOr<Measured> measured = absl::UnknownError("");
      package::Package parsed;
      if (model.ok()) {
        auto compiled = compiler::CompileOnnx(*model, options);
        status = compiled.status();
        if (compiled.ok()) {
          auto package = package::Parse(compiled->package);
          parsed = *package;
          std::vector<compiler::TensorData> inputs;
          for (const package::TensorInfo& info : parsed.inputs) {
            inputs.push_back(
                compiler::RandomData(info.type, info.shape, inputs.size() + 1));
          }
          measured = Run(parsed, inputs, check, !speed);
          status = measured.status();
        }
      }
      if (!status.ok()) {
        std::fprintf(stderr, "%s, %s: %s\n", name.c_str(), config.c_str(),
                     std::string(status.message()).c_str());
        good = false;
        continue;
      }
      all.push_back(ToJson(name, *isa::FindConfig(config), *measured, parsed));
      if (!json) Print(all.back());
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
