// SPDX-License-Identifier: Apache-2.0
// Measures what the host takes for each kind of work that host profiles have
// rates of, in CPU time of one thread, and prints the profile
// (compiler/base/host_profile.h):
//
//   host_bench --name desk > desk.profile
//   heddle-compile MODEL.onnx --host-profile desk.profile --report
//
// Each kind is that of an operator or several that do little else; what else
// they do is subtracted by the rates that are known before. --details prints
// each of them with what the finished profile says of it. What a job and a
// transfer cost is no affair of the host alone: ./dev bench hosted (or driver)
// measures them, and options give them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/compiler.h"
#include "compiler/host/host_function.h"
#include "compiler/ir/block_pool.h"
#include "compiler/partition/host_work.h"
#include "compiler/testing/cpu_seconds.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Small numbers, of which no operator is slower than of others.
TensorData Values(DataType type, const Shape& shape) {
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    const int value = static_cast<int>(i * 7919 % 251);
    if (type == DataType::kFloat) {
      data.as<float>()[i] = static_cast<float>(value - 125) / 32;
    } else if (type == DataType::kDouble) {
      data.as<double>()[i] = static_cast<double>(value - 125) / 32;
    } else {
      data.bytes[i * static_cast<int64_t>(ElementBytes(type))] =
          static_cast<uint8_t>(value);
    }
  }
  return data;
}

// One operator with inputs of those types and shapes, repeated in parallel.
struct Case {
  const char* op;
  std::vector<std::pair<DataType, Shape>> inputs;
  std::function<void(onnx::NodeProto*)> attributes;
  int copies = 1;
};

struct Measured {
  std::string name;
  HostWork work;
  double ns = 0;
};

// Nothing, with a line on stderr, if it cannot be run.
bool Measure(const Case& c, int repeat, Measured* measured) {
  ModelBuilder b;
  std::vector<std::string> names;
  std::vector<TensorData> data;
  for (const auto& [type, shape] : c.inputs) {
    names.push_back("x" + std::to_string(names.size()));
    b.Input(names.back(), type, shape);
    data.push_back(Values(type, shape));
  }
  for (int i = 0; i < c.copies; ++i) {
    const std::string y = "y" + std::to_string(i);
    onnx::NodeProto* node = b.Node(c.op, names, {y});
    if (c.attributes) c.attributes(node);
    b.Output(y);
  }
  CompileOptions options;
  options.features.fuse_elementwise = false;
  auto graph = AnalyseOnnx(b.Bytes(), options);
  auto host = graph.ok() ? HostFunction::Make(*std::move(graph))
                         : absl::StatusOr<HostFunction>(graph.status());
  if (!host.ok()) {
    std::fprintf(stderr, "%s: %s\n", c.op,
                 std::string(host.status().message()).c_str());
    return false;
  }
  std::vector<const uint8_t*> from;
  for (const TensorData& x : data) from.push_back(x.bytes.data());
  std::vector<std::vector<uint8_t>> results;
  std::vector<uint8_t*> to;
  for (TensorId id : host->graph().outputs) {
    const Tensor& t = host->graph().tensors[id];
    results.emplace_back(ElementCount(t.shape) * ElementBytes(t.type));
    to.push_back(results.back().data());
  }
  // As in a session.
  const BlockPoolScope memory(
      std::make_shared<BlockPool>(kMostKeptBytes, kMostKeptBytes));
  double best = 1e30;
  for (int i = 0; i < repeat; ++i) {
    const double before = CpuSeconds();
    const absl::Status status =
        host->Run(from, to, [] { return absl::OkStatus(); });
    best = std::min(best, CpuSeconds() - before);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", c.op,
                 std::string(status.message()).c_str());
    return false;
  }
  measured->name = c.op;
  for (const Node& node : host->graph().nodes) {
    const HostWork work = HostWorkOf(host->graph(), node);
    measured->work.nodes += work.nodes;
    measured->work.bytes += work.bytes;
    measured->work.elements += work.elements;
    measured->work.instructions += work.instructions;
    measured->work.macs_float += work.macs_float;
    measured->work.macs_int += work.macs_int;
    measured->work.rows += work.rows;
  }
  measured->ns = best * 1e9;
  return true;
}

struct Kind {
  const char* rate;
  double HostProfile::*value;
  double HostWork::*work;
  std::vector<Case> cases;
};

std::vector<Kind> Kinds() {
  const DataType f = DataType::kFloat, u8 = DataType::kUint8;
  const auto to = [](DataType type) {
    return [type](onnx::NodeProto* node) {
      SetInt(node, "to", static_cast<int64_t>(type));
    };
  };
  const auto axis = [](onnx::NodeProto* node) { SetInt(node, "axis", 0); };
  const auto perm = [](onnx::NodeProto* node) {
    SetInts(node, "perm", {1, 0});
  };
  const auto axes = [](onnx::NodeProto* node) { SetInts(node, "axes", {1}); };
  const Shape large = {512, 512};
  // In an order in which each is little but what is known and one thing more.
  return {
      {"node_ns",
       &HostProfile::node_ns,
       &HostWork::nodes,
       {{"Concat", {{f, {4}}, {f, {4}}}, axis, 200},
        {"Cast", {{f, {4}}}, to(DataType::kInt32), 200},
        {"Add", {{f, {4}}, {f, {4}}}, nullptr, 200},
        {"Transpose", {{f, {2, 2}}}, perm, 200}}},
      {"byte_ns",
       &HostProfile::byte_ns,
       &HostWork::bytes,
       {{"Concat", {{f, large}, {f, large}}, axis}}},
      {"element_ns",
       &HostProfile::element_ns,
       &HostWork::elements,
       {{"Transpose", {{f, large}}, perm},
        {"Cast", {{f, large}}, to(DataType::kInt32)},
        {"ReduceMean", {{f, large}}, axes},
        {"Mul", {{f, large}, {f, large}}, nullptr},
        {"Add",
         {{DataType::kInt64, large}, {DataType::kInt64, large}},
         nullptr},
        {"MaxPool",
         {{f, {1, 4, 256, 256}}},
         [](onnx::NodeProto* node) {
           SetInts(node, "kernel_shape", {2, 2});
         }}}},
      {"instruction_ns",
       &HostProfile::instruction_ns,
       &HostWork::instructions,
       {{"Exp", {{f, large}}, nullptr},
        {"Tanh", {{f, large}}, nullptr},
        {"Sqrt", {{f, large}}, nullptr},
        {"Exp", {{f, {4}}}, nullptr, 200}}},
      {"row_ns",
       &HostProfile::row_ns,
       &HostWork::rows,
       // (With more rows or maps of a group panels are multiplied.)
       {{"MatMul", {{f, {2, 1024}}, {f, {1024, 1}}}, nullptr, 20},
        {"Conv",
         {{f, {1, 64, 8, 8}}, {f, {64, 1, 3, 3}}},
         [](onnx::NodeProto* node) { SetInt(node, "group", 64); },
         20}}},
      {"mac_float_ns",
       &HostProfile::mac_float_ns,
       &HostWork::macs_float,
       {{"MatMul", {{f, {64, 512}}, {f, {512, 512}}}, nullptr},
        {"Conv", {{f, {1, 32, 64, 64}}, {f, {32, 32, 3, 3}}}, nullptr}}},
      {"mac_int_ns",
       &HostProfile::mac_int_ns,
       &HostWork::macs_int,
       {{"MatMulInteger", {{u8, {64, 512}}, {u8, {512, 512}}}, nullptr}}},
  };
}

int Main(const std::string& name, double job_us, double transfer, int repeat,
         bool details) {
  HostProfile profile;
  profile.name = name;
  profile.job_us = job_us;
  profile.transfer_byte_ns = transfer;
  std::vector<Measured> all;
  for (const Kind& kind : Kinds()) {
    double logarithms = 0;
    for (const Case& c : kind.cases) {
      Measured measured;
      if (!Measure(c, repeat, &measured)) return 1;
      profile.*kind.value = 0;
      if (measured.work.*kind.work == 0) {
        std::fprintf(stderr, "%s has no work of %s\n", c.op, kind.rate);
        return 1;
      }
      const double rest = measured.ns - HostTime(measured.work, profile);
      // What is known may already be all that it takes.
      const double rate =
          std::max(rest, measured.ns / 100) / measured.work.*kind.work;
      logarithms += std::log(rate);
      all.push_back(measured);
    }
    const double mean =
        std::exp(logarithms / static_cast<double>(kind.cases.size()));
    // No more digits than are worth something.
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.3g", mean);
    profile.*kind.value = std::strtod(digits, nullptr);
  }
  if (details) {
    for (const Measured& m : all) {
      const double estimate = HostTime(m.work, profile);
      std::printf("# %-14s measured %10.2f us, estimated %10.2f us: %5.2f\n",
                  m.name.c_str(), m.ns / 1e3, estimate / 1e3, estimate / m.ns);
    }
  }
  std::printf("%s", HostProfileText(profile).c_str());
  return 0;
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) {
  CLI::App app("The host profile of this machine.");
  const auto& base = heddle::compiler::DefaultHostProfile();
  std::string name = "measured";
  double job_us = base.job_us, transfer = base.transfer_byte_ns;
  int repeat = 20;
  bool details = false;
  app.add_option("--name", name, "name of the profile, a word");
  app.add_option("--job-us", job_us, "of a job of the card, microseconds")
      ->capture_default_str();
  app.add_option("--transfer-byte-ns", transfer,
                 "of a byte to or from the card, nanoseconds")
      ->capture_default_str();
  app.add_option("--repeat", repeat, "runs of each case; the fastest counts")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--details", details, "print each case, as comments");
  CLI11_PARSE(app, argc, argv);
  return heddle::compiler::Main(name, job_us, transfer, repeat, details);
}
