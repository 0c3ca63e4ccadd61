// SPDX-License-Identifier: Apache-2.0
// Models that are almost right: every number, name, type and operator of a good
// model changed to something extreme, one at a time. Each is refused with a
// sentence, or compiles to a package that the driver accepts and that runs.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"
#include "tests/e2e/product.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

constexpr int64_t kNumbers[] = {std::numeric_limits<int64_t>::min(),
                                -(int64_t{1} << 31) - 1,
                                -1,
                                0,
                                1,
                                2,
                                3,
                                255,
                                65537,
                                (int64_t{1} << 31) - 1,
                                int64_t{1} << 31,
                                int64_t{1} << 40,
                                std::numeric_limits<int64_t>::max()};
constexpr float kFloats[] = {0,
                             -1,
                             1e-45f,
                             3e38f,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
constexpr const char* kOperators[] = {
    "Add",       "Conv",    "ConvTranspose", "MatMul",           "Gemm",
    "Reshape",   "MaxPool", "Softmax",       "DequantizeLinear", "QLinearConv",
    "Transpose", "Concat",  "Slice",         "Gather",           "Resize",
    "LSTM",      ""};

using Shapes = std::map<std::string, compiler::Shape>;

class Mutants {
 public:
  Mutants(const std::string& bytes, const Shapes& shapes) {
    options_.input_shapes = shapes;
    // The smallest card: models that a change makes large are refused early.
    options_.device_memory_bytes = 63u << 20;
    options_.open_dimensions_are_one = true;
    EXPECT_TRUE(model_.ParseFromString(bytes));
    UseDevice(SimDevice(Configs().front()));
    auto device = session::OpenDevice(SimDevice(Configs().front()));
    EXPECT_TRUE(device.ok()) << device.status();
    if (device.ok()) device_ = *device;
  }

  void TryAll() {
    const std::string original = model_.SerializeAsString();
    ASSERT_NE(device_, nullptr);
    Try("the model itself");
    ASSERT_EQ(compiled_, 1) << last_;
    TryModel();
    auto* graph = model_.mutable_graph();
    for (auto& value : *graph->mutable_input()) TryValue(&value);
    for (auto& value : *graph->mutable_output()) TryValue(&value);
    for (auto& tensor : *graph->mutable_initializer()) TryTensor(&tensor);
    for (int i = 0; i < graph->node_size(); ++i) TryNode(i);
    // Every change was taken back.
    EXPECT_TRUE(model_.SerializeAsString() == original);
  }
  int tried() const { return tried_; }
  int compiled() const { return compiled_; }

 private:
  // Loads the package on the card and runs it once, with zeros.
  void Run(const std::string& what, const std::string& bytes) {
    auto graph = session::LoadGraph(device_, bytes);
    ASSERT_TRUE(graph.ok()) << what << ": " << graph.status();
    std::vector<std::string> storage;
    const auto buffers = [&storage](const auto& infos) {
      std::vector<session::TensorBuffer> result;
      for (const package::TensorInfo& info : infos) {
        storage.emplace_back(info.size, 0);
        result.push_back({info.name, &storage.back()[0], info.size});
      }
      return result;
    };
    const package::Package& package = (*graph)->package();
    storage.reserve(package.inputs.size() + package.outputs.size());
    const auto inputs = buffers(package.inputs);
    const auto outputs = buffers(package.outputs);
    auto run = (*graph)->Start(inputs, outputs, nullptr);
    ASSERT_TRUE(run.ok()) << what << ": " << run.status();
    const absl::Status status = (*run)->Wait(absl::Now() + absl::Seconds(20));
    EXPECT_TRUE(status.ok()) << what << ": " << status;
  }

  void Try(const std::string& what) {
    ++tried_;
    const absl::Time start = absl::Now();
    const auto result =
        compiler::CompileOnnx(model_.SerializeAsString(), options_);
    EXPECT_LT(absl::Now() - start, absl::Seconds(5)) << what;
    if (result.ok()) {
      ++compiled_;
      Run(what, result->package);
      return;
    }
    EXPECT_NE(result.status().code(), absl::StatusCode::kInternal)
        << what << ": " << result.status();
    last_ = result.status().ToString();
    EXPECT_GT(result.status().message().size(), 10u) << what;
  }

  // Fields of protobuf are set through functions: `set` stores one value.
  template <typename T, typename Values>
  void EachSet(const std::string& what, T before,
               const std::function<void(T)>& set, const Values& values) {
    for (const auto& value : values) {
      set(static_cast<T>(value));
      Try(what);
      set(before);
    }
  }

  void TryModel() {
    EachSet<int64_t>(
        "ir_version", model_.ir_version(),
        [&](int64_t v) { model_.set_ir_version(v); }, kNumbers);
    for (auto& opset : *model_.mutable_opset_import()) {
      EachSet<int64_t>(
          "opset", opset.version(), [&](int64_t v) { opset.set_version(v); },
          kNumbers);
    }
  }

  void TryValue(onnx::ValueInfoProto* value) {
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    for (int i = 0; i < tensor->shape().dim_size(); ++i) {
      auto* dim = tensor->mutable_shape()->mutable_dim(i);
      if (!dim->has_dim_value()) continue;
      EachSet<int64_t>(
          value->name() + " dimension", dim->dim_value(),
          [&](int64_t v) { dim->set_dim_value(v); }, kNumbers);
    }
    const int type = tensor->elem_type();
    for (int other = -1; other < 20; ++other) {
      tensor->set_elem_type(other);
      Try(value->name() + " type");
    }
    tensor->set_elem_type(type);
    Rename(value->name(), [&](const std::string& n) { value->set_name(n); });
  }

  void TryTensor(onnx::TensorProto* tensor) {
    const std::string name = tensor->name();
    for (int i = 0; i < tensor->dims_size(); ++i) {
      EachSet<int64_t>(
          name + " dimension", tensor->dims(i),
          [&](int64_t v) { tensor->set_dims(i, v); }, kNumbers);
    }
    const int type = tensor->data_type();
    for (int other = -1; other < 20; ++other) {
      tensor->set_data_type(other);
      Try(name + " type");
    }
    tensor->set_data_type(type);
    const onnx::TensorProto copy = *tensor;
    const std::string& raw = copy.raw_data();
    for (const unsigned char fill : {0x00, 0x7f, 0x80, 0xff}) {
      tensor->set_raw_data(std::string(raw.size(), static_cast<char>(fill)));
      Try(name + " all bytes equal");
    }
    tensor->set_raw_data(raw.substr(0, raw.size() / 2));
    Try(name + " half of the data");
    *tensor = copy;
    Rename(name, [&](const std::string& n) { tensor->set_name(n); });
  }

  void Rename(const std::string before,  // a copy: `set` changes it
              const std::function<void(const std::string&)>& set) {
    for (const char* other : {"", "no such name", "\xff\x80"}) {
      set(other);
      Try("name of " + before);
    }
    set(before);
  }

  void TryNode(int index) {
    auto* graph = model_.mutable_graph();
    auto* node = graph->mutable_node(index);
    const std::string name = "node " + std::to_string(index);
    const std::string op = node->op_type();
    for (const char* other : kOperators) {
      node->set_op_type(other);
      Try(name + " as " + other);
    }
    node->set_op_type(op);
    for (int i = 0; i < node->input_size(); ++i) {
      const std::string input = node->input(i);
      Rename(input, [&](const std::string& n) { node->set_input(i, n); });
      // Its own output: a cycle.
      node->set_input(i, node->output(0));
      Try(name + " in a cycle");
      node->set_input(i, graph->node(0).output(0));
      Try(name + " fed by the first node");
      node->set_input(i, input);
    }
    for (auto& attribute : *node->mutable_attribute()) TryAttribute(&attribute);
    const onnx::NodeProto copy = *node;
    node->clear_input();
    Try(name + " without inputs");
    *node = copy;
    node->clear_output();
    Try(name + " without outputs");
    *node = copy;
    node->clear_attribute();
    Try(name + " without attributes");
    *node = copy;
    *graph->add_node() = copy;
    Try(name + " twice");
    graph->mutable_node()->RemoveLast();
  }

  void TryAttribute(onnx::AttributeProto* attribute) {
    const std::string name = "attribute " + attribute->name();
    if (attribute->type() == onnx::AttributeProto::INT) {
      EachSet<int64_t>(
          name, attribute->i(), [&](int64_t v) { attribute->set_i(v); },
          kNumbers);
    }
    if (attribute->type() == onnx::AttributeProto::FLOAT) {
      EachSet<float>(
          name, attribute->f(), [&](float v) { attribute->set_f(v); }, kFloats);
    }
    for (int i = 0; i < attribute->ints_size(); ++i) {
      EachSet<int64_t>(
          name, attribute->ints(i),
          [&](int64_t v) { attribute->set_ints(i, v); }, kNumbers);
    }
    const onnx::AttributeProto copy = *attribute;
    for (int type = 0; type < 15; ++type) {
      attribute->set_type(
          static_cast<onnx::AttributeProto::AttributeType>(type));
      Try(name + " of type " + std::to_string(type));
    }
    *attribute = copy;
    attribute->add_ints(1);
    Try(name + " with one number more");
    attribute->clear_ints();
    Try(name + " without numbers");
    *attribute = copy;
  }

  std::shared_ptr<session::Device> device_;
  compiler::CompileOptions options_;
  onnx::ModelProto model_;
  std::string last_;  // refusal
  int tried_ = 0, compiled_ = 0;
};

void TryAllMutants(const std::string& path, const Shapes& shapes = {}) {
  Mutants mutants(ReadFileOrDie(path), shapes);
  mutants.TryAll();
  EXPECT_GT(mutants.tried(), 300);
  EXPECT_GT(mutants.compiled(), 10);
}

TEST(Mutants, OfTheQuantizedDigits) {
  TryAllMutants(Digits("digits_int8.onnx"));
}

TEST(Mutants, OfTheFloatDigits) { TryAllMutants(Digits("digits_fp32.onnx")); }

class SharedMutants : public testing::TestWithParam<const char*> {};

TEST_P(SharedMutants, AreRefusedOrCompiled) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Shapes shapes;
  // It leaves the number of frames open, and one is too few for its kernel.
  if (GetParam() == std::string("qtdnn")) shapes["input"] = {10, 10};
  TryAllMutants(SharedPath("models/") + GetParam() + "/model.onnx", shapes);
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedMutants,
                         testing::Values("mnist_cntk", "mnist_tiny_int8",
                                         "qtdnn"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::tests
