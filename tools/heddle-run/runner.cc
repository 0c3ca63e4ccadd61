// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/runner.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/import/input_declaration.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/ops/operator.h"
#include "runtime/session/device_spec.h"
#include "tools/cli/colour.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/printable.h"
#include "tools/cli/progress.h"
#include "tools/cli/shape_option.h"
#include "tools/heddle-run/arithmetic.h"
#include "tools/heddle-run/bench_in_flight.h"
#include "tools/heddle-run/bind.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-run/device_model.h"
#include "tools/heddle-run/layer_check.h"
#include "tools/heddle-run/profile.h"
#include "tools/heddle-run/quality.h"
#include "tools/heddle-run/result.h"
#include "tools/heddle-run/shape_set_model.h"
#include "tools/heddle-timing/replay.h"
#include "tools/heddle-timing/timing_record.h"

namespace heddle::run {
namespace {

using compiler::TensorData;

constexpr char kTool[] = "heddle-run";
constexpr uint64_t kSeed = 20240229;
constexpr size_t kTop = 5;

class Runner {
 public:
  explicit Runner(const Arguments& arguments)
      : arguments_(arguments),
        devices_(arguments.devices),
        progress_(kTool, arguments.progress) {}

  absl::Status Prepare();
  absl::Status Execute();
  bool matches() const { return result_.matches(); }
  void StopProgress() { progress_.Stop(); }
  void SayCacheNote() const {
    if (cache_note_.empty() || (is_package_ && !is_set_)) return;
    std::fprintf(stderr, "%s: %s\n", kTool,
                 cli::Printable(cache_note_).c_str());
  }
  ShapeRow Row() const { return RowOf(package(), result_); }
  // A command line that gives the shapes which are missing; "" if none are.
  const std::string& example() const { return example_; }
  std::string Report() const {
    return arguments_.json
               ? ToJson(package(), result_)
               : ToText(package(), result_, cli::HasColour(STDOUT_FILENO));
  }

 private:
  const package::Package& package() const { return model_->package(); }
  compiler::CompileOptions Options();
  DeviceModel::Settings Settings() const;
  absl::Status BindShapes();
  absl::Status CheckHasInputs() const;
  absl::Status CheckPackageOptions() const;
  absl::Status PackageStatus() const;
  absl::Status ReplayTiming();
  absl::Status CheckHasNoCycles() const;
  absl::Status WriteTrace();
  absl::Status RunOnce(const std::vector<TensorData>& inputs, bool with_taps);
  absl::Status CheckClassifier(const char* option) const;
  absl::Status RunImages();
  absl::Status RunImageFiles();
  absl::Status Bench(const std::vector<TensorData>& inputs);
  absl::Status CompareOutputs();
  absl::Status CompareArithmetic(const std::vector<TensorData>& inputs,
                                 bool outputs_differ);
  absl::Status CompareAllLayers(const std::vector<TensorData>& inputs);

  const Arguments& arguments_;
  std::vector<std::string> devices_;  // --device, with --core
  cli::Progress progress_;
  // --place, --host-profile, --bound
  compiler::CompileOptions given_options_;
  // The model.
  std::shared_ptr<const compiler::MappedFile> file_;
  absl::string_view bytes_;
  bool is_package_ = false;
  bool is_set_ = false;             // of several shapes
  std::string cache_note_;          // what the user is told of the cache
  std::vector<NamedTensor> given_;  // inputs of --data
  ValueRanges ranges_;              // of those that are invented
  std::map<std::string, compiler::Shape> shapes_;  // of inputs of the model
  std::string example_;
  std::vector<TensorData> expected_;  // outputs of --data, in order
  std::vector<NamedTensor> card_;     // all tensors of a second run
  std::unique_ptr<DeviceModel> model_;
  Result result_;
};

compiler::CompileOptions Runner::Options() {
  compiler::CompileOptions options = given_options_;
  options.config = arguments_.config;
  options.taps = !arguments_.taps.empty();
  options.host_nodes = !arguments_.no_host;
  options.data_folder = cli::FolderOf(arguments_.model);
  options.progress = [this](const char* stage, double part) {
    progress_.Set(absl::StrCat("compiling: ", stage), part);
  };
  options.input_shapes = shapes_;
  options.threads = 0;
  return options;
}

DeviceModel::Settings Runner::Settings() const {
  DeviceModel::Settings settings;
  settings.devices = devices_;
  settings.host_threads = arguments_.host_threads;
  if (arguments_.host_seconds > 0) {
    settings.host_time = absl::Seconds(arguments_.host_seconds);
  }
  return settings;
}

// The data say what symbolic dimensions are, unless the user does.
absl::Status Runner::BindShapes() {
  std::map<std::string, compiler::Shape> given;
  if (auto s = cli::ParseShapes(arguments_.shapes, &given); !s.ok()) return s;
  std::vector<compiler::InputDeclaration> declared;
  if (is_set_) {
    ASSIGN_OR_RETURN(const package::ShapeSet set,
                     package::ParseShapeSet(bytes_, file_));
    declared = DeclarationsOf(set);
  } else {
    // What is no model is refused here, before a card is started for it.
    auto model = compiler::SummariseModel(bytes_);
    RETURN_IF_ERROR(file_->Unchanged());
    if (!model.ok()) return model.status();
    declared = std::move(model->inputs);
  }
  RETURN_IF_ERROR(cli::CheckShapeNames(given, declared));
  if (!declared.empty()) RETURN_IF_ERROR(CheckHasInputs());
  if (arguments_.batch > 0) {
    RETURN_IF_ERROR(BindBatch(declared, arguments_.batch, &given));
  }
  const Binding binding =
      BindInputs(declared, given, given_, arguments_.images);
  shapes_ = binding.shapes;
  if (!binding.found.empty()) {
    std::fprintf(stderr, "%s: from the data: %s\n", kTool,
                 cli::Printable(binding.found).c_str());
  }
  return absl::OkStatus();
}

// Of a model that has inputs: a folder without any is not the one that was
// meant.
absl::Status Runner::CheckHasInputs() const {
  return arguments_.data.empty() || !given_.empty() ? absl::OkStatus()
                                                    : NoInputs(arguments_.data);
}

// What a package, which is compiled already, cannot do.
absl::Status Runner::CheckPackageOptions() const {
  if (!is_set_ && !arguments_.shapes.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shape: '", arguments_.model,
                     "' is already compiled for one shape; pass this option to "
                     "heddle-compile"));
  }
  if (!is_set_ && arguments_.batch > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch: '", arguments_.model,
                     "' is already compiled for one shape; pass --shape to "
                     "heddle-compile"));
  }
  if (!arguments_.bounds.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bound: '", arguments_.model,
                     "' is already compiled; pass --bound to heddle-compile"));
  }
  if (!is_set_ && (!arguments_.source.empty() || arguments_.no_compile)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--source and --no-compile apply to packages of several shapes; '",
        arguments_.model, "' has one shape"));
  }
  if (is_set_ && !arguments_.taps.empty()) {
    return absl::InvalidArgumentError(
        "--taps: packages of several shapes have none; give the ONNX model");
  }
  return absl::OkStatus();
}

// What is wrong with the package itself, with its name; after a failure.
absl::Status Runner::PackageStatus() const {
  return cli::OfFile(arguments_.model,
                     is_set_ ? package::ParseShapeSet(bytes_, file_).status()
                             : package::Parse(bytes_, file_).status());
}

// Exact cycles are in a file beside the package.
absl::Status Runner::ReplayTiming() {
  auto parsed = package::Parse(bytes_, file_);
  if (!parsed.ok()) return cli::OfFile(arguments_.model, parsed.status());
  const package::Package package = *std::move(parsed);
  // Before a record is asked for that would be of no use.
  RETURN_IF_ERROR(timing::CheckExact(package, arguments_.model));
  ASSIGN_OR_RETURN(const timing::Validity here,
                   timing::ValidityHere(bytes_, package.config));
  ASSIGN_OR_RETURN(const timing::Record record,
                   timing::Read(arguments_.model, here));
  ASSIGN_OR_RETURN(result_.replay,
                   timing::ReplayOf(record, package, arguments_.model));
  result_.commands = arguments_.commands;
  return absl::OkStatus();
}

// A card that counts must not be contradicted.
absl::Status Runner::CheckHasNoCycles() const {
  const session::DeviceDescription& device = model_->device();
  if (device.core == "functional") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--cycles exact is for the functional core, which counts no cycles; ",
      device.id, " is ", device.core,
      ": omit the option, or give --device sim"));
}

absl::Status Runner::Prepare() {
  RETURN_IF_ERROR(cli::SetPlacement(arguments_.placement, &given_options_));
  RETURN_IF_ERROR(cli::ParseBounds(arguments_.bounds, &given_options_.bounds));
  RETURN_IF_ERROR(ParseRanges(arguments_.ranges, &ranges_));
  auto model = compiler::MappedFile::Open(arguments_.model);
  if (!model.ok()) return model.status();
  file_ = *std::move(model);
  bytes_ = file_->bytes();
  is_package_ = absl::EndsWith(arguments_.model, ".hpk");
  if (bytes_.empty() && !is_package_) {
    return compiler::Reject(compiler::Rejection::kInvalidModel,
                            "the file is empty");
  }
  // The command line has been checked by the name.
  if (!is_package_ && cli::IsPackage(bytes_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", cli::Printable(arguments_.model),
                     "' is a package, not a model; give it a name that ends "
                     "in .hpk"));
  }
  is_set_ = is_package_ && package::IsShapeSet(bytes_);
  if (is_package_) RETURN_IF_ERROR(CheckPackageOptions());
  if (!arguments_.core.empty()) {
    const char* variable = std::getenv("HEDDLE_DEVICE");
    const std::string given = !devices_.empty()     ? devices_.front()
                              : variable != nullptr ? variable
                                                    : "";
    std::string config = arguments_.config;
    if (is_package_) {
      const auto package = package::Parse(bytes_);
      if (package.ok()) config = package->config;
      const auto set = package::ParseShapeSet(bytes_, file_);
      if (set.ok()) config = set->config;
    }
    auto device = SimulatedDevice(given, arguments_.core, config);
    if (!device.ok()) return device.status();
    devices_ = {*std::move(device)};
  }
  if (arguments_.tolerance.steps > 0 && is_package_) {
    return absl::InvalidArgumentError(
        "--atol-steps needs the ONNX model; a package does not contain the "
        "scales of its outputs");
  }
  if (arguments_.check == "layers" && is_package_) {
    return absl::InvalidArgumentError(
        "--check=layers needs the ONNX model; a package does not contain the "
        "reference semantics");
  }
  if (!arguments_.data.empty()) {
    auto given = ReadDataSet(arguments_.data, "input");
    if (!given.ok()) return given.status();
    given_ = *std::move(given);
  }
  if (!arguments_.names.empty()) {
    auto names = ReadNames(arguments_.names);
    if (!names.ok()) return names.status();
    result_.names = *std::move(names);
  }
  if (!is_package_ || is_set_) {
    if (auto s = BindShapes(); !s.ok()) return s;
  } else if (const auto package = package::Parse(bytes_, file_);
             package.ok() && !package->inputs.empty()) {
    RETURN_IF_ERROR(CheckHasInputs());
  }
  const bool exact = arguments_.cycles == "exact";
  if (exact) RETURN_IF_ERROR(ReplayTiming());
  ASSIGN_OR_RETURN(const std::optional<compiler::FileCache> cache,
                   OpenCache(arguments_.cache, &cache_note_));
  DeviceModel::Settings settings = Settings();
  settings.traced = !arguments_.trace.empty();
  settings.all_devices = arguments_.all_devices;
  if (cache.has_value()) settings.cache = &*cache;
  ShapeSetRequest request;
  if (is_set_) {
    request.shapes = shapes_;
    request.source = arguments_.source;
    request.no_compile = arguments_.no_compile;
    request.say = [this](const std::string& sentence) {
      progress_.Stop();
      std::fprintf(stderr, "%s: %s\n", kTool, cli::Printable(sentence).c_str());
    };
    settings.shape_set = &request;
  }
  auto loaded = DeviceModel::Load(bytes_, is_package_, Options(), settings);
  if (auto s = file_->Unchanged(); !s.ok()) return s;
  if (!loaded.ok()) {
    const compiler::Rejection kind = compiler::RejectionOf(loaded.status());
    if (is_package_) RETURN_IF_ERROR(PackageStatus());
    if (kind == compiler::Rejection::kMismatchingShape && !given_.empty() &&
        arguments_.shapes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the data of '", arguments_.data,
                       "' do not fit the model: ", loaded.status().message()));
    }
    if (is_package_ || kind != compiler::Rejection::kUnsupportedShape) {
      return loaded.status();
    }
    example_ = cli::ShapeExample(arguments_.command, bytes_, shapes_);
    return loaded.status();
  }
  model_ = *std::move(loaded);
  if (cache.has_value()) cache_note_ = Describe(model_->cache_use(), *cache);
  const size_t host = HostOperators(package());
  if (host > 0 && arguments_.no_host) {
    return compiler::Reject(
        compiler::Rejection::kUnsupportedOperator,
        absl::StrCat("--no-host: ", host, host == 1 ? " node" : " nodes",
                     " of '", arguments_.model, "' would run on the host"));
  }
  if (exact) RETURN_IF_ERROR(CheckHasNoCycles());
  result_.device = model_->device();
  result_.device_bytes = model_->device_bytes();
  result_.specialisation = model_->specialisation();
  result_.layers = arguments_.layers;
  return absl::OkStatus();
}

// Of the first inference: later ones are measured.
absl::Status Runner::RunOnce(const std::vector<TensorData>& inputs,
                             bool with_taps) {
  const bool traced = !arguments_.trace.empty() && !result_.profile.has_value();
  const absl::Status status = model_->Run(inputs, with_taps, traced);
  result_.latency_ms = model_->latency_ms();
  result_.statistics = model_->statistics();
  return status.ok() && traced ? WriteTrace() : status;
}

absl::Status Runner::WriteTrace() {
  CommandTimes recorded;
  if (result_.replay.has_value()) recorded = RecordedTimes(*result_.replay);
  auto profile = MakeProfile(package(), model_->streams(), model_->trace(),
                             result_.replay.has_value() ? &recorded : nullptr,
                             model_->estimated_times());
  if (!profile.ok()) return profile.status();
  result_.profile = *std::move(profile);
  result_.trace_file = arguments_.trace;
  return cli::WriteFile(
      arguments_.trace,
      ChromeTrace(package(), model_->device(), *result_.profile));
}

absl::Status Runner::CheckClassifier(const char* option) const {
  if (package().inputs.size() == 1 && !package().outputs.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      option, " needs a model with one input and an output; it has ",
      package().inputs.size(), " and ", package().outputs.size()));
}

absl::Status Runner::RunImages() {
  if (absl::Status s = CheckClassifier("--images"); !s.ok()) return s;
  const auto images = ImageSet::Read(arguments_.images);
  if (!images.ok()) return images.status();
  const package::TensorInfo& input = package().inputs[0];
  const auto format = images->FormatFor(input);
  if (!format.ok()) return format.status();
  size_t count = images->size();
  if (arguments_.limit > 0) count = std::min<size_t>(count, arguments_.limit);
  const auto batch = static_cast<size_t>(format->batch());
  const TensorData& scores = model_->outputs()[0];
  const int64_t classes = scores.count() / static_cast<int64_t>(batch);
  ImageResult found;
  found.count = count;
  size_t correct = 0, correct5 = 0;
  for (size_t first = 0; first < count; first += batch) {
    progress_.Set(absl::StrCat("image ", first, " of ", count,
                               images->labelled() && first > 0
                                   ? absl::StrCat(", top-1 ", correct,
                                                  ", top-5 ", correct5)
                                   : ""),
                  static_cast<double>(first) / static_cast<double>(count));
    absl::Status status =
        RunOnce({images->Batch(input, *format, first)}, first == 0);
    if (!status.ok()) return status;
    for (size_t n = 0; n < batch && first + n < count; ++n) {
      if (!images->labelled()) continue;
      const auto top =
          Largest(scores, static_cast<int64_t>(n) * classes, classes, kTop);
      const int64_t label = images->label(first + n);
      for (size_t k = 0; k < top.size(); ++k) {
        if (top[k].index != label) continue;
        ++correct5;
        if (k == 0) ++correct;
      }
    }
  }
  if (images->labelled()) {
    found.correct = correct;
    if (classes > static_cast<int64_t>(kTop)) found.correct5 = correct5;
  }
  result_.images = found;
  return absl::OkStatus();
}

absl::Status Runner::RunImageFiles() {
  if (absl::Status s = CheckClassifier("--image"); !s.ok()) return s;
  const package::TensorInfo& input = package().inputs[0];
  if (!arguments_.pixels_given && compiler::ElementBytes(input.type) > 1) {
    std::fprintf(stderr,
                 "%s: input values are byte / 255, RGB; many models expect "
                 "something else (--mean, --std, --scale, --channels)\n",
                 kTool);
  }
  for (const std::string& file : arguments_.images.files) {
    progress_.Set(absl::StrCat("image ", file),
                  static_cast<double>(result_.image_files.size()) /
                      static_cast<double>(arguments_.images.files.size()));
    auto data = ReadImageFile(file, arguments_.images, input);
    if (!data.ok()) return data.status();
    const bool first = result_.image_files.empty();
    if (auto s = RunOnce({*std::move(data)}, first); !s.ok()) return s;
    const TensorData& scores = model_->outputs()[0];
    const int64_t batch = std::max<int64_t>(input.shape[0], 1);
    result_.image_files.push_back(
        {file, Largest(scores, 0, scores.count() / batch, kTop)});
  }
  return absl::OkStatus();
}

absl::Status Runner::Bench(const std::vector<TensorData>& inputs) {
  BenchResult bench;
  const BenchLimit limit = {static_cast<size_t>(arguments_.bench),
                            arguments_.duration};
  BenchLimit warmup = {
      limit.runs > 0 ? std::max<size_t>(1, limit.runs / 10) : 0,
      limit.seconds / 10};
  if (arguments_.warmup >= 0) {
    warmup = {static_cast<size_t>(arguments_.warmup), 0};
  }
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  const auto passed = [&begin] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  // One run has been before.
  for (bench.warmup = 1;
       warmup.runs + warmup.seconds > 0 &&
       !warmup.Reached(static_cast<size_t>(bench.warmup), passed());
       ++bench.warmup) {
    progress_.Set("warming up",
                  warmup.Part(static_cast<size_t>(bench.warmup), passed()));
    if (absl::Status s = RunOnce(inputs, false); !s.ok()) return s;
  }
  bench.in_flight = arguments_.in_flight;
  if (arguments_.in_flight == 0) {
    bench.in_flight =
        model_->pool() != nullptr ? 2 * model_->pool()->Cards().size() : 1;
  }
  const auto say = [this, &limit](size_t run, double seconds) {
    progress_.Set(limit.runs > 0 ? absl::StrCat("run ", run, " of ", limit.runs)
                                 : absl::StrCat("run ", run),
                  limit.Part(run, seconds));
  };
  if (bench.in_flight > 1 || model_->pool() != nullptr) {
    ASSIGN_OR_RETURN(InFlightBench measured,
                     BenchInFlight(model_->graph(), inputs, model_->outputs(),
                                   limit, bench.in_flight, say));
    bench.ms = std::move(measured.ms);
    bench.seconds = measured.seconds;
    bench.lost = measured.lost;
    if (model_->pool() != nullptr) bench.cards = model_->pool()->Cards();
  } else {
    begin = Clock::now();
    do {
      say(bench.ms.size(), passed());
      if (absl::Status s = RunOnce(inputs, false); !s.ok()) return s;
      bench.ms.push_back(result_.latency_ms);
    } while (!limit.Reached(bench.ms.size(), passed()));
  }
  result_.bench = std::move(bench);
  return absl::OkStatus();
}

absl::Status Runner::CompareOutputs() {
  auto expected = ReadDataSet(arguments_.data, "output");
  if (!expected.ok()) return expected.status();
  const auto& outputs = model_->outputs();
  std::map<std::string, double> steps;
  if (arguments_.tolerance.steps > 0) {
    const auto graph = compiler::AnalyseOnnx(bytes_, Options(), file_);
    if (!graph.ok()) return graph.status();
    steps = OutputSteps(*graph);
    if (steps.empty()) {
      return absl::InvalidArgumentError(
          "--atol-steps: no output of the model is quantized; see --rtol and "
          "--atol-range");
    }
  }
  if (expected->size() != outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", outputs.size(), " output",
                     outputs.size() == 1 ? "" : "s", ", '", arguments_.data,
                     "' has ", expected->size(), " (output_0.pb and so on)"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedTensor* mine = &(*expected)[i];
    for (const NamedTensor& tensor : *expected) {
      if (tensor.name == package().outputs[i].name) mine = &tensor;
    }
    const auto step = steps.find(package().outputs[i].name);
    result_.comparisons.push_back(
        Compare(outputs[i], mine->data, arguments_.tolerance,
                step == steps.end() ? 0 : step->second));
    result_.shapes.push_back(outputs[i].shape);
    result_.qualities.push_back(result_.comparisons.back().problem.empty()
                                    ? QualityOf(outputs[i], mine->data)
                                    : Quality());
    if (outputs.size() > 1) ForgetClasses(&result_.qualities.back());
    expected_.push_back(mine->data);
  }
  return absl::OkStatus();
}

// What the card's integers make of a model that was trained in floating point:
// whether the outputs differ for that, and what each layer adds.
absl::Status Runner::CompareArithmetic(const std::vector<TensorData>& inputs,
                                       bool outputs_differ) {
  compiler::CompileOptions options = Options();
  options.fuse_quantization = false;
  const auto graph = compiler::AnalyseOnnx(bytes_, options, file_);
  if (!graph.ok()) return graph.status();
  if (!IsQuantized(*graph)) return absl::OkStatus();
  progress_.Set("floating point");
  const auto values = compiler::EvaluateGraph(*graph, inputs);
  if (!values.ok()) return values.status();
  if (outputs_differ) {
    result_.arithmetic = FindArithmetic(*graph, *values, model_->outputs(),
                                        expected_, arguments_.tolerance);
  }
  if (!card_.empty()) {
    result_.quantization_check = CompareLayersInFloat(*graph, *values, card_);
  }
  return absl::OkStatus();
}

// A second package of the same model, with all its tensors as outputs; on a
// device again, since taps must not change what was measured.
absl::Status Runner::CompareAllLayers(const std::vector<TensorData>& inputs) {
  compiler::CompileOptions options = Options();
  options.config = package().config;
  const auto graph = compiler::AnalyseOnnx(bytes_, options, file_);
  if (!graph.ok()) return graph.status();
  options.taps = true;
  options.tap_all = true;
  DeviceModel::Settings settings = Settings();
  if (settings.devices.size() > 1) settings.devices.resize(1);
  // A card of its own, as the first one; the user knows of that already.
  if (absl::StartsWith(model_->device().id, "sim#")) settings.devices = {"sim"};
  auto tapped = DeviceModel::Load(bytes_, false, options, settings);
  if (!tapped.ok()) return tapped.status();
  progress_.Set("running with all tensors as outputs");
  if (auto s = (*tapped)->Run(inputs, true); !s.ok()) return s;
  progress_.Set("reference semantics");
  const auto values = compiler::EvaluateGraph(*graph, inputs);
  if (!values.ok()) return values.status();
  const package::Package& p = (*tapped)->package();
  for (size_t i = 0; i < p.taps.size(); ++i) {
    card_.push_back({p.taps[i].name, (*tapped)->taps()[i]});
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    card_.push_back({p.outputs[i].name, (*tapped)->outputs()[i]});
  }
  result_.layer_check = CompareLayers(*graph, *values, card_);
  return absl::OkStatus();
}

absl::Status Runner::Execute() {
  std::vector<TensorData> inputs;
  const bool images = !arguments_.images.images.empty();
  const bool image_files = !arguments_.images.files.empty();
  if (!arguments_.data.empty()) {
    auto assigned = Assign(package().inputs, std::move(given_), "input");
    if (!assigned.ok()) return cli::OfFile(arguments_.data, assigned.status());
    inputs = *std::move(assigned);
  } else {
    RETURN_IF_ERROR(CheckRanges(ranges_, package().inputs));
    result_.random_inputs =
        !images && !image_files && !package().inputs.empty();
    for (size_t i = 0; i < package().inputs.size(); ++i) {
      const package::TensorInfo& input = package().inputs[i];
      inputs.push_back(
          RandomTensor(input, kSeed + i, FindRange(ranges_, input.name)));
    }
  }
  progress_.Set("running");
  absl::Status status = images        ? RunImages()
                        : image_files ? RunImageFiles()
                                      : RunOnce(inputs, true);
  if (!status.ok()) return status;
  if (!arguments_.taps.empty()) {
    const absl::Status s =
        WriteTensors(arguments_.taps, package().taps, model_->taps(), false);
    if (!s.ok()) return s;
  }
  if (!arguments_.outputs.empty()) {
    const absl::Status s = WriteTensors(arguments_.outputs, package().outputs,
                                        model_->outputs(), true);
    if (!s.ok()) return s;
  }
  if (!arguments_.check.empty() && !arguments_.data.empty()) {
    if (absl::Status s = CompareOutputs(); !s.ok()) return s;
  }
  if (Measures(arguments_)) {
    if (absl::Status s = Bench(inputs); !s.ok()) return s;
  }
  const bool asked = arguments_.check == "layers";
  if (asked || (!result_.matches() && !is_package_)) {
    const absl::Status s = CompareAllLayers(inputs);
    // On a mismatch this is an extra: the mismatch is the result.
    if (!s.ok() && asked) return s;
    if (!s.ok()) {
      std::fprintf(stderr, "%s: cannot compare the layers: %s\n", kTool,
                   std::string(s.message()).c_str());
    }
  }
  const bool differ = std::any_of(
      result_.comparisons.begin(), result_.comparisons.end(),
      [](const Comparison& c) { return !c.equal && c.problem.empty(); });
  if ((differ || asked) && !is_package_) {
    if (const absl::Status s = CompareArithmetic(inputs, differ); !s.ok()) {
      std::fprintf(stderr, "%s: cannot compare the arithmetic: %s\n", kTool,
                   std::string(s.message()).c_str());
    }
  }
  if (differ && is_package_) {
    std::fprintf(stderr,
                 "%s: a package does not contain the reference semantics; run "
                 "the ONNX model to compare the layers\n",
                 kTool);
  }
  return absl::OkStatus();
}

int RunWhole(const Arguments& arguments, Runner* runner) {
  absl::Status status = runner->Prepare();
  if (status.ok()) status = runner->Execute();
  runner->StopProgress();
  if (status.ok()) return cli::kOk;
  const int code = cli::Fail(kTool, status, arguments.model);
  cli::PrintExample(kTool, runner->example());
  return code;
}

int Print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0) {
    return cli::kOk;
  }
  return cli::Fail(kTool, absl::DataLossError("cannot write the results"));
}

// Each shape of the package, one after another.
int RunAllShapes(const Arguments& arguments) {
  const auto file = compiler::MappedFile::Open(arguments.model);
  if (!file.ok()) return cli::Fail(kTool, file.status(), arguments.model);
  if (!package::IsShapeSet((*file)->bytes())) {
    return cli::Fail(kTool,
                     cli::UsageError(absl::StrCat(
                         "--all-shapes: '", cli::Printable(arguments.model),
                         "' is not a package of several shapes; make one with "
                         "heddle-compile --shape-set")));
  }
  const auto set = package::ParseShapeSet((*file)->bytes(), *file);
  if (!set.ok()) return cli::Fail(kTool, set.status(), arguments.model);
  std::vector<ShapeRow> rows;
  for (const package::Specialisation& shape : set->specialisations) {
    Arguments one = arguments;
    one.no_compile = true;  // it is there
    for (const auto& [name, dimensions] : set->ShapesOf(shape.values)) {
      one.shapes.push_back(
          absl::StrCat(name, "=", absl::StrJoin(dimensions, ",")));
    }
    Runner runner(one);
    if (const int code = RunWhole(one, &runner); code != cli::kOk) {
      std::fprintf(stderr, "%s: that was %s, shape %zu of %zu\n", kTool,
                   cli::Printable(set->Text(shape.values)).c_str(),
                   rows.size() + 1, set->specialisations.size());
      // What was measured is not lost.
      if (!rows.empty()) Print(arguments.json ? ToJson(rows) : ToText(rows));
      return code;
    }
    rows.push_back(runner.Row());
  }
  return Print(arguments.json ? ToJson(rows) : ToText(rows));
}

}  // namespace

int Main(const Arguments& arguments) {
  std::map<std::string, compiler::Shape> shapes;
  if (absl::Status s = cli::ParseShapes(arguments.shapes, &shapes); !s.ok()) {
    cli::Fail(kTool, s);
    return cli::kUsage;
  }
  std::map<std::string, int64_t> bounds;
  if (absl::Status s = cli::ParseBounds(arguments.bounds, &bounds); !s.ok()) {
    cli::Fail(kTool, s);
    return cli::kUsage;
  }
  ValueRanges ranges;
  if (absl::Status s = ParseRanges(arguments.ranges, &ranges); !s.ok()) {
    cli::Fail(kTool, s);
    return cli::kUsage;
  }
  std::vector<std::string> devices = arguments.devices;
  if (devices.empty()) {
    const char* device = std::getenv("HEDDLE_DEVICE");
    devices.emplace_back(device != nullptr ? device : "");
  }
  for (const std::string& device : devices) {
    const absl::Status s = session::ParseDeviceSpec(device).status();
    if (s.ok()) continue;
    return cli::Fail(
        kTool, cli::UsageError(absl::StrCat(
                   arguments.devices.empty() ? "HEDDLE_DEVICE" : "--device",
                   ": ", cli::Printable(s.message()))));
  }
  if (arguments.all_shapes) return RunAllShapes(arguments);
  Runner runner(arguments);
  if (const int code = RunWhole(arguments, &runner); code != cli::kOk) {
    return code;
  }
  runner.SayCacheNote();
  if (const int code = Print(runner.Report()); code != cli::kOk) return code;
  return runner.matches() ? cli::kOk : cli::kMismatch;
}

}  // namespace heddle::run
