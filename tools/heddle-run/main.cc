// SPDX-License-Identifier: Apache-2.0
//
// heddle-run: runs a model on a Heddle device, checks and measures it.
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "rtl/spec/generated/isa.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/version.h"
#include "tools/heddle-run/runner.h"

namespace {

constexpr char kTool[] = "heddle-run";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-run model.onnx --data test_data_set_0 --check\n"
    "  heddle-run model.onnx --bench 100 --layers\n"
    "  heddle-run digits.onnx --images test.u8 --labels test.i32 --dims "
    "1,28,28\n"
    "\n"
    "Runs an ONNX model (compiled on the way) or a package on a Heddle "
    "device.\n"
    "Without a device in the system one is simulated; HEDDLE_DEVICE or "
    "--device\n"
    "chooses. Without --data or --images the inputs are random, always the "
    "same.\n";

}  // namespace

int main(int argc, char** argv) {
  heddle::run::Arguments a;
  std::vector<std::string> configs;
  for (const auto& config : heddle::isa::kConfigs) {
    configs.push_back(config.name);
  }
  CLI::App app(kHelp, kTool);
  app.set_version_flag("--version",
                       absl::StrCat(kTool, " ", heddle::cli::kVersion));
  app.add_option("model", a.model, "ONNX model or package (.hpk)")->required();
  app.add_option("--config", a.config,
                 "hardware configuration to compile for (default: the "
                 "device's)")
      ->check(CLI::IsMember(configs));
  app.add_option("--shape", a.shapes,
                 "NAME=D,D,...: shape of an input with symbolic dimensions")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--device", a.device,
                 "hosted:SOCKET[#CARD], sim[:config=h256,memory=512M,...], "
                 "null, none");
  auto* data = app.add_option("--data", a.data,
                              "folder with input_0.pb ... and output_0.pb ...");
  auto* check =
      app.add_flag("--check", a.check, "compare with the outputs of --data");
  check->needs(data);
  app.add_flag("--exact", a.tolerance.exact, "compare bytes, floats too")
      ->needs(check);
  app.add_option("--rtol", a.tolerance.rtol, "relative tolerance of floats")
      ->capture_default_str();
  app.add_option("--atol-range", a.tolerance.range,
                 "absolute tolerance of floats, as a part of the expected "
                 "output's range")
      ->capture_default_str();
  auto* images =
      app.add_option("--images", a.images.images,
                     "raw images: bytes, channel by channel, one after another")
          ->excludes(data);
  app.add_option("--labels", a.images.labels,
                 "little-endian int32 for each image; prints top-1")
      ->needs(images);
  auto* dims = app.add_option("--dims", a.images.dims, "C,H,W of --images")
                   ->delimiter(',')
                   ->expected(3);
  images->needs(dims);
  app.add_option("--scale", a.images.scale,
                 "value = (byte * scale - mean) / std")
      ->capture_default_str();
  app.add_option("--mean", a.images.mean, "one value, or one per channel")
      ->delimiter(',');
  app.add_option("--std", a.images.std, "one value, or one per channel")
      ->delimiter(',');
  app.add_option("--limit", a.limit, "only the first N images")->needs(images);
  app.add_option("--bench", a.bench, "measure N inferences after a warm-up")
      ->check(CLI::PositiveNumber);
  app.add_flag("--layers", a.layers, "print what the compiler knows of layers");
  app.add_option("--taps", a.taps,
                 "write every quantized tensor of the first inference to this "
                 "folder, as onnx.TensorProto");
  app.add_flag("--no-host", a.no_host,
               "refuse a model with operators that the host would run (this "
               "version runs everything on the card)");
  app.add_flag("--json", a.json, "print JSON (schema heddle-run/1)");
  app.footer(heddle::cli::kExitCodeHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? heddle::cli::kOk : heddle::cli::kUsage;
  }
  return heddle::run::Main(a);
}
