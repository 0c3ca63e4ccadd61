// SPDX-License-Identifier: Apache-2.0
// What each feature of the compiler's schedule brings, in cycles of the RTL
// core: networks with all features, and with each one switched off.
//
//   rtl_ablation [--config h256] [--json] [--check] [NETWORK | MODEL.onnx ...]
//
// --check compares the outputs with the functional model: results do not depend
// on a feature.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/feature_variants.h"
#include "compiler/testing/networks.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

// A model file is called after its folder.
std::string ShortName(const std::string& name) {
  const std::filesystem::path path(name);
  return path.has_parent_path() ? path.parent_path().filename().string() : name;
}

absl::StatusOr<NetworkRun> Measure(const std::string& model,
                                   const std::string& config,
                                   const compiler::FeatureVariant& variant,
                                   bool check) {
  compiler::CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  variant.change(&options.features);
  auto compiled = compiler::CompileOnnx(model, options);
  if (!compiled.ok()) return compiled.status();
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return package.status();
  return RunOnCore(*package, InputsFor(*package), {false, check});
}

int Main(int argc, char** argv) {
  CLI::App app("What the compiler's features bring, on the RTL core");
  std::vector<std::string> names;
  std::string config = isa::kConfigs[0].name;
  bool json = false, check = false;
  app.add_option("--config", config, "hardware configuration");
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--check", check, "compare the outputs with the model");
  app.add_option("names", names, "networks or model files");
  CLI11_PARSE(app, argc, argv);
  if (isa::FindConfig(config) == nullptr) {
    std::fprintf(stderr, "unknown configuration '%s'\n", config.c_str());
    return 1;
  }
  if (names.empty()) {
    names = {"resnet8", "ds_cnn", "vww", "autoencoder", "mobilenet_v2"};
    // As `bazel run` starts it, in the runfiles of the workspace.
    const char* dir = std::getenv("HEDDLE_SHARED_DIR");
    const std::string file = absl::StrCat(dir ? dir : "../shared",
                                          "/models/mobilenetv2_qdq/model.onnx");
    if (std::filesystem::exists(file)) {
      names.push_back(file);
    } else {
      std::fprintf(stderr, "skipped: %s is not there\n", file.c_str());
    }
  }
  bool good = true;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : names) {
    auto model = compiler::NetworkOrFile(name);
    if (!model.ok()) {
      std::fprintf(stderr, "%s\n",
                   std::string(model.status().message()).c_str());
      return 1;
    }
    if (!json) {
      std::printf("%s, %s\n", ShortName(name).c_str(), config.c_str());
      std::printf("  %-26s %12s %8s %9s %12s\n", "", "cycles", "change",
                  "commands", "DRAM bytes");
    }
    double whole = 0;
    for (const compiler::FeatureVariant& variant : compiler::kFeatureVariants) {
      auto run = Measure(*model, config, variant, check);
      if (!run.ok()) {
        std::fprintf(stderr, "%s, %s: %s\n", name.c_str(), variant.name,
                     std::string(run.status().message()).c_str());
        good = false;
        continue;
      }
      const double cycles = static_cast<double>(run->cycles);
      if (whole == 0) whole = cycles;
      all.push_back({{"network", ShortName(name)},
                     {"config", config},
                     {"variant", variant.name},
                     {"cycles", run->cycles},
                     {"commands", run->commands},
                     {"bytes_loaded", run->bytes_loaded},
                     {"bytes_stored", run->bytes_stored}});
      if (json) continue;
      std::printf("  %-26s %12zu %+7.1f%% %9zu %12zu\n", variant.name,
                  size_t(run->cycles), 100 * (cycles / whole - 1),
                  size_t(run->commands),
                  size_t(run->bytes_loaded + run->bytes_stored));
      std::fflush(stdout);
    }
  }
  if (json) std::printf("%s\n", all.dump(1).c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
