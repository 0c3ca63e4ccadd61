// SPDX-License-Identifier: Apache-2.0
// What of a trained model runs on the card: a row of a Markdown table for each.
//
//   model_coverage [--config h256] [FOLDER ...]
//
// Without folders: all of ../shared/models. Nodes are those of the model, of
// its If, Loop and Scan bodies too, as `heddle-compile --explain NODE` answers
// for each: on the card, on the host, or without work when the model runs
// (constants, shapes, what is known when it is compiled, views of other
// tensors). Multiply-accumulates
// of the card are those of its layers, of the host those of its convolutions
// and products; the share is the card's of both.
#include <onnx/onnx_pb.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "tests/comparer/model_folder.h"
#include "tests/e2e/model_macs.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

size_t NodesOf(const onnx::GraphProto& graph) {
  size_t count = static_cast<size_t>(graph.node_size());
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count += NodesOf(attribute.g());
    }
  }
  return count;
}

double Percent(double part, double all) {
  return all == 0 ? 100 : 100 * part / all;
}

bool PrintRow(const std::string& folder, const std::string& config) {
  const auto read = comparer::ReadModelFolder(folder, 0);
  if (!read.ok() || read->sets.empty()) {
    std::fprintf(stderr, "%s: no model with test data\n", folder.c_str());
    return false;
  }
  compiler::CompileOptions options;
  options.config = config;
  options.host_nodes = true;
  options.data_folder = folder;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const comparer::Tensor& input : read->sets[0].inputs) {
    shapes[input.name] = input.shape;
    options.input_shapes[input.name] = input.shape;
  }
  const auto compiled = compiler::CompileOnnx(read->model, options);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(),
                 std::string(compiled.status().message()).c_str());
    return false;
  }
  const compiler::CompileReport& report = compiled->report;
  onnx::ModelProto model;
  model.ParseFromString(read->model);
  std::set<std::string> host, card;
  std::string on_host;
  for (const compiler::HostNode& node : report.host_nodes) {
    host.insert(node.sources.begin(), node.sources.end());
    on_host += (on_host.empty() ? "" : ", ") + node.op;
  }
  for (const compiler::LayerReport& layer : report.layers) {
    for (const std::string& source : layer.sources) {
      if (host.count(source) == 0) card.insert(source);
    }
  }
  double host_macs = 0;
  for (const auto& [name, macs] : NodeMacs(read->model, shapes)) {
    if (host.count(name) != 0) host_macs += static_cast<double>(macs);
  }
  const size_t nodes = NodesOf(model.graph());
  const auto card_macs = static_cast<double>(report.macs);
  const auto count = [](const std::set<std::string>& of) {
    return static_cast<double>(of.size());
  };
  std::printf(
      "| %s | %zu | %zu | %zu | %s | %.1f %% | %.3f | %.1f %% |\n",
      std::filesystem::path(folder).filename().c_str(), nodes, card.size(),
      nodes - std::min(nodes, card.size() + host.size()),
      host.empty()
          ? "0"
          : (std::to_string(host.size()) + " (" + on_host + ")").c_str(),
      Percent(count(card), count(card) + count(host)), card_macs * 1e-6,
      Percent(card_macs, card_macs + host_macs));
  return true;
}

int Main(int argc, char** argv) {
  CLI::App app("What of trained models runs on the card");
  std::string config = "h256";
  std::vector<std::string> folders;
  app.add_option("--config", config, "hardware configuration");
  app.add_option("folders", folders, "folders with model.onnx and test data");
  CLI11_PARSE(app, argc, argv);
  if (folders.empty()) {
    for (const auto& entry :
         std::filesystem::directory_iterator(SharedPath("models"))) {
      if (std::filesystem::exists(entry.path() / "model.onnx")) {
        folders.push_back(entry.path());
      }
    }
    std::sort(folders.begin(), folders.end());
  }
  std::printf(
      "| Model | nodes | on the card | without work | on the host | "
      "of those with work, card | MMACs on the card | of all MACs, card |\n"
      "|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const std::string& folder : folders) {
    good = PrintRow(folder, config) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
