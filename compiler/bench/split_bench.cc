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
// models: synthetic networks, each with nodes of both sides. --nodes N also
// runs each node of these segments alone, and prints the N that the estimate is
// farthest off by.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/host/host_function.h"
#include "compiler/ir/block_pool.h"
#include "compiler/package/package.h"
#include "compiler/partition/host_work.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/cpu_seconds.h"
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

struct NodeTime {
  std::string node;
  double seconds = 0, estimate = 0;
};

// A node of a segment, alone, with random values.
absl::StatusOr<NodeTime> TimeOf(const Graph& graph, const Node& node,
                                const HostProfile& profile, int repeat) {
  Graph alone = Isolated(graph, node);
  std::vector<TensorData> data;
  std::vector<const uint8_t*> from;
  std::vector<uint8_t*> to;
  for (TensorId id : alone.inputs) {
    data.push_back(
        RandomData(alone.tensors[id].type, alone.tensors[id].shape, 1, 0, 1));
  }
  std::string shapes;
  for (TensorId id : alone.outputs) {
    const Tensor& tensor = alone.tensors[id];
    shapes += " " + ShapeToString(tensor.shape);
    data.push_back(TensorData::Zeros(tensor.type, tensor.shape));
  }
  for (size_t i = 0; i < data.size(); ++i) {
    if (i < alone.inputs.size()) {
      from.push_back(data[i].bytes.data());
    } else {
      to.push_back(data[i].bytes.data());
    }
  }
  NodeTime time = {node.Describe() + shapes, 1e30,
                   1e-9 * HostTime(HostWorkOf(graph, node), profile)};
  ASSIGN_OR_RETURN(const HostFunction host,
                   HostFunction::Make(std::move(alone)));
  const BlockPoolScope memory(
      std::make_shared<BlockPool>(kMostKeptBytes, kMostKeptBytes));
  for (int i = 0; i < repeat; ++i) {
    const double before = CpuSeconds();
    RETURN_IF_ERROR(host.Run(from, to, [] { return absl::OkStatus(); }));
    time.seconds = std::min(time.seconds, CpuSeconds() - before);
  }
  return time;
}

void PrintNodes(const package::Package& package, const HostProfile& profile,
                int repeat, size_t most) {
  std::vector<NodeTime> times;
  for (const package::Segment& segment : package.segments) {
    for (const Node& node : segment.host.nodes) {
      const auto time = TimeOf(segment.host, node, profile, repeat);
      if (time.ok()) {
        times.push_back(*time);
        continue;
      }
      std::printf("  %s: %s\n", node.Describe().c_str(),
                  std::string(time.status().message()).c_str());
    }
  }
  const auto off = [](const NodeTime& t) {
    return std::abs(t.seconds - t.estimate);
  };
  std::sort(
      times.begin(), times.end(),
      [&off](const NodeTime& a, const NodeTime& b) { return off(a) > off(b); });
  times.resize(std::min(times.size(), most));
  for (const NodeTime& t : times) {
    std::printf("  measured %9.1f us, estimated %9.1f us: %5.2f  %s\n",
                t.seconds * 1e6, t.estimate * 1e6, t.estimate / t.seconds,
                t.node.c_str());
  }
}

bool Measure(const Model& model, CompileOptions options, int repeat,
             size_t nodes_shown) {
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
  const auto run = RunPackage(*package, inputs, {}, repeat);
  if (!run.ok()) {
    std::fprintf(stderr, "%s: %s\n", model.name.c_str(),
                 std::string(run.status().message()).c_str());
    return false;
  }
  double estimated = 0, measured = 0, lowest = 1e30, highest = 0;
  size_t nodes = 0;
  for (const HostSegmentRun& s : run->host_segments) {
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
      model.name.c_str(), run->host_segments.size(), nodes, measured * 1e6,
      estimated * 1e6, estimated / measured);
  if (highest > 0) std::printf(" (%.2f to %.2f)", lowest, highest);
  std::printf("\n");
  if (nodes_shown > 0) {
    const HostProfile& profile = options.host_profile == nullptr
                                     ? DefaultHostProfile()
                                     : *options.host_profile;
    PrintNodes(*package, profile, repeat, nodes_shown);
  }
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
  size_t nodes = 0;
  app.add_option("models", paths, "ONNX models, or networks of ./dev bench");
  app.add_option("--host-profile", profile,
                 "of this machine: ./dev bench host");
  app.add_option("--place", place)
      ->check(CLI::IsMember({"cost", "card", "host"}));
  app.add_option("--repeat", repeat, "runs of each segment; the fastest counts")
      ->check(CLI::Range(1, 100000));
  app.add_option("--nodes", nodes, "of each model, farthest off first");
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
    good &= heddle::compiler::Measure(model, options, repeat, nodes);
  }
  return good ? 0 : 1;
}
