// SPDX-License-Identifier: Apache-2.0
// Compiled networks in lockstep on a core with cycles; the first divergence is
// told with its ONNX node.
//
//   package_lockstep [--config h256,...] [NETWORK | MODEL.onnx ...]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/networks.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/lockstep.h"
#include "tests/lockstep/package_program.h"

namespace heddle::lockstep {
namespace {

bool Fail(const std::string& what, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), status.ToString().c_str());
  return false;
}

bool Run(const std::string& name, const std::string& config) {
  const std::string what = name + ", " + config;
  auto model = compiler::NetworkOrFile(name);
  if (!model.ok()) return Fail(what, model.status());
  compiler::CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  auto compiled = compiler::CompileOnnx(*model, options);
  if (!compiled.ok()) return Fail(what, compiled.status());
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return Fail(what, package.status());
  std::vector<compiler::TensorData> inputs;
  for (const package::TensorInfo& info : package->inputs) {
    inputs.push_back(
        compiler::RandomData(info.type, info.shape, inputs.size() + 1));
  }
  auto programs = ProgramsOf(*package, inputs);
  if (!programs.ok()) return Fail(what, programs.status());
  auto core = rtl::MakeCore(*isa::FindConfig(config));
  if (!core.ok()) return Fail(what, core.status());
  Lockstep lockstep(core->get());
  uint64_t commands = 0, cycles = 0;
  std::vector<uint8_t> memory = programs->front().memory;
  for (Program& program : *programs) {
    program.memory = memory;
    Outcome outcome = lockstep.Run(program);
    if (!outcome.divergence.empty()) {
      std::fprintf(stderr, "%s: %s\n", what.c_str(),
                   outcome.divergence.c_str());
      return false;
    }
    memory = std::move(outcome.memory);
    commands += outcome.result.run.commands;
    cycles += outcome.result.cycles;
  }
  std::printf("%s: equal in %llu commands, %llu cycles\n", what.c_str(),
              static_cast<unsigned long long>(commands),
              static_cast<unsigned long long>(cycles));
  return true;
}

int Main(int argc, char** argv) {
  CLI::App app("Networks in lockstep with the functional model");
  std::vector<std::string> names, configs = {isa::kConfigs[0].name};
  app.add_option("--config", configs,
                 "hardware configuration; several with commas, or again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("names", names, "networks or model files");
  CLI11_PARSE(app, argc, argv);
  if (names.empty()) names = {"autoencoder", "ds_cnn", "resnet8"};
  bool good = true;
  for (const std::string& config : configs) {
    for (const std::string& name : names) good = Run(name, config) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
