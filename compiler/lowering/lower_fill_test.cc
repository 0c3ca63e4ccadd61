// SPDX-License-Identifier: Apache-2.0
// Results of ConstantOfShape that are no constants of the package.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/passes/infer.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/run_package.h"

namespace heddle::compiler {
namespace {

// Just above the limit; the last elements are the output.
TEST(LowerFill, WhatIsTooLargeToFold) {
  for (const auto& filler :
       {Floats({1}, {1.5f}), Int64s({1}, {-7}), Uint8s({1}, {200}),
        MakeData<uint16_t>(DataType::kFloat16, {1}, {0x4200})}) {
    SCOPED_TRACE(DataTypeName(filler.type));
    const int64_t rows =
        kMaxFoldedBytes / 1000 / static_cast<int64_t>(filler.bytes.size()) + 1;
    ModelBuilder b;
    b.Input("x", filler.type, {1, 3});
    b.Constant("shape", Int64s({2}, {rows, 1000}));
    auto* node = b.Node("ConstantOfShape", {"shape"}, {"c"});
    auto* value = node->add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    value->mutable_t()->set_data_type(static_cast<int32_t>(filler.type));
    value->mutable_t()->add_dims(1);
    value->mutable_t()->set_raw_data(filler.bytes.data(), filler.bytes.size());
    b.Constant("starts", Int64s({2}, {rows - 1, 997}));
    b.Constant("ends", Int64s({2}, {rows, 1000}));
    b.Node("Slice", {"c", "starts", "ends"}, {"last"});
    SetInt(b.Node("Concat", {"x", "last"}, {"y"}), "axis", 1);
    b.Output("y");
    auto compiled = CompileOnnx(b.Bytes(), {});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_LT(compiled->package.size(), size_t{1} << 20);
    auto package = package::Parse(compiled->package);
    ASSERT_TRUE(package.ok()) << package.status();
    TensorData x = TensorData::Zeros(filler.type, {1, 3});
    auto run = RunPackage(*package, {x});
    ASSERT_TRUE(run.ok()) << run.status();
    TensorData expected = TensorData::Zeros(filler.type, {1, 6});
    const size_t element = filler.bytes.size();
    for (size_t i = 3; i < 6; ++i) {
      std::memcpy(&expected.bytes[i * element], filler.bytes.data(), element);
    }
    EXPECT_EQ(run->outputs["y"].bytes, expected.bytes);
  }
}

}  // namespace
}  // namespace heddle::compiler
