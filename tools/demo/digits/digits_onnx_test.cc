// SPDX-License-Identifier: Apache-2.0
// The digit models, written by our own protobuf writer, are what ONNX itself
// accepts: they parse without unknown fields, and pass the checker and strict
// shape inference of libonnx.
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

class DigitsOnnxTest : public testing::TestWithParam<const char*> {};

TEST_P(DigitsOnnxTest, IsAcceptedByOnnx) {
  const std::string path = std::string("tools/demo/digits/") + GetParam();
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  // Fields in another order or unknown ones would not serialise to the same
  // bytes.
  EXPECT_EQ(model.SerializeAsString(), bytes);
  model.DiscardUnknownFields();
  EXPECT_EQ(model.ByteSizeLong(), bytes.size());

  ASSERT_NO_THROW(onnx::checker::check_model(model));
  const onnx::ShapeInferenceOptions strict{/*check_type=*/true,
                                           /*strict_mode=*/1,
                                           /*data_prop=*/true};
  ASSERT_NO_THROW(onnx::shape_inference::InferShapes(
      model, onnx::OpSchemaRegistry::Instance(), strict));
  // Every value between the nodes got a type: the graph is fully understood.
  EXPECT_EQ(model.graph().value_info_size() + model.graph().output_size(),
            model.graph().node_size());
}

INSTANTIATE_TEST_SUITE_P(Models, DigitsOnnxTest,
                         testing::Values("digits_fp32.onnx",
                                         "digits_int8.onnx"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
