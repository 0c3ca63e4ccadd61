// SPDX-License-Identifier: Apache-2.0
// What com.microsoft's fused products and NhwcMaxPool refuse;
// tests/operators has what they compute.
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

TEST(FusedProducts, BatchesNeedOneRank) {
  for (const char* name : {"transBatchA", "transBatchB"}) {
    EXPECT_EQ(KindOf("FusedMatMul", {{name, int64_t{1}}},
                     {Zeros({2, 3}), Zeros({3, 2})}),
              Rejection::kMismatchingShape);
    EXPECT_EQ(KindOf("FusedMatMul", {{name, int64_t{1}}},
                     {Zeros({2, 2, 3}), Zeros({3, 2})}),
              Rejection::kMismatchingShape);
  }
  EXPECT_EQ(KindOf("FusedMatMul", {}, {Zeros({2, 3}), Zeros({2, 3})}),
            Rejection::kMismatchingShape);
}

TEST(FusedProducts, FunctionsHaveTheirParameters) {
  const std::vector<TensorData> gemm = {Zeros({2, 3}), Zeros({3, 2})};
  const auto of = [](const char* function) {
    return std::map<std::string, Attribute>{
        {"activation", std::string(function)}};
  };
  EXPECT_EQ(KindOf("FusedGemm", of("Relu"), gemm), Rejection::kNone);
  EXPECT_EQ(KindOf("FusedGemm", {}, gemm), Rejection::kInvalidModel);
  EXPECT_EQ(KindOf("FusedGemm", of("LeakyRelu"), gemm),
            Rejection::kInvalidModel);
  for (const char* name : {"", "Mish", "relu"}) {
    EXPECT_EQ(KindOf("FusedGemm", of(name), gemm),
              Rejection::kUnsupportedAttribute);
  }
  const TensorData x = Zeros({1, 2, 3, 3}), w = Zeros({2, 2, 1, 1});
  EXPECT_EQ(KindOf("FusedConv", {}, {x, w}), Rejection::kNone);
  EXPECT_EQ(KindOf("FusedConv", of("Clip"), {x, w}), Rejection::kInvalidModel);
  auto clip = of("Relu");
  clip["activation_params"] = std::vector<float>{1};
  EXPECT_EQ(KindOf("FusedConv", clip, {x, w}), Rejection::kInvalidModel);
  EXPECT_EQ(KindOf("FusedConv", {}, {x, w, TensorData(), Zeros({1, 2, 3, 1})}),
            Rejection::kMismatchingShape);
}

TEST(NhwcMaxPool, HasChannels) {
  EXPECT_EQ(KindOf("NhwcMaxPool", {{"kernel_shape", std::vector<int64_t>{2}}},
                   {Bytes({3, 2})}),
            Rejection::kMismatchingShape);
}

}  // namespace
}  // namespace heddle::compiler
