// SPDX-License-Identifier: Apache-2.0
// MatMulNBits against its definition, element by element, and what does not
// fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kRows = 3, kColumns = 40, kBlock = 16, kBlocks = 3;

NodeSpec Spec(int64_t bits) {
  return {
      "MatMulNBits",
      "com.microsoft",
      1,
      {{"K", kColumns}, {"N", kRows}, {"bits", bits}, {"block_size", kBlock}}};
}

TensorData Bytes(Shape shape, uint32_t seed) {
  TensorData data = TensorData::Zeros(DataType::kUint8, std::move(shape));
  for (uint8_t& byte : data.bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return data;
}

TensorData Numbers(Shape shape, float step) {
  const int64_t count = ElementCount(shape);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i % 7 - 3) * step);
  }
  return Floats(std::move(shape), values);
}

// Code i of a row that begins at byte `row`.
int CodeAt(const TensorData& packed, int64_t row, int64_t i, int64_t bits) {
  const int64_t at = i * bits;
  return packed.bytes[row + at / 8] >> (at % 8) & ((1 << bits) - 1);
}

// With zero points of floats or none, columns in blocks of their own or by
// g_idx.
TEST(MatMulNBitsTest, UnpacksWeights) {
  const TensorData a = Numbers({2, kColumns}, 0.5f);
  const TensorData scales = Numbers({kRows * kBlocks}, 0.25f);
  const TensorData zeros = Numbers({kRows, kBlocks}, 1);
  const TensorData bias = Numbers({kRows}, 8);
  std::vector<int32_t> groups;
  for (int64_t i = 0; i < kColumns; ++i) {
    groups.push_back(static_cast<int32_t>(i * 5 % kBlocks));
  }
  for (int64_t bits : {2, 4, 8}) {
    const int64_t row_bytes = kBlocks * kBlock * bits / 8;
    const TensorData b =
        Bytes({kRows, kBlocks, kBlock * bits / 8}, static_cast<uint32_t>(bits));
    for (const bool given : {false, true}) {
      for (const bool grouped : {false, true}) {
        const auto y = RunNode(
            Spec(bits),
            {a, b, scales, given ? zeros : TensorData(),
             grouped ? Int32s({kColumns}, groups) : TensorData(), bias});
        ASSERT_TRUE(y.ok()) << y.status();
        ASSERT_EQ(y->shape, (Shape{2, kRows}));
        for (int64_t i = 0; i < 2; ++i) {
          for (int64_t n = 0; n < kRows; ++n) {
            double sum = bias.as<float>()[n];
            for (int64_t k = 0; k < kColumns; ++k) {
              const int64_t block =
                  n * kBlocks +
                  (grouped ? groups[static_cast<size_t>(k)] : k / kBlock);
              const double zero = given ? zeros.as<float>()[block]
                                        : static_cast<double>(1 << (bits - 1));
              sum += static_cast<double>(a.as<float>()[i * kColumns + k]) *
                     scales.as<float>()[block] *
                     (CodeAt(b, n * row_bytes, k, bits) - zero);
            }
            EXPECT_NEAR(y->as<float>()[i * kRows + n], sum, 1e-2)
                << bits << " bits, " << i << ", " << n;
          }
        }
      }
    }
  }
}

TEST(MatMulNBitsTest, WhatDoesNotFitIsRefused) {
  const TensorData a = Numbers({2, kColumns}, 1), b = Bytes({3, 3, 8}, 1);
  const TensorData scales = Numbers({9}, 1);
  const auto rejection = [&](const std::map<std::string, int64_t>& changed,
                             const std::vector<TensorData>& inputs) {
    NodeSpec spec = Spec(4);
    for (const auto& [name, value] : changed) spec.attributes[name] = value;
    return RejectionOf(RunNode(spec, inputs).status());
  };
  for (const auto& [name, value] : std::map<std::string, int64_t>{
           {"K", 0}, {"N", -1}, {"block_size", 24}}) {
    EXPECT_EQ(rejection({{name, value}}, {a, b, scales}),
              Rejection::kInvalidModel);
  }
  EXPECT_EQ(rejection({{"block_size", 8}}, {a, b, scales}),
            Rejection::kInvalidModel);
  EXPECT_EQ(rejection({{"N", INT64_MAX}}, {a, b, scales}),
            Rejection::kInvalidModel);
  EXPECT_EQ(rejection({{"bits", 3}}, {a, b, scales}),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(rejection({{"K", 41}}, {a, b, scales}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(rejection({}, {a, Bytes({3, 3, 7}, 1), scales}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(rejection({}, {a, b, Numbers({8}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(rejection({}, {a, b, scales, Bytes({5}, 1)}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(rejection({}, {a, b, scales, Numbers({8}, 1)}),
            Rejection::kMismatchingShape);
  std::vector<int32_t> groups(kColumns, 0);
  groups[3] = kBlocks;
  EXPECT_EQ(
      rejection({}, {a, b, scales, TensorData(), Int32s({kColumns}, groups)}),
      Rejection::kInvalidModel);
  EXPECT_EQ(rejection({}, {a, b, scales, TensorData(), TensorData(),
                           Numbers({4}, 1)}),
            Rejection::kMismatchingShape);
}

// More weights than a table may have that the model's bytes do not fill. (They
// are unpacked; what they are multiplied with would take a while.)
TEST(MatMulNBitsTest, TakesWhatTheModelHas) {
  constexpr int64_t kMany = 66000, kWide = 1024;
  const auto infer = [&](int64_t rows) {
    Graph graph;
    const auto input = [&](Shape shape, DataType type, bool constant) {
      Tensor t;
      t.name = std::to_string(graph.tensors.size());
      t.type = type;
      t.shape = shape;
      t.shape_known = true;
      if (constant) {
        t.constant = std::make_shared<const TensorData>(
            TensorData::Zeros(type, std::move(shape)));
      }
      return graph.AddTensor(std::move(t));
    };
    Node node;
    node.op = "MatMulNBits";
    node.domain = "com.microsoft";
    node.opset = 1;
    node.attributes = {
        {"N", rows}, {"K", kWide}, {"bits", int64_t{2}}, {"block_size", kWide}};
    node.inputs = {input({1, kWide}, DataType::kFloat, false),
                   input({kMany, 1, kWide / 4}, DataType::kUint8, true),
                   input({rows}, DataType::kFloat, false)};
    node.outputs = {input({}, DataType::kUndefined, false)};
    const absl::Status status =
        FindOperator(node.domain, node.op, 1)->infer(&graph, node);
    if (status.ok()) {
      EXPECT_EQ(graph.tensors[node.outputs[0]].shape, (Shape{1, rows}));
    }
    return RejectionOf(status);
  };
  EXPECT_EQ(infer(kMany), Rejection::kNone);
  // What N says and the bytes do not.
  EXPECT_EQ(infer(int64_t{1} << 26), Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
