// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/tensor.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <fstream>

#include "tests/comparer/model_folder.h"

namespace heddle::comparer {
namespace {

using onnx::TensorProto;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Bytes(const TensorProto& proto) {
  return proto.SerializeAsString();
}

TensorProto Floats(int64_t size) {
  TensorProto proto;
  proto.set_name("x");
  proto.set_data_type(TensorProto::FLOAT);
  proto.add_dims(size);
  return proto;
}

TEST(TensorTest, RawAndTypedDataGiveTheSameBytes) {
  TensorProto raw = Floats(2), typed = Floats(2);
  const float values[] = {1.5f, -2.0f};
  raw.set_raw_data(std::string(reinterpret_cast<const char*>(values), 8));
  typed.add_float_data(1.5f);
  typed.add_float_data(-2.0f);
  const auto a = ReadTensor(Write("raw.pb", Bytes(raw)));
  const auto b = ReadTensor(Write("typed.pb", Bytes(typed)));
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(a->bytes, b->bytes);
  EXPECT_EQ(a->name, "x");
  EXPECT_EQ(Describe(*a), "FLOAT[2]");
}

TEST(TensorTest, SmallIntegersComeFromInt32Data) {
  TensorProto proto;
  proto.set_data_type(TensorProto::INT8);
  proto.add_dims(3);
  for (const int value : {-128, 5, 127}) proto.add_int32_data(value);
  const auto tensor = ReadTensor(Write("i8.pb", Bytes(proto)));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->bytes, std::string("\x80\x05\x7f", 3));
}

TEST(TensorTest, RefusesWhatDoesNotFitItsShape) {
  TensorProto proto = Floats(3);
  proto.add_float_data(1);
  EXPECT_FALSE(ReadTensor(Write("short.pb", Bytes(proto))).ok());
  proto = Floats(1);
  proto.set_raw_data("12345");
  EXPECT_FALSE(ReadTensor(Write("odd.pb", Bytes(proto))).ok());
  proto = Floats(-1);
  EXPECT_FALSE(ReadTensor(Write("negative.pb", Bytes(proto))).ok());
  proto = Floats(1);
  proto.set_data_type(TensorProto::STRING);
  EXPECT_FALSE(ReadTensor(Write("string.pb", Bytes(proto))).ok());
  EXPECT_FALSE(ReadTensor(Write("noise.pb", "\xff\xff noise")).ok());
  EXPECT_FALSE(ReadTensor(::testing::TempDir() + "/absent.pb").ok());
}

TEST(TensorTest, WrittenAndReadAgainIsTheSame) {
  Tensor tensor;
  tensor.name = "a/b:0";
  tensor.type = TensorProto::UINT16;
  tensor.shape = {2, 1};
  tensor.bytes = std::string("\x00\xff\x01\x02", 4);
  const std::string path = ::testing::TempDir() + "/written.pb";
  ASSERT_TRUE(WriteTensor(path, tensor).ok());
  const auto read = ReadTensor(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, tensor.name);
  EXPECT_EQ(Describe(*read), "UINT16[2,1]");
  EXPECT_EQ(read->bytes, tensor.bytes);
  EXPECT_FALSE(WriteTensor(path + "/absent/x.pb", tensor).ok());
}

TEST(TensorTest, NamedTensorsNeedDifferentNames) {
  const std::string folder = ::testing::TempDir() + "/named";
  ASSERT_EQ(std::system(("mkdir -p " + folder).c_str()), 0);
  Write("named/a.pb", Bytes(Floats(0)));
  ASSERT_TRUE(ReadNamedTensors(folder).ok());
  Write("named/b.pb", Bytes(Floats(0)));
  EXPECT_FALSE(ReadNamedTensors(folder).ok());
}

}  // namespace
}  // namespace heddle::comparer
