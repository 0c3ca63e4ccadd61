// SPDX-License-Identifier: Apache-2.0
// What is fused into a convolution must cost no cycles: layers with and without
// it on the RTL core.
//
//   rtl_fused [--config h256] [--size 28] [--json] [--check]
//             [--max-extra CYCLES]
//
// A network of two layers, so that the operands of the second one, which is the
// measured one, are in SRAM; maps of --size rows and columns. "array": cycles
// from the end of the first layer's matrix commands to the end of the second's,
// with everything behind the array, requantisation always; "MACs": what the
// arithmetic needs; "whole": from the start of the stream to
// its end, the store of the (smaller, after a pooling) result included. A table
// or the last pooled row comes out a few cycles later, once per command; what
// has a cost for every vector shows hundreds of cycles. --max-extra: fail when
// an addition costs more in "array", or is not fused.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/network_builder.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

using compiler::Activation;
using compiler::NetworkBuilder;
using compiler::Padding;

// The measured layer.
struct Layer {
  int64_t in, out, kernel, size = 0;
};
const Layer kLayers[] = {
    {64, 64, 3},
    {64, 256, 1},
    {256, 64, 1},
    // One pass: a vector leaves the array in every cycle.
    {16, 64, 1},
};

std::string Model(
    const Layer& layer,
    const std::function<void(NetworkBuilder*, const Layer&)>& put) {
  NetworkBuilder n("fused", layer.in, layer.size, layer.size);
  n.Conv(layer.in, 1, 1);
  put(&n, layer);
  return n.Bytes();
}

void Plain(NetworkBuilder* n, const Layer& l) {
  n->Conv(l.out, l.kernel, 1, false);
}

struct Fused {
  const char* name;
  std::function<void(NetworkBuilder*, const Layer&)> with, without;
  bool same_shape = false;  // of the layer's input and output
};
const Fused kFused[] = {
    {"ReLU",
     [](NetworkBuilder* n, const Layer& l) { n->Conv(l.out, l.kernel, 1); },
     Plain},
    {"LeakyRelu (table)",
     [](NetworkBuilder* n, const Layer& l) {
       Plain(n, l);
       n->LeakyRelu();
     },
     Plain},
    {"add",
     [](NetworkBuilder* n, const Layer& l) {
       const Activation in = n->at();
       Plain(n, l);
       n->Add(in, true);
     },
     Plain, true},
    {"max pool 2x2",
     [](NetworkBuilder* n, const Layer& l) {
       Plain(n, l);
       n->MaxPool(2, 2, Padding::kValid);
     },
     Plain},
    {"max pool 3x3 stride 2",
     [](NetworkBuilder* n, const Layer& l) {
       Plain(n, l);
       n->MaxPool(3, 2);
     },
     Plain},
    {"global average pool",
     [](NetworkBuilder* n, const Layer& l) {
       Plain(n, l);
       n->GlobalAverage();
     },
     Plain},
};

struct Measured {
  uint64_t array = 0, whole = 0;
  size_t layers = 0;
};

absl::StatusOr<Measured> Measure(const std::string& model,
                                 const std::string& config, bool check) {
  compiler::CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  // Each layer by itself: what is measured is one command, not the schedule.
  options.features.cascade = false;
  auto compiled = compiler::CompileOnnx(model, options);
  if (!compiled.ok()) return compiled.status();
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return package.status();
  auto run = RunOnCore(*package, InputsFor(*package), {true, check});
  if (!run.ok()) return run.status();
  if (!run->observed) return absl::UnimplementedError("cannot look inside");
  Measured m;
  m.whole = run->cycles;
  m.layers = run->layers.size();
  uint64_t first = 0, last = 0;  // ends of the layers' computation
  for (const CommandTime& c : run->commands_in_time) {
    if (c.engine != 2) continue;  // the matrix engine
    (c.layer == 0 ? first : last) =
        std::max(c.layer == 0 ? first : last, c.done);
  }
  m.array = last - first;
  return m;
}

int Main(int argc, char** argv) {
  CLI::App app("Layers with and without what is fused, on the RTL core");
  std::string config = isa::kConfigs[0].name;
  bool json = false, check = false;
  int64_t max_extra = -1, size = 28;
  app.add_option("--config", config, "hardware configuration");
  app.add_option("--size", size, "rows and columns of the maps")
      ->check(CLI::Range(4, 112));
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--check", check, "compare the outputs with the model");
  app.add_option("--max-extra", max_extra, "fail when one costs more cycles");
  CLI11_PARSE(app, argc, argv);
  if (isa::FindConfig(config) == nullptr) {
    std::fprintf(stderr, "unknown configuration '%s'\n", config.c_str());
    return 1;
  }
  if (!json) {
    std::printf("%-24s %-16s %9s %9s %9s %7s %9s %9s %7s\n", "fused", "layer",
                "MACs", "array", "with", "extra", "whole", "with", "extra");
  }
  bool good = true;
  nlohmann::json all = nlohmann::json::array();
  for (const Fused& fused : kFused) {
    for (Layer layer : kLayers) {
      layer.size = size;
      // The first layer makes what is added.
      if (fused.same_shape) layer.out = layer.in;
      const std::string name =
          absl::StrCat(layer.kernel, "x", layer.kernel, " ", layer.in, ">",
                       layer.out, " @", layer.size);
      auto without = Measure(Model(layer, fused.without), config, check);
      auto with = Measure(Model(layer, fused.with), config, check);
      if (!without.ok() || !with.ok()) {
        const absl::Status& s = without.ok() ? with.status() : without.status();
        std::fprintf(stderr, "%s, %s: %s\n", fused.name, name.c_str(),
                     std::string(s.message()).c_str());
        good = false;
        continue;
      }
      const int64_t extra = static_cast<int64_t>(with->array) -
                            static_cast<int64_t>(without->array);
      const int64_t whole = static_cast<int64_t>(with->whole) -
                            static_cast<int64_t>(without->whole);
      const isa::Config& hardware = *isa::FindConfig(config);
      const int64_t macs = layer.in * layer.out * layer.kernel * layer.kernel *
                           size * size /
                           (hardware.lanes_in * hardware.lanes_out);
      const bool is_fused = with->layers <= without->layers;
      all.push_back({{"fused", fused.name},
                     {"layer", name},
                     {"config", config},
                     {"one_operation", is_fused},
                     {"mac_cycles", macs},
                     {"array_without", without->array},
                     {"array_with", with->array},
                     {"array_extra", extra},
                     {"whole_without", without->whole},
                     {"whole_with", with->whole},
                     {"whole_extra", whole}});
      if (!json) {
        std::printf("%-24s %-16s %9zu %9zu %9zu %+7ld %9zu %9zu %+7ld%s\n",
                    fused.name, name.c_str(), size_t(macs),
                    size_t(without->array), size_t(with->array),
                    static_cast<long>(extra), size_t(without->whole),
                    size_t(with->whole), static_cast<long>(whole),
                    is_fused ? "" : "  not fused");
      }
      if (max_extra >= 0 && (extra > max_extra || !is_fused)) {
        std::fprintf(stderr, "%s, %s: %ld cycles more%s\n", fused.name,
                     name.c_str(), static_cast<long>(extra),
                     is_fused ? "" : ", not fused");
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
