// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/four_bits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

constexpr int kUint4 = 21, kInt4 = 22;

onnx::TensorProto Codes(const std::string& name, int type, const Shape& shape,
                        const std::string& raw) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(type);
  for (int64_t d : shape) proto.add_dims(d);
  proto.set_raw_data(raw);
  return proto;
}

absl::StatusOr<TensorData> Unpack(const onnx::TensorProto& proto) {
  TensorSource source("");
  return FromFourBits(proto, "initializer 'w'", &source);
}

TEST(FourBitsTest, TheFirstCodeIsInTheLowBits) {
  const std::string raw = {'\x21', '\x8f', '\x07'};
  const auto with_sign = Unpack(Codes("w", kInt4, {5}, raw));
  ASSERT_TRUE(with_sign.ok()) << with_sign.status();
  EXPECT_EQ(with_sign->type, DataType::kInt4);
  EXPECT_EQ(with_sign->shape, Shape{5});
  const auto* codes = with_sign->as<int8_t>();
  EXPECT_EQ(std::vector<int>(codes, codes + 5),
            (std::vector<int>{1, 2, -1, -8, 7}));
  const auto without = Unpack(Codes("w", kUint4, {1, 5}, raw));
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->type, DataType::kUint4);
  EXPECT_EQ(without->bytes.ToVector(), (std::vector<uint8_t>{1, 2, 15, 8, 7}));
  // The other field: a byte in each number.
  onnx::TensorProto typed = Codes("w", kUint4, {3}, "");
  typed.clear_raw_data();
  typed.add_int32_data(0x21);
  typed.add_int32_data(0x0f);
  const auto numbers = Unpack(typed);
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  EXPECT_EQ(numbers->bytes.ToVector(), (std::vector<uint8_t>{1, 2, 15}));
}

TEST(FourBitsTest, ShapesAndBytesMustAgree) {
  for (const Shape& shape :
       {Shape{6}, Shape{2}, Shape{-1}, Shape{INT64_MAX}, Shape{},
        Shape{int64_t{1} << 40, int64_t{1} << 40}}) {
    EXPECT_EQ(RejectionOf(Unpack(Codes("w", kInt4, shape, "abcd")).status()),
              Rejection::kInvalidModel)
        << ShapeToString(shape);
  }
}

// [2, 4] weights in blocks of two along the last axis.
ModelBuilder Sample() {
  ModelBuilder b(21);
  b.Input("x", DataType::kFloat, {1, 2});
  b.Constant("scale", Floats({2, 2}, {1, 0.5f, 2, 4}));
  *b.proto().mutable_graph()->add_initializer() =
      Codes("w", kInt4, {2, 4}, {'\x21', '\x8f', '\x43', '\x70'});
  auto* node = b.Node("DequantizeLinear", {"w", "scale"}, {"d"});
  SetInt(node, "axis", 1);
  SetInt(node, "block_size", 2);
  b.Node("MatMul", {"x", "d"}, {"y"});
  b.Output("y");
  b.proto().set_ir_version(10);
  return b;
}

TEST(FourBitsTest, DequantizeLinearReadsThem) {
  const auto model = ImportOnnx(Sample().Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const auto id = model->graph.FindTensor("w");
  ASSERT_NE(id, kNoTensor);
  EXPECT_EQ(model->graph.tensors[id].type, DataType::kInt8);
}

TEST(FourBitsTest, WhatOthersReadKeepsItsType) {
  const auto type_of = [](const ModelBuilder& b) {
    const std::string bytes = b.Bytes();
    onnx::ModelProto model;
    model.ParseFromString(bytes);
    return FourBitsAsBytes(model.graph()).count("w");
  };
  EXPECT_EQ(type_of(Sample()), 1u);
  ModelBuilder casts = Sample();
  casts.Node("Cast", {"w"}, {"q"});
  EXPECT_EQ(type_of(casts), 0u);
  ModelBuilder scales = Sample();
  scales.Node("DequantizeLinear", {"w", "w"}, {"q"});
  EXPECT_EQ(type_of(scales), 0u);
  ModelBuilder output = Sample();
  output.Output("w");
  EXPECT_EQ(type_of(output), 0u);
  // In the branch of an If.
  ModelBuilder branch = Sample();
  auto* attribute = branch.Node("If", {"c"}, {"z"})->add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* node = attribute->mutable_g()->add_node();
  node->set_op_type("Identity");
  node->add_input("w");
  EXPECT_EQ(type_of(branch), 0u);
}

TEST(FourBitsTest, NoOutputHasThem) {
  ModelBuilder output = Sample();
  output.Output("w");
  output.proto()
      .mutable_graph()
      ->mutable_output(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(kInt4);
  EXPECT_EQ(RejectionOf(ImportOnnx(output.Bytes(), {}).status()),
            Rejection::kUnsupportedDatatype);
}

}  // namespace
}  // namespace heddle::compiler
