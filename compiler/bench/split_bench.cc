// SPDX-License-Identifier: Apache-2.0
// Host segments of models: what the compiler estimates and what they take, in
// CPU time of the thread that runs them.
//
//   split_bench --host-profile desk.profile [--place host] [MODEL.onnx ...]
//
// Per model: segments, how often they ran, and the estimate as a multiple of
// the time for all of them together and for the two segments for which it is
// farthest off, among those of at least 20 us. Inputs are those of the folder
// test_data_set_0 beside a model, if there is one, else random ones. Without
// models: synthetic networks, each with nodes of both sides.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

constexpr double kLeastSeconds = 20e-6;

// Moved in double precision, between float products and functions.
std::string Doubles(int64_t size) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {size, size});
  b.Constant("w", RandomData(DataType::kFloat, {size, size}, 1));
  b.Node("MatMul", {"x", "w"}, {"a"});
  SetInt(b.Node("Cast", {"a"}, {"d"}), "to", 11);
  b.Node("Transpose", {"d"}, {"t"});
  SetInt(b.Node("Cast", {"t"}, {"f"}), "to", 1);
  b.Node("Softmax", {"f"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

// int64 products that the card's 32 bits do not hold.
std::string LargeIntegers(int64_t count) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {count});
  b.Node("Mul", {"x", "x"}, {"a"});
  b.Node("Mul", {"a", "a"}, {"c"});
  b.Node("Add", {"c", "x"}, {"d"});
  SetInt(b.Node("Cast", {"d"}, {"f"}), "to", 1);
  b.Node("Sqrt", {"f"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

struct Model {
  std::string name, bytes;
  std::vector<NamedTensor> inputs;
};

bool Load(const std::string& path, Model* model) {
  auto bytes = NetworkOrFile(path);
  if (!bytes.ok()) {
    std::fprintf(stderr, "%s\n", std::string(bytes.status().message()).c_str());
    return false;
  }
  model->name = path;
  model->bytes = *std::move(bytes);
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return true;
  const std::string folder = path.substr(0, slash);
  model->name = folder.substr(folder.rfind('/') + 1);
  auto inputs = ReadTensorFiles(folder + "/test_data_set_0", "input_");
  if (inputs.ok()) model->inputs = *std::move(inputs);
  return true;
}

bool Measure(const Model& model, CompileOptions options, int repeat) {
  for (const NamedTensor& input : model.inputs) {
    options.input_shapes[input.name] = input.data.shape;
  }
  const auto made = CompileOnnx(model.bytes, options);
  if (!made.ok()) {
    std::fprintf(stderr, "%s: %s\n", model.name.c_str(),
                 std::string(made.status().message()).c_str());
    return false;
  }
  const auto package = package::Parse(made->package);
  if (!package.ok()) return false;
  if (package->segments.empty()) {
    std::printf("%-28s all of it is the card's\n", model.name.c_str());
    return true;
  }
  std::vector<TensorData> inputs;
  for (const package::TensorInfo& info : package->inputs) {
    const auto given = std::find_if(
        model.inputs.begin(), model.inputs.end(),
        [&info](const NamedTensor& t) { return t.name == info.name; });
    inputs.push_back(given != model.inputs.end()
                         ? given->data
                         : RandomData(info.type, info.shape, inputs.size()));
  }
  std::vector<HostSegmentRun> best;
  for (int i = 0; i < repeat; ++i) {
    const auto run = RunPackage(*package, inputs);
    if (!run.ok()) {
      std::fprintf(stderr, "%s: %s\n", model.name.c_str(),
                   std::string(run.status().message()).c_str());
      return false;
    }
    if (i == 0) best = run->host_segments;
    for (size_t s = 0; s < best.size(); ++s) {
      best[s].cpu_seconds =
          std::min(best[s].cpu_seconds, run->host_segments[s].cpu_seconds);
    }
  }
  double estimated = 0, measured = 0, lowest = 1e30, highest = 0;
  size_t nodes = 0;
  for (const HostSegmentRun& s : best) {
    const double estimate = 1e-9 * static_cast<double>(s.estimated_ns);
    estimated += estimate;
    measured += s.cpu_seconds;
    nodes += s.nodes;
    if (std::max(s.cpu_seconds, estimate) < kLeastSeconds) continue;
    lowest = std::min(lowest, estimate / s.cpu_seconds);
    highest = std::max(highest, estimate / s.cpu_seconds);
  }
  std::printf(
      "%-28s %4zu host segments, %6zu nodes, measured %11.1f us, "
      "estimated %11.1f us: %.2f",
      model.name.c_str(), best.size(), nodes, measured * 1e6, estimated * 1e6,
      estimated / measured);
  if (highest > 0) std::printf(" (%.2f to %.2f)", lowest, highest);
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) {
  using heddle::compiler::Placement;
  CLI::App app("Estimated and measured time of host segments.");
  std::vector<std::string> paths;
  std::string profile, place = "cost";
  int repeat = 5;
  app.add_option("models", paths, "ONNX models, or networks of ./dev bench");
  app.add_option("--host-profile", profile,
                 "of this machine: ./dev bench host");
  app.add_option("--place", place)
      ->check(CLI::IsMember({"cost", "card", "host"}));
  app.add_option("--repeat", repeat, "runs; the fastest of each segment counts")
      ->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  heddle::compiler::CompileOptions options;
  options.host_nodes = true;
  options.open_dimensions_are_one = true;
  options.placement = place == "cost"   ? Placement::kCost
                      : place == "card" ? Placement::kCard
                                        : Placement::kHost;
  if (!profile.empty()) {
    const auto text = heddle::compiler::ReadFile(profile);
    const auto parsed =
        text.ok()
            ? heddle::compiler::ParseHostProfile(*text)
            : absl::StatusOr<heddle::compiler::HostProfile>(text.status());
    if (!parsed.ok()) {
      std::fprintf(stderr, "%s: %s\n", profile.c_str(),
                   std::string(parsed.status().message()).c_str());
      return 1;
    }
    options.host_profile =
        std::make_shared<const heddle::compiler::HostProfile>(*parsed);
  }
  std::vector<heddle::compiler::Model> models;
  for (const std::string& path : paths) {
    models.emplace_back();
    if (!heddle::compiler::Load(path, &models.back())) return 1;
  }
  if (paths.empty()) {
    models = {{"double 64", heddle::compiler::Doubles(64), {}},
              {"double 256", heddle::compiler::Doubles(256), {}},
              {"integers 1000", heddle::compiler::LargeIntegers(1000), {}},
              {"integers 10^6", heddle::compiler::LargeIntegers(1000000), {}}};
  }
  bool good = true;
  for (const auto& model : models) {
    good &= heddle::compiler::Measure(model, options, repeat);
  }
  return good ? 0 : 1;
}
