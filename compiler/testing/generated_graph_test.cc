// SPDX-License-Identifier: Apache-2.0
// Random graphs, compiled for every configuration with random amounts of SRAM
// and run on the functional model: equal to the reference semantics byte for
// byte, or refused with a kind, but never for the size of anything (what does
// not fit, is too many or too long for a command); never a fault, a race or an
// internal error. Most are small; one in 25 is made of
// large shapes, whose rows, channels and contractions are longer than SRAM.
//
// Operators are counted where the lowering sees them, in graphs that compiled
// and were equal: GeneratePackage runs no pass of the front end, so Dropout and
// Identity count as nodes that it binds to their input. Upsample occurs in
// graphs of opset 9, HardSwish in those of opset 14 and later.
//
// Arguments: --first_seed=N --seeds=N, in four quarters, one test each;
// --large_one_in=N.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/base/diagnostic.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/expand.h"
#include "compiler/passes/fuse_elementwise.h"
#include "compiler/testing/random_graph.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

uint64_t first_seed = 1, seeds = 1400;
// One graph in so many is large.
uint64_t large_one_in = 25;

struct Counts {
  int equal = 0, refused = 0, varying = 0, large = 0, fused = 0;
  int cut = 0, whole = 0;           // into streams; nowhere to cut
  int streamed = 0, too_small = 0;  // weights in host memory; refused
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

// Every output must depend on an input, or it could be folded.
void ExpectOutputsDependOnInputs(const Graph& graph) {
  std::vector<bool> reached(graph.tensors.size(), false);
  for (TensorId id : graph.inputs) reached[id] = true;
  for (const Node& node : graph.nodes) {
    bool any = false;
    for (TensorId id : node.inputs)
      any = any || (id != kNoTensor && reached[id]);
    for (TensorId id : node.outputs) reached[id] = any;
  }
  for (TensorId id : graph.outputs) {
    EXPECT_TRUE(reached[id]) << graph.tensors[id].name;
  }
}

// What was made of the graph in another way computes the same, without races.
void ExpectSameOutputs(BackendResult made,
                       const std::vector<TensorData>& inputs,
                       const PackageRun& expected) {
  model::Options options;
  options.detect_races = true;
  const auto package =
      package::Parse(package::Serialize(made.package, std::move(made.weights)));
  ASSERT_TRUE(package.ok()) << package.status();
  auto run = RunPackage(*package, inputs, options);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const std::string& f : run->findings) {
    // Bytes between those that are kept; the whole stream had no such finding.
    if (f.find("which nothing has written") == std::string::npos) {
      ADD_FAILURE() << f;
    }
  }
  for (const auto& [name, data] : expected.outputs) {
    EXPECT_EQ(FirstDifference(run->outputs[name], data), "") << name;
  }
}

// The same package in streams of a third of its length: the same outputs.
void RunInStreams(const Graph& graph, CompileOptions options,
                  const BackendResult& made,
                  const std::vector<TensorData>& inputs,
                  const PackageRun& expected, Counts* counts) {
  options.stream_bytes = std::max<uint64_t>(2048, made.report.stream_bytes / 3);
  if (made.report.stream_bytes <= options.stream_bytes) return;
  auto result = GeneratePackage(graph, options);
  if (!result.ok()) {
    // Accumulators from the first command to the last, or SRAM that takes more
    // commands to keep than a stream has.
    EXPECT_NE(std::string(result.status().message()).find("streams of"),
              std::string::npos)
        << result.status();
    ++counts->whole;
    return;
  }
  // Sometimes another schedule is taken, which is short enough.
  if (result->package.streams.size() == 1) return;
  for (const auto& words : result->package.streams) {
    EXPECT_LE(words.size() * sizeof(uint32_t), options.stream_bytes);
  }
  ++counts->cut;
  ExpectSameOutputs(*std::move(result), inputs, expected);
}

// Whether another size of something would have made a difference: all but types
// and attributes that the card does not know, and what is known too late.
bool IsForItsSize(const absl::Status& status) {
  switch (RejectionOf(status)) {
    case Rejection::kUnsupportedDatatype:
    case Rejection::kUnsupportedAttribute:
    case Rejection::kUnsupportedOperator:
      return false;
    default:
      return status.message().find("computed at run time") ==
             absl::string_view::npos;
  }
}

// The same package for a card that has no room for half of its weights.
void RunWithLessMemory(const Graph& graph, CompileOptions options,
                       const BackendResult& made, const PackageRun& expected,
                       const std::vector<TensorData>& inputs, Counts* counts) {
  const CompileReport& r = made.report;
  if (r.weight_bytes < 4 * package::kPageBytes) return;
  options.device_memory_bytes = r.weight_bytes / 2 + r.scratch_bytes +
                                r.io_bytes + r.stream_bytes +
                                6 * package::kPageBytes;
  auto result = GeneratePackage(graph, options);
  if (!result.ok()) {
    EXPECT_EQ(RejectionOf(result.status()), Rejection::kNoDeviceMemory)
        << result.status();
    ++counts->too_small;
    return;
  }
  counts->streamed += !result->package.weight_plan.empty();
  ExpectSameOutputs(*std::move(result), inputs, expected);
}

void RunSeed(uint64_t seed, Counts* counts) {
  RandomGraphOptions graph_options;
  graph_options.seed = seed;
  graph_options.allowed = HasLowering;
  graph_options.reads_int64 = NarrowsInt64;
  const bool large = seed % large_one_in == 0;
  if (large) {
    graph_options.large = true;
    graph_options.max_elements = 200'000;
    graph_options.min_nodes = 2;
    graph_options.max_nodes = 6;
  }
  const RandomGraph random = MakeRandomGraph(graph_options);
  const Graph& graph = random.graph;
  ASSERT_TRUE(graph.Verify().ok()) << graph.Verify();
  auto expected = EvaluateGraph(graph, random.inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_GE(graph.nodes.size(), large ? 1u : 5u) << "seed " << seed;
  EXPECT_LE(graph.nodes.size(), 30u) << "seed " << seed;
  ExpectOutputsDependOnInputs(graph);
  std::mt19937_64 choice(seed);
  CompileOptions options;
  options.config = isa::kConfigs[choice() % 3].name;
  const uint64_t limits[] = {0,        0,        0,        12 << 10,
                             20 << 10, 24 << 10, 32 << 10, 48 << 10,
                             64 << 10, 96 << 10, 128 << 10};
  options.sram_bytes = limits[choice() % 11];
  options.taps = choice() % 3 == 0;
  options.features.always_rewrite = choice() % 2 == 0;
  SCOPED_TRACE("seed " + std::to_string(seed) + " " + options.config +
               " SRAM " + std::to_string(options.sram_bytes) +
               (options.taps ? " taps" : "") +
               (options.features.always_rewrite ? " rewritten" : "") + "\n" +
               graph.ToString());
  // Every other graph with its elementwise operators joined.
  Graph lowered = graph;
  if (choice() % 2 == 0) {
    ASSERT_TRUE(FuseElementwise(&lowered).ok());
    for (const Node& node : lowered.nodes) {
      counts->fused += node.op == "Elementwise";
    }
  }
  auto result = GeneratePackage(lowered, options);
  if (!result.ok()) {
    EXPECT_NE(RejectionOf(result.status()), Rejection::kNone)
        << result.status();
    ++counts->refused;
    std::string reason(result.status().message());
    EXPECT_FALSE(IsForItsSize(result.status())) << reason;
    const size_t at = reason.find("':");
    ++counts->reasons[at == std::string::npos ? reason
                                              : reason.substr(at + 2, 60)];
    return;
  }
  model::Options model_options;
  model_options.detect_races = true;
  const auto package = package::Parse(
      package::Serialize(result->package, std::move(result->weights)));
  ASSERT_TRUE(package.ok()) << package.status();
  auto run = RunPackage(*package, random.inputs, model_options);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const std::string& f : run->findings) ADD_FAILURE() << f;
  // Taps inside of operators that are made of others are tensors of these.
  Graph expanded;
  std::vector<TensorData> parts;
  for (const auto& [name, data] : run->outputs) {
    TensorId id = graph.FindTensor(name);
    const bool own = id != kNoTensor;
    if (!own && parts.empty()) {
      expanded = lowered;
      ASSERT_TRUE(ExpandOperators(&expanded).ok());
      auto values = EvaluateGraph(expanded, random.inputs);
      ASSERT_TRUE(values.ok()) << values.status();
      parts = *std::move(values);
    }
    if (!own) id = expanded.FindTensor(name);
    ASSERT_NE(id, kNoTensor) << name;
    EXPECT_EQ(FirstDifference(data, (own ? *expected : parts)[id]), "") << name;
  }
  EXPECT_GE(run->outputs.size(), graph.outputs.size());
  if (seed % 4 == 0) {
    RunInStreams(graph, options, *result, random.inputs, *run, counts);
  }
  if (seed % 2 == 1) {
    RunWithLessMemory(graph, options, *result, *run, random.inputs, counts);
  }
  ++counts->equal;
  counts->large += large;
  auto other = EvaluateGraph(graph, random.other_inputs);
  ASSERT_TRUE(other.ok()) << other.status();
  bool varies = false;
  for (TensorId id : graph.outputs) {
    varies = varies || (*other)[id].bytes != (*expected)[id].bytes;
  }
  counts->varying += varies;
  for (const Node& node : graph.nodes) ++counts->operators[node.op];
}

constexpr const char* kOperators[] = {"Conv",
                                      "ConvTranspose",
                                      "Gemm",
                                      "MatMul",
                                      "MaxPool",
                                      "AveragePool",
                                      "GlobalAveragePool",
                                      "GlobalMaxPool",
                                      "BatchNormalization",
                                      "InstanceNormalization",
                                      "LRN",
                                      "Relu",
                                      "LeakyRelu",
                                      "PRelu",
                                      "Elu",
                                      "Selu",
                                      "Clip",
                                      "Sigmoid",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Tanh",
                                      "Softplus",
                                      "Softmax",
                                      "LogSoftmax",
                                      "Add",
                                      "Sub",
                                      "Mul",
                                      "Div",
                                      "Pow",
                                      "Sqrt",
                                      "Exp",
                                      "Log",
                                      "Erf",
                                      "Abs",
                                      "Neg",
                                      "Min",
                                      "Max",
                                      "Sum",
                                      "Mean",
                                      "Concat",
                                      "Split",
                                      "Slice",
                                      "Reshape",
                                      "Flatten",
                                      "Squeeze",
                                      "Unsqueeze",
                                      "Transpose",
                                      "Pad",
                                      "Tile",
                                      "Expand",
                                      "Resize",
                                      "Upsample",
                                      "DepthToSpace",
                                      "SpaceToDepth",
                                      "ReduceMean",
                                      "ReduceSum",
                                      "ReduceMax",
                                      "ReduceMin",
                                      "ReduceProd",
                                      "ArgMax",
                                      "Gather",
                                      "Cast",
                                      "Dropout",
                                      "QuantizeLinear",
                                      "DequantizeLinear",
                                      "DynamicQuantizeLinear",
                                      "QLinearConv",
                                      "QLinearMatMul",
                                      "MatMulInteger",
                                      "ConvInteger",
                                      "QGemm",
                                      "QLinearAdd",
                                      "QLinearMul",
                                      "QLinearConcat",
                                      "QLinearSigmoid",
                                      "QLinearLeakyRelu",
                                      "QLinearGlobalAveragePool",
                                      "QLinearAveragePool"};

class GeneratedGraph : public testing::TestWithParam<uint64_t> {};

TEST_P(GeneratedGraph, EqualsTheReferenceOrIsRefused) {
  Counts counts;
  const uint64_t part = (seeds + 3) / 4;
  const uint64_t from = first_seed + GetParam() * part;
  for (uint64_t seed = from; seed < from + part; ++seed) {
    RunSeed(seed, &counts);
    if (testing::Test::HasFatalFailure()) break;
  }
  std::printf(
      "%d equal, %d of them large, %d vary with inputs, %d refused; %d fused "
      "nodes\n",
      counts.equal, counts.large, counts.varying, counts.refused, counts.fused);
  EXPECT_GT(counts.fused, static_cast<int>(part / 50));
  std::printf("%d the same in several streams, %d cannot be cut\n", counts.cut,
              counts.whole);
  std::printf("%d the same with weights in host memory, %d refused so\n",
              counts.streamed, counts.too_small);
  for (const auto& [op, n] : counts.operators)
    std::printf("  %s %d\n", op.c_str(), n);
  for (const auto& [why, n] : counts.reasons)
    std::printf("  refused %d: %s\n", n, why.c_str());
  // Most graphs must be compiled, or the test shows nothing.
  EXPECT_GT(counts.equal, 10 * counts.refused);
  EXPECT_GT(counts.cut, 2 * counts.whole);
  // Of large graphs, which are short, some end in what saturates.
  if (large_one_in > 1) {
    EXPECT_GT(counts.varying, counts.equal - counts.equal / 20);
  }
  EXPECT_GE(counts.large, static_cast<int>(part / large_one_in / 2));
  // 50 of each in all quarters of 1,400 graphs together.
  if (part < 300 || large_one_in == 1) return;
  for (const char* op : kOperators) EXPECT_GE(counts.operators[op], 12) << op;
}

INSTANTIATE_TEST_SUITE_P(Quarter, GeneratedGraph,
                         testing::Range<uint64_t>(0, 4));

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
    } else if (std::sscanf(argv[i], "--large_one_in=%llu", &value) == 1) {
      heddle::compiler::large_one_in = value;
    }
  }
  return RUN_ALL_TESTS();
}
