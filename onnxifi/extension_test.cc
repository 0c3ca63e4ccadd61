// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

using ExtensionTest = OnnxifiTest;

TEST_F(ExtensionTest, EachListedNameResolves) {
  char names[1024];
  size_t size = sizeof(names);
  ASSERT_OK(onnxGetBackendInfo(id_, ONNXIFI_BACKEND_EXTENSIONS, names, &size));
  std::istringstream words(names);
  std::string word;
  int count = 0;
  while (words >> word) {
    EXPECT_NE(Extension<void (*)()>(word.c_str()), nullptr) << word;
    ++count;
  }
  EXPECT_EQ(count, 13);
  EXPECT_NE(std::string(names).find("onnx_extension_function"),
            std::string::npos);
}

TEST_F(ExtensionTest, AddressErrors) {
  onnxExtensionFunctionPointer f = [] { return onnxStatus{0}; };
  EXPECT_STATUS(ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                onnxGetExtensionFunctionAddress(id_, "onnxFly", &f));
  EXPECT_EQ(f, nullptr);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxGetExtensionFunctionAddress(id_, nullptr, &f));
  EXPECT_STATUS(
      ONNXIFI_STATUS_INVALID_POINTER,
      onnxGetExtensionFunctionAddress(id_, "onnxWaitEventFor", nullptr));
}

TEST_F(ExtensionTest, SetIoAndRun) {
  auto six = Extension<heddleSetIOAndRunGraphFunction>("onnxSetIOAndRunGraph");
  auto seven =
      Extension<onnxSetIOAndRunGraphFunction>("onnxSetIOAndRunGraphFunction");
  auto free_trace = Extension<onnxReleaseTraceEventsFunction>(
      "onnxReleaseTraceEventsFunction");
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {5}, y[4] = {}, z[4] = {};
  const TestDescriptor in("x", {4}, x), out("y", {4}, y), other("y", {4}, z);
  onnxMemoryFenceV1 fence = EventFence();
  ASSERT_OK(six(graph, 1, &in.value, 1, &out.value, &fence));
  EXPECT_OK(onnxWaitEvent(fence.event));
  EXPECT_EQ(y[0], 6);
  EXPECT_OK(onnxReleaseEvent(fence.event));
  onnxTraceEventList trace = {99, nullptr};
  ASSERT_OK(seven(graph, 1, &in.value, 1, &other.value, &fence, &trace));
  EXPECT_OK(onnxWaitEvent(fence.event));
  EXPECT_OK(onnxReleaseEvent(fence.event));
  EXPECT_EQ(z[0], 6);
  ASSERT_EQ(trace.numEvents, 2u);
  EXPECT_EQ(trace.traceEvents[0]->eventType, 'B');
  EXPECT_EQ(trace.traceEvents[1]->eventType, 'E');
  EXPECT_LE(trace.traceEvents[0]->timestamp, trace.traceEvents[1]->timestamp);
  EXPECT_STREQ(trace.traceEvents[0]->eventName,
               trace.traceEvents[1]->eventName);
  EXPECT_OK(free_trace(&trace));
  EXPECT_EQ(trace.traceEvents, nullptr);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER, free_trace(nullptr));
  // The locations stay.
  x[0] = 7;
  EXPECT_OK(RunToEnd(graph));
  EXPECT_EQ(z[0], 8);
  // Failures.
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                six(graph, 1, &in.value, 1, &out.value, nullptr));
  fence = EventFence(&fence);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                seven(graph, 1, &out.value, 1, &out.value, &fence, &trace));
  EXPECT_EQ(fence.event, nullptr);
  EXPECT_EQ(trace.numEvents, 0u);
  EXPECT_STATUS(ONNXIFI_STATUS_UNIDENTIFIED_NAME, RunToEnd(graph));
  fence.type = 2;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                six(graph, 1, &in.value, 1, &out.value, &fence));
  fence.tag = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                six(graph, 1, &in.value, 1, &out.value, &fence));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(ExtensionTest, SetIoAndRunIsAtomic) {
  auto six = Extension<heddleSetIOAndRunGraphFunction>("onnxSetIOAndRunGraph");
  onnxGraph graph = MakeGraph();
  std::vector<std::thread> threads;
  for (uint8_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint8_t i = 0; i < 50; ++i) {
        uint8_t x[4] = {t, i}, y[4] = {};
        const TestDescriptor in("x", {4}, x), out("y", {4}, y);
        onnxMemoryFenceV1 fence = EventFence();
        EXPECT_OK(six(graph, 1, &in.value, 1, &out.value, &fence));
        EXPECT_OK(onnxWaitEvent(fence.event));
        EXPECT_OK(onnxReleaseEvent(fence.event));
        EXPECT_EQ(y[0], t + 1);
        EXPECT_EQ(y[1], i + 1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(ExtensionTest, WaitEventFor) {
  auto wait = Extension<onnxWaitEventForFunction>("onnxWaitEventForFunction");
  onnxEvent event = MakeEvent();
  onnxEventState state = 5;
  onnxStatus status = 77;
  char message[8] = "keep";
  size_t length = sizeof(message);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_OK(wait(event, 30, &state, &status, message, &length));
  EXPECT_GE(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(29));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_NONSIGNALLED);
  EXPECT_EQ(status, 77);
  EXPECT_STREQ(message, "keep");
  EXPECT_OK(onnxSignalEvent(event));
  EXPECT_OK(wait(event, 0, &state, &status, message, &length));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_EQ(status, ONNXIFI_STATUS_SUCCESS);
  EXPECT_STREQ(message, "");
  EXPECT_EQ(length, 0u);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                wait(event, 1, nullptr, &status, message, &length));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                wait(event, 1, &state, nullptr, message, &length));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                wait(event, 1, &state, &status, nullptr, &length));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                wait(event, 1, &state, &status, message, nullptr));
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                wait(event, 1, &state, &status, message, &length));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_INVALID);
}

TEST_F(ExtensionTest, GetOutputShape) {
  auto shape_of =
      Extension<heddleGetOutputShapeFunction>("heddleGetOutputShape");
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {}, y[4];
  ASSERT_OK(SetIo(graph, x, y));
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(Run(graph, input, &output));
  uint64_t shape[3] = {7, 7, 7};
  uint32_t dimensions = 3;
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE,
                shape_of(output, "y", &dimensions, shape));
  ASSERT_OK(onnxSignalEvent(input));
  ASSERT_OK(onnxWaitEvent(output));
  EXPECT_OK(shape_of(output, "y", &dimensions, shape));
  EXPECT_EQ(dimensions, 1u);
  EXPECT_EQ(shape[0], 4u);
  EXPECT_EQ(shape[1], 7u);
  dimensions = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                shape_of(output, "y", &dimensions, nullptr));
  EXPECT_EQ(dimensions, 1u);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                shape_of(output, "y", &dimensions, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                shape_of(output, "y", nullptr, shape));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                shape_of(output, nullptr, &dimensions, shape));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                shape_of(output, "x", &dimensions, shape));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE,
                shape_of(input, "y", &dimensions, shape));
  // Of a run that failed.
  world().FailAt(Point::kRun, Fail(ONNXIFI_STATUS_INTERNAL_ERROR, "broken"));
  onnxEvent failed;
  ASSERT_OK(Run(graph, input, &failed));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(failed));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE,
                shape_of(failed, "y", &dimensions, shape));
  // The event knows it without the graph.
  EXPECT_OK(onnxReleaseGraph(graph));
  EXPECT_OK(shape_of(output, "y", &dimensions, shape));
  for (onnxEvent event : {input, output, failed}) {
    EXPECT_OK(onnxReleaseEvent(event));
    EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                  shape_of(event, "y", &dimensions, shape));
  }
}

TEST_F(ExtensionTest, WaitEventForTellsWhyARunFailed) {
  auto wait = Extension<onnxWaitEventForFunction>("onnxWaitEventFor");
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {}, y[4];
  ASSERT_OK(SetIo(graph, x, y));
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(Run(graph, input, &output));
  world().FailAt(Point::kRun,
                 Fail(ONNXIFI_STATUS_NO_DEVICE_MEMORY, "too large"));
  ASSERT_OK(onnxSignalEvent(input));
  onnxEventState state;
  onnxStatus status;
  char message[32];
  size_t length = sizeof(message);
  ASSERT_OK(wait(output, 0, &state, &status, message, &length));
  EXPECT_EQ(status, ONNXIFI_STATUS_NO_DEVICE_MEMORY);
  EXPECT_STREQ(message, "too large");
  EXPECT_EQ(length, 9u);
  length = 4;
  ASSERT_OK(wait(output, 0, &state, &status, message, &length));
  EXPECT_STREQ(message, "too");
  EXPECT_EQ(length, 3u);
  length = 0;
  ASSERT_OK(wait(output, 0, &state, &status, message, &length));
  EXPECT_EQ(length, 0u);
  EXPECT_OK(onnxReleaseEvent(input));
  EXPECT_OK(onnxReleaseEvent(output));
  EXPECT_OK(onnxReleaseGraph(graph));
}

}  // namespace
}  // namespace heddle::onnxifi
