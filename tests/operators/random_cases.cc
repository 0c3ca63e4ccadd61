// SPDX-License-Identifier: Apache-2.0
#include "tests/operators/random_cases.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/compiler.h"
#include "tests/support/onnxruntime.h"
#include "tests/support/shared.h"

namespace heddle::tests {

compiler::Shape RandomSource::AnyShape(int64_t least, int64_t most,
                                       int64_t largest) {
  compiler::Shape shape(static_cast<size_t>(Between(least, most)));
  for (int64_t& d : shape) d = Between(1, largest);
  return shape;
}

compiler::TensorData RandomSource::Floats(const compiler::Shape& shape,
                                          float range) {
  return compiler::RandomData(compiler::DataType::kFloat, shape, Next(), -range,
                              range);
}

void MakeDouble(RuntimeCase* c) {
  for (compiler::TensorData& input : c->inputs) {
    if (input.type != compiler::DataType::kFloat) continue;
    const compiler::TensorData floats = input;
    input =
        compiler::TensorData::Zeros(compiler::DataType::kDouble, floats.shape);
    for (int64_t i = 0; i < floats.count(); ++i) {
      input.as<double>()[i] = floats.as<float>()[i];
    }
  }
  c->relative = c->absolute = 1e-12;
}

std::string OperatorVersion::TestName() const {
  return (domain.empty() ? "" : "Microsoft") + op + std::to_string(opset);
}

namespace {

// Of all operands, and which of them are constants.
std::string TypesOf(const RuntimeCase& c) {
  std::string text;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool constant = i < c.constant.size() && c.constant[i];
    absl::StrAppend(&text, compiler::DataTypeName(c.inputs[i].type),
                    constant ? "=" : " ");
  }
  return text;
}

}  // namespace

void ExpectAsRuntime(const OperatorVersion& version, double tolerance,
                     const std::function<void(RuntimeCase*)>& make) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  ASSERT_FALSE(OnnxRuntime::SharedLibraries().empty());
  auto runtime = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  constexpr int kCases = 50;
  std::set<std::string> judged;
  for (int i = 0; i < kCases; ++i) {
    RuntimeCase c;
    c.op = version.op;
    c.domain = version.domain;
    c.opset = version.opset;
    c.relative = c.absolute = tolerance;
    make(&c);
    onnx::NodeProto shown;
    if (c.attributes) c.attributes(&shown);
    EXPECT_EQ(CompareWithRuntime(runtime->get(), c), "")
        << "case " << i << ": " << compiler::DataTypeName(c.inputs[0].type)
        << compiler::ShapeToString(c.inputs[0].shape) << ", " << c.inputs.size()
        << " inputs, " << shown.ShortDebugString();
    // What the reference computes, card and host take: once for each choice of
    // types.
    if (!judged.insert(TypesOf(c)).second) continue;
    std::vector<compiler::TensorData> given;
    compiler::CompileOptions options;
    options.host_nodes = true;
    const auto made =
        compiler::CompileOnnx(ModelOf(c, &given).Bytes(), options);
    EXPECT_TRUE(made.ok()) << "case " << i << ": " << made.status() << "; "
                           << shown.ShortDebugString();
  }
}

}  // namespace heddle::tests
