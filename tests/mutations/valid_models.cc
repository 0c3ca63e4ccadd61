// SPDX-License-Identifier: Apache-2.0
#include "tests/mutations/valid_models.h"

#include <algorithm>
#include <string>

#include "compiler/ops/define.h"
#include "compiler/testing/random_graph.h"
#include "tests/verdict/random_model.h"

namespace heddle::tests {
namespace {

constexpr uint64_t kTries = 150;
constexpr int64_t kMostElements = 600;

std::optional<onnx::ModelProto> RandomModel(const compiler::OperatorInfo& info,
                                            uint64_t seed) {
  if (!compiler::HasGenerator(info.op)) return std::nullopt;
  const int versions = info.until_version - info.since_version + 1;
  for (uint64_t i = 0; i < kTries; ++i) {
    compiler::RandomGraphOptions options;
    options.seed = seed * kTries + i;
    options.min_nodes = options.max_nodes = 1;
    options.max_elements = kMostElements;
    options.only = info.op;
    options.plain = true;
    if (info.domain[0] == '\0') {
      options.opset =
          info.since_version + static_cast<int>(seed + i) % versions;
    }
    const compiler::RandomGraph random = compiler::MakeRandomGraph(options);
    if (random.graph.nodes.size() != 1 || random.graph.nodes[0].op != info.op ||
        random.graph.nodes[0].domain != info.domain) {
      continue;
    }
    return ToModel(random);
  }
  return std::nullopt;
}

}  // namespace

std::optional<onnx::ModelProto> ValidModel(const compiler::OperatorInfo& info,
                                           uint64_t seed) {
  auto model = RandomModel(info, seed);
  if (!model) model = WrittenModel(info);
  if (!model) return model;
  auto* graph = model->mutable_graph();
  graph->mutable_node(0)->set_name("subject");
  for (auto& output : *graph->mutable_output()) output.clear_type();
  return model;
}

}  // namespace heddle::tests
