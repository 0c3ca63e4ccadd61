// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/heads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

struct Attention {
  int64_t images = 1, tokens = 21, heads = 3, features = 16;
  bool rank3 = false;        // heads without the leading 1
  bool shows_heads = false;  // the queries by head are an output
};

TensorData Zero() { return Uint8s({}, {128}); }

class Model {
 public:
  explicit Model(const Attention& a) : a_(a) {
    const int64_t width = a.heads * a.features;
    b_.Input("x", DataType::kFloat, {a.images * a.tokens, width});
    const std::string x = Quantized("x", 0.03f);
    const std::string q = Heads(Dense(x, 1), {0, 2, 1, 3});
    const std::string k = Heads(Dense(x, 2), {0, 2, 3, 1});
    const std::string v = Heads(Dense(x, 3), {0, 2, 1, 3});
    const std::string scores = Quantized(Node("MatMul", {q, k}), 0.05f);
    const std::string weights = Quantized(Node("Softmax", {scores}), 0.004f);
    const std::string mixed = Quantized(Node("MatMul", {weights, v}), 0.02f);
    b_.Constant("back", Int64s({2}, {a.images * a.tokens, width}));
    const std::string all =
        Node("Reshape", {Transposed(mixed, {0, 2, 1, 3}), "back"});
    // A table and a residual behind it: taps compute them once more.
    const std::string t = Node("Tanh", {Dense(all, 4)});
    b_.Output(Quantized(Node("Add", {Quantized(t, 0.01f), x}), 0.04f));
    if (a.shows_heads) b_.Output(q);
  }
  std::string Bytes() const { return b_.Bytes(); }

 private:
  std::string Node(const std::string& op,
                   const std::vector<std::string>& inputs) {
    const std::string out = absl::StrCat(op, ++count_);
    last_ = b_.Node(op, inputs, {out});
    return out;
  }
  std::string Quantized(const std::string& x, float scale) {
    b_.Quantize(x, x + "q", scale, Zero());
    b_.Dequantize(x + "q", x + "d", Floats({}, {scale}), Zero());
    return x + "d";
  }
  std::string Dense(const std::string& x, uint64_t seed) {
    const int64_t width = a_.heads * a_.features;
    const std::string w = absl::StrCat("w", seed);
    b_.Constant(w, RandomData(DataType::kInt8, {width, width}, seed));
    b_.Dequantize(w, w + "d", Floats({}, {0.002f}), Int8s({}, {0}));
    return Quantized(Node("MatMul", {x, w + "d"}), 0.03f);
  }
  std::string Transposed(const std::string& x, std::vector<int64_t> order) {
    if (a_.rank3) {
      order.erase(order.begin());
      for (int64_t& i : order) --i;
    }
    const std::string y = Node("Transpose", {x});
    SetInts(last_, "perm", order);
    return y;
  }
  std::string Heads(const std::string& x, const std::vector<int64_t>& order) {
    std::vector<int64_t> shape = {a_.images, a_.tokens, a_.heads, a_.features};
    if (a_.rank3) shape.erase(shape.begin());
    const std::string name = absl::StrCat("shape", ++count_);
    b_.Constant(name, Int64s({static_cast<int64_t>(shape.size())}, shape));
    return Transposed(Node("Reshape", {x, name}), order);
  }

  const Attention a_;
  ModelBuilder b_;
  int count_ = 0;
  onnx::NodeProto* last_ = nullptr;
};

// Operations that move data.
int Moves(const std::string& model) {
  auto result = CompileOnnx(model, {});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return -1;
  int moves = 0;
  for (const LayerReport& layer : result->report.layers) {
    moves += layer.engine == "vector" && layer.op != "QuantizeLinear" &&
             layer.op != "DequantizeLinear" && layer.op != "QLinearSoftmax";
  }
  return moves;
}

// Every tensor that the package gives with taps.
void ExpectTaps(const std::string& model, const TensorData& x,
                uint64_t sram_bytes = 0, Goal goal = Goal::kSpeed) {
  CompileOptions options;
  options.taps = true;
  options.sram_bytes = sram_bytes;
  options.goal = goal;
  auto compiled = CompileOnnx(model, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto package = package::Parse(compiled->package);
  ASSERT_TRUE(package.ok()) << package.status();
  auto run = RunPackage(*package, {x});
  ASSERT_TRUE(run.ok()) << run.status();
  auto graph = AnalyseOnnx(model, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto expected = EvaluateGraph(*graph, {x});
  ASSERT_TRUE(expected.ok()) << expected.status();
  // Those of all operators but of changes to heads, and two before the last
  // product's table and residual.
  EXPECT_GE(run->outputs.size(), 11u);
  for (const auto& [name, data] : run->outputs) {
    const TensorId id = graph->FindTensor(name);
    ASSERT_NE(id, kNoTensor) << name;
    EXPECT_TRUE(data.bytes == (*expected)[id].bytes) << name;
  }
}

TEST(LowerHeads, MovesNothing) {
  for (Attention a :
       {Attention{1, 21, 3, 16}, Attention{1, 16, 2, 32},
        Attention{1, 70, 2, 48, true}, Attention{1, 196, 3, 64}}) {
    SCOPED_TRACE(absl::StrCat(a.tokens, " ", a.heads, " ", a.features));
    const std::string model = Model(a).Bytes();
    EXPECT_EQ(Moves(model), 0);
    const TensorData x =
        RandomData(DataType::kFloat, {a.tokens, a.heads * a.features}, 3);
    CardCase sizes;
    sizes.sram_bytes = {0, 32 << 10, 16 << 10, 12 << 10};
    ExpectCardEqualsReference(model, {x}, sizes);
    for (uint64_t sram : {0, 32 << 10, 16 << 10, 12 << 10}) {
      for (Goal goal : {Goal::kSpeed, Goal::kCompileTime}) {
        SCOPED_TRACE(sram);
        ExpectTaps(model, x, sram, goal);
      }
    }
  }
}

// Heads without whole blocks, several images, heads that others read.
TEST(LowerHeads, MovesElsewhere) {
  for (Attention a : {Attention{1, 21, 2, 24}, Attention{2, 21, 3, 16},
                      Attention{1, 21, 3, 16, false, true}}) {
    SCOPED_TRACE(absl::StrCat(a.images, " ", a.features));
    const std::string model = Model(a).Bytes();
    EXPECT_GT(Moves(model), 0);
    const TensorData x = RandomData(
        DataType::kFloat, {a.images * a.tokens, a.heads * a.features}, 3);
    CardCase sizes;
    sizes.sram_bytes = {0, 32 << 10};
    ExpectCardEqualsReference(model, {x}, sizes);
    ExpectTaps(model, x);
  }
}

}  // namespace
}  // namespace heddle::compiler
