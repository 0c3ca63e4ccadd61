// SPDX-License-Identifier: Apache-2.0
// The device goes: before, during and while waiting in every function.
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

using std::chrono::milliseconds;
using UnplugTest = OnnxifiTest;

constexpr auto kPromptly = std::chrono::seconds(2);

TEST_F(UnplugTest, BeforeEachFunction) {
  const std::string model = Serialize({});
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {}, y[4];
  ASSERT_OK(SetIo(graph, x, y));
  onnxEvent event = MakeEvent(), signalled = MakeEvent();
  ASSERT_OK(onnxSignalEvent(signalled));
  world().Unplug("card0");
  constexpr onnxStatus kGone = ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  size_t size = 100;
  char text[100];
  void* made = &made;
  onnxEventState state = 5;
  onnxExtensionFunctionPointer f = nullptr;
  EXPECT_STATUS(kGone,
                onnxGetBackendInfo(id_, ONNXIFI_BACKEND_NAME, text, &size));
  EXPECT_STATUS(kGone,
                onnxGetBackendCompatibility(id_, model.size(), model.data()));
  EXPECT_STATUS(kGone, onnxInitBackend(id_, nullptr, &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_STATUS(kGone, onnxInitEvent(backend_, &made));
  EXPECT_STATUS(kGone, onnxSignalEvent(event));
  EXPECT_STATUS(kGone, onnxSignalEvent(signalled));
  EXPECT_STATUS(kGone, onnxGetEventState(event, &state));
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_INVALID);
  EXPECT_STATUS(kGone, onnxWaitEvent(event));
  EXPECT_STATUS(kGone, onnxWaitEvent(signalled));
  made = &made;
  EXPECT_STATUS(kGone,
                onnxInitGraph(backend_, nullptr, model.size(), model.data(), 0,
                              nullptr, &made, 0, nullptr));
  EXPECT_EQ(made, nullptr);
  EXPECT_STATUS(kGone, SetIo(graph, x, y));
  onnxEvent output;
  EXPECT_STATUS(kGone, Run(graph, event, &output));
  EXPECT_EQ(output, nullptr);
  EXPECT_STATUS(kGone,
                onnxGetExtensionFunctionAddress(id_, "onnxWaitEventFor", &f));
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_OK(onnxReleaseEvent(signalled));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(UnplugTest, DuringTheCall) {
  const std::string model = Serialize({});
  for (Point point : {Point::kOpen, Point::kLoad}) {
    world().SetHook([&](Point at) {
      if (at == point) world().Unplug("card0");
    });
    void* made = &made;
    const onnxStatus status =
        point == Point::kOpen
            ? onnxInitBackend(id_, nullptr, &made)
            : onnxInitGraph(backend_, nullptr, model.size(), model.data(), 0,
                            nullptr, &made, 0, nullptr);
    EXPECT_EQ(status, ONNXIFI_STATUS_BACKEND_UNAVAILABLE);
    EXPECT_EQ(made, nullptr);
    world().SetHook(nullptr);
    EXPECT_OK(onnxReleaseBackend(backend_));
    world().Plug("card0");
    ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
  }
}

TEST_F(UnplugTest, DuringSetIoAndRun) {
  const TestModel symbolic = {{{"x", 2, {"N"}}}, {{"y", 2, {"N"}}}, {}, 0};
  for (Point point : {Point::kLoad, Point::kStart, Point::kRun}) {
    onnxGraph graph = MakeGraph(symbolic);
    uint8_t x[4] = {}, y[4];
    if (point != Point::kLoad) {
      ASSERT_OK(SetIo(graph, x, y));
    }
    world().SetHook([&](Point at) {
      if (at == point) world().Unplug("card0");
    });
    onnxStatus status;
    if (point == Point::kLoad) {
      status = SetIo(graph, x, y);
    } else {
      status = RunToEnd(graph);
    }
    EXPECT_EQ(status, ONNXIFI_STATUS_BACKEND_UNAVAILABLE);
    world().SetHook(nullptr);
    EXPECT_OK(onnxReleaseGraph(graph));
    EXPECT_OK(onnxReleaseBackend(backend_));
    world().Plug("card0");
    ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
  }
}

TEST_F(UnplugTest, WakesEveryoneWhoWaits) {
  world().CloseGate();
  onnxGraph graph = MakeGraph(), second = MakeGraph();
  uint8_t x[4] = {}, y[4], z[4];
  ASSERT_OK(SetIo(graph, x, y));
  ASSERT_OK(SetIo(second, x, z));
  onnxEvent input = MakeEvent(), ready = MakeEvent(), in_flight, waiting;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph, ready, &in_flight));
  ASSERT_OK(Run(second, input, &waiting));
  std::vector<std::future<onnxStatus>> calls;
  for (onnxEvent event : {input, in_flight, waiting}) {
    calls.push_back(std::async(std::launch::async,
                               [event] { return onnxWaitEvent(event); }));
  }
  calls.push_back(
      std::async(std::launch::async, [&] { return onnxReleaseGraph(second); }));
  std::this_thread::sleep_for(milliseconds(30));
  world().Unplug("card0");
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(calls[i].wait_for(kPromptly), std::future_status::ready) << i;
    EXPECT_EQ(calls[i].get(), i == 3 ? ONNXIFI_STATUS_SUCCESS
                                     : ONNXIFI_STATUS_BACKEND_UNAVAILABLE);
  }
  EXPECT_OK(onnxReleaseGraph(graph));
  for (onnxEvent event : {input, ready, in_flight, waiting}) {
    EXPECT_OK(onnxReleaseEvent(event));
  }
}

TEST_F(UnplugTest, OtherDevicesGoOn) {
  world().Plug("card1");
  const auto ids = ListIds();
  ASSERT_EQ(ids.size(), 2u);
  onnxBackend other = nullptr;
  ASSERT_OK(onnxInitBackend(ids[0] == id_ ? ids[1] : ids[0], nullptr, &other));
  std::swap(other, backend_);
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {1}, y[4];
  ASSERT_OK(SetIo(graph, x, y));
  world().Unplug("card0");
  EXPECT_OK(RunToEnd(graph));
  EXPECT_OK(onnxReleaseGraph(graph));
  std::swap(other, backend_);
  EXPECT_OK(onnxReleaseBackend(other));
}

TEST_F(UnplugTest, PluggedAgain) {
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {1}, y[4];
  ASSERT_OK(SetIo(graph, x, y));
  world().Unplug("card0");
  world().Plug("card0");
  EXPECT_EQ(ListIds()[0], id_);
  size_t size = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                onnxGetBackendInfo(id_, ONNXIFI_BACKEND_NAME, nullptr, &size));
  // What was open stays unavailable.
  EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, SetIo(graph, x, y));
  onnxEvent event = &event;
  EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                onnxInitEvent(backend_, &event));
  EXPECT_OK(onnxReleaseGraph(graph));
  EXPECT_OK(onnxReleaseBackend(backend_));
  ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
  graph = MakeGraph();
  ASSERT_OK(SetIo(graph, x, y));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_EQ(y[0], 2);
  EXPECT_OK(onnxReleaseGraph(graph));
}

}  // namespace
}  // namespace heddle::onnxifi
