// SPDX-License-Identifier: Apache-2.0
// What compiling costs: user CPU, wall clock and the largest anonymous memory,
// of models that are large in one way each. Every model is compiled in a
// process of its own.
//
//   compile_bench chain               # or all, without names
//   compile_bench --threads 2 matmuls
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"

namespace heddle::compiler {
namespace {

std::string Chain(int length) {
  ModelBuilder b;
  b.Input("x0", DataType::kFloat, {1, 64, 4, 4});
  for (int i = 0; i < length; ++i) {
    b.Node(i % 2 ? "Abs" : "Neg", {"x" + std::to_string(i)},
           {"x" + std::to_string(i + 1)});
  }
  b.Output("x" + std::to_string(length));
  return b.Bytes();
}

std::string Permutation(int count) {
  std::vector<int64_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  std::shuffle(indices.begin(), indices.end(), std::mt19937_64(1));
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {count, 4});
  b.Constant("i", Int64s({count}, indices));
  b.Node("Gather", {"x", "i"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

std::string Tile() {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {1, 1 << 10});
  b.Constant("r", Int64s({2}, {1 << 19, 1}));
  b.Node("Tile", {"x", "r"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

// `layers` int8 products of `width` by `width`.
std::string Products(int64_t width, int layers) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {16, width});
  b.Constant("s", Floats({}, {0.02f}));
  b.Constant("z", Uint8s({}, {128}));
  b.Constant("wz", Int8s({}, {0}));
  std::string from = "x";
  for (int i = 0; i < layers; ++i) {
    const std::string w = "w" + std::to_string(i), y = "y" + std::to_string(i);
    b.Constant(w, RandomData(DataType::kInt8, {width, width}, i + 1));
    b.Node("QLinearMatMul", {from, "s", "z", w, "s", "wz", "s", "z"}, {y});
    from = y;
  }
  b.Output(from);
  return b.Bytes();
}

const std::vector<std::pair<std::string, std::function<std::string()>>>&
Cases() {
  static const auto* cases =
      new std::vector<std::pair<std::string, std::function<std::string()>>>{
          {"resnet50", [] { return MakeNetwork("resnet50"); }},
          {"matmul", [] { return Products(11264, 1); }},
          {"matmuls", [] { return Products(4096, 24); }},
          {"chain", [] { return Chain(20000); }},
          {"permutation", [] { return Permutation(4000); }},
          {"permutation_100k", [] { return Permutation(100000); }},
          {"tile", [] { return Tile(); }},
      };
  return *cases;
}

int64_t AnonymousKiB() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoll(line.substr(8));
  }
  return 0;
}

double UserSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

int Measure(const std::string& name, const std::string& model, int threads) {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> peak{0};
  const int64_t before = AnonymousKiB();
  std::thread watch([&] {
    while (!stop) {
      peak = std::max(peak.load(), AnonymousKiB());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  CompileOptions options;
  options.threads = threads;
  const auto begin = std::chrono::steady_clock::now();
  const double start = UserSeconds();
  const auto result = CompileOnnx(model, options);
  const double seconds = UserSeconds() - start;
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - begin;
  stop = true;
  watch.join();
  std::printf(
      "%-18s %10.2f %10.2f %12.0f  %s\n", name.c_str(), seconds, wall.count(),
      static_cast<double>(peak - before) / 1024,
      result.ok() ? "" : std::string(result.status().message()).c_str());
  std::fflush(stdout);
  return result.ok() ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app("What compiling costs");
  std::vector<std::string> names;
  app.add_option("names", names, "cases (default: all)");
  int threads = 1;
  app.add_option("--threads", threads, "threads that compile")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::printf("%-18s %10s %10s %12s\n", "case", "user CPU s", "wall s",
              "RssAnon MiB");
  std::fflush(stdout);
  int failed = 0;
  for (const auto& [name, make] : Cases()) {
    if (!names.empty() &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      continue;
    }
    const pid_t child = fork();
    if (child == 0) _exit(Measure(name, make(), threads));
    int status = 0;
    waitpid(child, &status, 0);
    failed |= status;
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) { return heddle::compiler::Main(argc, argv); }
