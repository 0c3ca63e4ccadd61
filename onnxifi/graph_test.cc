// SPDX-License-Identifier: Apache-2.0
// onnxInitGraph and onnxSetGraphIO: weights, locations, symbolic dimensions.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>

#include "compiler/base/diagnostic.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

class GraphTest : public OnnxifiTest {
 protected:
  onnxStatus InitWith(const TestModel& model,
                      const std::vector<onnxTensorDescriptorV1>& weights,
                      onnxGraph* graph, void* reader = nullptr,
                      uint32_t max_sequence = 0) {
    const std::string bytes = Serialize(model);
    *graph = graph;
    const onnxStatus status =
        onnxInitGraph(backend_, nullptr, bytes.size(), bytes.data(),
                      static_cast<uint32_t>(weights.size()), weights.data(),
                      graph, max_sequence, reader);
    if (status != ONNXIFI_STATUS_SUCCESS) {
      EXPECT_EQ(*graph, nullptr);
    }
    return status;
  }
};

TEST_F(GraphTest, Arguments) {
  const std::string model = Serialize({});
  onnxGraph graph = &graph;
  const auto init = [&](size_t size, const void* bytes, uint32_t count,
                        onnxGraph* out) {
    return onnxInitGraph(backend_, nullptr, size, bytes, count, nullptr, out, 0,
                         nullptr);
  };
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                init(model.size(), model.data(), 0, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER, init(4, nullptr, 0, &graph));
  EXPECT_EQ(graph, nullptr);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                init(model.size(), model.data(), 1, &graph));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SIZE, init(0, model.data(), 0, &graph));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROTOBUF,
                init(model.size() - 1, model.data(), 0, &graph));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROTOBUF, init(7, "garbage", 0, &graph));
}

TEST_F(GraphTest, EmulationIsFallbackAndRuns) {
  world().SetEmulated(true);
  const std::string model = Serialize({});
  onnxGraph graph = nullptr;
  ASSERT_STATUS(ONNXIFI_STATUS_FALLBACK,
                onnxInitGraph(backend_, nullptr, model.size(), model.data(), 0,
                              nullptr, &graph, 0, nullptr));
  uint8_t x[4] = {1, 2, 3, 4}, y[4] = {};
  ASSERT_OK(SetIo(graph, x, y));
  ASSERT_OK(RunToEnd(graph));
  EXPECT_EQ(y[3], 5);
  EXPECT_OK(onnxReleaseGraph(graph));
}

// Some clients take FALLBACK for a failure.
TEST_F(GraphTest, FallbackCanBeSuccess) {
  world().SetEmulated(true);
  const std::string model = Serialize({});
  for (const uint64_t policy :
       {HEDDLE_HOST_NODES_FALLBACK, HEDDLE_HOST_NODES_SUCCESS}) {
    const uint64_t properties[] = {HEDDLE_BACKEND_PROPERTY_HOST_NODES, policy,
                                   ONNXIFI_BACKEND_PROPERTY_NONE};
    onnxBackend backend = nullptr;
    ASSERT_OK(onnxInitBackend(id_, properties, &backend));
    onnxGraph graph = nullptr;
    EXPECT_STATUS(policy == HEDDLE_HOST_NODES_SUCCESS ? ONNXIFI_STATUS_SUCCESS
                                                      : ONNXIFI_STATUS_FALLBACK,
                  onnxInitGraph(backend, nullptr, model.size(), model.data(), 0,
                                nullptr, &graph, 0, nullptr));
    EXPECT_OK(onnxReleaseGraph(graph));
    EXPECT_OK(onnxReleaseBackend(backend));
  }
  for (const uint64_t policy : {uint64_t{3}, ~uint64_t{0}}) {
    const uint64_t properties[] = {HEDDLE_BACKEND_PROPERTY_HOST_NODES, policy,
                                   ONNXIFI_BACKEND_PROPERTY_NONE};
    onnxBackend backend = nullptr;
    EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROPERTY,
                  onnxInitBackend(id_, properties, &backend));
  }
  const uint64_t twice[] = {HEDDLE_BACKEND_PROPERTY_HOST_NODES, 1,
                            HEDDLE_BACKEND_PROPERTY_HOST_NODES, 1,
                            ONNXIFI_BACKEND_PROPERTY_NONE};
  onnxBackend backend = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROPERTY,
                onnxInitBackend(id_, twice, &backend));
}

TEST_F(GraphTest, LoadFails) {
  for (onnxStatus code :
       {ONNXIFI_STATUS_NO_SYSTEM_MEMORY, ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
        ONNXIFI_STATUS_NO_DEVICE_MEMORY, ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
        ONNXIFI_STATUS_BACKEND_UNAVAILABLE, ONNXIFI_STATUS_INTERNAL_ERROR}) {
    world().FailAt(Point::kLoad, Fail(code, "test"));
    onnxGraph graph;
    EXPECT_STATUS(code, InitWith({}, {}, &graph));
  }
}

// The limit of device memory is exact, and the refusal costs nothing.
TEST_F(GraphTest, DeviceMemory) {
  TestModel half;
  half.padding = (1 << 19) - 200;
  ASSERT_LE(Serialize(half).size(), 1u << 19);
  onnxGraph first = MakeGraph(half), second = MakeGraph(half), third;
  EXPECT_EQ(world().memory_used("card0"), 1u << 20);
  for (int i = 0; i < 3; ++i) {
    EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_MEMORY, InitWith({}, {}, &third));
  }
  EXPECT_OK(onnxReleaseGraph(first));
  EXPECT_OK(InitWith(half, {}, &third));
  EXPECT_OK(onnxReleaseGraph(second));
  EXPECT_OK(onnxReleaseGraph(third));
}

TEST_F(GraphTest, NumberOfGraphs) {
  world().Plug("card0", 1 << 30);
  uint64_t limit = 0;
  size_t size = sizeof(limit);
  ASSERT_OK(
      onnxGetBackendInfo(id_, ONNXIFI_BACKEND_MAX_GRAPH_COUNT, &limit, &size));
  std::vector<onnxGraph> graphs;
  for (uint64_t i = 0; i < limit; ++i) graphs.push_back(MakeGraph());
  onnxGraph more;
  EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_RESOURCES, InitWith({}, {}, &more));
  EXPECT_OK(onnxReleaseGraph(graphs.back()));
  EXPECT_OK(InitWith({}, {}, &graphs.back()));
  for (onnxGraph graph : graphs) EXPECT_OK(onnxReleaseGraph(graph));
}

// Its descriptor is compared with the type that the program gives it.
TEST_F(GraphTest, OutputWithoutType) {
  TestModel model;
  model.outputs[0].type = ONNXIFI_DATATYPE_UNDEFINED;
  onnxGraph graph = MakeGraph(model);
  uint8_t x[4] = {1, 2, 3, 4}, y[4] = {};
  EXPECT_OK(SetIo(graph, x, y));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_EQ(y[3], 5);
  const TestDescriptor in("x", {4}, x);
  const TestDescriptor out("y", {4}, y, ONNXIFI_DATATYPE_INT8);
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                onnxSetGraphIO(graph, 1, &in.value, 1, &out.value));
  EXPECT_OK(onnxReleaseGraph(graph));
}

// ---- Weights
// -------------------------------------------------------------------

const TestModel kWithWeight = {{{"x"}, {"w"}}, {{"y"}}, {}, 0};

TEST_F(GraphTest, WeightsAreCopied) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* memory =
      static_cast<uint8_t*>(mmap(nullptr, page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::string bytes = Serialize(kWithWeight);
  ASSERT_LT(bytes.size(), 2000u);
  std::memset(memory, 10, 4);
  std::memcpy(memory + 2000, bytes.data(), bytes.size());
  // Names, shapes and lists are on the page as well.
  char* name = reinterpret_cast<char*>(memory + 8);
  std::strcpy(name, "w");
  auto* shape = reinterpret_cast<uint64_t*>(memory + 16);
  shape[0] = 4;
  auto* list = reinterpret_cast<uint64_t*>(memory + 32);
  list[0] = ONNXIFI_GRAPH_PROPERTY_NONE;
  TestDescriptor source("w", {4}, memory);
  auto* weight = reinterpret_cast<onnxTensorDescriptorV1*>(memory + 64);
  *weight = source;
  weight->name = name;
  weight->shape = shape;
  onnxGraph graph = nullptr;
  ASSERT_OK(onnxInitGraph(backend_, list, bytes.size(), memory + 2000, 1,
                          weight, &graph, 0, nullptr));
  munmap(memory, page);
  uint8_t x[4] = {1, 2, 3, 4}, y[4] = {};
  ASSERT_OK(SetIo(graph, x, y));
  ASSERT_OK(RunToEnd(graph));
  EXPECT_EQ(y[0], 12);
  EXPECT_EQ(y[3], 15);
  // It is not an input any more.
  uint8_t w[4];
  const TestDescriptor in[] = {{"x", {4}, x}, {"w", {4}, w}};
  const onnxTensorDescriptorV1 both[] = {in[0], in[1]};
  const TestDescriptor out("y", {4}, y);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                onnxSetGraphIO(graph, 2, both, 1, &out.value));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(GraphTest, WeightRejections) {
  uint8_t w[16] = {};
  const float scale = 0.5f, bad_scale = -1, nan = std::nanf("");
  const int32_t bias = 0;
  const std::string any;
  using Change = std::function<void(onnxTensorDescriptorV1*)>;
  static const uint64_t zero[] = {0}, five[] = {5}, two[] = {2, 2};
  const std::pair<onnxStatus, Change> cases[] = {
      {ONNXIFI_STATUS_UNSUPPORTED_TAG, [](auto* d) { d->tag = 5; }},
      {ONNXIFI_STATUS_INVALID_NAME, [](auto* d) { d->name = nullptr; }},
      {ONNXIFI_STATUS_INVALID_NAME, [](auto* d) { d->name = "nobody"; }},
      {ONNXIFI_STATUS_INVALID_SHAPE, [](auto* d) { d->shape = zero; }},
      {ONNXIFI_STATUS_INVALID_SHAPE, [](auto* d) { d->shape = nullptr; }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE, [](auto* d) { d->shape = five; }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       [](auto* d) {
         d->shape = two;
         d->dimensions = 2;
       }},
      {ONNXIFI_STATUS_INVALID_DATATYPE, [](auto* d) { d->dataType = 0; }},
      {ONNXIFI_STATUS_INVALID_DATATYPE, [](auto* d) { d->dataType = 8; }},
      {ONNXIFI_STATUS_INVALID_DATATYPE, [](auto* d) { d->dataType = 9; }},
      {ONNXIFI_STATUS_INVALID_DATATYPE, [](auto* d) { d->dataType = 17; }},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       [](auto* d) { d->dataType = (uint64_t{1} << 32) + 2; }},
      {ONNXIFI_STATUS_MISMATCHING_DATATYPE, [](auto* d) { d->dataType = 3; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_TYPE, [](auto* d) { d->memoryType = 3; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_TYPE,
       [](auto* d) { d->memoryType = uint64_t{1} << 40; }},
      {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
       [](auto* d) { d->memoryType = ONNXIFI_MEMORY_TYPE_CUDA_BUFFER; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION, [](auto* d) { d->buffer = 0; }},
      {ONNXIFI_STATUS_INVALID_POINTER, [](auto* d) { d->isOffline = 1; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [](auto* d) { d->quantizationParams = 1; }},
      {ONNXIFI_STATUS_INVALID_SHAPE,
       [&](auto* d) {
         d->quantizationParams = 3;
         d->scales = &scale;
         d->biases = &bias;
       }},
      {ONNXIFI_STATUS_INVALID_SHAPE,
       [&](auto* d) {
         d->quantizationParams = 2;
         d->quantizationAxis = 1;
         d->scales = &scale;
         d->biases = &bias;
       }},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       [&](auto* d) {
         d->quantizationParams = 1;
         d->scales = &bad_scale;
         d->biases = &bias;
       }},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       [&](auto* d) {
         d->quantizationParams = 1;
         d->scales = &nan;
         d->biases = &bias;
       }},
      {ONNXIFI_STATUS_SUCCESS,
       [&](auto* d) {
         d->quantizationParams = 1;
         d->quantizationAxis = 7;
         d->scales = &scale;
         d->biases = &bias;
       }},
      {ONNXIFI_STATUS_SUCCESS, [](auto*) {}}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    const TestDescriptor good("w", {4}, w);
    onnxTensorDescriptorV1 changed = good;
    cases[i].second(&changed);
    onnxGraph graph;
    EXPECT_STATUS(cases[i].first, InitWith(kWithWeight, {changed}, &graph))
        << "case " << i;
    if (graph != nullptr) {
      EXPECT_OK(onnxReleaseGraph(graph));
    }
  }
  const TestDescriptor twice("w", {4}, w);
  onnxGraph graph;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                InitWith(kWithWeight, {twice, twice}, &graph));
  TestModel both = kWithWeight;
  both.initializers = {{"v"}};
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_MODEL, InitWith(both, {twice}, &graph));
  TestModel complex = kWithWeight;
  complex.inputs[1].type = ONNXIFI_DATATYPE_COMPLEX64;
  const TestDescriptor c("w", {4}, w, ONNXIFI_DATATYPE_COMPLEX64);
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                InitWith(complex, {c}, &graph));
}

TEST_F(GraphTest, OfflineWeights) {
  struct Source {
    int calls = 0;
    onnxStatus result = ONNXIFI_STATUS_SUCCESS;
  } source;
  heddleDeferredWeightReader reader = {};
  reader.tag = HEDDLE_TAG_DEFERRED_WEIGHT_READER_V1;
  reader.context = &source;
  reader.read = [](void* context, const char* name, void* buffer,
                   uint64_t size) -> onnxStatus {
    auto* from = static_cast<Source*>(context);
    ++from->calls;
    EXPECT_STREQ(name, "w");
    EXPECT_EQ(size, 4u);
    std::memset(buffer, 20, size);
    return from->result;
  };
  const TestDescriptor good("w", {4}, nullptr);
  onnxTensorDescriptorV1 offline = good;
  offline.isOffline = 1;
  onnxGraph graph;
  source.result = ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR,
                InitWith(kWithWeight, {offline}, &graph, &reader));
  source.result = ONNXIFI_STATUS_SUCCESS;
  ASSERT_OK(InitWith(kWithWeight, {offline}, &graph, &reader));
  EXPECT_EQ(source.calls, 2);
  uint8_t x[4] = {1}, y[4] = {};
  ASSERT_OK(SetIo(graph, x, y));
  ASSERT_OK(RunToEnd(graph));
  EXPECT_EQ(y[0], 22);
  EXPECT_OK(onnxReleaseGraph(graph));
  reader.tag = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                InitWith(kWithWeight, {offline}, &graph, &reader));
}

// ---- Locations
// -----------------------------------------------------------------

TEST_F(GraphTest, AFailureInvalidatesTheLocations) {
  const TestModel model = {{{"x"}, {"z"}}, {{"y"}, {"v"}}, {}, 0};
  onnxGraph graph = MakeGraph(model);
  uint8_t x[4] = {1, 2, 3, 4}, z[4] = {}, y[4] = {}, v[4] = {};
  const TestDescriptor dx("x", {4}, x), dz("z", {4}, z), dy("y", {4}, y),
      dv("v", {4}, v);
  EXPECT_STATUS(ONNXIFI_STATUS_UNIDENTIFIED_NAME, RunToEnd(graph));
  using Arrays = std::vector<onnxTensorDescriptorV1>;
  const auto set = [&](const Arrays& in, const Arrays& out) {
    return onnxSetGraphIO(graph, static_cast<uint32_t>(in.size()), in.data(),
                          static_cast<uint32_t>(out.size()), out.data());
  };
  const auto with = [&](std::function<void(onnxTensorDescriptorV1*)> change) {
    onnxTensorDescriptorV1 changed = dx;
    change(&changed);
    return set({changed, dz}, {dy, dv});
  };
  static const uint64_t zero[] = {0}, five[] = {5};
  const std::pair<onnxStatus, std::function<onnxStatus()>> cases[] = {
      {ONNXIFI_STATUS_INVALID_POINTER,
       [&] { return onnxSetGraphIO(graph, 0, nullptr, 1, nullptr); }},
      {ONNXIFI_STATUS_INVALID_POINTER,
       [&] { return onnxSetGraphIO(graph, 1, nullptr, 1, &dy.value); }},
      {ONNXIFI_STATUS_UNIDENTIFIED_NAME,
       [&] { return onnxSetGraphIO(graph, 0, nullptr, 1, &dy.value); }},
      {ONNXIFI_STATUS_UNIDENTIFIED_NAME,
       [&] {
         return set({dx}, {dy, dv});
       }},
      {ONNXIFI_STATUS_UNIDENTIFIED_NAME,
       [&] {
         return set({dx, dz}, {dy});
       }},
      {ONNXIFI_STATUS_UNIDENTIFIED_NAME,
       [&] { return onnxSetGraphIO(graph, 0, nullptr, 0, &dy.value); }},
      {ONNXIFI_STATUS_INVALID_NAME,
       [&] {
         return set({dx, dx}, {dy, dv});
       }},
      {ONNXIFI_STATUS_INVALID_NAME,
       [&] {
         return set({dx, dy}, {dy, dv});
       }},
      {ONNXIFI_STATUS_INVALID_NAME,
       [&] { return with([](auto* d) { d->name = nullptr; }); }},
      {ONNXIFI_STATUS_INVALID_NAME,
       [&] { return with([](auto* d) { d->name = "other"; }); }},
      {ONNXIFI_STATUS_UNSUPPORTED_TAG,
       [&] { return with([](auto* d) { d->tag ^= 1; }); }},
      {ONNXIFI_STATUS_INVALID_SHAPE,
       [&] { return with([](auto* d) { d->shape = zero; }); }},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       [&] { return with([](auto* d) { d->dataType = 9; }); }},
      {ONNXIFI_STATUS_INVALID_MEMORY_TYPE,
       [&] { return with([](auto* d) { d->memoryType = 5; }); }},
      {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
       [&] { return with([](auto* d) { d->memoryType = 8; }); }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [&] { return with([](auto* d) { d->buffer = 0; }); }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [&] { return with([](auto* d) { d->buffer = ~uint64_t{0}; }); }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [&] { return with([](auto* d) { d->isOffline = 1; }); }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [&] {
         const TestDescriptor near("v", {4}, y + 3);
         return set({dx, dz}, {dy, near});
       }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       [&] { return with([](auto* d) { d->shape = five; }); }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       [&] { return with([](auto* d) { d->dimensions = 0; }); }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       [&] { return with([](auto* d) { d->dimensions = ~0u; }); }},
      {ONNXIFI_STATUS_MISMATCHING_DATATYPE,
       [&] { return with([](auto* d) { d->dataType = 1; }); }}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    ASSERT_OK(set({dz, dx}, {dv, dy})) << "order must not matter";
    ASSERT_OK(RunToEnd(graph));
    EXPECT_STATUS(cases[i].first, cases[i].second()) << "case " << i;
    EXPECT_STATUS(ONNXIFI_STATUS_UNIDENTIFIED_NAME, RunToEnd(graph))
        << "case " << i;
  }
  ASSERT_OK(set({dx, dz}, {dy, dv}));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_EQ(y[1], 3);
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(GraphTest, ScalarsUnalignedAndInPlace) {
  onnxGraph graph = MakeGraph({{{"x", ONNXIFI_DATATYPE_FLOAT32, {}}},
                               {{"y", ONNXIFI_DATATYPE_FLOAT32, {}}},
                               {},
                               0});
  alignas(8) uint8_t memory[16] = {0, 1, 2, 3, 4};
  TestDescriptor x("x", {}, memory + 1, ONNXIFI_DATATYPE_FLOAT32);
  TestDescriptor y("y", {}, memory + 1, ONNXIFI_DATATYPE_FLOAT32);
  x.value.shape = nullptr;
  ASSERT_OK(onnxSetGraphIO(graph, 1, &x.value, 1, &y.value));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_EQ(memory[1], 2);
  EXPECT_EQ(memory[4], 5);
  EXPECT_EQ(memory[5], 0);
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(GraphTest, BoolIsDescribedAsUint8) {
  onnxGraph graph = MakeGraph({{{"x", 9, {"4"}}}, {{"y", 9, {"4"}}}, {}, 0});
  uint8_t x[4] = {}, y[4] = {};
  EXPECT_OK(SetIo(graph, x, y));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(GraphTest, SymbolicDimensions) {
  const TestModel model = {
      {{"x", 2, {"N", "2"}}, {"z", 2, {"N", "?"}}}, {{"y", 2, {"N"}}}, {}, 0};
  onnxGraph graph;
  ASSERT_OK(InitWith(model, {}, &graph, nullptr, 5));
  uint8_t x[64], z[64], y[64];
  std::memset(x, 1, sizeof(x));
  std::memset(z, 2, sizeof(z));
  const auto set = [&](uint64_t n, uint64_t m, uint64_t k, uint64_t out) {
    const TestDescriptor dx("x", {n, 2}, x), dz("z", {m, k}, z),
        dy("y", {out}, y);
    const onnxTensorDescriptorV1 in[] = {dx, dz};
    return onnxSetGraphIO(graph, 2, in, 1, &dy.value);
  };
  for (uint64_t n : {1, 3, 5, 3, 2, 4, 5}) {
    ASSERT_OK(set(n, n, 4, n));
    std::memset(y, 0, sizeof(y));
    EXPECT_OK(RunToEnd(graph));
    for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(y[i], i < n ? 4 : 0);
  }
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE, set(3, 4, 4, 3));
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE, set(3, 3, 4, 4));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE, set(6, 6, 4, 6));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_SHAPE, set(3, 3, 6, 3));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SHAPE, set(0, 0, 4, 0));
  EXPECT_LE(world().live_graphs(), 4);
  EXPECT_OK(onnxReleaseGraph(graph));
}

// Programs of other shapes leave the device when it is full.
TEST_F(GraphTest, OpenDimensionsAreSaidOnce) {
  const uint64_t properties[] = {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL,
                                 ONNXIFI_LOG_LEVEL_INFO,
                                 ONNXIFI_BACKEND_PROPERTY_NONE};
  onnxBackend backend = nullptr;
  ASSERT_OK(onnxInitBackend(id_, properties, &backend));
  const auto log = [&](const TestModel& model) {
    const std::string bytes = Serialize(model);
    onnxGraph graph = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_OK(onnxInitGraph(backend, nullptr, bytes.size(), bytes.data(), 0,
                            nullptr, &graph, 0, nullptr));
    EXPECT_OK(onnxReleaseGraph(graph));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(log({}), "");
  const std::string said = log(
      {{{"x", 2, {"N", "2"}}, {"z", 2, {"3", "?"}}}, {{"y", 2, {"N"}}}, {}, 0});
  const std::string expected =
      "the model leaves dimension 0 (N) of 'x', dimension 1 of 'z' open: "
      "taken as 1 until onnxSetGraphIO gives shapes\n";
  EXPECT_EQ(said, "heddle onnxifi: info: " + expected);
  EXPECT_OK(onnxReleaseBackend(backend));
}

TEST_F(GraphTest, SymbolicProgramsShareAFullDevice) {
  TestModel model = {{{"x", 2, {"N"}}}, {{"y", 2, {"N"}}}, {}, 0};
  model.padding = 600 << 10;
  onnxGraph graph = MakeGraph(model);
  uint8_t x[8] = {}, y[8];
  for (uint64_t n = 1; n <= 8; ++n) {
    const TestDescriptor dx("x", {n}, x), dy("y", {n}, y);
    ASSERT_OK(onnxSetGraphIO(graph, 1, &dx.value, 1, &dy.value));
    EXPECT_EQ(world().live_graphs(), 1);
    EXPECT_OK(RunToEnd(graph));
  }
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(GraphTest, ShapesOfSymbolicModelsAreJudgedLater) {
  const TestModel model = {{{"x", 2, {"N"}}}, {{"y", 2, {"N"}}}, {}, 0};
  world().SetRejection(compiler::Reject(compiler::Rejection::kMismatchingShape,
                                        "does not work out with 1"));
  const std::string bytes = Serialize(model);
  EXPECT_OK(onnxGetBackendCompatibility(id_, bytes.size(), bytes.data()));
  onnxGraph graph;
  ASSERT_OK(InitWith(model, {}, &graph));
  uint8_t x[4] = {}, y[4];
  EXPECT_STATUS(ONNXIFI_STATUS_MISMATCHING_SHAPE, SetIo(graph, x, y));
  world().SetRejection(absl::OkStatus());
  EXPECT_OK(SetIo(graph, x, y));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_OK(onnxReleaseGraph(graph));
}

}  // namespace
}  // namespace heddle::onnxifi
