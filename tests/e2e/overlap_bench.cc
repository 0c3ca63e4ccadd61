// SPDX-License-Identifier: Apache-2.0
// A network with two branches that need nothing of each other, one of them the
// host's, on a private functional card: the wall clock of a run, and of each
// branch as a network of its own. What the card's process computes and what the
// host computes take place at the same time, so the first is less than the sum.
//
//   overlap_bench [--repeat 30] [--layers 40] [--rows 1000]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"

namespace heddle {
namespace {

using compiler::DataType;
using compiler::ModelBuilder;
using compiler::RandomData;

// Convolutions, as many as are asked for, and rows of 1,000 numbers that are
// transposed in double precision, which only the host has.
std::string Model(bool card, bool host, int layers, int64_t rows) {
  ModelBuilder b;
  if (card) {
    b.Input("x", DataType::kFloat, {1, 16, 64, 64});
    std::string from = "x";
    for (int i = 0; i < layers; ++i) {
      const std::string w = "w" + std::to_string(i),
                        y = "c" + std::to_string(i);
      b.Constant(w, RandomData(DataType::kFloat, {16, 16, 3, 3}, i + 1));
      compiler::SetInts(b.Node("Conv", {from, w}, {y}), "pads", {1, 1, 1, 1});
      from = y;
    }
    b.Output(from);
  }
  if (host) {
    b.Input("k", DataType::kFloat, {rows, 1000});
    compiler::SetInt(b.Node("Cast", {"k"}, {"d"}), "to", 11);
    b.Node("Transpose", {"d"}, {"t"});
    compiler::SetInt(b.Node("Cast", {"t"}, {"z"}), "to", 1);
    b.Output("z");
  }
  return b.Bytes();
}

// Milliseconds of the fastest run and of the one in the middle; negative: not
// measured, with a line on stderr.
struct Times {
  double best = -1, median = -1;
  size_t segments = 0;
};

Times Measure(const std::shared_ptr<session::Device>& device,
              const std::string& model, int repeat) {
  compiler::CompileOptions options;
  options.host_nodes = true;
  // The host takes what only it can.
  options.placement = compiler::Placement::kCard;
  const auto made = compiler::CompileOnnx(model, options);
  const auto graph =
      made.ok()
          ? session::LoadGraph(device, made->package)
          : absl::StatusOr<std::shared_ptr<session::Graph>>(made.status());
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", graph.status().ToString().c_str());
    return {};
  }
  const package::Package& package = (*graph)->package();
  std::vector<std::vector<uint8_t>> room;
  std::vector<session::TensorBuffer> inputs, outputs;
  for (const auto& info : package.inputs) {
    room.push_back(RandomData(info.type, info.shape, 7).bytes.ToVector());
    inputs.push_back({info.name, room.back().data(), room.back().size()});
  }
  for (const auto& info : package.outputs) {
    room.emplace_back(static_cast<size_t>(compiler::ElementCount(info.shape)) *
                      static_cast<size_t>(compiler::ElementBytes(info.type)));
    outputs.push_back({info.name, room.back().data(), room.back().size()});
  }
  std::vector<double> all;
  for (int i = 0; i < repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto run = (*graph)->Start(inputs, outputs, nullptr);
    const absl::Status status =
        run.ok() ? (*run)->Wait(absl::InfiniteFuture()) : run.status();
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return {};
    }
    all.push_back(std::chrono::duration<double, std::milli>(
                      std::chrono::steady_clock::now() - begin)
                      .count());
  }
  std::sort(all.begin(), all.end());
  return {all[0], all[all.size() / 2], package.segments.size()};
}

int Main(int repeat, int layers, int64_t rows) {
  const auto device = session::OpenSim();
  if (device == nullptr) return 1;
  const Times both = Measure(device, Model(true, true, layers, rows), repeat);
  const Times card = Measure(device, Model(true, false, layers, rows), repeat);
  const Times host = Measure(device, Model(false, true, layers, rows), repeat);
  if (both.best < 0 || card.best < 0 || host.best < 0) return 1;
  std::printf("%-8s %10s %10s %s\n", "", "best ms", "median ms", "segments");
  const std::pair<const char*, const Times*> table[] = {
      {"card", &card}, {"host", &host}, {"both", &both}};
  for (const auto& [name, times] : table) {
    std::printf("%-8s %10.2f %10.2f %zu\n", name, times->best, times->median,
                times->segments);
  }
  std::printf("both, of the sum: %.2f; medians %.2f\n",
              both.best / (card.best + host.best),
              both.median / (card.median + host.median));
  return 0;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  CLI::App app("Card and host at the same time.");
  int repeat = 30, layers = 40;
  int64_t rows = 1000;
  app.add_option("--repeat", repeat)->check(CLI::Range(1, 1000000));
  app.add_option("--layers", layers)->check(CLI::Range(1, 1000));
  app.add_option("--rows", rows)->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  return heddle::Main(repeat, layers, rows);
}
