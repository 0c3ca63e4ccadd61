// SPDX-License-Identifier: Apache-2.0
// Whole models through the front end, judged by their reference outputs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/onnx_files.h"
#include "tests/support/shared.h"

namespace heddle::compiler {
namespace {

std::string Folder(const std::string& model) {
  return tests::SharedPath("models/" + model);
}

// With the input shapes of the first data set.
absl::StatusOr<Graph> Analyse(const std::string& model) {
  auto bytes = ReadFile(Folder(model) + "/model.onnx");
  if (!bytes.ok()) return bytes.status();
  auto inputs = ReadTensorFiles(Folder(model) + "/test_data_set_0", "input_");
  if (!inputs.ok()) return inputs.status();
  CompileOptions options;
  for (const NamedTensor& input : *inputs) {
    options.input_shapes[input.name] = input.data.shape;
  }
  return AnalyseOnnx(*bytes, options);
}

absl::StatusOr<std::vector<TensorData>> Evaluate(const Graph& graph,
                                                 const std::string& set) {
  auto inputs = ReadTensorFiles(set, "input_");
  if (!inputs.ok()) return inputs.status();
  std::vector<TensorData> values;
  for (const NamedTensor& input : *inputs) values.push_back(input.data);
  return EvaluateGraph(graph, values);
}

class FloatModel : public testing::TestWithParam<const char*> {};

TEST_P(FloatModel, MeetsTheReferenceOutputs) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  auto graph = Analyse(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (int i = 0; i < 3; ++i) {
    const std::string set =
        absl::StrCat(Folder(GetParam()), "/test_data_set_", i);
    auto values = Evaluate(*graph, set);
    ASSERT_TRUE(values.ok()) << values.status();
    auto expected = ReadTensorFiles(set, "output_");
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_EQ(expected->size(), graph->outputs.size());
    for (size_t o = 0; o < expected->size(); ++o) {
      EXPECT_EQ(Difference((*values)[graph->outputs[o]], (*expected)[o].data,
                           1e-3, 1e-4 * Range((*expected)[o].data)),
                "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FloatModel,
                         testing::Values("mnist_cntk", "mnist_tiny_fp32",
                                         "cifar10_classifier_winml"),
                         [](const auto& info) { return info.param; });

class IntegerModel : public testing::TestWithParam<const char*> {};

// Every quantized tensor and the outputs, byte for byte.
TEST_P(IntegerModel, EqualsTheIntegerReference) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  auto graph = Analyse(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto values = Evaluate(*graph, Folder(GetParam()) + "/test_data_set_0");
  ASSERT_TRUE(values.ok()) << values.status();
  auto expected =
      ReadTensorFiles(Folder(GetParam()) + "/integer_reference", "tensor_");
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_FALSE(expected->empty());
  for (const NamedTensor& tensor : *expected) {
    const TensorId id = graph->FindTensor(tensor.name);
    ASSERT_NE(id, kNoTensor) << tensor.name;
    EXPECT_EQ(Difference((*values)[id], tensor.data, 0, 0), "") << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, IntegerModel,
                         testing::Values("mnist_tiny_int8", "qtdnn",
                                         "qdq_mobilenet_edgetpu_frag",
                                         "mobilenetv2_qdq"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::compiler
