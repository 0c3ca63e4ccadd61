// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/nodes.h"

#include <gtest/gtest.h>

#include "onnxifi/conformance/model.h"

namespace heddle::conformance {
namespace {

// Fields of a TensorProto, by hand.
std::string Varint(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string Bytes(int field, const std::string& bytes) {
  return std::string{static_cast<char>(field << 3 | 2),
                     static_cast<char>(bytes.size())} +
         bytes;
}

TEST(Nodes, ReadsRawData) {
  const auto tensor = ReadTensor(Varint(1, 2) + Varint(1, 1) + Varint(2, 1) +
                                 Bytes(8, "x") + Bytes(9, RawFloats({1, -2})));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->name, "x");
  EXPECT_EQ(tensor->shape, (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(tensor->bytes, RawFloats({1, -2}));
}

TEST(Nodes, ReadsTypedData) {
  // int32_data of a UINT8 tensor, packed.
  const auto bytes =
      ReadTensor(Varint(1, 3) + Varint(2, 2) + Bytes(5, {1, 2, 3}));
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->bytes, std::string({1, 2, 3}));
  const auto wide = ReadTensor(Varint(1, 1) + Varint(2, 7) + Varint(7, 5));
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->bytes, std::string("\x05\0\0\0\0\0\0\0", 8));
  const auto floats =
      ReadTensor(Varint(1, 1) + Varint(2, 1) + Bytes(4, RawFloats({3})));
  ASSERT_TRUE(floats.ok());
  EXPECT_EQ(floats->bytes, RawFloats({3}));
}

TEST(Nodes, RefusesWhatIsNoTensor) {
  EXPECT_EQ(ReadTensor("\xFF\xFF").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadTensor(Bytes(9, "abc").substr(0, 3)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Two elements, bytes of one.
  EXPECT_EQ(ReadTensor(Varint(1, 2) + Varint(2, 1) + Bytes(9, "abcd"))
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  // STRING and BOOL are no ONNXIFI types.
  for (const int type : {8, 9}) {
    EXPECT_EQ(ReadTensor(Varint(1, 1) + Varint(2, type)).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST(Nodes, ReadsNames) {
  Model model;
  model.nodes = {{"Add", {"x", "w"}, {"y"}, "", {}}};
  model.inputs = {{"x", {2}}, {"w", {2}}, {"b", {2}, 16}};
  model.outputs = {{"y", {2}}};
  model.initializers = {{"w", {2}, 1, RawFloats({1, 2})}};
  const auto signature = ReadSignature(model.Serialize());
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(signature->inputs, (std::vector<std::string>{"x", "b"}));
  EXPECT_EQ(signature->types.at("b"), ONNXIFI_DATATYPE_BFLOAT16);
  EXPECT_EQ(signature->outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(signature->types.at("x"), 1);
  EXPECT_EQ(signature->types.at("y"), 1);
  EXPECT_FALSE(ReadSignature("\xFF").ok());
}

TEST(Nodes, AFolderWithoutCasesIsAnError) {
  EXPECT_EQ(NodeCases("/nonexistent").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(NodeCases(testing::TempDir()).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace heddle::conformance
