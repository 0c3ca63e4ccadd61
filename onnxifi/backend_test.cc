// SPDX-License-Identifier: Apache-2.0
// IDs, information, compatibility and backends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "compiler/base/diagnostic.h"
#include "onnxifi/properties.h"
#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

using BackendTest = OnnxifiTest;

TEST_F(BackendTest, CountsWithoutABuffer) {
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetBackendIDs(nullptr, nullptr));
  onnxBackendID one;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetBackendIDs(&one, nullptr));
  for (size_t entry : {size_t{0}, size_t{1}, size_t{777}}) {
    size_t count = entry;
    EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, onnxGetBackendIDs(nullptr, &count));
    EXPECT_EQ(count, 1u);
  }
}

TEST_F(BackendTest, WritesNothingIntoAShortBuffer) {
  world().Plug("card1");
  onnxBackendID canary = &canary;
  onnxBackendID ids[4] = {canary, canary, canary, canary};
  size_t count = 1;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, onnxGetBackendIDs(ids, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(ids[0], canary);
  count = 4;
  ASSERT_OK(onnxGetBackendIDs(ids, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(ids[2], canary);
  EXPECT_OK(onnxReleaseBackendID(ids[0]));
  EXPECT_OK(onnxReleaseBackendID(ids[1]));
}

TEST_F(BackendTest, NoDevices) {
  world().Unplug("card0");
  size_t count = 5;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK, onnxGetBackendIDs(nullptr, &count));
  EXPECT_EQ(count, 0u);
  onnxBackendID ids[2];
  count = 2;
  EXPECT_OK(onnxGetBackendIDs(ids, &count));
  EXPECT_EQ(count, 0u);
}

TEST_F(BackendTest, TheSameDeviceHasTheSameId) {
  EXPECT_EQ(ListIds()[0], id_);
  world().Unplug("card0");
  world().Plug("card0");
  EXPECT_EQ(ListIds()[0], id_);
}

TEST_F(BackendTest, EachListingIsReleasedOnce) {
  ListIds();
  EXPECT_OK(onnxReleaseBackendID(id_));
  EXPECT_OK(onnxReleaseBackendID(id_));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_ID, onnxReleaseBackendID(id_));
  size_t size = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_ID,
                onnxGetBackendInfo(id_, 0, nullptr, &size));
  listed_.clear();
  EXPECT_EQ(ListIds()[0], id_);
}

TEST_F(BackendTest, ListingFails) {
  size_t count = 3;
  world().FailAt(Point::kList, absl::InternalError("test"));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR,
                onnxGetBackendIDs(nullptr, &count));
  world().FailAt(Point::kList, Fail(ONNXIFI_STATUS_NO_SYSTEM_MEMORY, "test"));
  EXPECT_STATUS(ONNXIFI_STATUS_NO_SYSTEM_MEMORY,
                onnxGetBackendIDs(nullptr, &count));
  // A code that the function does not list.
  world().FailAt(Point::kList, absl::UnavailableError("test"));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR,
                onnxGetBackendIDs(nullptr, &count));
}

// Every function against every kind of handle that is not its own.
TEST_F(BackendTest, RejectsForeignHandles) {
  onnxGraph graph = MakeGraph();
  onnxEvent event = MakeEvent(), stale = MakeEvent();
  ASSERT_OK(onnxReleaseEvent(stale));
  char memory[64] = {};
  void* const wild = reinterpret_cast<void*>(uint64_t{0xdead0000});
  const std::vector<void*> all = {nullptr,  memory, wild,  id_,
                                  backend_, graph,  event, stale};
  onnxMemoryFenceV1 in = EventFence(event), out = EventFence();
  uint8_t x[4], y[4];
  struct Case {
    void* good;
    onnxStatus want;
    std::function<onnxStatus(void*)> call;
  };
  size_t size = 0;
  onnxEventState state;
  void* made;
  const std::string model = Serialize({});
  const std::vector<Case> cases = {
      {id_, ONNXIFI_STATUS_INVALID_ID, onnxReleaseBackendID},
      {id_, ONNXIFI_STATUS_INVALID_ID,
       [&](void* h) { return onnxGetBackendInfo(h, 0, nullptr, &size); }},
      {id_, ONNXIFI_STATUS_INVALID_ID,
       [&](void* h) { return onnxGetBackendCompatibility(h, 1, "x"); }},
      {id_, ONNXIFI_STATUS_INVALID_ID,
       [&](void* h) { return onnxInitBackend(h, nullptr, &made); }},
      {id_, ONNXIFI_STATUS_INVALID_ID,
       [&](void* h) {
         onnxExtensionFunctionPointer f;
         return onnxGetExtensionFunctionAddress(h, "onnxWaitEventFor", &f);
       }},
      {backend_, ONNXIFI_STATUS_INVALID_BACKEND, onnxReleaseBackend},
      {backend_, ONNXIFI_STATUS_INVALID_BACKEND,
       [&](void* h) { return onnxInitEvent(h, &made); }},
      {backend_, ONNXIFI_STATUS_INVALID_BACKEND,
       [&](void* h) {
         return onnxInitGraph(h, nullptr, model.size(), model.data(), 0,
                              nullptr, &made, 0, nullptr);
       }},
      {graph, ONNXIFI_STATUS_INVALID_GRAPH,
       [&](void* h) { return SetIo(h, x, y); }},
      {graph, ONNXIFI_STATUS_INVALID_GRAPH,
       [&](void* h) { return onnxRunGraph(h, &in, &out); }},
      {graph, ONNXIFI_STATUS_INVALID_GRAPH, onnxReleaseGraph},
      {event, ONNXIFI_STATUS_INVALID_EVENT, onnxSignalEvent},
      {event, ONNXIFI_STATUS_INVALID_EVENT,
       [&](void* h) { return onnxGetEventState(h, &state); }},
      {event, ONNXIFI_STATUS_INVALID_EVENT, onnxWaitEvent},
      {event, ONNXIFI_STATUS_INVALID_EVENT, onnxReleaseEvent},
  };
  for (size_t c = 0; c < cases.size(); ++c) {
    for (void* handle : all) {
      if (handle == cases[c].good) continue;
      EXPECT_STATUS(cases[c].want, cases[c].call(handle)) << c;
    }
  }
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(BackendTest, AnswersEveryRequiredQuestion) {
  const onnxBackendInfo strings[] = {
      ONNXIFI_BACKEND_NAME,         ONNXIFI_BACKEND_VENDOR,
      ONNXIFI_BACKEND_VERSION,      ONNXIFI_BACKEND_EXTENSIONS,
      ONNXIFI_BACKEND_DEVICE,       ONNXIFI_BACKEND_ONNX_IR_VERSION,
      ONNXIFI_BACKEND_OPSET_VERSION};
  const onnxBackendInfo numbers[] = {ONNXIFI_BACKEND_ONNXIFI_VERSION,
                                     ONNXIFI_BACKEND_DEVICE_TYPE,
                                     ONNXIFI_BACKEND_CAPABILITIES,
                                     ONNXIFI_BACKEND_INIT_PROPERTIES,
                                     ONNXIFI_BACKEND_MEMORY_TYPES,
                                     ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES,
                                     ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES,
                                     ONNXIFI_BACKEND_MEMORY_SIZE,
                                     ONNXIFI_BACKEND_MAX_GRAPH_SIZE,
                                     ONNXIFI_BACKEND_MAX_GRAPH_COUNT};
  std::map<onnxBackendInfo, std::string> answers;
  std::vector<onnxBackendInfo> all(std::begin(strings), std::end(strings));
  all.insert(all.end(), std::begin(numbers), std::end(numbers));
  EXPECT_EQ(all.size(), 17u);
  for (onnxBackendInfo type : all) {
    size_t size = 0;
    EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                  onnxGetBackendInfo(id_, type, nullptr, &size));
    ASSERT_GT(size, 0u) << type;
    std::string value(size + 8, '\x55');
    size_t small = size - 1;
    EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                  onnxGetBackendInfo(id_, type, &value[0], &small));
    EXPECT_EQ(small, size);
    EXPECT_EQ(value, std::string(size + 8, '\x55'));
    for (size_t room : {size, size + 8}) {
      size_t stored = room;
      EXPECT_OK(onnxGetBackendInfo(id_, type, &value[0], &stored));
      EXPECT_EQ(stored, size);
      EXPECT_EQ(value.substr(size), std::string(8, '\x55'));
    }
    answers[type] = value.substr(0, size);
  }
  for (onnxBackendInfo type : strings) EXPECT_EQ(answers[type].back(), '\0');
  const auto number = [&](onnxBackendInfo type) {
    uint64_t value = 0;
    EXPECT_EQ(answers[type].size(), sizeof(value));
    std::memcpy(&value, answers[type].data(), sizeof(value));
    return value;
  };
  EXPECT_EQ(number(ONNXIFI_BACKEND_ONNXIFI_VERSION), 0x100000000u);
  EXPECT_EQ(number(ONNXIFI_BACKEND_DEVICE_TYPE),
            static_cast<uint64_t>(ONNXIFI_DEVICE_TYPE_NPU));
  EXPECT_EQ(number(ONNXIFI_BACKEND_MEMORY_SIZE), 1u << 20);
  EXPECT_EQ(number(ONNXIFI_BACKEND_CAPABILITIES), 0x3Fu);
  EXPECT_STREQ(answers[ONNXIFI_BACKEND_ONNX_IR_VERSION].c_str(), "3 4 5 6 7 8");
  EXPECT_STREQ(answers[ONNXIFI_BACKEND_OPSET_VERSION].c_str(), "ai.onnx:17");
}

TEST_F(BackendTest, InfoErrors) {
  uint64_t value;
  size_t size = sizeof(value);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetBackendInfo(id_, 0, &value, nullptr));
  for (onnxBackendInfo type : {9, 15, 23, 43, 44, 45, 46, 47, -1, INT32_MAX}) {
    EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                  onnxGetBackendInfo(id_, type, &value, &size));
  }
  EXPECT_OK(onnxGetBackendInfo(id_, ONNXIFI_BACKEND_PCI_BUS_ID, &value, &size));
  EXPECT_EQ(value, 2u);
  EXPECT_OK(onnxGetBackendInfo(id_, ONNXIFI_BACKEND_MACS_FP32, &value, &size));
  EXPECT_EQ(value, 1000000000000000u);
  EXPECT_STATUS(
      ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
      onnxGetBackendInfo(id_, ONNXIFI_BACKEND_MEMORY_BANDWIDTH, &value, &size));
}

TEST_F(BackendTest, Compatibility) {
  const std::string model = Serialize({});
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetBackendCompatibility(id_, 5, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SIZE,
                onnxGetBackendCompatibility(id_, 0, model.data()));
  EXPECT_STATUS(
      ONNXIFI_STATUS_INVALID_PROTOBUF,
      onnxGetBackendCompatibility(id_, model.size() - 1, model.data()));
  EXPECT_OK(onnxGetBackendCompatibility(id_, model.size(), model.data()));
  world().SetEmulated(true);
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                onnxGetBackendCompatibility(id_, model.size(), model.data()));
}

// Each refusal of the compiler has its code, the same from both functions.
TEST_F(BackendTest, RejectionsAgree) {
  using compiler::Rejection;
  const std::string model = Serialize({});
  const std::pair<Rejection, onnxStatus> cases[] = {
      {Rejection::kInvalidProtobuf, ONNXIFI_STATUS_INVALID_PROTOBUF},
      {Rejection::kInvalidModel, ONNXIFI_STATUS_INVALID_MODEL},
      {Rejection::kUnsupportedVersion, ONNXIFI_STATUS_UNSUPPORTED_VERSION},
      {Rejection::kUnsupportedOperator, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR},
      {Rejection::kUnsupportedAttribute, ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE},
      {Rejection::kUnsupportedShape, ONNXIFI_STATUS_UNSUPPORTED_SHAPE},
      {Rejection::kUnsupportedDatatype, ONNXIFI_STATUS_UNSUPPORTED_DATATYPE},
      {Rejection::kMismatchingShape, ONNXIFI_STATUS_MISMATCHING_SHAPE},
      {Rejection::kMismatchingDatatype, ONNXIFI_STATUS_MISMATCHING_DATATYPE},
      {Rejection::kNoSystemMemory, ONNXIFI_STATUS_NO_SYSTEM_MEMORY},
      {Rejection::kNone, ONNXIFI_STATUS_INTERNAL_ERROR}};
  for (const auto& [refusal, want] : cases) {
    world().SetRejection(compiler::Reject(refusal, "test"));
    EXPECT_STATUS(want,
                  onnxGetBackendCompatibility(id_, model.size(), model.data()));
    onnxGraph graph = &graph;
    EXPECT_STATUS(
        want, onnxInitGraph(backend_, nullptr, model.size(), model.data(), 0,
                            nullptr, &graph, 0, nullptr));
    EXPECT_EQ(graph, nullptr);
  }
}

TEST_F(BackendTest, Properties) {
  struct Case {
    std::vector<uint64_t> list;
    onnxStatus want;
  };
  const Case cases[] = {
      {{0}, ONNXIFI_STATUS_SUCCESS},
      {{1, 0, 0}, ONNXIFI_STATUS_SUCCESS},
      {{1, 4, 2, 4, 0}, ONNXIFI_STATUS_SUCCESS},
      {{1, 5, 0}, ONNXIFI_STATUS_INVALID_PROPERTY},
      {{1, uint64_t{1} << 32, 0}, ONNXIFI_STATUS_INVALID_PROPERTY},
      {{2, 0, 0}, ONNXIFI_STATUS_INVALID_PROPERTY},
      {{2, 5, 0}, ONNXIFI_STATUS_INVALID_PROPERTY},
      {{1, 1, 1, 1, 0}, ONNXIFI_STATUS_INVALID_PROPERTY},
      {{3, 0, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
      {{4, 1, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
      {{8, 1, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
      {{(uint64_t{1} << 32) + 1, 1, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY}};
  for (const Case& c : cases) {
    onnxBackend backend = &backend;
    EXPECT_STATUS(c.want, onnxInitBackend(id_, c.list.data(), &backend));
    EXPECT_EQ(backend != nullptr, c.want == ONNXIFI_STATUS_SUCCESS);
    if (backend != nullptr) {
      EXPECT_OK(onnxReleaseBackend(backend));
    }
  }
  // ONNX 1.x ends at LOW_DELAY.
  const uint64_t aot[] = {ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION,
                          ONNXIFI_OPTIMIZATION_AOT, 0};
  Properties read;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_PROPERTY,
                ReadBackendProperties(Abi::kOnnx1, aot, &read).code);
  EXPECT_STATUS(ONNXIFI_STATUS_SUCCESS,
                ReadBackendProperties(Abi::kExtended, aot, &read).code);
}

// Whatever form a list of graph properties has, it ends before the page.
TEST_F(BackendTest, GraphPropertiesAreReadNoFurther) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* memory =
      static_cast<uint8_t*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  const std::string model = Serialize({});
  // In the extended interface 1 is a property without a value.
  const std::pair<std::vector<uint64_t>, onnxStatus> lists[] = {
      {{0}, ONNXIFI_STATUS_SUCCESS},
      {{1, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
      {{2, 1, 0}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
      {{77}, ONNXIFI_STATUS_UNSUPPORTED_PROPERTY}};
  for (const auto& [list, want] : lists) {
    const size_t bytes = list.size() * sizeof(uint64_t);
    std::memcpy(memory + page - bytes, list.data(), bytes);
    onnxGraph graph = &graph;
    EXPECT_STATUS(
        want, onnxInitGraph(
                  backend_, reinterpret_cast<uint64_t*>(memory + page - bytes),
                  model.size(), model.data(), 0, nullptr, &graph, 0, nullptr));
    EXPECT_EQ(graph != nullptr, want == ONNXIFI_STATUS_SUCCESS);
    if (graph != nullptr) {
      EXPECT_OK(onnxReleaseGraph(graph));
    }
  }
  munmap(memory, 2 * page);
}

TEST_F(BackendTest, OptimizationReachesTheCompiler) {
  for (uint64_t optimization :
       {ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT, ONNXIFI_OPTIMIZATION_LOW_LATENCY,
        ONNXIFI_OPTIMIZATION_LOW_POWER, ONNXIFI_OPTIMIZATION_LOW_DELAY,
        ONNXIFI_OPTIMIZATION_AOT}) {
    const uint64_t list[] = {ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION,
                             optimization, 0};
    onnxBackend backend = nullptr;
    ASSERT_OK(onnxInitBackend(id_, list, &backend));
    std::swap(backend, backend_);
    onnxGraph graph = MakeGraph();
    EXPECT_EQ(world().optimization(), optimization);
    EXPECT_OK(onnxReleaseGraph(graph));
    std::swap(backend, backend_);
    EXPECT_OK(onnxReleaseBackend(backend));
  }
}

TEST_F(BackendTest, OpenFails) {
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxInitBackend(id_, nullptr, nullptr));
  for (onnxStatus code :
       {ONNXIFI_STATUS_NO_SYSTEM_MEMORY, ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
        ONNXIFI_STATUS_NO_DEVICE_MEMORY, ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
        ONNXIFI_STATUS_BACKEND_UNAVAILABLE, ONNXIFI_STATUS_INTERNAL_ERROR}) {
    world().FailAt(Point::kOpen, Fail(code, "test"));
    onnxBackend backend = &backend;
    EXPECT_STATUS(code, onnxInitBackend(id_, nullptr, &backend));
    EXPECT_EQ(backend, nullptr);
  }
}

TEST_F(BackendTest, ReleaseBeforeItsChildren) {
  onnxBackend second = nullptr;
  ASSERT_OK(onnxInitBackend(id_, nullptr, &second));
  std::swap(second, backend_);
  onnxGraph graph = MakeGraph();
  onnxEvent event = MakeEvent();
  std::swap(second, backend_);
  EXPECT_OK(onnxReleaseBackend(second));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_BACKEND, onnxReleaseBackend(second));
  uint8_t x[4] = {}, y[4] = {};
  EXPECT_OK(SetIo(graph, x, y));
  EXPECT_OK(onnxSignalEvent(event));
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(BackendTest, EventsOutliveTheirDevicesClosing) {
  onnxBackend second = nullptr;
  ASSERT_OK(onnxInitBackend(id_, nullptr, &second));
  std::swap(second, backend_);
  const onnxEvent signalled = MakeEvent(), other = MakeEvent();
  const onnxGraph graph = MakeGraph();
  std::swap(second, backend_);
  uint8_t x[4] = {}, y[4] = {};
  ASSERT_OK(SetIo(graph, x, y));
  ASSERT_OK(onnxSignalEvent(signalled));
  onnxEvent end = nullptr;
  ASSERT_OK(Run(graph, signalled, &end));
  EXPECT_OK(onnxReleaseBackend(second));
  EXPECT_OK(onnxReleaseGraph(graph));
  // Nothing is open now.
  EXPECT_OK(onnxWaitEvent(end));
  onnxEventState state = 0;
  EXPECT_OK(onnxGetEventState(other, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_NONSIGNALLED);
  EXPECT_OK(onnxSignalEvent(other));
  EXPECT_OK(onnxWaitEvent(other));
  for (const onnxEvent event : {signalled, other, end}) {
    EXPECT_OK(onnxReleaseEvent(event));
  }
}

}  // namespace
}  // namespace heddle::onnxifi
