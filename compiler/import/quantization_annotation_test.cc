// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/quantization_annotation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

ModelBuilder Model() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2});
  b.Constant("s", Floats({}, {0.5}));
  b.Constant("z", Uint8s({}, {3}));
  b.Constant("zs", Uint8s({2}, {3, 4}));
  b.Node("Add", {"x", "s"}, {"y"});
  b.Output("y");
  return b;
}

void Annotate(ModelBuilder* b, const std::string& name,
              const Entries& entries) {
  auto* annotation = b->proto().mutable_graph()->add_quantization_annotation();
  annotation->set_tensor_name(name);
  for (const auto& [key, value] : entries) {
    auto* entry = annotation->add_quant_parameter_tensor_names();
    entry->set_key(key);
    entry->set_value(value);
  }
}

TEST(QuantizationAnnotationTest, IsCheckedAndReported) {
  ModelBuilder b = Model();
  Annotate(&b, "y", {{"SCALE_TENSOR", "s"}, {"ZERO_POINT_TENSOR", "z"}});
  Annotate(&b, "x", {{"SCALE_TENSOR", "s"}, {"COLOUR", "z"}});
  auto model = ImportOnnx(b.Bytes(), {});
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->graph.notes.size(), 2u);
  EXPECT_EQ(model->graph.notes[0],
            "quantization_annotation of 'y' ('SCALE_TENSOR', "
            "'ZERO_POINT_TENSOR') is not used; quantization follows the nodes");
}

TEST(QuantizationAnnotationTest, Invalid) {
  const struct {
    std::string name;
    Entries entries;
    Rejection kind;
    std::string part;
  } kCases[] = {
      {"", {}, Rejection::kInvalidModel, "no tensor_name"},
      {"nobody", {}, Rejection::kInvalidModel, "'nobody' is about a tensor"},
      {"y",
       {{"SCALE_TENSOR", "nobody"}},
       Rejection::kInvalidModel,
       "'SCALE_TENSOR' the tensor 'nobody', which nothing defines"},
      {"y", {{"", "s"}}, Rejection::kInvalidModel, "without key"},
      {"y",
       {{"SCALE_TENSOR", "s"}, {"SCALE_TENSOR", "s"}},
       Rejection::kInvalidModel,
       "two entries 'SCALE_TENSOR'"},
      {"y",
       {{"ZERO_POINT_TENSOR", "z"}},
       Rejection::kInvalidModel,
       "no SCALE_TENSOR"},
      {"y",
       {{"SCALE_TENSOR", "z"}},
       Rejection::kMismatchingDatatype,
       "'z' of type uint8, must be float"},
      {"y",
       {{"SCALE_TENSOR", "s"}, {"ZERO_POINT_TENSOR", "s"}},
       Rejection::kMismatchingDatatype,
       "'s' of type float"},
      {"y",
       {{"SCALE_TENSOR", "s"}, {"ZERO_POINT_TENSOR", "zs"}},
       Rejection::kInvalidModel,
       "shape [] and a zero point of shape [2]"},
  };
  for (const auto& c : kCases) {
    ModelBuilder b = Model();
    Annotate(&b, c.name, c.entries);
    auto model = ImportOnnx(b.Bytes(), {});
    EXPECT_EQ(RejectionOf(model.status()), c.kind) << c.part;
    EXPECT_TRUE(absl::StrContains(model.status().message(), c.part))
        << model.status();
  }
  ModelBuilder b = Model();
  Annotate(&b, "y", {{"SCALE_TENSOR", "s"}});
  Annotate(&b, "y", {{"SCALE_TENSOR", "s"}});
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), {}).status()),
            Rejection::kInvalidModel);
}

}  // namespace
}  // namespace heddle::compiler
