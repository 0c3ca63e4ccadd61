// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tensor_proto.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/base/diagnostic.h"

namespace heddle::compiler {
namespace {

onnx::TensorProto Proto(int type, std::vector<int64_t> dims) {
  onnx::TensorProto proto;
  proto.set_name("w");
  proto.set_data_type(type);
  for (int64_t dimension : dims) proto.add_dims(dimension);
  return proto;
}

TensorData Take(const onnx::TensorProto& proto) {
  TensorSource source("");
  auto data = FromTensorProto(proto, "initializer 'w'", &source);
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *data : TensorData();
}

Rejection KindOf(const onnx::TensorProto& proto) {
  TensorSource source("");
  return RejectionOf(
      FromTensorProto(proto, "initializer 'w'", &source).status());
}

TEST(TensorProtoTest, TypedFields) {
  auto p = Proto(onnx::TensorProto::FLOAT, {2});
  p.add_float_data(1.5f);
  p.add_float_data(-2);
  EXPECT_EQ(Take(p).as<float>()[1], -2);
  p = Proto(onnx::TensorProto::DOUBLE, {1});
  p.add_double_data(0.1);
  EXPECT_EQ(Take(p).as<double>()[0], 0.1);
  p = Proto(onnx::TensorProto::INT64, {});
  p.add_int64_data(-5);
  EXPECT_EQ(Take(p).as<int64_t>()[0], -5);
  p = Proto(onnx::TensorProto::UINT64, {});
  p.add_uint64_data(~uint64_t{0});
  EXPECT_EQ(Take(p).as<uint64_t>()[0], ~uint64_t{0});
  p = Proto(onnx::TensorProto::UINT32, {});
  p.add_uint64_data(4000000000u);
  EXPECT_EQ(Take(p).as<uint32_t>()[0], 4000000000u);
  p = Proto(onnx::TensorProto::INT8, {});
  p.add_int32_data(-128);
  EXPECT_EQ(Take(p).as<int8_t>()[0], -128);
  p = Proto(onnx::TensorProto::UINT8, {});
  p.add_int32_data(255);
  EXPECT_EQ(Take(p).as<uint8_t>()[0], 255);
  p = Proto(onnx::TensorProto::INT16, {});
  p.add_int32_data(-300);
  EXPECT_EQ(Take(p).as<int16_t>()[0], -300);
  p = Proto(onnx::TensorProto::INT32, {});
  p.add_int32_data(-70000);
  EXPECT_EQ(Take(p).as<int32_t>()[0], -70000);
  p = Proto(onnx::TensorProto::COMPLEX64, {1});
  p.add_float_data(1);
  p.add_float_data(2);
  EXPECT_EQ(Take(p).bytes.size(), 8u);
}

TEST(TensorProtoTest, HalvesAreBitPatternsInInt32Data) {
  for (int type : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    auto p = Proto(type, {1});
    p.add_int32_data(0xbc00);
    EXPECT_EQ(Take(p).as<uint16_t>()[0], 0xbc00);
  }
}

TEST(TensorProtoTest, RawDataAndBoolNormalization) {
  auto p = Proto(onnx::TensorProto::FLOAT, {1});
  const float value = 3;
  p.set_raw_data(&value, 4);
  EXPECT_EQ(Take(p).as<float>()[0], 3);
  p = Proto(onnx::TensorProto::BOOL, {2});
  p.set_raw_data(std::string("\x02\x00", 2));
  EXPECT_EQ(Take(p).bytes, (std::vector<uint8_t>{1, 0}));
}

TEST(TensorProtoTest, EmptyTensors) {
  EXPECT_EQ(Take(Proto(onnx::TensorProto::FLOAT, {0, 5})).bytes.size(), 0u);
}

TEST(TensorProtoTest, Disagreements) {
  auto p = Proto(onnx::TensorProto::FLOAT, {3});
  p.add_float_data(1);
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::FLOAT, {1});
  p.set_raw_data("12345");
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::FLOAT, {1});
  p.set_raw_data("1234");
  p.add_float_data(1);
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);  // two fields
  p = Proto(onnx::TensorProto::FLOAT, {1});
  p.add_int32_data(1);  // wrong field
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::UINT8, {1});
  p.add_int32_data(256);  // out of range
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::FLOAT, {-1});
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::FLOAT, {1});
  p.clear_data_type();
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p.set_data_type(99);
  EXPECT_EQ(KindOf(p), Rejection::kInvalidModel);
  p = Proto(onnx::TensorProto::STRING, {1});
  p.add_string_data("s");
  EXPECT_EQ(KindOf(p), Rejection::kUnsupportedDatatype);
}

// A few bytes must not make the importer allocate terabytes.
TEST(TensorProtoTest, HugeShapesWithoutData) {
  EXPECT_EQ(KindOf(Proto(onnx::TensorProto::FLOAT, {int64_t{1} << 40})),
            Rejection::kInvalidModel);
  EXPECT_EQ(KindOf(Proto(onnx::TensorProto::DOUBLE,
                         {int64_t{1} << 32, int64_t{1} << 32})),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
