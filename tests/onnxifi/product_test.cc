// SPDX-License-Identifier: Apache-2.0
// The product's library on a simulated card: what the fake engine of onnxifi's
// own tests cannot show.
#include "tests/e2e/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/status.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::ModelBuilder;
using compiler::SetInt;

testing::AssertionResult Same(const char*, const char* call, onnxStatus want,
                              onnxStatus got) {
  if (want == got) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << call << " returned " << onnxifi::StatusName(got) << ", not "
         << onnxifi::StatusName(want);
}
#define EXPECT_STATUS(want, call) EXPECT_PRED_FORMAT2(Same, want, call)
#define EXPECT_OK(call) EXPECT_STATUS(ONNXIFI_STATUS_SUCCESS, call)

struct Place {
  std::string name;
  uint64_t type;
  std::vector<uint64_t> shape;
  void* data;
};

class Product : public testing::Test {
 protected:
  void SetUp() override {
    static const bool device = [] {
      UseDevice(SimDevice(Configs()[0]));
      return true;
    }();
    ASSERT_TRUE(device);
    size_t count = 1;
    ASSERT_EQ(onnxGetBackendIDs(&id_, &count), ONNXIFI_STATUS_SUCCESS);
    Open(nullptr);
  }
  void TearDown() override {
    if (backend_ != nullptr) {
      EXPECT_OK(onnxReleaseBackend(backend_));
    }
    EXPECT_OK(onnxReleaseBackendID(id_));
  }
  void Open(const uint64_t* properties) {
    if (backend_ != nullptr) {
      EXPECT_OK(onnxReleaseBackend(backend_));
    }
    EXPECT_OK(onnxInitBackend(id_, properties, &backend_));
  }
  onnxStatus Compatibility(const std::string& model) {
    return onnxGetBackendCompatibility(id_, model.size(), model.data());
  }
  onnxStatus InitGraph(const std::string& model, onnxGraph* graph) {
    return onnxInitGraph(backend_, nullptr, model.size(), model.data(), 0,
                         nullptr, graph, 0, nullptr);
  }
  static std::vector<onnxTensorDescriptorV1> Descriptors(
      const std::vector<Place>& places) {
    std::vector<onnxTensorDescriptorV1> result;
    for (const Place& place : places) {
      onnxTensorDescriptorV1 d = {};
      d.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
      d.name = place.name.c_str();
      d.dataType = place.type;
      d.dimensions = static_cast<uint32_t>(place.shape.size());
      d.shape = place.shape.data();
      d.buffer = reinterpret_cast<onnxPointer>(place.data);
      result.push_back(d);
    }
    return result;
  }
  static onnxStatus SetIo(onnxGraph graph, const std::vector<Place>& inputs,
                          const std::vector<Place>& outputs) {
    const auto in = Descriptors(inputs), out = Descriptors(outputs);
    return onnxSetGraphIO(graph, static_cast<uint32_t>(in.size()), in.data(),
                          static_cast<uint32_t>(out.size()), out.data());
  }
  // The output event, to be waited for and released.
  onnxEvent Run(onnxGraph graph) {
    onnxEvent ready = nullptr;
    EXPECT_OK(onnxInitEvent(backend_, &ready));
    EXPECT_OK(onnxSignalEvent(ready));
    onnxMemoryFenceV1 input = {}, output = {};
    input.tag = output.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
    input.type = output.type = ONNXIFI_SYNCHRONIZATION_EVENT;
    input.event = ready;
    EXPECT_OK(onnxRunGraph(graph, &input, &output));
    EXPECT_OK(onnxReleaseEvent(ready));
    return output.event;
  }

  onnxBackendID id_ = nullptr;
  onnxBackend backend_ = nullptr;
};

// ---- One verdict

TEST_F(Product, AnInputWithoutShapeIsLeftToSetGraphIO) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2}).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  b.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  EXPECT_OK(Compatibility(b.Bytes()));
  onnxGraph graph = nullptr;
  EXPECT_OK(InitGraph(b.Bytes(), &graph));
  float x[3] = {-1, 2, 3}, y[3] = {};
  EXPECT_OK(SetIo(graph, {{"x", ONNXIFI_DATATYPE_FLOAT32, {3}, x}},
                  {{"y", ONNXIFI_DATATYPE_FLOAT32, {3}, y}}));
  onnxEvent done = Run(graph);
  EXPECT_OK(onnxWaitEvent(done));
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[2], 3);
  EXPECT_OK(onnxReleaseEvent(done));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(Product, ADimensionOfZero) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {0, 3}).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE, Compatibility(b.Bytes()));
  onnxGraph graph = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE, InitGraph(b.Bytes(), &graph));
}

TEST_F(Product, MoreThanTheDeviceHolds) {
  ModelBuilder b;
  const int64_t side = 1 << 14;
  b.Input("x", DataType::kFloat, {side, side}).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  onnxGraph graph = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_MEMORY, InitGraph(b.Bytes(), &graph));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE, Compatibility(b.Bytes()));
}

// ---- Nodes that the card lacks

// Relu(x), transposed where the card has no numbers for it.
std::string PartlyOnTheHost() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2, 3}).Output("y");
  b.Node("Relu", {"x"}, {"r"});
  SetInt(b.Node("Cast", {"r"}, {"d"}), "to", onnx::TensorProto::DOUBLE);
  b.Node("Transpose", {"d"}, {"s"});
  SetInt(b.Node("Cast", {"s"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  return b.Bytes();
}

TEST_F(Product, NodesThatTheCardLacksRunOnTheHost) {
  const std::string model = PartlyOnTheHost();
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, Compatibility(model));
  onnxGraph graph = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, InitGraph(model, &graph));
  float x[2][6] = {{-1, 2, 3, -4, 5, 6}, {1, 2, -3, 4, -5, 1e30f}};
  float y[2][6] = {};
  // Two in flight at once.
  onnxEvent done[2];
  for (int i : {0, 1}) {
    EXPECT_OK(SetIo(graph, {{"x", ONNXIFI_DATATYPE_FLOAT32, {2, 3}, x[i]}},
                    {{"y", ONNXIFI_DATATYPE_FLOAT32, {3, 2}, y[i]}}));
    done[i] = Run(graph);
  }
  for (int i : {0, 1}) {
    EXPECT_OK(onnxWaitEvent(done[i]));
    EXPECT_OK(onnxReleaseEvent(done[i]));
    for (int j = 0; j < 6; ++j) {
      const float from = x[i][j % 2 * 3 + j / 2];
      EXPECT_EQ(y[i][j], from < 0 ? 0 : from) << i << " " << j;
    }
  }
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(Product, NodesThatTheCardLacksAreRefusedIfSo) {
  const uint64_t refuse[] = {HEDDLE_BACKEND_PROPERTY_HOST_NODES,
                             HEDDLE_HOST_NODES_REFUSE,
                             ONNXIFI_BACKEND_PROPERTY_NONE};
  Open(refuse);
  onnxGraph graph = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                InitGraph(PartlyOnTheHost(), &graph));
  EXPECT_EQ(graph, nullptr);
  const uint64_t success[] = {HEDDLE_BACKEND_PROPERTY_HOST_NODES,
                              HEDDLE_HOST_NODES_SUCCESS,
                              ONNXIFI_BACKEND_PROPERTY_NONE};
  Open(success);
  EXPECT_OK(InitGraph(PartlyOnTheHost(), &graph));
  EXPECT_OK(onnxReleaseGraph(graph));
}

// ---- Outputs whose size values decide

// Where x [3,5] is not 0, what is there, and how much that is.
std::string Found(int64_t declared = 0) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {3, 5});
  b.Node("NonZero", {"x"}, {"rows"});
  b.Node("Transpose", {"rows"}, {"at"});
  b.Node("GatherND", {"x", "at"}, {"y"});
  b.Node("Shape", {"rows"}, {"shape"});
  b.Output("y", DataType::kFloat, {declared});
  b.Output("rows", DataType::kInt64, {2, declared});
  b.Output("shape");
  if (declared > 0) return b.Bytes();
  for (int output : {0, 1}) {
    auto* shape = b.proto()
                      .mutable_graph()
                      ->mutable_output(output)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    shape->mutable_dim(output)->set_dim_param("found");
  }
  return b.Bytes();
}

class VariableOutputs : public Product {
 protected:
  void SetUp() override {
    Product::SetUp();
    onnxExtensionFunctionPointer function = nullptr;
    ASSERT_EQ(
        onnxGetExtensionFunctionAddress(id_, "heddleGetOutputShape", &function),
        ONNXIFI_STATUS_SUCCESS);
    shape_of_ = reinterpret_cast<heddleGetOutputShapeFunction>(
        reinterpret_cast<void (*)()>(function));
  }
  // x with so many elements that are not 0, at the end.
  void Fill(size_t count) {
    std::fill(x_, x_ + 15, 0.0f);
    for (size_t i = 0; i < count; ++i) x_[14 - i] = 100.0f + i;
  }
  // The descriptors say that there are at most so many.
  onnxStatus Locate(onnxGraph graph, uint64_t most, uint64_t rows = 2) {
    y_.assign(most + 2, -1);
    rows_.assign(2 * most + 2, -1);
    return SetIo(graph, {{"x", ONNXIFI_DATATYPE_FLOAT32, {3, 5}, x_}},
                 {{"y", ONNXIFI_DATATYPE_FLOAT32, {most}, y_.data()},
                  {"rows", ONNXIFI_DATATYPE_INT64, {rows, most}, rows_.data()},
                  {"shape", ONNXIFI_DATATYPE_INT64, {2}, shape_}});
  }
  std::vector<uint64_t> ShapeOf(onnxEvent event, const char* name) {
    uint64_t shape[4] = {};
    uint32_t dimensions = 4;
    EXPECT_OK(shape_of_(event, name, &dimensions, shape));
    return {shape, shape + dimensions};
  }
  // What is in the buffers of a run in which so many were found.
  void ExpectFound(onnxEvent event, uint64_t count) {
    EXPECT_EQ(ShapeOf(event, "y"), std::vector<uint64_t>{count});
    EXPECT_EQ(ShapeOf(event, "rows"), (std::vector<uint64_t>{2, count}));
    EXPECT_EQ(ShapeOf(event, "shape"), std::vector<uint64_t>{2});
    EXPECT_EQ(shape_[0], 2);
    EXPECT_EQ(shape_[1], static_cast<int64_t>(count));
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = 15 - count + i;
      EXPECT_EQ(y_[i], x_[at]);
      EXPECT_EQ(rows_[i], static_cast<int64_t>(at / 5));
      EXPECT_EQ(rows_[count + i], static_cast<int64_t>(at % 5));
    }
  }

  heddleGetOutputShapeFunction shape_of_ = nullptr;
  float x_[15] = {};
  std::vector<float> y_;
  std::vector<int64_t> rows_;
  int64_t shape_[2] = {};
};

TEST_F(VariableOutputs, AreAnnounced) {
  onnxBitfield capabilities = 0;
  size_t size = sizeof(capabilities);
  EXPECT_OK(onnxGetBackendInfo(id_, ONNXIFI_BACKEND_CAPABILITIES, &capabilities,
                               &size));
  EXPECT_NE(capabilities & ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE, 0u);
  EXPECT_NE(capabilities & ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS, 0u);
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, Compatibility(Found()));
}

TEST_F(VariableOutputs, AreAsLargeAsTheValuesSay) {
  onnxGraph graph = nullptr;
  ASSERT_EQ(InitGraph(Found(), &graph), ONNXIFI_STATUS_FALLBACK);
  // More than there can be, all, and less than that.
  for (const uint64_t most : {100, 15, 4}) {
    ASSERT_EQ(Locate(graph, most), ONNXIFI_STATUS_SUCCESS) << most;
    for (const uint64_t count : {4, 0, 1}) {
      Fill(count);
      onnxEvent done = Run(graph);
      EXPECT_OK(onnxWaitEvent(done));
      ExpectFound(done, count);
      EXPECT_OK(onnxReleaseEvent(done));
      EXPECT_EQ(y_[most], -1) << "behind the buffer";
      EXPECT_EQ(rows_[2 * most], -1);
    }
  }
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE, Locate(graph, 15, 3));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(VariableOutputs, BeyondTheLimitEndTheRun) {
  onnxGraph graph = nullptr;
  ASSERT_EQ(InitGraph(Found(), &graph), ONNXIFI_STATUS_FALLBACK);
  ASSERT_EQ(Locate(graph, 4), ONNXIFI_STATUS_SUCCESS);
  Fill(5);
  onnxEvent done = Run(graph);
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(done));
  EXPECT_EQ(y_, std::vector<float>(6, -1)) << "nothing is written";
  uint64_t shape[2];
  uint32_t dimensions = 2;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE,
                shape_of_(done, "y", &dimensions, shape));
  EXPECT_OK(onnxReleaseEvent(done));
  Fill(3);
  done = Run(graph);
  EXPECT_OK(onnxWaitEvent(done));
  ExpectFound(done, 3);
  EXPECT_OK(onnxReleaseEvent(done));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(VariableOutputs, OfADeclaredSizeHaveIt) {
  onnxGraph graph = nullptr;
  ASSERT_EQ(InitGraph(Found(4), &graph), ONNXIFI_STATUS_FALLBACK);
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE, Locate(graph, 5));
  ASSERT_EQ(Locate(graph, 4), ONNXIFI_STATUS_SUCCESS);
  for (const uint64_t count : {3, 4, 5}) {
    Fill(count);
    onnxEvent done = Run(graph);
    EXPECT_STATUS(
        count == 4 ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INTERNAL_ERROR,
        onnxWaitEvent(done));
    if (count == 4) ExpectFound(done, count);
    EXPECT_OK(onnxReleaseEvent(done));
  }
  EXPECT_OK(onnxReleaseGraph(graph));
}

// ---- Types

TEST_F(Product, AnOutputWithoutTypeCanBeLocated) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2});
  b.Node("Relu", {"x"}, {"y"});
  b.proto().mutable_graph()->add_output()->set_name("y");
  EXPECT_OK(Compatibility(b.Bytes()));
  onnxGraph graph = nullptr;
  EXPECT_OK(InitGraph(b.Bytes(), &graph));
  float x[2] = {-1, 2}, y[2] = {};
  const std::vector<Place> in = {{"x", ONNXIFI_DATATYPE_FLOAT32, {2}, x}};
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                SetIo(graph, in, {{"y", ONNXIFI_DATATYPE_INT32, {2}, y}}));
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE,
                SetIo(graph, in, {{"y", ONNXIFI_DATATYPE_FLOAT32, {1}, y}}));
  EXPECT_OK(SetIo(graph, in, {{"y", ONNXIFI_DATATYPE_FLOAT32, {2}, y}}));
  onnxEvent done = Run(graph);
  EXPECT_OK(onnxWaitEvent(done));
  EXPECT_EQ(y[1], 2);
  EXPECT_OK(onnxReleaseEvent(done));
  EXPECT_OK(onnxReleaseGraph(graph));
}

// Values that the card cannot hold end the run, not the call, and no later run.
TEST_F(Product, Int64BeyondTheCard) {
  ModelBuilder b;
  b.Input("x", DataType::kInt64, {2}).Output("y");
  b.Node("Identity", {"x"}, {"y"});
  onnxGraph graph = nullptr;
  EXPECT_OK(InitGraph(b.Bytes(), &graph));
  int64_t x[2] = {5, int64_t{1} << 40}, y[2] = {};
  EXPECT_OK(SetIo(graph, {{"x", ONNXIFI_DATATYPE_INT64, {2}, x}},
                  {{"y", ONNXIFI_DATATYPE_INT64, {2}, y}}));
  onnxEvent done = Run(graph);
  ASSERT_NE(done, nullptr);
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(done));
  onnxExtensionFunctionPointer found = nullptr;
  EXPECT_OK(onnxGetExtensionFunctionAddress(id_, "onnxWaitEventFor", &found));
  const auto wait_for = reinterpret_cast<onnxWaitEventForFunction>(
      reinterpret_cast<void (*)()>(found));
  onnxEventState state = 0;
  onnxStatus status = 0;
  char message[200];
  size_t length = sizeof(message);
  EXPECT_OK(wait_for(done, 0, &state, &status, message, &length));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_DATATYPE, status);
  EXPECT_NE(std::string(message).find("element 1 of input 'x'"),
            std::string::npos)
      << message;
  EXPECT_OK(onnxReleaseEvent(done));
  x[1] = -7;
  done = Run(graph);
  EXPECT_OK(onnxWaitEvent(done));
  EXPECT_EQ(y[1], -7);
  EXPECT_OK(onnxReleaseEvent(done));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(Product, ScalesThatContradictTheModel) {
  ModelBuilder b;
  b.Input("x", DataType::kUint8, {4}).Output("y");
  b.Dequantize("x", "y", compiler::Floats({}, {0.5f}),
               compiler::Uint8s({}, {3}));
  onnxGraph graph = nullptr;
  EXPECT_OK(InitGraph(b.Bytes(), &graph));
  uint8_t x[4] = {};
  float y[4] = {}, scale = 0.5f;
  int32_t bias = 3;
  auto in = Descriptors({{"x", ONNXIFI_DATATYPE_UINT8, {4}, x}});
  const std::vector<Place> places = {{"x", ONNXIFI_DATATYPE_UINT8, {4}, x}};
  in = Descriptors(places);
  const std::vector<Place> out_places = {
      {"y", ONNXIFI_DATATYPE_FLOAT32, {4}, y}};
  const auto out = Descriptors(out_places);
  in[0].quantizationParams = 1;
  in[0].scales = &scale;
  in[0].biases = &bias;
  EXPECT_OK(onnxSetGraphIO(graph, 1, in.data(), 1, out.data()));
  scale = 0.25f;
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                onnxSetGraphIO(graph, 1, in.data(), 1, out.data()));
  scale = 0.5f;
  bias = 4;
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                onnxSetGraphIO(graph, 1, in.data(), 1, out.data()));
  EXPECT_OK(onnxReleaseGraph(graph));
}

// ---- Properties

// "1234" of "... 1234 cycles (estimated)".
uint64_t NumberBefore(const std::string& text, const std::string& what) {
  const size_t end = text.find(" " + what);
  if (end == std::string::npos) return 0;
  const size_t begin = text.rfind(' ', end - 1) + 1;
  return std::strtoull(text.c_str() + begin, nullptr, 10);
}

class Optimization : public Product {
 protected:
  struct Compiled {
    uint64_t cycles = 0, bytes = 0;
  };
  Compiled Compile(const std::string& model, uint64_t optimization) {
    const uint64_t properties[] = {
        ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, optimization,
        ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, ONNXIFI_LOG_LEVEL_INFO, 0};
    Open(properties);
    onnxGraph graph = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_OK(InitGraph(model, &graph));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_OK(onnxReleaseGraph(graph));
    Compiled result;
    result.cycles = NumberBefore(text, "cycles (estimated)");
    result.bytes = NumberBefore(text, "bytes of traffic");
    EXPECT_GT(result.cycles, 0u) << text;
    EXPECT_GT(result.bytes, 0u) << text;
    EXPECT_NE(text.find(" per second at 1000 MHz, "), std::string::npos);
    EXPECT_GT(NumberBefore(text, "of the job with its copies"), result.cycles)
        << text;
    return result;
  }
};

TEST_F(Optimization, ChangesTheCompilation) {
  const std::string model = compiler::MakeNetwork("resnet8");
  const Compiled throughput =
      Compile(model, ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT);
  const Compiled latency = Compile(model, ONNXIFI_OPTIMIZATION_LOW_LATENCY);
  const Compiled power = Compile(model, ONNXIFI_OPTIMIZATION_LOW_POWER);
  const Compiled delay = Compile(model, ONNXIFI_OPTIMIZATION_LOW_DELAY);
  EXPECT_EQ(throughput.cycles, latency.cycles);
  EXPECT_LT(latency.cycles, delay.cycles);
  EXPECT_LT(power.bytes, latency.bytes);
}

// The proposal's arithmetic: no graph takes less of the card's time than its
// operations by MACS_FP32 and its bytes by MEMORY_BANDWIDTH, and some take
// little more.
TEST_F(Optimization, RatesAreThoseOfTheCard) {
  const auto rate = [&](onnxBackendInfo type) {
    uint64_t value = 0;
    size_t size = sizeof(value);
    EXPECT_OK(onnxGetBackendInfo(id_, type, &value, &size));
    return static_cast<double>(value);
  };
  const double macs = rate(ONNXIFI_BACKEND_MACS_FP32);
  const double bandwidth = rate(ONNXIFI_BACKEND_MEMORY_BANDWIDTH);
  const double hz = isa::FindConfig(Configs()[0])->clock_mhz * 1e6;

  constexpr int64_t kRows = 64, kInner = 256, kColumns = 256;
  ModelBuilder product;
  product.Input("x", DataType::kFloat, {kRows, kInner}).Output("y");
  product.Constant("w", compiler::Floats({kInner, kColumns}, {}));
  product.Node("MatMul", {"x", "w"}, {"y"});
  const Compiled computes =
      Compile(product.Bytes(), ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT);
  const double least = kRows * kInner * kColumns / macs;
  EXPECT_GE(static_cast<double>(computes.cycles) / hz, least);
  EXPECT_LT(static_cast<double>(computes.cycles) / hz, 1.25 * least);

  ModelBuilder copy;
  copy.Input("x", DataType::kFloat, {1 << 20}).Output("y");
  copy.Node("Relu", {"x"}, {"y"});
  const Compiled moves =
      Compile(copy.Bytes(), ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT);
  const double transfer = static_cast<double>(moves.bytes) / bandwidth;
  EXPECT_GE(static_cast<double>(moves.cycles) / hz, transfer);
  EXPECT_LT(static_cast<double>(moves.cycles) / hz, 1.25 * transfer);
}

// Of many networks the usual search finds the best, too.
TEST_F(Optimization, AheadOfTimeFindsMore) {
  const std::string model = compiler::MakeNetwork("deit_tiny");
  EXPECT_LT(Compile(model, ONNXIFI_OPTIMIZATION_AOT).cycles,
            Compile(model, ONNXIFI_OPTIMIZATION_LOW_LATENCY).cycles);
}

}  // namespace
}  // namespace heddle::tests
