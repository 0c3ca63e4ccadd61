// SPDX-License-Identifier: Apache-2.0
// Random small graphs, compiled for every configuration with random amounts of
// SRAM and run on the functional model: equal to the reference semantics byte
// for byte, or refused with a kind; never a fault, a race or an internal error.
//
// Arguments: --first_seed=N --seeds=N.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "compiler/backend/backend.h"
#include "compiler/backend/lowering.h"
#include "compiler/backend/random_graph.h"
#include "compiler/diagnostic.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

uint64_t first_seed = 1, seeds = 2000;

struct Counts {
  int equal = 0, refused = 0;
  std::map<std::string, int> operators, reasons;
};

std::string FirstDifference(const TensorData& a, const TensorData& b) {
  if (a.bytes.size() != b.bytes.size()) return "sizes differ";
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if (a.bytes[i] != b.bytes[i]) {
      const size_t es = ElementBytes(a.type);
      return "element " + std::to_string(i / es) + " of " +
             std::to_string(a.bytes.size() / es);
    }
  }
  return "";
}

void RunSeed(uint64_t seed, Counts* counts) {
  RandomGraphOptions graph_options;
  graph_options.seed = seed;
  graph_options.allowed = HasLowering;
  const RandomGraph random = MakeRandomGraph(graph_options);
  const Graph& graph = random.graph;
  ASSERT_TRUE(graph.Verify().ok()) << graph.Verify();
  auto expected = EvaluateGraph(graph, random.inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::mt19937_64 choice(seed);
  CompileOptions options;
  options.config = isa::kConfigs[choice() % 3].name;
  const uint64_t limits[] = {0,        0,        12 << 10, 20 << 10,
                             32 << 10, 64 << 10, 128 << 10};
  options.sram_bytes = limits[choice() % 7];
  options.taps = choice() % 3 == 0;
  SCOPED_TRACE("seed " + std::to_string(seed) + " " + options.config +
               " SRAM " + std::to_string(options.sram_bytes) +
               (options.taps ? " taps" : "") + "\n" + graph.ToString());
  auto result = GeneratePackage(graph, options);
  if (!result.ok()) {
    EXPECT_NE(RefusalOf(result.status()), Refusal::kNone) << result.status();
    ++counts->refused;
    std::string reason(result.status().message());
    const size_t at = reason.find("':");
    ++counts->reasons[at == std::string::npos ? reason
                                              : reason.substr(at + 2, 60)];
    return;
  }
  model::Options model_options;
  model_options.detect_races = seed % 4 == 0;
  auto run = RunPackage(result->package, random.inputs, model_options);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const model::Finding& f : run->findings) {
    ADD_FAILURE() << f.what << " at " << f.offset << " ("
                  << result->package.NodeAt(0, f.offset) << ") and "
                  << f.other_offset << " ("
                  << result->package.NodeAt(0, f.other_offset) << ")";
  }
  for (const auto& [name, data] : run->outputs) {
    const TensorId id = graph.FindTensor(name);
    ASSERT_NE(id, kNoTensor) << name;
    EXPECT_EQ(FirstDifference(data, (*expected)[id]), "") << name;
  }
  EXPECT_GE(run->outputs.size(), graph.outputs.size());
  ++counts->equal;
  for (const Node& node : graph.nodes) ++counts->operators[node.op];
}

TEST(GeneratedGraph, EqualsTheReferenceOrIsRefused) {
  Counts counts;
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    RunSeed(seed, &counts);
    if (testing::Test::HasFatalFailure()) break;
  }
  std::printf("%d equal, %d refused\n", counts.equal, counts.refused);
  for (const auto& [op, n] : counts.operators)
    std::printf("  %s %d\n", op.c_str(), n);
  for (const auto& [why, n] : counts.reasons)
    std::printf("  refused %d: %s\n", n, why.c_str());
  // Most graphs must be compiled, or the test shows nothing.
  EXPECT_GT(counts.equal, 2 * counts.refused);
  if (seeds < 100) return;
  for (const char* op :
       {"Conv", "MatMul", "Gemm", "MaxPool", "QLinearConv", "QLinearMatMul",
        "QGemm", "QLinearAdd", "Add", "Mul", "Relu", "Clip", "QuantizeLinear",
        "DequantizeLinear", "Reshape", "Transpose", "Flatten"}) {
    EXPECT_GT(counts.operators[op], 3) << op;
  }
}

}  // namespace
}  // namespace heddle::compiler

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    unsigned long long value;
    if (std::sscanf(argv[i], "--first_seed=%llu", &value) == 1) {
      heddle::compiler::first_seed = value;
    } else if (std::sscanf(argv[i], "--seeds=%llu", &value) == 1) {
      heddle::compiler::seeds = value;
    }
  }
  return RUN_ALL_TESTS();
}
