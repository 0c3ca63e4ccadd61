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

}  // namespace
}  // namespace heddle::compiler
