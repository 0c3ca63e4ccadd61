// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/wire_check.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/base/diagnostic.h"

namespace heddle::compiler {
namespace {

Rejection Check(const std::string& bytes, const WireLimits& limits = {}) {
  return RejectionOf(CheckWire(bytes, *onnx::ModelProto::descriptor(), limits));
}

TEST(WireCheckTest, AcceptsAModel) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->add_node()->add_input("x");
  EXPECT_TRUE(
      CheckWire(model.SerializeAsString(), *onnx::ModelProto::descriptor())
          .ok());
}

TEST(WireCheckTest, DepthBomb) {
  onnx::ModelProto model;
  auto* graph = model.mutable_graph();
  for (int i = 0; i < 40; ++i) {
    graph = graph->add_node()->add_attribute()->mutable_g();
  }
  EXPECT_EQ(Check(model.SerializeAsString()), Rejection::kInvalidProtobuf);
}

TEST(WireCheckTest, ObjectBomb) {
  // Two bytes each, hundreds once parsed.
  onnx::ModelProto model;
  for (int i = 0; i < 1000; ++i) model.mutable_graph()->add_node();
  WireLimits limits;
  limits.max_objects = 1001;
  EXPECT_EQ(Check(model.SerializeAsString(), limits), Rejection::kNone);
  limits.max_objects = 1000;
  EXPECT_EQ(Check(model.SerializeAsString(), limits),
            Rejection::kNoSystemMemory);
}

TEST(WireCheckTest, Malformed) {
  EXPECT_EQ(Check("\x3a\x05"), Rejection::kInvalidProtobuf);  // graph cut short
  EXPECT_EQ(Check(std::string("\x00\x00", 2)), Rejection::kInvalidProtobuf);
  EXPECT_EQ(Check("\x0b"), Rejection::kInvalidProtobuf);  // group
  EXPECT_EQ(Check("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            Rejection::kInvalidProtobuf);                     // endless varint
  EXPECT_EQ(Check("\x09\x01"), Rejection::kInvalidProtobuf);  // fixed64
}

const google::protobuf::FieldDescriptor& RawDataField() {
  return *onnx::TensorProto::descriptor()->FindFieldByNumber(
      onnx::TensorProto::kRawDataFieldNumber);
}

TEST(TakeBytesTest, WhatIsLeftIsTheModelWithNumbers) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name(std::string(300, 'p'));
  auto* graph = model.mutable_graph();
  const std::string large(100000, 'a'), eight(8, 'b'), seven(7, 'c');
  for (const std::string& raw : {large, eight, seven, std::string()}) {
    graph->add_initializer()->set_raw_data(raw);
  }
  auto* value = graph->add_node()->add_attribute();
  value->mutable_t()->set_raw_data(large);
  value->set_name("value");
  const std::string bytes = model.SerializeAsString();
  const auto taken =
      TakeBytes(bytes, *onnx::ModelProto::descriptor(), RawDataField());
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_LT(taken->rest.size(), 500u);
  ASSERT_EQ(taken->taken.size(), 3u);
  // Where the model has them.
  for (const absl::string_view raw : taken->taken) {
    EXPECT_GE(raw.data(), bytes.data());
    EXPECT_LE(raw.data() + raw.size(), bytes.data() + bytes.size());
  }
  onnx::ModelProto rest;
  ASSERT_TRUE(rest.ParseFromString(taken->rest));
  const auto put_back = [&](onnx::TensorProto* tensor) {
    if (!tensor->has_raw_data()) return;
    tensor->set_raw_data(std::string(taken->Of(tensor->raw_data())));
  };
  for (auto& tensor : *rest.mutable_graph()->mutable_initializer()) {
    put_back(&tensor);
  }
  put_back(
      rest.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t());
  EXPECT_EQ(rest.SerializeAsString(), bytes);
}

// A field that occurs twice counts as it does last.
TEST(TakeBytesTest, TheLastOccurrenceCounts) {
  onnx::TensorProto first, second;
  first.set_raw_data("0123456789");
  for (const std::string& last : {std::string("abc"), std::string(20, 'x')}) {
    second.set_raw_data(last);
    const std::string bytes =
        first.SerializeAsString() + second.SerializeAsString();
    const auto taken =
        TakeBytes(bytes, *onnx::TensorProto::descriptor(), RawDataField());
    ASSERT_TRUE(taken.ok()) << taken.status();
    onnx::TensorProto rest;
    ASSERT_TRUE(rest.ParseFromString(taken->rest));
    EXPECT_EQ(taken->Of(rest.raw_data()), last);
  }
}

// Nobody can put a number there but TakeBytes.
TEST(TakeBytesTest, NumbersOfTheModelAreData) {
  onnx::TensorProto tensor;
  const std::string data(8, '\x01');
  tensor.set_raw_data(data);
  const std::string bytes = tensor.SerializeAsString();
  const auto taken =
      TakeBytes(bytes, *onnx::TensorProto::descriptor(), RawDataField());
  ASSERT_TRUE(taken.ok()) << taken.status();
  onnx::TensorProto rest;
  ASSERT_TRUE(rest.ParseFromString(taken->rest));
  EXPECT_EQ(taken->Of(rest.raw_data()), data);
  EXPECT_EQ(taken->Of(data), "");  // what no model is parsed to
}

}  // namespace
}  // namespace heddle::compiler
