// SPDX-License-Identifier: Apache-2.0
// What operations state of their needs, against garbage everywhere else: each
// operation of random graphs, networks of codes and a transformer layer, in
// boxes of random size, computes the same bytes whatever SRAM holds outside of
// the stated boxes, and all together what the reference does.
//
// And that this would be noticed: of each kind of operation and each of its
// operands, a need that is less by one row, column or channel shows in some
// result. A statement may say more than is needed; where no trial has shown
// that an edge matters, the test prints the kind and the axis.
//
// Arguments: --first_seed=N --seeds=N.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/ops/operator.h"
#include "compiler/passes/expand.h"
#include "compiler/schedule/choose.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/masked_run.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/qdq_network.h"
#include "compiler/testing/random_graph.h"
#include "compiler/testing/transformer.h"

namespace heddle::compiler {
namespace {

uint64_t first_seed = 1, seeds = 160;

struct Trials {
  int removed = 0, noticed = 0;
};
// By kind of operation and operand: all, and by axis.
std::map<std::string, std::map<std::string, Trials>> trials;
std::map<std::string, int> kinds;

std::string KindOf(const DeviceOp& op) {
  int status = 0;
  char* name =
      abi::__cxa_demangle(typeid(op).name(), nullptr, nullptr, &status);
  std::string kind = status == 0 ? name : typeid(op).name();
  std::free(name);
  const size_t at = kind.rfind("::");
  return at == std::string::npos ? kind : kind.substr(at + 2);
}

const char* NameOf(Axis axis) {
  return axis == Axis::kRows      ? "rows"
         : axis == Axis::kColumns ? "columns"
                                  : "channels";
}

void CheckOperation(const MaskedRun& run, size_t i, std::mt19937_64* random) {
  const DeviceOp& op = run.op(i);
  const std::string kind = KindOf(op);
  // The most frequent are done often enough.
  if (++kinds[kind] > 80 && (*random)() % 4 != 0) return;
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(run.Same(i, (*random)()))
        << kind << " of " << op.op << " '" << op.name
        << "' depends on what it does not state";
  }
  // A need that is too small: one of the ways, or all until it has shown.
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (op.inputs[k].rows.kind == AxisNeed::kDirect) continue;
    const std::string operand =
        absl::StrCat(kind, " operand ", std::min<size_t>(k, 2));
    for (Axis axis : {Axis::kRows, Axis::kColumns, Axis::kChannels}) {
      Trials& t = trials[operand][NameOf(axis)];
      if (t.noticed > 2 || (t.removed > 30 && (*random)() % 8 != 0)) continue;
      const Shrink shrink{k, axis, (*random)() % 2 == 0};
      bool removed = false;
      const bool same = run.Same(i, (*random)(), &shrink, &removed);
      t.removed += removed;
      t.noticed += removed && !same;
    }
  }
}

// `sram`: what the lowering is told, 0: any.
void CheckGraph(const Graph& graph, const std::vector<TensorData>& inputs,
                uint64_t seed, uint32_t sram = 0) {
  std::mt19937_64 random(seed);
  auto expected = EvaluateGraph(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  // (garbage in less SRAM takes less time)
  isa::Config config = isa::kConfigs[random() % 3];
  config.sram_bytes = 256 << 10;
  isa::Config lowered = config;
  // Less SRAM makes more groups and other ways; boxes are ours.
  const uint32_t sizes[] = {12 << 10, 24 << 10, 64 << 10, config.sram_bytes};
  lowered.sram_bytes = sram != 0 ? sram : sizes[random() % 4];
  Features features;
  features.fuse_pool = random() % 2 == 0;
  features.short_first = random() % 2 == 0;
  Graph expanded = graph;
  ASSERT_EQ(ExpandOperators(&expanded), absl::OkStatus());
  DeviceGraph device;
  const absl::Status status =
      Lowering(expanded, lowered, features, &device).Run(TapSet::kNone);
  if (!status.ok()) return;
  const bool choose = sram != 0 || random() % 4 == 0;
  // (the more traffic costs, the more cascades)
  const double traffic = random() % 2 == 0 ? 0.5 : 50;
  if (choose) ChooseSchedule(&device, lowered, features, 0, {traffic});
  MaskedRun run(device, config, &random);
  const absl::Status computed = run.Compute(inputs);
  ASSERT_TRUE(computed.ok()) << computed;
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const TensorData& wanted = (*expected)[graph.outputs[o]];
    if (wanted.type == DataType::kInt64) continue;
    EXPECT_TRUE(run.Output(o) == wanted.bytes)
        << graph.tensors[graph.outputs[o]].name;
  }
  if (testing::Test::HasFailure()) return;
  for (size_t i = 0; i < run.size(); ++i) CheckOperation(run, i, &random);
}

struct Directed {
  ModelBuilder model;
  std::vector<TensorData> inputs;
};

// Kinds that random graphs seldom have.
std::vector<Directed> DirectedModels() {
  std::vector<Directed> models;
  const auto input = [&](const char* name, const TensorData& data) {
    models.back().model.Input(name, data.type, data.shape);
    models.back().inputs.push_back(data);
  };
  // Rows chosen at run time.
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat, {30, 3, 8}, 3));
  input("i", Int64s({5}, {3, -1, 0, 29, -30}));
  models.back().model.Node("Gather", {"x", "i"}, {"y"});
  models.back().model.Output("y");
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat, {3, 12, 7}, 3));
  input("i", Int64s({5}, {3, -1, 0, 11, -12}));
  SetInt(models.back().model.Node("Gather", {"x", "i"}, {"y"}), "axis", 1);
  models.back().model.Output("y");
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat, {3, 12, 7}, 3));
  input("i", RandomData(DataType::kInt32, {3, 9, 7}, 4, -12.9f, 11.9f));
  SetInt(models.back().model.Node("GatherElements", {"x", "i"}, {"y"}), "axis",
         1);
  models.back().model.Output("y");
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat, {3, 12, 40}, 3));
  input("i", RandomData(DataType::kInt64, {9, 2}, 4, -3.9f, 2.9f));
  models.back().model.Node("GatherND", {"x", "i"}, {"y"});
  models.back().model.Output("y");
  for (const char* reduction : {"none", "add"}) {
    models.push_back({ModelBuilder(16), {}});
    input("x", RandomData(DataType::kFloat, {3, 12, 7}, 3));
    input("i", RandomData(DataType::kInt32, {3, 9, 7}, 4, -12.9f, 11.9f));
    input("u", RandomData(DataType::kFloat, {3, 9, 7}, 5));
    auto* node =
        models.back().model.Node("ScatterElements", {"x", "i", "u"}, {"y"});
    SetInt(node, "axis", 1);
    SetString(node, "reduction", reduction);
    models.back().model.Output("y");
  }
  for (const Shape& shape : {Shape{4, 20, 3}, Shape{2, 30, 200}}) {
    models.push_back({ModelBuilder(13), {}});
    input("x", RandomData(DataType::kFloat, shape, 3));
    models.back().model.Constant("k", Int64s({1}, {4}));
    SetInt(models.back().model.Node("TopK", {"x", "k"}, {"v", "y"}), "axis", 1);
    models.back().model.Output("y");
    models.back().model.Output("v");
  }
  // Windows and chains in parts, in fp32 and then rounded.
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat16, {1, 500, 2, 3}, 4));
  SetInt(models.back().model.Node("LRN", {"x"}, {"y"}), "size", 450);
  models.back().model.Output("y");
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat16, {2, 3000}, 5));
  models.back().model.Constant(
      "w", RandomData(DataType::kFloat16, {3000, 5}, 6, -1, 1));
  models.back().model.Node("MatMul", {"x", "w"}, {"y"});
  models.back().model.Output("y");
  for (DataType type : {DataType::kFloat, DataType::kUint8}) {
    models.push_back({ModelBuilder(13), {}});
    input("x", RandomData(type, {1, 3, 30, 34}, 5));
    auto* pool = models.back().model.Node("MaxPool", {"x"}, {"y"});
    SetInts(pool, "kernel_shape", {25, 28});
    SetInts(pool, "pads", {2, 1, 0, 3});
    models.back().model.Output("y");
  }
  models.push_back({ModelBuilder(13), {}});
  input("x", RandomData(DataType::kFloat, {1, 3, 12, 14}, 8));
  auto* average = models.back().model.Node("AveragePool", {"x"}, {"y"});
  SetInts(average, "kernel_shape", {3, 4});
  SetInts(average, "pads", {1, 1, 0, 2});
  models.back().model.Output("y");
  for (const Shape& shape : {Shape{2, 5, 24}, Shape{3, 1500}}) {
    models.push_back({ModelBuilder(17), {}});
    input("x", RandomData(DataType::kFloat, shape, 6));
    for (const char* name : {"s", "b"}) {
      models.back().model.Constant(
          name, RandomData(DataType::kFloat, {shape.back()}, 7));
    }
    models.back().model.Node("LayerNormalization", {"x", "s", "b"}, {"y"});
    models.back().model.Output("y");
  }
  // Stripes of rows, and a kernel of which commands take parts.
  for (int64_t kernel : {3, 40}) {
    models.push_back({ModelBuilder(13), {}});
    const bool chain = kernel == 3;
    const Shape shape = chain ? Shape{1, 16, 40, 48} : Shape{1, 3, 60, 7};
    input("x", RandomData(DataType::kUint8, shape, 9));
    ModelBuilder& b = models.back().model;
    b.Constant("s", Floats({}, {0.03f}));
    b.Constant("z", Uint8s({}, {120}));
    b.Constant("wz", Int8s({}, {3}));
    b.Constant("ys", Floats({}, {0.7f}));
    std::string from = "x";
    for (int layer = 0; layer < (chain ? 3 : 1); ++layer) {
      const std::string n = std::to_string(layer);
      b.Constant("w" + n,
                 RandomData(DataType::kInt8,
                            {16, shape[1], kernel, chain ? 3 : 5}, layer));
      auto* conv =
          b.Node("QLinearConv", {from, "s", "z", "w" + n, "s", "wz", "ys", "z"},
                 {"y" + n});
      SetInts(conv, "pads", {1, 1, 1, 1});
      from = "y" + n;
    }
    b.Output(from);
  }
  return models;
}

constexpr const char* kKinds[] = {
    "ArgOp",        "AveragePool", "BlockedConcat",
    "CascadeOp",    "ChainOp",     "CodeMaxPool",
    "ConvOp",       "CumSumOp",    "DenseAveragePool",
    "DenseMaxPool", "Elementwise", "GatherOp",
    "GlobalPool",   "LayerNorm",   "LayerNormalizationOp",
    "LrnOp",        "MatMulOp",    "MatrixOp",
    "MoveOp",       "PickOp",      "PlacesOp",
    "Product",      "QSoftmax",    "RangeParameter",
    "Ranges",       "ResampleOp",  "Rounding",
    "RowsCopy",     "RowSums",     "ScatterOp",
    "SoftmaxOp",    "TableOp",     "TopKOp"};

TEST(Needs, HoldInBoxesOfAnySize) {
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    if (seed % 4 == 0) {
      QdqNetwork network = MakeQdqNetwork(seed);
      const auto graph = AnalyseOnnx(network.model.Bytes(), {});
      ASSERT_TRUE(graph.ok()) << graph.status();
      CheckGraph(*graph, network.inputs, seed);
    } else {
      RandomGraphOptions options;
      options.seed = seed;
      options.allowed = HasLowering;
      options.reads_int64 = NarrowsInt64;
      options.max_elements = 3000;
      options.max_nodes = 12;
      options.large = seed % 4 == 1;
      if (options.large) {
        options.max_elements = 8000;
        options.max_products = 1 << 18;
        options.min_nodes = 2;
        options.max_nodes = 5;
      }
      const RandomGraph random = MakeRandomGraph(options);
      CheckGraph(random.graph, random.inputs, seed);
    }
    if (HasFailure()) return;
  }
  // Softmax, layer normalisation and heads of codes, and the same in floats.
  for (uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(absl::StrCat("layer ", seed));
    TransformerLayer layer;
    layer.sequence = 9;
    layer.width = 32;
    layer.heads = 2;
    layer.inner = 40;
    CompileOptions options;
    const auto graph =
        AnalyseOnnx(MakeTransformerLayer("layer", layer), options);
    ASSERT_TRUE(graph.ok()) << graph.status();
    CheckGraph(*graph,
               {RandomData(DataType::kFloat, {1, layer.sequence, layer.width},
                           seed + 5, -1, 1)},
               seed);
    if (HasFailure()) return;
  }
  for (uint64_t seed = 0; seed < 9; ++seed) {
    for (const Directed& directed : DirectedModels()) {
      const auto graph = AnalyseOnnx(directed.model.Bytes(), {});
      ASSERT_TRUE(graph.ok()) << graph.status();
      SCOPED_TRACE(graph->ToString());
      CheckGraph(*graph, directed.inputs, seed, (12 << 10) << seed % 3);
      if (HasFailure()) return;
    }
  }
  for (const char* kind : kKinds) EXPECT_GT(kinds[kind], 0) << kind;
  for (const auto& [kind, count] : kinds) {
    std::printf("%s: %d\n", kind.c_str(), count);
  }
  for (const auto& [operand, axes] : trials) {
    Trials all;
    for (const auto& [axis, t] : axes) {
      all.removed += t.removed;
      all.noticed += t.noticed;
      if (t.removed > 0 && t.noticed == 0) {
        std::printf("%s: %s have never mattered in %d trials\n",
                    operand.c_str(), axis.c_str(), t.removed);
      }
    }
    EXPECT_TRUE(all.noticed > 0 || all.removed < 20) << operand;
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
