// SPDX-License-Identifier: Apache-2.0
// What the host takes for operators that it runs in practice, and what ONNX
// Runtime takes for the same models: CPU time of one thread, the fastest of
// some runs, one row of a table each. --fingerprints prints a hash of the bytes
// of the results instead, by which two builds are compared.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/compiler.h"
#include "compiler/host/host_function.h"
#include "compiler/import/importer.h"
#include "compiler/ops/operator.h"
#include "compiler/partition/host_work.h"
#include "compiler/passes/registry.h"
#include "compiler/testing/lent_threads.h"
#include "compiler/testing/model_builder.h"
#include "tests/support/onnxruntime.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::ModelBuilder;
using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;
using compiler::SetString;
using compiler::Shape;
using compiler::TensorData;

constexpr DataType kF = DataType::kFloat, kD = DataType::kDouble,
                   kI = DataType::kInt64;

double Seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Values of both signs; or from 0 to `below` - 1, for indices.
struct Input {
  DataType type;
  Shape shape;
  int64_t below = 0;
  bool constant = false;
  std::vector<int64_t> values = {};  // instead
};

Input Constant(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return {kI, {count}, 0, true, std::move(values)};
}

TensorData Values(const Input& input) {
  TensorData data = TensorData::Zeros(input.type, input.shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    // A number of no order, as those of data.
    const auto random = static_cast<int64_t>(
        (static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u >> 33) % 1'000'003);
    int64_t value = input.below > 0 ? random % input.below : random % 251 - 125;
    if (!input.values.empty()) value = input.values[i];
    switch (input.type) {
      case DataType::kFloat:
        data.as<float>()[i] = static_cast<float>(value) / 32;
        break;
      case DataType::kDouble:
        data.as<double>()[i] = static_cast<double>(value) / 32;
        break;
      case DataType::kInt64:
        data.as<int64_t>()[i] = value;
        break;
      default:
        data.bytes[i] = static_cast<uint8_t>(value & 1);
    }
  }
  return data;
}

struct Case {
  std::string op;
  std::string what;  // types and shapes
  std::vector<Input> inputs;
  std::function<void(onnx::NodeProto*)> attributes = nullptr;
  int outputs = 1;
};

std::vector<Case> Cases() {
  const Shape k512 = {512, 512};
  const auto ints = [](const char* name, std::vector<int64_t> values) {
    return [name, values = std::move(values)](onnx::NodeProto* node) {
      SetInts(node, name, values);
    };
  };
  const auto integer = [](const char* name, int64_t value) {
    return [name, value](onnx::NodeProto* node) { SetInt(node, name, value); };
  };
  const auto text = [](const char* name, const char* value) {
    return
        [name, value](onnx::NodeProto* node) { SetString(node, name, value); };
  };
  const Input resized{kF, {4}, 0, true, {32, 32, 64, 64}};  // times 1/32
  return {
      {"Add", "int64 512x512", {{kI, k512}, {kI, k512}}},
      {"Add", "int64 512x512 and 512", {{kI, k512}, {kI, {512}}}},
      {"Mul", "int64 512x512", {{kI, k512}, {kI, k512}}},
      {"Div",
       "int64 512x512 by a number",
       {{kI, k512}, {kI, {1}, 0, true, {7}}}},
      {"Max", "double 512x512", {{kD, k512}, {kD, k512}}},
      {"Mod",
       "int64 512x512 by a number",
       {{kI, k512}, {kI, {1}, 0, true, {7}}}},
      {"Equal", "int64 512x512", {{kI, k512}, {kI, k512}}},
      {"Where",
       "int64 512x512",
       {{DataType::kBool, k512}, {kI, k512}, {kI, k512}}},
      {"Cast", "int64 to float, 512x512", {{kI, k512}}, integer("to", 1)},
      {"Cast", "double to int64, 512x512", {{kD, k512}}, integer("to", 7)},
      {"CumSum", "double 512x512, axis 0", {{kD, k512}, Constant({0})}},
      {"CumSum", "int64 512x512, axis 1", {{kI, k512}, Constant({1})}},
      {"ReduceSum", "int64 512x512, axis 1", {{kI, k512}, Constant({1})}},
      {"ReduceSum", "float 512x512, axis 1", {{kF, k512}, Constant({1})}},
      {"ReduceSum", "float 512x512, axis 0", {{kF, k512}, Constant({0})}},
      {"ReduceMax", "int64 512x512, axis 1", {{kI, k512}}, ints("axes", {1})},
      {"ArgMax", "float 512x512, axis 1", {{kF, k512}}, integer("axis", 1)},
      {"TopK", "float 512x512, 8", {{kF, k512}, Constant({8})}, nullptr, 2},
      {"Softmax", "float 512x512", {{kF, k512}}},
      {"LayerNormalization", "float 512x512", {{kF, k512}, {kF, {512}}}},
      {"Exp", "float 512x512", {{kF, k512}}},
      {"NonZero", "bool 512x512", {{DataType::kBool, k512}}},
      {"Unique", "int64 65536 of 1000 values", {{kI, {65536}, 1000}}},
      {"Compress",
       "float 512x512, axis 0",
       {{kF, k512}, {DataType::kBool, {512}}},
       integer("axis", 0)},
      {"NonMaxSuppression",
       "1000 boxes, 2 classes",
       {{kF, {1, 1000, 4}},
        {kF, {1, 2, 1000}},
        Constant({100}),
        {kF, {1}, 0, true, {16}}}},
      {"Transpose", "double 512x512", {{kD, k512}}, ints("perm", {1, 0})},
      {"Transpose",
       "float 8x64x32x16, 0 2 3 1",
       {{kF, {8, 64, 32, 16}}},
       ints("perm", {0, 2, 3, 1})},
      {"Slice",
       "double 512x512, every second column",
       {{kD, k512},
        Constant({0}),
        Constant({512}),
        Constant({1}),
        Constant({2})}},
      {"Slice",
       "double 512x512, half of the rows",
       {{kD, k512}, Constant({0}), Constant({256}), Constant({0})}},
      {"Pad", "double 512x512 by 8", {{kD, k512}, Constant({8, 8, 8, 8})}},
      {"Tile", "int64 128x128, 4 by 4", {{kI, {128, 128}}, Constant({4, 4})}},
      {"Expand",
       "int64 512x1 to 512x512",
       {{kI, {512, 1}}, Constant({512, 512})}},
      {"Concat",
       "double 512x512 twice, axis 1",
       {{kD, k512}, {kD, k512}},
       integer("axis", 1)},
      {"Gather", "double 512x512, 512 rows", {{kD, k512}, {kI, {512}, 512}}},
      {"Gather",
       "double 512x512, 512 columns",
       {{kD, k512}, {kI, {512}, 512}},
       integer("axis", 1)},
      {"GatherElements",
       "float 512x512, axis 1",
       {{kF, k512}, {kI, k512, 512}},
       integer("axis", 1)},
      {"GatherND",
       "float 512x512, 65536 elements",
       {{kF, k512}, {kI, {65536, 2}, 512}}},
      {"ScatterElements",
       "float 512x512, axis 1",
       {{kF, k512}, {kI, k512, 512}, {kF, k512}},
       integer("axis", 1)},
      {"ScatterND",
       "double 512x512, 256 rows",
       {{kD, k512}, {kI, {256, 1}, 512}, {kD, {256, 512}}}},
      {"OneHot",
       "4096 of 64, float",
       {{kI, {4096}, 64}, Constant({64}), {kF, {2}}}},
      {"DepthToSpace",
       "float 1x64x64x64, 2",
       {{kF, {1, 64, 64, 64}}},
       integer("blocksize", 2)},
      {"Resize",
       "float 1x16x64x64 to twice, nearest",
       {{kF, {1, 16, 64, 64}}, {kF, {0}, 0, true}, resized}},
      {"Resize",
       "float 1x16x64x64 to twice, linear",
       {{kF, {1, 16, 64, 64}}, {kF, {0}, 0, true}, resized},
       text("mode", "linear")},
      {"Resize",
       "float 1x16x64x64 to twice, cubic",
       {{kF, {1, 16, 64, 64}}, {kF, {0}, 0, true}, resized},
       text("mode", "cubic")},
      {"GridSample",
       "float 1x16x64x64, bilinear",
       {{kF, {1, 16, 64, 64}}, {kF, {1, 64, 64, 2}}}},
      {"MaxPool",
       "float 1x16x128x128, 3x3",
       {{kF, {1, 16, 128, 128}}},
       ints("kernel_shape", {3, 3})},
      {"AveragePool",
       "float 1x16x128x128, 3x3",
       {{kF, {1, 16, 128, 128}}},
       ints("kernel_shape", {3, 3})},
      {"Conv",
       "float 1x32x64x64, 32 of 3x3",
       {{kF, {1, 32, 64, 64}}, {kF, {32, 32, 3, 3}}}},
      {"MatMul", "float 64x512 by 512x512", {{kF, {64, 512}}, {kF, k512}}},
      {"Gemm",
       "float 64x512 by 512x512, transposed",
       {{kF, {64, 512}}, {kF, k512}, {kF, {512}}},
       integer("transB", 1)},
      {"MatMul", "float 1x512 by 512x512", {{kF, {1, 512}}, {kF, k512}}},
      {"Einsum",
       "float 8x64x64 by 8x64x64, bij,bkj->bik",
       {{kF, {8, 64, 64}}, {kF, {8, 64, 64}}},
       text("equation", "bij,bkj->bik")},
      {"LSTM",
       "float 32 steps, 128 of 128",
       {{kF, {32, 1, 128}}, {kF, {1, 512, 128}}, {kF, {1, 512, 128}}},
       integer("hidden_size", 128)},
  };
}

// Other operators, types and shapes than those of which the forms of
// compiler/partition/host_work.cc were made: a test of the estimates.
std::vector<Case> HeldOut() {
  const Shape image = {1, 24, 50, 70}, rows = {300, 777};
  const auto ints = [](const char* name, std::vector<int64_t> values) {
    return [name, values = std::move(values)](onnx::NodeProto* node) {
      SetInts(node, name, values);
    };
  };
  const auto integer = [](const char* name, int64_t value) {
    return [name, value](onnx::NodeProto* node) { SetInt(node, name, value); };
  };
  return {
      {"Sub", "int64 300x777 and 300x1", {{kI, rows}, {kI, {300, 1}}}},
      {"Min", "int64 300x777 and 777", {{kI, rows}, {kI, {777}}}},
      {"Greater", "int64 300x777", {{kI, rows}, {kI, rows}}},
      {"Cast", "float to int8, 300x777", {{kF, rows}}, integer("to", 3)},
      {"Cast", "int64 to double, 300x777", {{kI, rows}}, integer("to", 11)},
      {"ReduceMin", "float 300x777, axis 1", {{kF, rows}}, ints("axes", {1})},
      {"ReduceL1", "float 300x777, axis 0", {{kF, rows}}, ints("axes", {0})},
      {"ReduceProd", "int64 300x777, axis 1", {{kI, rows}}, ints("axes", {1})},
      {"ArgMin", "int64 300x777, axis 1", {{kI, rows}}, integer("axis", 1)},
      {"LogSoftmax", "float 300x777", {{kF, rows}}},
      {"Tanh", "float 300x777", {{kF, rows}}},
      {"Transpose",
       "int64 24x50x70, 2 0 1",
       {{kI, {24, 50, 70}}},
       ints("perm", {2, 0, 1})},
      {"Transpose",
       "float 1x24x50x70, 0 1 3 2",
       {{kF, image}},
       ints("perm", {0, 1, 3, 2})},
      {"Slice",
       "float 1x24x50x70, a part of the columns",
       {{kF, image}, Constant({3}), Constant({60}), Constant({3})}},
      {"Pad",
       "float 1x24x50x70 by 1",
       {{kF, image}, Constant({0, 0, 1, 1, 0, 0, 1, 1})}},
      {"Expand",
       "float 24x1x70 to 24x50x70",
       {{kF, {24, 1, 70}}, Constant({24, 50, 70})}},
      {"SpaceToDepth",
       "float 1x24x50x70, 2",
       {{kF, image}},
       integer("blocksize", 2)},
      {"Gather",
       "int64 777x300, 400 rows",
       {{kI, {777, 300}}, {kI, {400}, 777}}},
      {"GatherND",
       "double 100x40x60, 1000 rows",
       {{kD, {100, 40, 60}}, {kI, {1000, 2}, 40}}},
      {"ScatterElements",
       "int64 300x777, axis 0",
       {{kI, rows}, {kI, {100, 777}, 300}, {kI, {100, 777}}}},
      {"ReverseSequence",
       "double 50x40x60",
       {{kD, {50, 40, 60}}, {kI, {40}, 0, true, std::vector<int64_t>(40, 30)}}},
      {"NonZero", "int64 300x777", {{kI, rows}}},
      {"MaxPool",
       "float 1x24x50x70, 2x2 by 2",
       {{kF, image}},
       [](onnx::NodeProto* node) {
         SetInts(node, "kernel_shape", {2, 2});
         SetInts(node, "strides", {2, 2});
       }},
      {"GlobalAveragePool", "float 1x24x50x70", {{kF, image}}},
      {"Conv",
       "float 1x24x50x70, 24 of 5x5 by 2, depthwise",
       {{kF, image}, {kF, {24, 1, 5, 5}}},
       [](onnx::NodeProto* node) {
         SetInt(node, "group", 24);
         SetInts(node, "strides", {2, 2});
       }},
      {"ConvTranspose",
       "float 1x24x50x70, 12 of 3x3",
       {{kF, image}, {kF, {24, 12, 3, 3}}}},
      {"MatMul",
       "float 12x50x64 by 12x64x50",
       {{kF, {12, 50, 64}}, {kF, {12, 64, 50}}}},
      {"GRU",
       "float 20 steps, 64 of 96",
       {{kF, {20, 1, 96}}, {kF, {1, 192, 96}}, {kF, {1, 192, 64}}},
       integer("hidden_size", 64)},
      {"LSTM",
       "float 12 steps of 8, 48 of 40, both directions",
       {{kF, {12, 8, 40}}, {kF, {2, 192, 40}}, {kF, {2, 192, 48}}},
       [](onnx::NodeProto* node) {
         SetInt(node, "hidden_size", 48);
         SetString(node, "direction", "bidirectional");
       }},
      {"RNN",
       "float 30 steps, 96 of 64, constant weights",
       {{kF, {30, 1, 64}},
        {kF, {1, 96, 64}, 0, true},
        {kF, {1, 96, 96}, 0, true}},
       integer("hidden_size", 96)},
      {"GridSample",
       "float 1x8x40x50, bicubic, reflection",
       {{kF, {1, 8, 40, 50}}, {kF, {1, 60, 30, 2}}},
       [](onnx::NodeProto* node) {
         SetString(node, "mode", "bicubic");
         SetString(node, "padding_mode", "reflection");
       }},
      {"GridSample",
       "float 1x8x40x50, nearest",
       {{kF, {1, 8, 40, 50}}, {kF, {1, 60, 30, 2}}},
       [](onnx::NodeProto* node) { SetString(node, "mode", "nearest"); }},
      {"Einsum",
       "double 40x50 by 50x60, ij,jk->ik",
       {{kD, {40, 50}}, {kD, {50, 60}}},
       [](onnx::NodeProto* node) { SetString(node, "equation", "ij,jk->ik"); }},
      {"MaxPool",
       "float 1x8x12x40x40, 3x3x3",
       {{kF, {1, 8, 12, 40, 40}}},
       ints("kernel_shape", {3, 3, 3})},
  };
}

struct Built {
  std::string model;
  std::vector<TensorData> data;  // of inputs that are no constants
  std::vector<std::pair<std::string, RuntimeTensor>> inputs;
  std::vector<std::string> outputs;
};

Built Build(const Case& c) {
  ModelBuilder b(17);
  Built built;
  std::vector<std::string> names;
  for (const Input& input : c.inputs) {
    names.push_back("x" + std::to_string(names.size()));
    TensorData data = Values(input);
    if (input.constant) {
      b.Constant(names.back(), data);
      continue;
    }
    b.Input(names.back(), input.type, input.shape);
    built.inputs.push_back(
        {names.back(),
         {static_cast<int>(input.type), input.shape, data.bytes.ToVector()}});
    built.data.push_back(std::move(data));
  }
  for (int i = 0; i < c.outputs; ++i) {
    built.outputs.push_back("y" + std::to_string(i));
  }
  onnx::NodeProto* node = b.Node(c.op, names, built.outputs);
  if (c.attributes) c.attributes(node);
  for (const std::string& y : built.outputs) b.Output(y);
  built.model = b.Bytes();
  return built;
}

struct Measured {
  double seconds = 0, estimate = 0;
  uint64_t fingerprint = 0;
};

// As the model has the operator: the passes before its expansion.
absl::StatusOr<compiler::Graph> NotExpanded(const std::string& model) {
  auto imported = compiler::ImportOnnx(model, compiler::ImportOptions());
  if (!imported.ok()) return imported.status();
  const auto end = compiler::FindPass("expand");
  if (!end.ok()) return end.status();
  compiler::PassContext context;
  context.declared = std::move(imported->declared);
  for (size_t i = 0; i < *end; ++i) {
    const compiler::Pass& pass = compiler::Passes()[i];
    if (pass.run == nullptr) continue;
    const absl::Status status = pass.run(&imported->graph, context);
    if (!status.ok()) return status;
  }
  return std::move(imported->graph);
}

// As segments of the host have their nodes.
absl::StatusOr<compiler::Graph> ForHost(const std::string& model) {
  compiler::CompileOptions options;
  options.features.fuse_elementwise = false;
  options.keep_direct = true;
  auto graph = compiler::AnalyseOnnx(model, options);
  if (!graph.ok()) return graph.status();
  // What the compiler makes for the card alone, the host has only where the
  // card cannot take the operator: it is not expanded then.
  const bool for_card = std::any_of(
      graph->nodes.begin(), graph->nodes.end(), [](const compiler::Node& node) {
        return node.domain == compiler::kInternalDomain;
      });
  return for_card ? NotExpanded(model) : std::move(graph);
}

absl::StatusOr<Measured> OnHost(const Built& built,
                                const compiler::HostProfile& profile,
                                int repeat, int threads) {
  auto graph = ForHost(built.model);
  if (!graph.ok()) return graph.status();
  auto host = compiler::HostFunction::Make(*std::move(graph));
  if (!host.ok()) return host.status();
  std::vector<const uint8_t*> from;
  for (const TensorData& x : built.data) from.push_back(x.bytes.data());
  std::vector<std::vector<uint8_t>> results;
  std::vector<uint8_t*> to;
  for (compiler::TensorId id : host->graph().outputs) {
    const compiler::Tensor& t = host->graph().tensors[id];
    results.emplace_back(compiler::ElementCount(t.shape) *
                         compiler::ElementBytes(t.type));
    to.push_back(results.back().data());
  }
  Measured measured;
  measured.seconds = 1e30;
  measured.estimate = compiler::HostTime(host->graph(), profile) * 1e-9;
  const std::function<absl::Status()> stop = [] { return absl::OkStatus(); };
  compiler::LentThreads crew(threads);
  const compiler::CrewScope scope(&crew, stop);
  // Of several threads the time that passes counts.
  const clockid_t clock =
      threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  for (int i = 0; i <= repeat; ++i) {
    const double before = Seconds(clock);
    const absl::Status status = host->Run(from, to, stop);
    if (i > 0) {
      measured.seconds = std::min(measured.seconds, Seconds(clock) - before);
    }
    if (!status.ok()) return status;
  }
  measured.fingerprint = 0xCBF29CE484222325u;
  for (const auto& result : results) {
    for (uint8_t byte : result) {
      measured.fingerprint = (measured.fingerprint ^ byte) * 0x100000001B3u;
    }
  }
  return measured;
}

int Main(const std::vector<std::string>& names, int repeat, bool fingerprints,
         bool held_out, int threads, const compiler::HostProfile& profile) {
  std::unique_ptr<OnnxRuntime> runtime;
  const auto libraries = OnnxRuntime::SharedLibraries();
  if (!libraries.empty() && !fingerprints) {
    auto opened = OnnxRuntime::Open(libraries.back());
    if (opened.ok()) runtime = *std::move(opened);
  }
  if (!fingerprints) {
    std::printf(
        "| operator | of | host, us | ONNX Runtime, us | times | estimated of "
        "measured |\n|---|---|---|---|---|---|\n");
  }
  double logarithms = 0, most = 0;
  int both = 0, judged = 0, within = 0, failed = 0;
  for (const Case& c : held_out ? HeldOut() : Cases()) {
    if (!names.empty() &&
        std::find(names.begin(), names.end(), c.op) == names.end()) {
      continue;
    }
    const Built built = Build(c);
    const auto host =
        OnHost(built, profile, fingerprints ? 1 : repeat, threads);
    if (!host.ok()) {
      std::fprintf(stderr, "%s: %s\n", c.op.c_str(),
                   std::string(host.status().message()).c_str());
      ++failed;
      continue;
    }
    if (fingerprints) {
      std::printf("%s %s %016llx\n", c.op.c_str(), c.what.c_str(),
                  static_cast<unsigned long long>(host->fingerprint));
      continue;
    }
    std::string theirs = "-", times = "-";
    if (runtime != nullptr) {
      const auto time =
          runtime->Time(built.model, built.inputs, built.outputs, repeat);
      if (time.ok()) {
        char digits[32];
        std::snprintf(digits, sizeof(digits), "%.0f", *time * 1e6);
        theirs = digits;
        const double ratio = host->seconds / *time;
        std::snprintf(digits, sizeof(digits), "%.1f", ratio);
        times = digits;
        logarithms += std::log(ratio);
        most = std::max(most, ratio);
        ++both;
      } else {
        std::fprintf(stderr, "%s: %s\n", c.op.c_str(),
                     std::string(time.status().message()).c_str());
      }
    }
    std::printf("| %s | %s | %.0f | %s | %s | %.2f |\n", c.op.c_str(),
                c.what.c_str(), host->seconds * 1e6, theirs.c_str(),
                times.c_str(), host->estimate / host->seconds);
    std::fflush(stdout);
    const double off = host->estimate / host->seconds;
    ++judged;
    within += off >= 0.5 && off <= 2;
  }
  if (judged > 0) {
    std::printf("estimated within a factor of 2: %d of %d\n", within, judged);
  }
  if (both > 0) {
    std::printf("geometric mean of %d: %.1f times, most: %.1f\n", both,
                std::exp(logarithms / both), most);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) {
  CLI::App app("Operators on the host, beside ONNX Runtime.");
  std::vector<std::string> names;
  std::string profile_file;
  int repeat = 5, threads = 1;
  bool fingerprints = false, held_out = false;
  app.add_option("names", names, "operators; all");
  app.add_option("--repeat", repeat, "runs of each; the fastest counts")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--threads", threads,
                 "of the host's side; of several the time that passes counts")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--held-out", held_out,
               "other operators and shapes than those that the estimates were "
               "made of");
  app.add_flag("--fingerprints", fingerprints,
               "hashes of the results instead of times");
  app.add_option("--host-profile", profile_file,
                 "of this machine: ./dev bench host");
  CLI11_PARSE(app, argc, argv);
  heddle::compiler::HostProfile profile =
      heddle::compiler::DefaultHostProfile();
  if (!profile_file.empty()) {
    std::ifstream file(profile_file);
    std::stringstream text;
    text << file.rdbuf();
    auto parsed = heddle::compiler::ParseHostProfile(text.str());
    if (!parsed.ok()) {
      std::fprintf(stderr, "%s: %s\n", profile_file.c_str(),
                   std::string(parsed.status().message()).c_str());
      return 1;
    }
    profile = *std::move(parsed);
  }
  return heddle::tests::Main(names, repeat, fingerprints, held_out, threads,
                             profile);
}
