// SPDX-License-Identifier: Apache-2.0
// What DynamicQuantizeMatMul, GatherBlockQuantized and MatMulBnb4 of
// com.microsoft refuse; tests/operators has what they compute.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_node.h"

namespace heddle::compiler {
namespace {

Rejection KindOf(const char* op,
                 const std::map<std::string, Attribute>& attributes,
                 const std::vector<TensorData>& inputs) {
  return RejectionOf(
      RunNode({op, "com.microsoft", 1, attributes}, inputs).status());
}

TensorData Zeros(const Shape& shape) {
  return TensorData::Zeros(DataType::kFloat, shape);
}
TensorData Bytes(const Shape& shape) {
  return TensorData::Zeros(DataType::kUint8, shape);
}

TEST(QuantisedOfMicrosoft, WhatDoesNotFitIsRefused) {
  const TensorData a = Zeros({2, 3}), b = Bytes({3, 4}), s = Floats({}, {0.5f});
  EXPECT_EQ(KindOf("DynamicQuantizeMatMul", {}, {a, b, s}), Rejection::kNone);
  EXPECT_EQ(KindOf("DynamicQuantizeMatMul", {}, {a, b, Zeros({3})}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(KindOf("DynamicQuantizeMatMul", {}, {a, b, s, Bytes({2})}),
            Rejection::kMismatchingShape);
  EXPECT_EQ(
      KindOf("DynamicQuantizeMatMul", {}, {a, b, s, TensorData(), Zeros({1})}),
      Rejection::kMismatchingShape);
  const TensorData ids = Int32s({1}, {0}), data = Bytes({3, 16}),
                   scales = Zeros({3, 2});
  const auto blocks = [&](std::map<std::string, Attribute> attributes,
                          const TensorData& s) {
    attributes.emplace("block_size", int64_t{16});
    return KindOf("GatherBlockQuantized", attributes, {data, ids, s});
  };
  EXPECT_EQ(blocks({}, scales), Rejection::kNone);
  EXPECT_EQ(blocks({}, Zeros({3, 1})), Rejection::kMismatchingShape);
  EXPECT_EQ(blocks({{"block_size", int64_t{24}}}, scales),
            Rejection::kInvalidModel);
  EXPECT_EQ(blocks({{"gather_axis", int64_t{2}}}, scales),
            Rejection::kInvalidModel);
  EXPECT_EQ(blocks({{"gather_axis", int64_t{1}}}, scales),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(blocks({{"quantize_axis", int64_t{0}}}, scales),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(blocks({{"bits", int64_t{3}}}, scales),
            Rejection::kUnsupportedAttribute);
  EXPECT_EQ(KindOf("GatherBlockQuantized", {{"block_size", int64_t{16}}},
                   {data, ids, scales, Bytes({3, 2})}),
            Rejection::kMismatchingShape);
}

TEST(MatMulBnb4, WhatDoesNotFitIsRefused) {
  const auto kind = [](int64_t type, int64_t block, int64_t bytes,
                       int64_t blocks, int64_t turned = 1) {
    return KindOf("MatMulBnb4",
                  {{"K", int64_t{5}},
                   {"N", int64_t{3}},
                   {"block_size", block},
                   {"quant_type", type},
                   {"transB", turned}},
                  {Zeros({2, 5}), Bytes({bytes}), Zeros({blocks})});
  };
  EXPECT_EQ(kind(0, 16, 8, 1), Rejection::kNone);
  EXPECT_EQ(kind(2, 16, 8, 1), Rejection::kInvalidModel);
  EXPECT_EQ(kind(0, 0, 8, 1), Rejection::kInvalidModel);
  EXPECT_EQ(kind(0, 17, 8, 1), Rejection::kInvalidModel);
  EXPECT_EQ(kind(0, 16, 7, 1), Rejection::kMismatchingShape);
  EXPECT_EQ(kind(0, 16, 8, 2), Rejection::kMismatchingShape);
  EXPECT_EQ(kind(0, 16, 8, 1, 0), Rejection::kUnsupportedAttribute);
}

}  // namespace
}  // namespace heddle::compiler
