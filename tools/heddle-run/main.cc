// SPDX-License-Identifier: Apache-2.0
//
// heddle-run: runs a model on a Heddle device, checks and measures it.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/session/session.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/placement_option.h"
#include "tools/cli/usage.h"
#include "tools/cli/version.h"
#include "tools/heddle-run/runner.h"

namespace {

constexpr char kTool[] = "heddle-run";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-run model.onnx --data test_data_set_0 --check\n"
    "  heddle-run model.onnx --bench 100 --layers\n"
    "  heddle-run bert.onnx --duration 10 --batch 8 --range ids=0:30521\n"
    "  heddle-run model.hpk --bench 1000 --devices all  (on all cards)\n"
    "  heddle-run shapes.hpk --data test_data_set_0 --source model.onnx\n"
    "  heddle-run model.hpk --cycles exact --layers  (after heddle-timing)\n"
    "  heddle-run model.onnx --core rtl --trace trace.json  (ui.perfetto.dev)\n"
    "  heddle-run squeezenet.onnx --image cat.jpg --resize 256 --crop 224 \\\n"
    "      --channels bgr --scale 1 --mean 104,117,123 --labels-file "
    "names.txt\n"
    "  heddle-run digits.onnx --images test.u8 --labels test.i32 --dims "
    "1,28,28\n"
    "\n"
    "Runs an ONNX model (compiling it first) or a package on a Heddle device. "
    "If\n"
    "the system has none, one is simulated; HEDDLE_DEVICE or --device selects\n"
    "another. Without --data, --image or --images the inputs are "
    "pseudo-random, the\n"
    "same every time.\n";

// CLI11's own check names the largest double when it refuses.
std::string CheckCount(const std::string& text) {
  int count = 0;
  return absl::SimpleAtoi(text, &count) && count >= 1
             ? ""
             : absl::StrCat("'", text, "' is not a positive integer");
}

constexpr char kMeasuring[] = "--bench or --duration";

std::string CheckSeconds(const std::string& text) {
  double seconds = 0;
  return absl::SimpleAtod(text, &seconds) && std::isfinite(seconds) &&
                 seconds > 0
             ? ""
             : absl::StrCat("'", text, "' is not a positive number of seconds");
}

// Nothing that is read may be lost by writing.
void CheckWritten(const heddle::run::Arguments& arguments) {
  using heddle::cli::kUsage;
  using heddle::cli::SameFile;
  if (arguments.trace == "-") {
    throw CLI::ParseError("--trace: give a file; the report goes to stdout",
                          kUsage);
  }
  if (SameFile(arguments.trace, arguments.model)) {
    throw CLI::ParseError(
        absl::StrCat("--trace: '", arguments.trace,
                     "' is the model itself; give another file"),
        kUsage);
  }
  const std::string expected = arguments.data + "/output_0.pb";
  if (SameFile(arguments.outputs, arguments.data) &&
      (!arguments.check.empty() || SameFile(expected, expected))) {
    throw CLI::ParseError(
        absl::StrCat("--outputs: '", arguments.outputs,
                     "' is the folder of --data, whose expected outputs would "
                     "be lost; give another folder"),
        kUsage);
  }
}

// What would have no effect is a mistake.
void CheckCombinations(const CLI::App& app,
                       const heddle::run::Arguments& arguments) {
  if (arguments.check == "outputs" && app.count("--data") == 0) {
    throw CLI::RequiresError("--check", "--data");
  }
  for (const char* option : {"--warmup", "--in-flight", "--all-shapes"}) {
    if (app.count(option) == 0 || Measures(arguments)) continue;
    throw CLI::RequiresError(option, kMeasuring);
  }
  // What is of one shape.
  for (const char* option :
       {"--shape", "--batch", "--data", "--image", "--images", "--check",
        "--trace", "--taps", "--outputs", "--source", "--layers"}) {
    if (arguments.all_shapes && app.count(option) > 0) {
      throw CLI::ExcludesError("--all-shapes", option);
    }
  }
  // Pixels have values, and each is a batch of one.
  for (const char* option : {"--batch", "--range"}) {
    for (const char* images : {"--image", "--images"}) {
      if (app.count(option) > 0 && app.count(images) > 0) {
        throw CLI::ExcludesError(option, images);
      }
    }
  }
  const bool pixels = app.count("--image") + app.count("--images") > 0;
  for (const char* option :
       {"--scale", "--mean", "--std", "--channels", "--layout"}) {
    if (!pixels && app.count(option) > 0) {
      throw CLI::RequiresError(option, "--image or --images");
    }
  }
  if (arguments.devices.size() > 1 || app.count("--devices") > 0) {
    if (!Measures(arguments)) {
      throw CLI::RequiresError(
          app.count("--devices") > 0 ? "--devices" : "--device several times",
          kMeasuring);
    }
    for (const char* option : {"--trace", "--core"}) {
      if (app.count(option) == 0) continue;
      throw CLI::ExcludesError(absl::StrCat(option, " of one card"),
                               "several devices");
    }
  }
  CheckWritten(arguments);
  const bool exact = arguments.cycles == "exact";
  if (exact && !absl::EndsWith(arguments.model, ".hpk")) {
    throw CLI::ValidationError(
        "--cycles exact",
        absl::StrCat("'", arguments.model,
                     "' is not a package, and only packages have timing "
                     "records; make both with: heddle-compile ",
                     arguments.model,
                     " -o MODEL.hpk && heddle-timing MODEL.hpk"));
  }
  // The recorded job does not copy them.
  if (exact && app.count("--taps") > 0) {
    throw CLI::ExcludesError("--cycles exact", "--taps");
  }
  if (arguments.commands && !exact) {
    throw CLI::RequiresError("--commands", "--cycles exact");
  }
  if (!absl::EndsWith(arguments.model, ".hpk")) {
    for (const char* option : {"--source", "--no-compile"}) {
      if (app.count(option) == 0) continue;
      throw CLI::ValidationError(
          option, absl::StrCat("applies only to packages of several shapes "
                               "(heddle-compile --shape-set); '",
                               arguments.model, "' is a model"));
    }
  }
  for (const char* option : {"--config", "--place", "--host-profile"}) {
    if (!absl::EndsWith(arguments.model, ".hpk") || app.count(option) == 0) {
      continue;
    }
    throw CLI::ValidationError(
        option, absl::StrCat("'", arguments.model,
                             "' is already compiled; pass this option to "
                             "heddle-compile, or run the ONNX model"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  heddle::run::Arguments a;
  a.command.assign(argv, argv + argc);
  a.command.front() = kTool;
  std::vector<std::string> configs;
  for (const auto& config : heddle::isa::kConfigs) {
    configs.push_back(config.name);
  }
  CLI::App app(kHelp, kTool);
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version",
                       absl::StrCat(kTool, " ", heddle::cli::kVersion));
  app.add_option("model", a.model, "ONNX model or package (.hpk)")->required();
  app.add_option(
         "--config", a.config,
         "hardware configuration to compile for (default: that of the device)")
      ->check(CLI::IsMember(configs));
  app.add_option("--shape", a.shapes,
                 "shape of an input, or NAME=D: the size of every dimension of "
                 "that name; required where the model leaves dimensions open "
                 "and no data or image settles them; also selects among the "
                 "shapes of a package; repeatable")
      ->type_name("NAME=D,D,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--batch", a.batch,
                 "size of the first dimension of every input that leaves it "
                 "open; --shape goes before it")
      ->check(CheckCount)
      ->type_name("N");
  app.add_option(
         "--bound", a.bounds,
         "upper bound of an integer tensor that determines a size at "
         "run time (the limit of a Range, the sizes of a Resize, the trip "
         "count of a Loop), or, by a Loop's name, of its iterations; a run "
         "that exceeds it fails; repeatable")
      ->type_name("NAME=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
         "--source", a.source,
         "ONNX model of a package of several shapes: shapes missing from "
         "the package are compiled from it and cached as with --cache")
      ->type_name("MODEL");
  app.add_flag("--no-compile", a.no_compile,
               "reject shapes missing from a package of several shapes, even "
               "with --source");
  app.add_option(
         "--device", a.devices,
         "drm[:NODE], hosted:SOCKET[#CARD], sim[:config=h256,memory=512M,...], "
         "null, none; repeatable with --bench")
      ->type_name("DEVICE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  std::string devices;
  app.add_option(
         "--devices", devices,
         "all: measure on all cards named by --device or HEDDLE_DEVICE at once")
      ->check(CLI::IsMember({"all"}));
  app.add_option("--core", a.core,
                 "core of a simulated card: fast, the functional model; rtl, "
                 "the hardware, cycle by cycle (slow); reference, the "
                 "functional model in its simplest form")
      ->check(CLI::IsMember({"fast", "rtl", "reference", "obvious"}));
  auto* data = app.add_option("--data", a.data,
                              "folder with input_0.pb ... and output_0.pb ...")
                   ->type_name("FOLDER");
  app.add_option(
         "--range", a.ranges,
         "values of the pseudo-random inputs, or of one of them: floats "
         "from LOW up to HIGH, integers with HIGH (default: floats -1:1, "
         "integers of 8 bits all values, others 0:15); repeatable")
      ->type_name("[NAME=]LOW:HIGH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->excludes(data);
  // [=layers]: see heddle-compile's --report.
  auto* check =
      app.add_flag(
             "--check{outputs}", a.check,
             "compare with the outputs in --data: cosine similarity, top-1 "
             "agreement, largest differences; if they differ, also each tensor "
             "with the reference semantics and, of a quantized model, with "
             "floating point. --check=layers always compares all tensors, also "
             "without --data")
          ->check(CLI::IsMember({"outputs", "layers"}));
  app.add_flag("--exact", a.tolerance.exact, "compare bytes, also of floats")
      ->needs(check);
  app.add_option("--rtol", a.tolerance.rtol,
                 "relative tolerance of floats (default: 1e-3; float16 1e-2, "
                 "bfloat16 8e-2)");
  app.add_option("--atol-range", a.tolerance.range,
                 "absolute tolerance of floats, as a fraction of the expected "
                 "output's range (default: a tenth of --rtol)");
  app.add_option("--atol-steps", a.tolerance.steps,
                 "tolerance of quantized outputs, in quantization steps; for "
                 "expected outputs computed in floating point")
      ->check(CLI::NonNegativeNumber)
      ->excludes("--exact")
      ->needs(check);
  auto* image =
      app.add_option(
             "--image", a.images.files,
             "PNG or JPEG image; prints the five largest outputs; repeatable")
          ->expected(1)
          ->type_name("FILE")
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->excludes(data);
  app.add_option("--labels-file", a.names,
                 "class names for --image, one per line")
      ->type_name("FILE")
      ->needs(image);
  app.add_option("--resize", a.images.resize,
                 "N: length of the shorter side; WxH: both sides (default: "
                 "just large enough for the model's input)")
      ->needs(image);
  app.add_option("--crop", a.images.crop,
                 "N or WxH: crop to the centre (default: the size of the "
                 "model's input)")
      ->needs(image);
  auto* images =
      app.add_option("--images", a.images.images,
                     "raw images: bytes, channel by channel, one after another")
          ->type_name("FILE")
          ->excludes(data)
          ->excludes(image);
  app.add_option("--labels", a.images.labels,
                 "one little-endian int32 per image of --images; prints top-1 "
                 "and top-5 accuracy")
      ->type_name("FILE")
      ->needs(images);
  auto* dims = app.add_option("--dims", a.images.dims,
                              "channels, height and width of --images")
                   ->type_name("C,H,W")
                   ->delimiter(',')
                   ->expected(3);
  images->needs(dims);
  heddle::run::PixelOptions& pixels = a.images.pixels;
  app.add_option("--scale", pixels.scale,
                 "value = (byte * scale - mean) / std; 8-bit inputs take the "
                 "bytes unchanged")
      ->capture_default_str();
  app.add_option("--mean", pixels.mean,
                 "one value, or one per channel in the model's order")
      ->delimiter(',');
  app.add_option("--std", pixels.std,
                 "one value, or one per channel in the model's order")
      ->delimiter(',');
  std::string channels = "rgb";
  app.add_option("--channels", channels, "channel order that the model expects")
      ->check(CLI::IsMember({"rgb", "bgr"}))
      ->capture_default_str();
  app.add_option(
         "--layout", pixels.layout,
         "position of the channel axis; auto looks for an axis of size 1 or 3")
      ->check(CLI::IsMember({"auto", "nchw", "nhwc"}))
      ->capture_default_str();
  app.add_option("--limit", a.limit, "only the first N images")
      ->check(CheckCount)
      ->type_name("N")
      ->needs(images);
  app.add_option("--bench", a.bench,
                 "measure N inferences: percentiles, throughput, noise")
      ->check(CheckCount)
      ->type_name("N");
  app.add_option("--duration", a.duration,
                 "measure inferences for so many seconds, or until --bench N "
                 "of them")
      ->check(CheckSeconds)
      ->type_name("S");
  app.add_option("--warmup", a.warmup,
                 "inferences before the measurement (default: a tenth of it, "
                 "at least one)")
      ->check(CheckCount)
      ->type_name("N");
  app.add_option("--in-flight", a.in_flight,
                 "concurrent inferences (default: one; with several cards, two "
                 "per card)")
      ->check(
          CLI::Range(1, static_cast<int>(heddle::session::kMaxRunsInFlight)))
      ->type_name("N");
  app.add_flag("--layers", a.layers,
               "print MACs, traffic and cycles per layer");
  app.add_option("--cycles", a.cycles,
                 "cycles of a card that does not count them: estimated by the "
                 "compiler, or exact, replayed from the package's RTL "
                 "recording (heddle-timing)")
      ->check(CLI::IsMember({"estimated", "exact"}))
      ->capture_default_str();
  app.add_flag("--commands", a.commands,
               "with --cycles exact: print begin and end of each command");
  app.add_option(
         "--trace", a.trace,
         "write a timeline of the first inference's commands in Chrome's "
         "trace-event format (Perfetto, chrome://tracing) and print the time "
         "per engine and layer: counted by the card if it counts (--core rtl), "
         "recorded on the RTL with --cycles exact, otherwise estimated")
      ->type_name("FILE");
  app.add_option("--taps", a.taps,
                 "write every quantized tensor of the first inference to this "
                 "folder, as onnx.TensorProto");
  app.add_option("--outputs", a.outputs,
                 "write the outputs to this folder as output_0.pb ..., as in "
                 "ONNX's test data")
      ->type_name("FOLDER")
      ->excludes("--image")
      ->excludes("--images");
  app.add_flag("--all-shapes", a.all_shapes,
               "with --bench or --duration: measure a package of several "
               "shapes in each of them, and print a table");
  app.add_flag("--no-host", a.no_host,
               "reject a model or package with nodes that run on the host");
  heddle::cli::AddPlacementOptions(&app, &a.placement);
  app.add_option("--host-threads", a.host_threads,
                 "host threads for nodes that run on the host (default: one "
                 "per processor, at most 4)")
      ->check(CheckCount)
      ->envname("HEDDLE_HOST_THREADS")
      ->type_name("N");
  app.add_option("--host-seconds", a.host_seconds,
                 "abort an inference after this much computing on the host "
                 "(default: no limit)")
      ->check(CLI::PositiveNumber)
      ->envname("HEDDLE_HOST_SECONDS")
      ->type_name("S");
  app.add_option("--cache", a.cache.folder,
                 "cache folder for compiled models (default: heddle/compiled "
                 "in $XDG_CACHE_HOME or ~/.cache)")
      ->envname("HEDDLE_CACHE_DIR")
      ->type_name("FOLDER");
  app.add_option("--cache-size", a.cache.most_mib,
                 "size limit of the cache in MiB; least recently used entries "
                 "are evicted")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 30))
      ->capture_default_str()
      ->type_name("MIB");
  app.add_flag("--no-cache", a.cache.off, "compile again and cache nothing");
  app.add_flag("--progress", a.progress,
               "show progress even if stderr is not a terminal");
  app.add_flag("--json", a.json, "print JSON (schema heddle-run/1)");
  app.footer(heddle::cli::kExitCodeHelp);
  try {
    app.parse(argc, argv);
    CheckCombinations(app, a);
  } catch (const CLI::ParseError& error) {
    return heddle::cli::ExitOfParse(
        app, error,
        "Give one model; images follow --image, and the value of --check "
        "follows '=': --check=layers.");
  }
  a.all_devices = !devices.empty();
  pixels.bgr = channels == "bgr";
  a.pixels_given = app.count("--scale") + app.count("--mean") +
                       app.count("--std") + app.count("--channels") >
                   0;
  return heddle::run::Main(a);
}
