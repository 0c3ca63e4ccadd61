// SPDX-License-Identifier: Apache-2.0
//
// heddle-compile: an ONNX model to a package (.hpk).
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/isa.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/shape_option.h"
#include "tools/cli/version.h"
#include "tools/heddle-compile/report.h"

namespace {

constexpr char kTool[] = "heddle-compile";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-compile model.onnx -o model.hpk --report\n"
    "  heddle-run model.hpk\n"
    "\n"
    "Compiles an ONNX model to a package that the Heddle runtime loads. The\n"
    "same model and options always give the same bytes.\n";

struct Arguments {
  std::string model, output, report;
  std::string config = heddle::isa::kConfigs[0].name;
  std::vector<std::string> shapes;
  bool taps = false;
  uint64_t device_memory = 0;
};

int Compile(const Arguments& arguments) {
  using heddle::cli::Fail;
  heddle::compiler::CompileOptions options;
  options.config = arguments.config;
  options.taps = arguments.taps;
  options.device_memory_bytes = arguments.device_memory;
  absl::Status status =
      heddle::cli::ParseShapes(arguments.shapes, &options.input_shapes);
  if (!status.ok()) {
    Fail(kTool, status);
    return heddle::cli::kUsage;
  }
  const auto model = heddle::cli::ReadFile(arguments.model);
  if (!model.ok()) return Fail(kTool, model.status());
  const auto result = heddle::compiler::CompileOnnx(*model, options);
  if (!result.ok()) return Fail(kTool, result.status());
  if (!arguments.output.empty()) {
    status = heddle::cli::WriteFile(arguments.output, result->package);
    if (!status.ok()) return Fail(kTool, status);
  }
  if (!arguments.report.empty()) {
    const auto package = heddle::package::Parse(result->package);
    if (!package.ok()) return Fail(kTool, package.status());
    const std::string text =
        arguments.report == "json"
            ? heddle::compile::JsonReport(*package, result->report)
            : heddle::compile::TextReport(*package, result->report);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      return Fail(kTool, absl::DataLossError("cannot write the report"));
    }
  }
  return heddle::cli::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kHelp, kTool);
  app.set_version_flag("--version",
                       absl::StrCat(kTool, " ", heddle::cli::kVersion));
  app.add_option("model", arguments.model, "ONNX model")->required();
  app.add_option("-o,--output", arguments.output,
                 "package to write; without it only checks and reports");
  std::vector<std::string> configs;
  for (const auto& config : heddle::isa::kConfigs) {
    configs.push_back(config.name);
  }
  app.add_option("--config", arguments.config, "hardware configuration")
      ->check(CLI::IsMember(configs))
      ->capture_default_str();
  app.add_option("--shape", arguments.shapes,
                 "NAME=D,D,...: shape of an input with symbolic dimensions "
                 "(which are 1 otherwise); repeat for more")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--taps", arguments.taps,
               "give every quantized tensor as an additional output");
  // [=json]: CLI11 takes the value of an optional option from the next word,
  // too, which would swallow the model.
  app.add_flag("--report{text}", arguments.report,
               "print a report: --report or --report=json")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--device-memory", arguments.device_memory,
                 "refuse a package that takes more bytes than this, such as "
                 "512MB")
      ->transform(CLI::AsSizeValue(false));
  app.footer(heddle::cli::kExitCodeHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? heddle::cli::kOk : heddle::cli::kUsage;
  }
  return Compile(arguments);
}
