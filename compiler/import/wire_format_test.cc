// SPDX-License-Identifier: Apache-2.0
// Models are read by their wire format: messages of other declarations with the
// same field numbers load, too. Here those of proto3 in the package ge.onnx,
// made from ONNX's own declarations; and messages with fields that nobody
// knows.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;

// Every kind of thing, with values that proto3 does not write.
std::string Sample() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 2, 1, 1});
  b.Constant("w", Floats({2, 2}, {1, 2, 3, 0}));
  b.Constant("c", Int32s({}, {0}));
  SetInt(b.Node("Flatten", {"x"}, {"t"}), "axis", 1);
  auto* gemm = b.Node("Gemm", {"t", "w"}, {"u"});
  SetInt(gemm, "transA", 0);
  SetFloat(gemm, "beta", 0);
  SetFloat(gemm, "alpha", 0.5);
  SetInt(b.Node("Concat", {"u", "u"}, {"v"}), "axis", 0);
  auto* transpose = b.Node("Transpose", {"v"}, {"y"});
  SetInts(transpose, "perm", {1, 0});
  SetString(b.Node("MaxPool", {"x"}, {"p"}), "auto_pad", "VALID");
  b.Output("y", DataType::kFloat, {2, -1});
  return b.Bytes();
}

// With 1 for the batch.
absl::StatusOr<ImportedModel> Import(const std::string& bytes) {
  ImportOptions options;
  options.open_dimensions_are_one = true;
  return ImportOnnx(bytes, options);
}

void ToProto3(DescriptorProto* message) {
  for (FieldDescriptorProto& field : *message->mutable_field()) {
    field.clear_default_value();
    field.mutable_options()->clear_packed();
    if (!field.type_name().empty()) {
      field.set_type_name(
          absl::StrReplaceAll(field.type_name(), {{".onnx.", ".ge.onnx."}}));
    }
  }
  for (DescriptorProto& nested : *message->mutable_nested_type()) {
    ToProto3(&nested);
  }
}

// The model's bytes as a program writes them that knows ge.onnx only.
std::string RewriteAsGeOnnx(const std::string& bytes) {
  FileDescriptorProto file;
  onnx::ModelProto::descriptor()->file()->CopyTo(&file);
  file.set_name("ge_onnx.proto");
  file.set_package("ge.onnx");
  file.set_syntax("proto3");
  file.clear_options();
  for (DescriptorProto& message : *file.mutable_message_type()) {
    ToProto3(&message);
  }
  google::protobuf::DescriptorPool pool;
  const auto* built = pool.BuildFile(file);
  EXPECT_NE(built, nullptr);
  if (built == nullptr) return "";
  google::protobuf::DynamicMessageFactory factory(&pool);
  const std::unique_ptr<google::protobuf::Message> message(
      factory.GetPrototype(pool.FindMessageTypeByName("ge.onnx.ModelProto"))
          ->New());
  EXPECT_TRUE(message->ParseFromString(bytes));
  return message->SerializeAsString();
}

TEST(WireFormatTest, Proto3PackageGeOnnx) {
  const std::string bytes = Sample();
  const std::string rewritten = RewriteAsGeOnnx(bytes);
  // Zeros are left out, lists of numbers are packed.
  EXPECT_LT(rewritten.size(), bytes.size());
  auto model = Import(bytes);
  auto same = Import(rewritten);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->graph.ToString(), model->graph.ToString());
  for (size_t i = 0; i < model->graph.nodes.size(); ++i) {
    const Node& a = model->graph.nodes[i];
    const Node& b = same->graph.nodes[i];
    ASSERT_EQ(a.attributes.size(), b.attributes.size()) << a.Describe();
    EXPECT_TRUE(a.attributes == b.attributes) << a.Describe();  // no tensors
  }
  for (size_t i = 0; i < model->graph.tensors.size(); ++i) {
    const Tensor& a = model->graph.tensors[i];
    const Tensor& b = same->graph.tensors[i];
    EXPECT_EQ(a.shape, b.shape);
    ASSERT_EQ(a.is_constant(), b.is_constant());
    if (a.is_constant()) {
      EXPECT_EQ(a.constant->bytes, b.constant->bytes);
    }
  }
}

// A field of each wire type that no version of ONNX has.
std::string UnknownFields() {
  const std::string tag_varint("\xc0\xbb\x01", 3);   // 3000, varint
  const std::string tag_fixed64("\xc1\xbb\x01", 3);  // 3000, 64 bits
  const std::string tag_bytes("\xc2\xbb\x01", 3);    // 3000, bytes
  const std::string tag_fixed32("\xc5\xbb\x01", 3);  // 3000, 32 bits
  return absl::StrCat(tag_varint, "\x05", tag_fixed64, "12345678", tag_bytes,
                      "\x03", "abc", tag_fixed32, "1234");
}

TEST(WireFormatTest, UnknownFieldsAreTolerated) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Sample()));
  const auto add = [](google::protobuf::Message* message) {
    ASSERT_TRUE(message->MergeFromString(UnknownFields()));
  };
  add(model.mutable_opset_import(0));
  add(model.mutable_graph());
  add(model.mutable_graph()->mutable_node(0));
  add(model.mutable_graph()->mutable_node(0)->mutable_attribute(0));
  add(model.mutable_graph()->mutable_initializer(0));
  add(model.mutable_graph()->mutable_input(0));
  add(model.mutable_graph()->mutable_input(0)->mutable_type());
  const std::string bytes = model.SerializeAsString() + UnknownFields();
  EXPECT_GT(bytes.size(), Sample().size() + 7 * UnknownFields().size());
  auto plain = Import(Sample());
  auto imported = Import(bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->graph.ToString(), plain->graph.ToString());
}

TEST(WireFormatTest, IrVersions3To8) {
  for (int version = 3; version <= 8; ++version) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(Sample()));
    model.set_ir_version(version);
    EXPECT_TRUE(Import(model.SerializeAsString()).ok()) << version;
  }
}

TEST(WireFormatTest, Opsets6To17) {
  for (int opset = 6; opset <= 17; ++opset) {
    ModelBuilder b(opset);
    b.Input("x", DataType::kFloat, {2});
    b.Node("Relu", {"x"}, {"y"});
    b.Output("y");
    EXPECT_TRUE(ImportOnnx(b.Bytes(), {}).ok()) << opset;
  }
}

}  // namespace
}  // namespace heddle::compiler
