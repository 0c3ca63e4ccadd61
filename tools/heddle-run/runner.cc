// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "runtime/session/session.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/shape_option.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-run/result.h"

namespace heddle::run {
namespace {

constexpr char kTool[] = "heddle-run";
constexpr uint64_t kSeed = 20240229;

double MsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

// The first device of that configuration ("" = any).
absl::StatusOr<session::DeviceDescription> ChooseDevice(
    const std::string& config) {
  const auto devices = session::ListDevices(config);
  if (!devices.ok()) return devices.status();
  for (const session::DeviceDescription& device : *devices) {
    if (config.empty() || device.config == config) return device;
  }
  if (devices->empty()) {
    return absl::UnavailableError(
        "there is no Heddle device; see --device and HEDDLE_DEVICE");
  }
  return absl::UnavailableError(absl::StrCat(
      "there is no device of configuration ", config, " (", devices->front().id,
      " is ", devices->front().config, "); give --device sim:config=", config));
}

// A model on a device, with the storage of one inference.
class Runner {
 public:
  explicit Runner(const Arguments& arguments) : arguments_(arguments) {}

  absl::Status Prepare();
  absl::Status Execute();
  bool matches() const { return result_.matches(); }
  std::string Report() const {
    return arguments_.json ? ToJson(package(), result_)
                           : ToText(package(), result_);
  }

 private:
  const package::Package& package() const { return graph_->package(); }
  absl::Status Compile(absl::string_view model, std::string* bytes);
  absl::Status RunOnce(const std::vector<compiler::TensorData>& inputs,
                       bool with_taps);
  absl::Status RunImages();
  absl::Status WriteTaps() const;

  const Arguments& arguments_;
  std::vector<NamedTensor> given_;  // inputs of --data
  std::shared_ptr<session::Graph> graph_;
  std::vector<compiler::TensorData> outputs_, taps_;
  Result result_;
};

absl::Status Runner::Compile(absl::string_view model, std::string* bytes) {
  compiler::CompileOptions options;
  options.config = result_.device.config;
  options.taps = !arguments_.taps.empty();
  options.device_memory_bytes = result_.device.memory_bytes;
  absl::Status status =
      cli::ParseShapes(arguments_.shapes, &options.input_shapes);
  if (!status.ok()) return status;
  // The data say what symbolic dimensions are, unless the user does.
  const std::vector<std::string> names = InputNames(model);
  for (size_t i = 0; i < given_.size() && i < names.size(); ++i) {
    const bool named =
        std::find(names.begin(), names.end(), given_[i].name) != names.end();
    options.input_shapes.emplace(named ? given_[i].name : names[i],
                                 given_[i].data.shape);
  }
  auto compiled = compiler::CompileOnnx(model, options);
  if (!compiled.ok()) return compiled.status();
  *bytes = std::move(compiled->package);
  return absl::OkStatus();
}

absl::Status Runner::Prepare() {
  if (!arguments_.device.empty()) {
    setenv("HEDDLE_DEVICE", arguments_.device.c_str(), 1);
  }
  auto model = cli::ReadFile(arguments_.model);
  if (!model.ok()) return model.status();
  if (!arguments_.data.empty()) {
    auto given = ReadDataSet(arguments_.data, "input");
    if (!given.ok()) return given.status();
    given_ = *std::move(given);
  }
  std::string config = arguments_.config;
  const bool is_package = absl::EndsWith(arguments_.model, ".hpk");
  if (is_package) {
    const auto package = package::Parse(*model);
    if (!package.ok()) return package.status();
    config = package->config;
  }
  auto description = ChooseDevice(config);
  if (!description.ok()) return description.status();
  result_.device = *std::move(description);
  std::string bytes = *std::move(model);
  if (!is_package) {
    const std::string onnx = std::move(bytes);
    if (absl::Status s = Compile(onnx, &bytes); !s.ok()) return s;
  }
  auto device = session::OpenDevice(result_.device.id);
  if (!device.ok()) return device.status();
  session::LoadOptions options;
  options.taps = !arguments_.taps.empty();
  auto graph = session::LoadGraph(*device, bytes, options);
  if (!graph.ok()) return graph.status();
  graph_ = *std::move(graph);
  result_.device_bytes = graph_->device_bytes();
  result_.layers = arguments_.layers;
  for (const auto& info : package().outputs) {
    outputs_.push_back(compiler::TensorData::Zeros(info.type, info.shape));
  }
  for (const auto& info : package().taps) {
    taps_.push_back(compiler::TensorData::Zeros(info.type, info.shape));
  }
  return absl::OkStatus();
}

absl::Status Runner::RunOnce(const std::vector<compiler::TensorData>& inputs,
                             bool with_taps) {
  const package::Package& p = package();
  std::vector<session::TensorBuffer> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // The session only reads inputs.
    in.push_back({p.inputs[i].name,
                  const_cast<uint8_t*>(inputs[i].bytes.data()),
                  inputs[i].bytes.size()});
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    out.push_back({p.outputs[i].name, outputs_[i].bytes.data(),
                   outputs_[i].bytes.size()});
  }
  for (size_t i = 0; with_taps && i < taps_.size(); ++i) {
    out.push_back(
        {p.taps[i].name, taps_[i].bytes.data(), taps_[i].bytes.size()});
  }
  const auto start = std::chrono::steady_clock::now();
  const auto run = graph_->Start(in, out, nullptr);
  if (!run.ok()) return run.status();
  absl::Status status = (*run)->Wait(absl::InfiniteFuture());
  result_.latency_ms = MsSince(start);
  result_.statistics = (*run)->statistics();
  return status;
}

absl::Status Runner::RunImages() {
  const auto images = ImageSet::Read(arguments_.images);
  if (!images.ok()) return images.status();
  if (package().inputs.size() != 1 || package().outputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--images needs a model with one input and an output; it has ",
        package().inputs.size(), " and ", package().outputs.size()));
  }
  const package::TensorInfo& input = package().inputs[0];
  if (absl::Status s = images->Check(input); !s.ok()) return s;
  size_t count = images->size();
  if (arguments_.limit > 0) count = std::min<size_t>(count, arguments_.limit);
  const auto batch = static_cast<size_t>(input.shape[0]);
  const int64_t classes = outputs_[0].count() / static_cast<int64_t>(batch);
  ImageResult found;
  found.count = count;
  if (images->labelled()) found.correct = 0;
  for (size_t first = 0; first < count; first += batch) {
    absl::Status status = RunOnce({images->Batch(input, first)}, first == 0);
    if (!status.ok()) return status;
    for (size_t n = 0; n < batch && first + n < count; ++n) {
      if (found.correct.has_value() &&
          Top1(outputs_[0], static_cast<int64_t>(n) * classes, classes) ==
              images->label(first + n)) {
        ++*found.correct;
      }
    }
  }
  result_.images = found;
  return absl::OkStatus();
}

absl::Status Runner::WriteTaps() const {
  if (mkdir(arguments_.taps.c_str(), 0777) != 0 && errno != EEXIST) {
    return absl::NotFoundError(absl::StrCat("cannot make the folder '",
                                            arguments_.taps,
                                            "': ", std::strerror(errno)));
  }
  for (size_t i = 0; i < taps_.size(); ++i) {
    // Names are the model's: nothing of them may lead out of the folder. The
    // number keeps different names different.
    std::string file = package().taps[i].name;
    for (char& c : file) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
      if (!plain) c = '_';
    }
    absl::Status status = WriteTensor(
        absl::StrCat(arguments_.taps, "/", i, "_", file.substr(0, 100), ".pb"),
        package().taps[i].name, taps_[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Runner::Execute() {
  std::vector<compiler::TensorData> inputs;
  if (!arguments_.images.images.empty()) {
    if (absl::Status s = RunImages(); !s.ok()) return s;
  }
  if (!arguments_.data.empty()) {
    auto assigned = Assign(package().inputs, std::move(given_), "input");
    if (!assigned.ok()) return assigned.status();
    inputs = *std::move(assigned);
  } else {
    for (size_t i = 0; i < package().inputs.size(); ++i) {
      inputs.push_back(RandomTensor(package().inputs[i], kSeed + i));
    }
  }
  if (arguments_.images.images.empty()) {
    if (absl::Status s = RunOnce(inputs, true); !s.ok()) return s;
  }
  if (!arguments_.taps.empty()) {
    if (absl::Status s = WriteTaps(); !s.ok()) return s;
  }
  if (arguments_.check) {
    auto expected = ReadDataSet(arguments_.data, "output");
    if (!expected.ok()) return expected.status();
    if (expected->size() != outputs_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model has ", outputs_.size(), " outputs, '",
                       arguments_.data, "' has ", expected->size()));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const NamedTensor* mine = &(*expected)[i];
      for (const NamedTensor& tensor : *expected) {
        if (tensor.name == package().outputs[i].name) mine = &tensor;
      }
      result_.comparisons.push_back(
          Compare(outputs_[i], mine->data, arguments_.tolerance));
    }
  }
  if (arguments_.bench > 0) {
    BenchResult bench;
    for (int i = 0; i < arguments_.bench; ++i) {
      if (absl::Status s = RunOnce(inputs, false); !s.ok()) return s;
      bench.ms.push_back(result_.latency_ms);
    }
    result_.bench = std::move(bench);
  }
  return absl::OkStatus();
}

}  // namespace

int Main(const Arguments& arguments) {
  std::map<std::string, compiler::Shape> shapes;
  if (absl::Status s = cli::ParseShapes(arguments.shapes, &shapes); !s.ok()) {
    cli::Fail(kTool, s);
    return cli::kUsage;
  }
  Runner runner(arguments);
  if (absl::Status s = runner.Prepare(); !s.ok()) return cli::Fail(kTool, s);
  if (absl::Status s = runner.Execute(); !s.ok()) return cli::Fail(kTool, s);
  const std::string text = runner.Report();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0) {
    return cli::Fail(kTool, absl::DataLossError("cannot write the results"));
  }
  return runner.matches() ? cli::kOk : cli::kMismatch;
}

}  // namespace heddle::run
