// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: by formulas in double, and what must not matter: the
// layout, how lengths are given, which results are asked for. (Random options
// against ONNX Runtime: tests/operators.)
#include "compiler/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

TensorData Random(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  TensorData x = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    x.as<float>()[i] = static_cast<float>(random() >> 40) / (1 << 23) - 1;
  }
  return x;
}

using Attributes = std::map<std::string, Attribute>;

// The node's results; those not `wanted` are absent. Inputs are constants, or
// with `computed` the one of this index is not.
absl::StatusOr<std::vector<TensorData>> RunAll(
    const std::string& op, const Attributes& attributes,
    const std::vector<TensorData>& inputs, const std::vector<bool>& wanted,
    int computed = -1) {
  Graph graph;
  Node node;
  node.op = op;
  node.name = "n";
  node.opset = 14;
  node.attributes = attributes;
  std::vector<TensorData> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    if (inputs[i].type == DataType::kUndefined) {
      node.inputs.push_back(kNoTensor);
    } else if (static_cast<int>(i) == computed) {
      node.inputs.push_back(
          graph.AddTemporary(name, inputs[i].type, inputs[i].shape));
      graph.inputs.push_back(node.inputs.back());
      given.push_back(inputs[i]);
    } else {
      node.inputs.push_back(graph.AddConstant(name, inputs[i]));
    }
  }
  for (bool want : wanted) {
    Tensor output;
    output.name = "out" + std::to_string(node.outputs.size());
    node.outputs.push_back(want ? graph.AddTensor(output) : kNoTensor);
  }
  RETURN_IF_ERROR(CheckNode(graph, node));
  RETURN_IF_ERROR(FindOperator("", op, node.opset)->infer(&graph, node));
  graph.nodes = {node};
  ASSIGN_OR_RETURN(auto values, EvaluateGraph(graph, given));
  std::vector<TensorData> results;
  for (TensorId id : node.outputs) {
    results.push_back(id == kNoTensor ? TensorData() : values[id]);
  }
  return results;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A forward LSTM of one entry by its formulas.
TEST(RecurrentTest, LongShortTermMemory) {
  const int64_t steps = 5, features = 3, hidden = 4;
  const TensorData x = Random({steps, 1, features}, 1),
                   w = Random({1, 4 * hidden, features}, 2),
                   r = Random({1, 4 * hidden, hidden}, 3),
                   b = Random({1, 8 * hidden}, 4),
                   h0 = Random({1, 1, hidden}, 5),
                   c0 = Random({1, 1, hidden}, 6),
                   p = Random({1, 3 * hidden}, 7);
  const auto y =
      RunAll("LSTM", {}, {x, w, r, b, {}, h0, c0, p}, {true, true, true});
  ASSERT_TRUE(y.ok()) << y.status();
  std::vector<double> h(h0.as<float>(), h0.as<float>() + hidden),
      c(c0.as<float>(), c0.as<float>() + hidden);
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double> gate(static_cast<size_t>(4 * hidden));
    for (int64_t g = 0; g < 4 * hidden; ++g) {
      gate[g] = b.as<float>()[g] + b.as<float>()[4 * hidden + g];
      for (int64_t i = 0; i < features; ++i) {
        gate[g] += static_cast<double>(x.as<float>()[t * features + i]) *
                   w.as<float>()[g * features + i];
      }
      for (int64_t i = 0; i < hidden; ++i) {
        gate[g] += h[i] * r.as<float>()[g * hidden + i];
      }
    }
    std::vector<double> next(h);
    for (int64_t i = 0; i < hidden; ++i) {
      const double in = Sigmoid(gate[i] + p.as<float>()[i] * c[i]);
      const double forget =
          Sigmoid(gate[2 * hidden + i] + p.as<float>()[2 * hidden + i] * c[i]);
      c[i] = forget * c[i] + in * std::tanh(gate[3 * hidden + i]);
      const double out =
          Sigmoid(gate[hidden + i] + p.as<float>()[hidden + i] * c[i]);
      next[i] = out * std::tanh(c[i]);
    }
    h = next;
    for (int64_t i = 0; i < hidden; ++i) {
      EXPECT_NEAR((*y)[0].as<float>()[t * hidden + i], h[i], 2e-6);
    }
  }
  for (int64_t i = 0; i < hidden; ++i) {
    EXPECT_NEAR((*y)[1].as<float>()[i], h[i], 2e-6);
    EXPECT_NEAR((*y)[2].as<float>()[i], c[i], 2e-6);
  }
}

// [a, b, ...] as [b, a, ...].
TensorData Swapped(const TensorData& x) {
  TensorData y = x;
  std::swap(y.shape[0], y.shape[1]);
  const int64_t a = x.shape[0], b = x.shape[1];
  const int64_t inner = a * b == 0 ? 0 : x.count() / (a * b);
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      for (int64_t k = 0; k < inner; ++k) {
        y.as<float>()[(j * a + i) * inner + k] =
            x.as<float>()[(i * b + j) * inner + k];
      }
    }
  }
  return y;
}

struct Kind {
  const char* op;
  int gates;
};
class Recurrent : public testing::TestWithParam<Kind> {
 protected:
  // 4 steps, 3 entries, in both directions.
  std::vector<TensorData> Inputs() const {
    const int64_t rows = GetParam().gates * hidden_;
    std::vector<TensorData> in = {
        Random({4, 3, 2}, 1),          Random({2, rows, 2}, 2),
        Random({2, rows, hidden_}, 3), Random({2, 2 * rows}, 4),
        Int32s({3}, {4, 2, 0}),        Random({2, 3, hidden_}, 5)};
    if (Lstm()) in.push_back(Random({2, 3, hidden_}, 6));
    return in;
  }
  bool Lstm() const { return GetParam().gates == 4; }
  std::vector<bool> All() const {
    return std::vector<bool>(Lstm() ? 3 : 2, true);
  }
  const std::string op_ = GetParam().op;
  const int64_t hidden_ = 5;
  const Attributes both_ = {{"direction", std::string("bidirectional")}};
};

TEST_P(Recurrent, LayoutIsAnOrder) {
  std::vector<TensorData> in = Inputs();
  const auto y = RunAll(op_, both_, in, All());
  ASSERT_TRUE(y.ok()) << y.status();
  for (size_t i : {0, 5, 6}) {
    if (i < in.size()) in[i] = Swapped(in[i]);
  }
  Attributes turned = both_;
  turned["layout"] = int64_t{1};
  const auto z = RunAll(op_, turned, in, All());
  ASSERT_TRUE(z.ok()) << z.status();
  for (size_t i = 1; i < y->size(); ++i) {
    EXPECT_EQ(Swapped((*z)[i]).bytes, (*y)[i].bytes) << i;
  }
  // [steps, directions, batch, hidden] and [batch, steps, directions, hidden]
  ASSERT_EQ((*z)[0].shape, (Shape{3, 4, 2, hidden_}));
  TensorData flat = (*y)[0];
  flat.shape = {8, 3, hidden_};
  EXPECT_EQ(Swapped(flat).bytes, (*z)[0].bytes);
}

// Gates that are one Gemm, of a batch of one, and those that are not: the same
// bytes.
TEST_P(Recurrent, AnEntryIsTheSameInABatch) {
  std::vector<TensorData> in = Inputs();
  in[4] = TensorData();
  const auto all = RunAll(op_, both_, in, All());
  ASSERT_TRUE(all.ok()) << all.status();
  for (int64_t entry = 0; entry < 3; ++entry) {
    // Of [a, batch, c].
    const auto part = [&](const TensorData& x, int64_t a, int64_t c) {
      TensorData y = TensorData::Zeros(DataType::kFloat, {a, 1, c});
      for (int64_t i = 0; i < a; ++i) {
        std::copy_n(x.as<float>() + (i * 3 + entry) * c, c,
                    y.as<float>() + i * c);
      }
      return y;
    };
    std::vector<TensorData> one = in;
    one[0] = part(in[0], 4, 2);
    for (size_t i = 5; i < in.size(); ++i) one[i] = part(in[i], 2, hidden_);
    const auto y = RunAll(op_, both_, one, All());
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].bytes, part((*all)[0], 8, hidden_).bytes) << entry;
    for (size_t i = 1; i < y->size(); ++i) {
      EXPECT_EQ((*y)[i].bytes, part((*all)[i], 2, hidden_).bytes) << entry;
    }
  }
}

TEST_P(Recurrent, LengthsMayBeComputed) {
  const auto y = RunAll(op_, both_, Inputs(), All());
  const auto z = RunAll(op_, both_, Inputs(), All(), 4);
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_TRUE(z.ok()) << z.status();
  for (size_t i = 0; i < y->size(); ++i) {
    EXPECT_EQ((*y)[i].bytes, (*z)[i].bytes) << i;
  }
  // Entry 1 has two steps; 2 has none and keeps its state.
  for (int64_t d = 0; d < 2; ++d) {
    for (int64_t k = 0; k < hidden_; ++k) {
      EXPECT_NE((*y)[0].as<float>()[((1 * 2 + d) * 3 + 1) * hidden_ + k], 0);
      EXPECT_EQ((*y)[0].as<float>()[((2 * 2 + d) * 3 + 1) * hidden_ + k], 0);
      const int64_t at = (d * 3 + 2) * hidden_ + k;
      EXPECT_EQ((*y)[1].as<float>()[at], Inputs()[5].as<float>()[at]);
    }
  }
}

TEST_P(Recurrent, ResultsAreOptional) {
  const auto y = RunAll(op_, both_, Inputs(), All());
  ASSERT_TRUE(y.ok()) << y.status();
  for (size_t i = 0; i < y->size(); ++i) {
    std::vector<bool> wanted(y->size(), false);
    wanted[i] = true;
    const auto one = RunAll(op_, both_, Inputs(), wanted);
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ((*one)[i].bytes, (*y)[i].bytes) << i;
  }
}

TEST_P(Recurrent, NoStepsAtAll) {
  std::vector<TensorData> in = Inputs();
  in[0] = TensorData::Zeros(DataType::kFloat, {0, 3, 2});
  in[4] = TensorData();
  const auto y = RunAll(op_, both_, in, All());
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].shape, (Shape{0, 2, 3, hidden_}));
  EXPECT_EQ((*y)[1].bytes, in[5].bytes);
}

TEST_P(Recurrent, HalvesAreRoundedOnce) {
  std::vector<TensorData> in = Inputs();
  std::vector<TensorData> halves = in;
  for (size_t i = 0; i < in.size(); ++i) {
    if (i == 4) continue;
    halves[i] = TensorData::Zeros(DataType::kFloat16, in[i].shape);
    for (int64_t k = 0; k < in[i].count(); ++k) {
      const uint16_t half = model::F32ToF16(in[i].as<float>()[k]);
      halves[i].as<uint16_t>()[k] = half;
      in[i].as<float>()[k] = model::F16ToF32(half);
    }
  }
  const auto y = RunAll(op_, both_, in, All());
  const auto z = RunAll(op_, both_, halves, All());
  ASSERT_TRUE(y.ok()) << y.status();
  ASSERT_TRUE(z.ok()) << z.status();
  for (size_t i = 0; i < y->size(); ++i) {
    for (int64_t k = 0; k < (*y)[i].count(); ++k) {
      EXPECT_EQ((*z)[i].as<uint16_t>()[k],
                model::F32ToF16((*y)[i].as<float>()[k]));
    }
  }
}

TEST_P(Recurrent, TheLimitOfStepsIsNamed) {
  std::vector<TensorData> in = Inputs();
  in[0] = Random({kMaxUnrolled / 2 + 1, 3, 2}, 1);
  const absl::Status status = RunAll(op_, both_, in, All()).status();
  EXPECT_EQ(RejectionOf(status), Rejection::kUnsupportedShape);
  EXPECT_TRUE(absl::StrContains(status.message(), std::to_string(kMaxUnrolled)))
      << status;
}

INSTANTIATE_TEST_SUITE_P(Operators, Recurrent,
                         testing::Values(Kind{"LSTM", 4}, Kind{"GRU", 3},
                                         Kind{"RNN", 1}),
                         [](const auto& info) {
                           return std::string(info.param.op);
                         });

}  // namespace
}  // namespace heddle::compiler
