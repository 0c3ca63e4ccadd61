// SPDX-License-Identifier: Apache-2.0
// Quantized networks on the card: every quantized tensor and every output has
// the bytes of the shared folder's integer reference, in every configuration.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/run_package.h"
#include "tests/support/shared.h"

namespace heddle::compiler {
namespace {

class IntegerCard
    : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(IntegerCard, EqualsTheIntegerReference) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const auto [model, config] = GetParam();
  const std::string folder = tests::SharedPath(absl::StrCat("models/", model));
  auto bytes = ReadFile(folder + "/model.onnx");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto named = ReadTensorFiles(folder + "/test_data_set_0", "input_");
  ASSERT_TRUE(named.ok()) << named.status();
  auto expected = ReadTensorFiles(folder + "/integer_reference", "tensor_");
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_FALSE(expected->empty());
  CompileOptions options;
  options.config = config;
  options.taps = true;
  std::vector<TensorData> inputs;
  for (const NamedTensor& input : *named) {
    options.input_shapes[input.name] = input.data.shape;
    inputs.push_back(input.data);
  }
  auto compiled = CompileOnnx(*bytes, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto package = package::Parse(compiled->package);
  ASSERT_TRUE(package.ok()) << package.status();
  auto run = RunPackage(*package, inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  size_t seen = 0;
  for (const NamedTensor& tensor : *expected) {
    const auto found = run->outputs.find(tensor.name);
    // A tensor of the reference is an output or a tap, unless the operator
    // that makes it is fused with the next one.
    if (found == run->outputs.end()) continue;
    ++seen;
    int64_t different = 0;
    for (size_t i = 0;
         i < tensor.data.bytes.size() && i < found->second.bytes.size(); ++i) {
      different += tensor.data.bytes[i] != found->second.bytes[i];
    }
    EXPECT_EQ(different, 0) << tensor.name << ": bytes that differ";
    EXPECT_EQ(found->second.bytes.size(), tensor.data.bytes.size())
        << tensor.name;
  }
  RecordProperty("tensors", static_cast<int>(seen));
  EXPECT_EQ(seen, expected->size());
}

INSTANTIATE_TEST_SUITE_P(
    Models, IntegerCard,
    testing::Combine(testing::Values("mnist_tiny_int8", "qtdnn",
                                     "qdq_mobilenet_edgetpu_frag",
                                     "mobilenetv2_qdq"),
                     testing::Values("h256", "h512", "h1024")),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param), "_",
                          std::get<1>(info.param));
    });

}  // namespace
}  // namespace heddle::compiler
