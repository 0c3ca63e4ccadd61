// SPDX-License-Identifier: Apache-2.0
// Kernels have the bytes of the expansion, which the reference evaluates.
#include "compiler/direct/direct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/operator.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

class Case {
 public:
  explicit Case(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  bool Flip() { return Below(2) != 0; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<int64_t>(values.size()))];
  }

  // Values between -2 and 2, also of no order, among them special ones.
  TensorData Floats(DataType type, const Shape& shape) {
    TensorData data = TensorData::Zeros(DataType::kFloat, shape);
    constexpr uint32_t kSpecial[] = {0xffc12345u, 0x7f800000u, 0xff800000u,
                                     0x80000000u, 0x00000001u, 0x7149f2cau};
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = static_cast<float>(Below(4001)) / 1000 - 2;
      if (Below(6) == 0) {
        data.as<float>()[i] = std::round(data.as<float>()[i] * 4) / 4;
      }
      if (special && Below(40) == 0) {
        data.as<uint32_t>()[i] = kSpecial[Below(6)];
      }
    }
    if (type == DataType::kFloat) return data;
    TensorData halves = TensorData::Zeros(type, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      halves.as<uint16_t>()[i] = model::F32ToF16(data.as<float>()[i]);
    }
    return halves;
  }

  void Add(TensorData data, bool constant) {
    Tensor t;
    t.name = "x" + std::to_string(values_.size());
    t.type = data.type;
    t.shape = data.shape;
    t.shape_known = true;
    if (constant) t.constant = std::make_shared<const TensorData>(data);
    node.inputs.push_back(graph_.AddTensor(std::move(t)));
    values_.push_back(std::move(data));
  }
  void Skip() {
    node.inputs.push_back(kNoTensor);
    values_.emplace_back();
  }
  void Outputs(int count, bool all) {
    for (int i = 0; i < count; ++i) {
      Tensor t;
      t.name = "y" + std::to_string(i);
      const bool wanted = all || Flip();
      node.outputs.push_back(wanted ? graph_.AddTensor(std::move(t))
                                    : kNoTensor);
    }
  }

  // The kernel, twice, and the reference.
  void Compare() {
    node.name = "node";
    ASSERT_TRUE(CheckNode(graph_, node).ok()) << CheckNode(graph_, node);
    const OperatorInfo* info = FindOperator(node.domain, node.op, node.opset);
    const absl::Status inferred = info->infer(&graph_, node);
    ASSERT_TRUE(inferred.ok()) << inferred;
    Inputs inputs;
    for (size_t i = 0; i < values_.size(); ++i) {
      inputs.push_back(node.inputs[i] == kNoTensor ? nullptr : &values_[i]);
    }
    ASSERT_TRUE(IsDirect(graph_, node));
    const auto kernel = MakeDirect(graph_, node);
    ASSERT_NE(kernel, nullptr);
    const auto want = EvaluateNode(graph_, node, inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int run = 0; run < 2; ++run) {
      const auto got = kernel->Run(inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(got->size(), want->size());
      for (size_t i = 0; i < want->size(); ++i) {
        if (node.outputs[i] == kNoTensor) continue;
        EXPECT_EQ((*got)[i].type, (*want)[i].type);
        EXPECT_EQ((*got)[i].shape, (*want)[i].shape);
        EXPECT_TRUE((*got)[i].bytes == (*want)[i].bytes) << "result " << i;
      }
    }
  }

  Node node;
  bool special = false;

 private:
  std::mt19937 random_;
  Graph graph_;
  std::vector<TensorData> values_;
};

void Recurrent(const std::string& op, uint32_t seed) {
  Case c(seed);
  const bool lstm = op == "LSTM";
  const int64_t gates = lstm ? 4 : op == "GRU" ? 3 : 1;
  const std::string direction =
      c.Of<const char*>({"forward", "reverse", "bidirectional"});
  const int64_t d = direction == "bidirectional" ? 2 : 1;
  const int64_t steps = 1 + c.Below(6), batch = c.Of<int64_t>({1, 1, 2, 3, 5});
  const int64_t features = 1 + c.Below(9), hidden = c.Of<int64_t>({1, 5, 19});
  c.special = c.Below(3) == 0;
  c.node.op = op;
  c.node.opset = c.Of({13, 14, 22});
  auto& attributes = c.node.attributes;
  attributes["direction"] = direction;
  attributes["hidden_size"] = hidden;
  const bool first = c.node.opset >= 14 && c.Flip();
  if (first) attributes["layout"] = int64_t{1};
  if (c.Below(3) == 0) attributes["clip"] = 0.75f;
  if (lstm && c.Below(3) == 0) attributes["input_forget"] = int64_t{1};
  if (op == "GRU" && c.Flip()) attributes["linear_before_reset"] = int64_t{1};
  if (c.Flip()) {
    std::vector<std::string> names;
    std::vector<float> alphas, betas;
    for (int64_t i = 0; i < d * (lstm ? 3 : op == "GRU" ? 2 : 1); ++i) {
      names.push_back(c.Of<const char*>(
          {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh",
           "Sigmoid", "Softplus", "Softsign", "tanh", "ThresholdedRelu"}));
      alphas.push_back(c.Of({1.0f, 0.5f, 1.25f}));
      betas.push_back(c.Of({0.0f, 1.0f, 0.3f}));
    }
    attributes["activations"] = names;
    attributes["activation_alpha"] = alphas;
    attributes["activation_beta"] = betas;
  }
  const DataType type = c.Below(4) == 0 ? DataType::kFloat16 : DataType::kFloat;
  const bool constant = c.Flip();
  const auto add = [&](const Shape& shape, bool is_constant = false) {
    c.Add(c.Floats(type, shape), is_constant);
  };
  const Shape state = first ? Shape{batch, d, hidden} : Shape{d, batch, hidden};
  add(first ? Shape{batch, steps, features} : Shape{steps, batch, features});
  add({d, gates * hidden, features}, constant);
  add({d, gates * hidden, hidden}, constant);
  c.Flip() ? add({d, 2 * gates * hidden}) : c.Skip();
  if (c.Below(3) == 0) {
    TensorData lengths = TensorData::Zeros(DataType::kInt32, {batch});
    for (int64_t b = 0; b < batch; ++b) {
      lengths.as<int32_t>()[b] = static_cast<int32_t>(c.Below(steps + 1));
    }
    c.Add(std::move(lengths), c.Flip());
  } else {
    c.Skip();
  }
  c.Flip() ? add(state) : c.Skip();
  if (lstm) {
    c.Flip() ? add(state) : c.Skip();
    if (c.Below(3) == 0) add({d, 3 * hidden});
  }
  c.Outputs(lstm ? 3 : 2, seed % 4 != 0);
  SCOPED_TRACE(op + " " + std::to_string(seed));
  c.Compare();
}

class Operator : public testing::TestWithParam<const char*> {};

TEST_P(Operator, HasTheBytesOfItsExpansion) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Recurrent(GetParam(), seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Direct, Operator,
                         testing::Values("LSTM", "GRU", "RNN"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST(Direct, GridSampleHasTheBytesOfItsExpansion) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Case c(seed);
    c.node.op = "GridSample";
    const bool newer = c.Flip();
    c.node.opset = newer ? 20 : 16;
    const size_t rank = newer ? 1 + c.Below(3) : 2;
    auto& attributes = c.node.attributes;
    const int mode = static_cast<int>(c.Below(4));
    const char* const older[] = {"nearest", "bilinear", "bicubic"};
    const char* const names[] = {"nearest", "linear", "cubic"};
    if (mode < 3) {
      attributes["mode"] = std::string(newer ? names[mode] : older[mode]);
    }
    attributes["padding_mode"] =
        std::string(c.Of({"zeros", "border", "reflection"}));
    attributes["align_corners"] = c.Below(2);
    Shape x = {1 + c.Below(2), 1 + c.Below(3)}, grid = {x[0]};
    for (size_t i = 0; i < rank; ++i) {
      x.push_back(c.Of<int64_t>({1, 2, 5, 8}));
      grid.push_back(1 + c.Below(6));
    }
    // Few samples of a large plane, too.
    if (rank == 2 && c.Below(8) == 0) x[2] = 500;
    grid.push_back(static_cast<int64_t>(rank));
    c.special = c.Flip();
    const DataType type =
        c.Below(4) == 0 ? DataType::kFloat16 : DataType::kFloat;
    c.Add(c.Floats(type, x), false);
    c.Add(c.Floats(type, grid), false);
    c.Outputs(1, true);
    c.Compare();
    if (HasFatalFailure()) return;
  }
}

// Several pieces of samples.
TEST(Direct, GridSampleOfManySamples) {
  for (const char* padding : {"zeros", "border"}) {
    Case c(7);
    c.node.op = "GridSample";
    c.node.opset = 16;
    c.node.attributes["padding_mode"] = std::string(padding);
    c.Add(c.Floats(DataType::kFloat, {2, 2, 13, 9}), false);
    c.Add(c.Floats(DataType::kFloat, {2, 101, 83, 2}), false);
    c.Outputs(1, true);
    c.Compare();
  }
}

TEST(Direct, WhatHasNoKernel) {
  Graph graph;
  const auto tensor = [&](DataType type, const Shape& shape) {
    Tensor t;
    t.name = "t" + std::to_string(graph.tensors.size());
    t.type = type;
    t.shape = shape;
    t.shape_known = true;
    return graph.AddTensor(std::move(t));
  };
  Node node;
  node.op = "RNN";
  node.opset = 14;
  const auto make = [&](DataType type, int64_t steps) {
    node.inputs = {tensor(type, {steps, 1, 2}), tensor(type, {1, 3, 2}),
                   tensor(type, {1, 3, 3})};
    return IsDirect(graph, node);
  };
  EXPECT_TRUE(make(DataType::kFloat, 4));
  EXPECT_FALSE(make(DataType::kDouble, 4));
  EXPECT_FALSE(make(DataType::kFloat, 0));
  node.domain = "com.example";
  EXPECT_FALSE(make(DataType::kFloat, 4));
}

}  // namespace
}  // namespace heddle::compiler
