// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/list.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/compiler.h"
#include "compiler/shapes/compile_shape_set.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compile {
namespace {

using compiler::DataType;
using compiler::ModelBuilder;
using nlohmann::ordered_json;

std::string Model(int64_t rows, const std::string& name = "net") {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {rows, 4});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("Softmax", {"r"}, {"y"});
  b.Output("y");
  b.proto().mutable_graph()->set_name(name);
  return b.Bytes();
}

ordered_json List(const std::string& bytes) {
  auto list = ListFile(bytes, compiler::KeptByCaller(bytes));
  EXPECT_TRUE(list.ok()) << list.status();
  return list.ok() ? *std::move(list) : ordered_json();
}

TEST(List, AModelWithOpenDimensions) {
  const ordered_json list = List(Model(-1));
  EXPECT_EQ(list["kind"], "model");
  EXPECT_EQ(list["name"], "net");
  EXPECT_EQ(list["opsets"]["ai.onnx"], 17);
  EXPECT_EQ(list["nodes"], 2);
  EXPECT_EQ(list["inputs"][0]["name"], "x");
  EXPECT_EQ(list["inputs"][0]["type"], "float");
  EXPECT_EQ(list["inputs"][0]["shape"], (ordered_json{"batch", 4}));
  EXPECT_TRUE(list["outputs"][0]["shape"].is_null());
  const std::string text = ListText(list);
  EXPECT_NE(text.find("'x' float[batch,4]"), std::string::npos) << text;
  EXPECT_NE(text.find("of any shape"), std::string::npos) << text;
}

TEST(List, APackage) {
  const auto compiled = compiler::CompileOnnx(Model(2), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const ordered_json list = List(compiled->package);
  EXPECT_EQ(list["kind"], "package");
  EXPECT_EQ(list["config"], "h256");
  EXPECT_EQ(list["outputs"][0]["shape"], (ordered_json{2, 4}));
  EXPECT_EQ(list["bytes"], compiled->package.size());
  EXPECT_EQ(list["estimated_cycles"], compiled->report.estimated_cycles);
  EXPECT_GT(list["device_bytes"], 0);
  EXPECT_TRUE(list["segments"].empty());
  const std::string text = ListText(list);
  EXPECT_NE(text.find("'net' for h256"), std::string::npos) << text;
}

TEST(List, APackageOfSeveralShapes) {
  compiler::ShapeValues values;
  ASSERT_TRUE(compiler::ParseShapeValues("batch=1,3", &values).ok());
  const auto set = compiler::CompileShapeSet(Model(-1), {}, values);
  ASSERT_TRUE(set.ok()) << set.status();
  const ordered_json list = List(set->package);
  EXPECT_EQ(list["kind"], "shape set");
  EXPECT_EQ(list["inputs"][0]["shape"], (ordered_json{"batch", 4}));
  ASSERT_EQ(list["specialisations"].size(), 2u);
  EXPECT_EQ(list["specialisations"][1]["values"]["batch"], 3);
  // What it gives: of the set, and of each shape.
  EXPECT_EQ(list["outputs"][0]["name"], "y");
  EXPECT_EQ(list["outputs"][0]["shape"], (ordered_json{nullptr, 4}));
  EXPECT_EQ(list["specialisations"][1]["inputs"][0]["shape"],
            (ordered_json{3, 4}));
  EXPECT_EQ(list["specialisations"][0]["outputs"][0]["shape"],
            (ordered_json{1, 4}));
  EXPECT_EQ(list["specialisations"][1]["outputs"][0]["shape"],
            (ordered_json{3, 4}));
  const std::string text = ListText(list);
  EXPECT_NE(text.find("batch=3: "), std::string::npos) << text;
  EXPECT_NE(text.find("  output          'y' float[3,4]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("output            'y' float[?,4]\n"), std::string::npos)
      << text;
}

TEST(List, WhatIsNone) {
  const std::string package = compiler::CompileOnnx(Model(2), {})->package;
  for (const std::string& bytes :
       {std::string(), std::string("no model"), package.substr(0, 200),
        std::string("HEDDLEPK"), std::string("HEDDLEPS")}) {
    EXPECT_FALSE(ListFile(bytes, nullptr).ok()) << bytes.size();
  }
}

// Names of files from anywhere reach a terminal.
TEST(List, HostileNames) {
  const std::string text = ListText(List(Model(2, "\x1b[2J\n'x")));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\n'x"), std::string::npos);
}

}  // namespace
}  // namespace heddle::compile
