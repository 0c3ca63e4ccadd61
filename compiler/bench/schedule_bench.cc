// SPDX-License-Identifier: Apache-2.0
// What each feature of the compiler's schedule brings: bytes of device memory
// and estimated cycles of quantized networks with all features, and with each
// one switched off. No measurement: cycles are those of the timeline over
// estimates.
//
// Arguments: [--layers] [--config=NAME] [--sram=BYTES] [NETWORK | MODEL.onnx
// ...]; by default
// resnet50 and mobilenet_v2 of compiler/testing/networks.h, and mobilenetv2_qdq
// and qdq_mobilenet_edgetpu_frag of the shared folder.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/compiler.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/testing/feature_variants.h"
#include "compiler/testing/networks.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {
namespace {

// Where the network's first operator stands that the card does not have: it is
// cut there, and said so.
void CutAtUnsupported(Graph* graph) {
  for (const Node& node : graph->nodes) {
    if (CheckLowering(node).ok()) continue;
    std::printf("  cut in front of %s: no implementation on the card yet\n",
                node.Describe().c_str());
    graph->outputs = {node.inputs[0]};
    graph->RemoveDeadNodes();
    return;
  }
}

// Of the first stream, which is all but always the only one.
absl::StatusOr<timing::Timeline> TimelineOf(const BackendResult& result,
                                            const isa::Config& config) {
  const package::PackedWeights& weights = result.weights;
  const auto* bytes =
      reinterpret_cast<const uint8_t*>(weights.bytes.data()) + weights.head;
  return timing::SimulateTimeline(
      result.package.streams[0], config,
      {{0, absl::MakeConstSpan(bytes, weights.size())}});
}

void PrintLayers(const BackendResult& result, const isa::Config& config) {
  auto timeline = TimelineOf(result, config);
  if (!timeline.ok()) return;
  const auto times =
      timing::AttributeToLayers(*timeline, result.report.layers.size());
  std::printf("  %-10s %9s %9s %9s %9s %9s %9s  %s\n", "engine", "cycles",
              "load", "store", "matrix", "vector", "DRAM", "layer");
  for (size_t i = 0; i < times.size(); ++i) {
    const LayerReport& l = result.report.layers[i];
    const timing::LayerTime& t = times[i];
    std::printf("  %-10s %9zu %9zu %9zu %9zu %9zu %9zu  %s %s %s\n",
                l.engine.c_str(), size_t(t.cycles), size_t(t.busy[0]),
                size_t(t.busy[1]), size_t(t.busy[2]), size_t(t.busy[3]),
                size_t(t.bytes), l.op.c_str(), l.name.c_str(),
                ShapeToString(l.output_shape).c_str());
  }
}

int Measure(const std::string& path, const std::string& config, uint64_t sram,
            bool layers) {
  auto bytes = NetworkOrFile(path);
  if (!bytes.ok()) {
    std::printf("skipped: %s\n", std::string(bytes.status().message()).c_str());
    return 0;
  }
  std::printf("%s, %s\n", path.c_str(), config.c_str());
  std::printf("  %-20s %12s %12s %6s %10s %8s %8s\n", "", "DRAM bytes",
              "est. cycles", "util", "bus busy", "commands", "CPU ms");
  for (const FeatureVariant& v : kFeatureVariants) {
    CompileOptions options;
    options.config = config;
    options.sram_bytes = sram;
    options.open_dimensions_are_one = true;
    v.change(&options.features);
    auto graph = AnalyseOnnx(*bytes, options);
    if (!graph.ok()) {
      std::printf("  %s\n", std::string(graph.status().message()).c_str());
      return 1;
    }
    CutAtUnsupported(&*graph);
    const std::clock_t start = std::clock();
    auto result = GeneratePackage(*graph, options);
    const double ms = 1e3 * (std::clock() - start) / CLOCKS_PER_SEC;
    if (!result.ok()) {
      std::printf("  %-20s %s\n", v.name,
                  std::string(result.status().message()).c_str());
      continue;
    }
    const isa::Config& hardware = *isa::FindConfig(config);
    auto timeline = TimelineOf(*result, hardware);
    if (!timeline.ok()) return 1;
    uint64_t dram = 0;
    for (const timing::EngineTime& e : timeline->engines) dram += e.bytes;
    std::printf(
        "  %-20s %12zu %12zu %5.1f%% %9.1f%% %8zu %8.1f\n", v.name,
        size_t(dram), size_t(timeline->cycles),
        100.0 * result->report.macs /
            (double(timeline->cycles) * hardware.lanes_in * hardware.lanes_out),
        100.0 * timeline->bus_busy / timeline->cycles,
        size_t(result->report.commands), ms);
    if (layers && &v == kFeatureVariants) PrintLayers(*result, hardware);
  }
  return 0;
}

int Main(int argc, char** argv) {
  bool layers = false;
  std::string config = "h256";
  uint64_t sram = 0;
  std::vector<std::string> models;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--layers") {
      layers = true;
    } else if (arg.rfind("--config=", 0) == 0) {
      config = arg.substr(9);
    } else if (arg.rfind("--sram=", 0) == 0) {
      sram = std::strtoull(arg.c_str() + 7, nullptr, 10);
    } else {
      models.push_back(arg);
    }
  }
  if (isa::FindConfig(config) == nullptr) {
    std::printf("unknown configuration '%s'\n", config.c_str());
    return 1;
  }
  if (models.empty()) {
    models = {"resnet50", "mobilenet_v2"};
    // As `bazel run` starts it, in the runfiles of the workspace.
    const char* dir = std::getenv("HEDDLE_SHARED_DIR");
    const std::string shared = dir ? dir : "../shared";
    for (const char* name : {"mobilenetv2_qdq", "qdq_mobilenet_edgetpu_frag"}) {
      models.push_back(shared + "/models/" + name + "/model.onnx");
    }
  }
  int result = 0;
  for (const std::string& model : models) {
    result |= Measure(model, config, sram, layers);
  }
  return result;
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) { return heddle::compiler::Main(argc, argv); }
