// SPDX-License-Identifier: Apache-2.0
// onnxRunGraph and onnxReleaseGraph.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

using std::chrono::milliseconds;

class RunTest : public OnnxifiTest {
 protected:
  void SetUp() override {
    OnnxifiTest::SetUp();
    graph_ = MakeGraph();
    ASSERT_OK(SetIo(graph_, x_, y_));
  }
  void TearDown() override {
    world().OpenGate();
    if (graph_ != nullptr) {
      EXPECT_OK(onnxReleaseGraph(graph_));
    }
    OnnxifiTest::TearDown();
  }
  onnxEventState StateOf(onnxEvent event) {
    onnxEventState state = 0;
    EXPECT_OK(onnxGetEventState(event, &state));
    return state;
  }

  onnxGraph graph_ = nullptr;
  uint8_t x_[4] = {1, 2, 3, 4}, y_[4] = {};
};

TEST_F(RunTest, Fences) {
  onnxEvent event = MakeEvent();
  const auto run = [&](std::function<void(onnxMemoryFenceV1*)> change_input,
                       std::function<void(onnxMemoryFenceV1*)> change_output,
                       bool cleared) {
    onnxMemoryFenceV1 in = EventFence(event);
    onnxMemoryFenceV1 out = EventFence(&out);
    if (change_input) change_input(&in);
    if (change_output) change_output(&out);
    const onnxStatus status = onnxRunGraph(graph_, &in, &out);
    EXPECT_EQ(out.event, cleared ? nullptr : &out);
    return status;
  };
  onnxMemoryFenceV1 fence = EventFence(event);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxRunGraph(graph_, nullptr, &fence));
  EXPECT_EQ(fence.event, nullptr);
  fence = EventFence(event);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                onnxRunGraph(graph_, &fence, nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                run([](auto* f) { f->tag = 1; }, nullptr, true));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                run(
                    nullptr, [](auto* f) { f->tag = 1; }, false));
  for (uint64_t type : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 32}) {
    EXPECT_STATUS(ONNXIFI_STATUS_INVALID_FENCE_TYPE,
                  run([=](auto* f) { f->type = type; }, nullptr, true));
    EXPECT_STATUS(ONNXIFI_STATUS_INVALID_FENCE_TYPE,
                  run(
                      nullptr, [=](auto* f) { f->type = type; }, false));
  }
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                run([](auto* f) { f->type = 2; }, nullptr, true));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                run([](auto* f) { f->event = nullptr; }, nullptr, true));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                run([&](auto* f) { f->event = graph_; }, nullptr, true));
  onnxBackend other = nullptr;
  onnxEvent foreign = nullptr;
  ASSERT_OK(onnxInitBackend(id_, nullptr, &other));
  ASSERT_OK(onnxInitEvent(other, &foreign));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_EVENT,
                run([&](auto* f) { f->event = foreign; }, nullptr, true));
  EXPECT_OK(onnxReleaseEvent(foreign));
  EXPECT_OK(onnxReleaseBackend(other));
  EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_EQ(world().starts(), 0);
}

// Only the tag of a fence with another tag is read.
TEST_F(RunTest, ReadsTheTagFirst) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* memory =
      static_cast<uint8_t*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + page, page, PROT_NONE);
  auto* at_the_end =
      reinterpret_cast<onnxMemoryFenceV1*>(memory + page - sizeof(int32_t));
  onnxEvent event = MakeEvent();
  onnxMemoryFenceV1 in = EventFence(event), out = EventFence();
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                onnxRunGraph(graph_, at_the_end, &out));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                onnxRunGraph(graph_, &in, at_the_end));
  EXPECT_OK(onnxReleaseEvent(event));
  munmap(memory, 2 * page);
}

TEST_F(RunTest, ReadsInputsWhenTheyAreSignalled) {
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(Run(graph_, input, &output));
  EXPECT_EQ(StateOf(output), ONNXIFI_EVENT_STATE_NONSIGNALLED);
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(world().starts(), 0);
  x_[0] = 100;
  ASSERT_OK(onnxSignalEvent(input));
  ASSERT_OK(onnxWaitEvent(output));
  EXPECT_EQ(StateOf(output), ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_EQ(y_[0], 101);
  EXPECT_OK(onnxReleaseEvent(input));
  EXPECT_OK(onnxReleaseEvent(output));
}

TEST_F(RunTest, ManyRunsInOrderOnOneLocation) {
  std::vector<onnxEvent> inputs, outputs;
  for (int i = 0; i < 20; ++i) {
    onnxEvent output;
    inputs.push_back(MakeEvent());
    ASSERT_OK(Run(graph_, inputs.back(), &output));
    for (onnxEvent other : outputs) EXPECT_NE(output, other);
    outputs.push_back(output);
  }
  world().SetRunTime(1);
  for (onnxEvent input : inputs) ASSERT_OK(onnxSignalEvent(input));
  for (onnxEvent output : outputs) EXPECT_OK(onnxWaitEvent(output));
  EXPECT_EQ(world().starts(), 20);
  for (onnxEvent event : inputs) EXPECT_OK(onnxReleaseEvent(event));
  for (onnxEvent event : outputs) EXPECT_OK(onnxReleaseEvent(event));
}

// Runs with the same locations never overlap; with others they may.
TEST_F(RunTest, SerialisesSharedLocations) {
  world().CloseGate();
  onnxEvent ready = MakeEvent();
  ASSERT_OK(onnxSignalEvent(ready));
  onnxEvent outputs[3];
  ASSERT_OK(Run(graph_, ready, &outputs[0]));
  ASSERT_OK(Run(graph_, ready, &outputs[1]));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(world().starts(), 1);
  world().OpenGate();
  EXPECT_OK(onnxWaitEvent(outputs[1]));
  EXPECT_EQ(StateOf(outputs[0]), ONNXIFI_EVENT_STATE_SIGNALLED);
  world().CloseGate();
  ASSERT_OK(Run(graph_, ready, &outputs[2]));
  uint8_t other[4];
  ASSERT_OK(SetIo(graph_, x_, other));
  onnxEvent last;
  ASSERT_OK(Run(graph_, ready, &last));
  EXPECT_EQ(world().starts(), 4);
  world().OpenGate();
  EXPECT_OK(onnxWaitEvent(last));
  EXPECT_EQ(other[0], 2);
  for (onnxEvent event : outputs) EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_OK(onnxReleaseEvent(last));
  EXPECT_OK(onnxReleaseEvent(ready));
}

// A run in flight keeps the locations that it began with.
TEST_F(RunTest, KeepsItsLocations) {
  world().CloseGate();
  onnxEvent ready = MakeEvent(), output;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph_, ready, &output));
  uint8_t other[4] = {};
  ASSERT_OK(SetIo(graph_, x_, other));
  world().OpenGate();
  EXPECT_OK(onnxWaitEvent(output));
  EXPECT_EQ(y_[0], 2);
  EXPECT_EQ(other[0], 0);
  EXPECT_OK(onnxReleaseEvent(output));
  EXPECT_OK(onnxReleaseEvent(ready));
}

TEST_F(RunTest, NoGraphWaitsForAnother) {
  std::vector<onnxGraph> graphs;
  std::vector<onnxEvent> inputs, outputs;
  std::vector<std::array<uint8_t, 4>> results(8);
  for (auto& result : results) {
    graphs.push_back(MakeGraph());
    ASSERT_OK(SetIo(graphs.back(), x_, result.data()));
    inputs.push_back(MakeEvent());
    onnxEvent output;
    ASSERT_OK(Run(graphs.back(), inputs.back(), &output));
    outputs.push_back(output);
  }
  for (int i = 7; i >= 0; --i) {
    ASSERT_OK(onnxSignalEvent(inputs[i]));
    ASSERT_OK(onnxWaitEvent(outputs[i]));
    EXPECT_EQ(results[i][0], 2);
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_OK(onnxReleaseEvent(inputs[i]));
    EXPECT_OK(onnxReleaseEvent(outputs[i]));
    EXPECT_OK(onnxReleaseGraph(graphs[i]));
  }
}

TEST_F(RunTest, OneEventStartsSeveralRuns) {
  onnxGraph second = MakeGraph();
  uint8_t z[4];
  ASSERT_OK(SetIo(second, x_, z));
  onnxEvent input = MakeEvent(), a, b;
  ASSERT_OK(Run(graph_, input, &a));
  ASSERT_OK(Run(second, input, &b));
  ASSERT_OK(onnxSignalEvent(input));
  EXPECT_OK(onnxWaitEvent(a));
  EXPECT_OK(onnxWaitEvent(b));
  for (onnxEvent event : {input, a, b}) EXPECT_OK(onnxReleaseEvent(event));
  EXPECT_OK(onnxReleaseGraph(second));
}

// The output event of one run is the input event of the next.
TEST_F(RunTest, Chains) {
  onnxGraph second = MakeGraph();
  uint8_t z[4];
  ASSERT_OK(SetIo(second, y_, z));
  onnxEvent input = MakeEvent(), middle, end;
  ASSERT_OK(Run(graph_, input, &middle));
  ASSERT_OK(Run(second, middle, &end));
  ASSERT_OK(onnxSignalEvent(input));
  ASSERT_OK(onnxWaitEvent(end));
  EXPECT_EQ(z[3], 6);
  EXPECT_OK(onnxReleaseEvent(middle));
  EXPECT_OK(onnxReleaseEvent(end));
  world().FailAt(Point::kRun, absl::DataLossError("test"));
  onnxEvent again = MakeEvent();
  ASSERT_OK(Run(graph_, again, &middle));
  ASSERT_OK(Run(second, middle, &end));
  ASSERT_OK(onnxSignalEvent(again));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(end));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(middle));
  for (onnxEvent event : {input, again, middle, end}) {
    EXPECT_OK(onnxReleaseEvent(event));
  }
  EXPECT_OK(onnxReleaseGraph(second));
}

TEST_F(RunTest, FailuresReachTheWaiter) {
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(Run(graph_, input, &output));
  world().FailAt(Point::kStart, absl::InternalError("test"));
  ASSERT_OK(onnxSignalEvent(input));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(output));
  EXPECT_EQ(StateOf(output), ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_OK(onnxReleaseEvent(output));
  EXPECT_OK(onnxReleaseEvent(input));
  world().FailAt(Point::kRun, absl::InternalError("test"));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, RunToEnd(graph_));
  EXPECT_OK(RunToEnd(graph_));
}

// With inputs that are ready, what prevents a run is told at once.
TEST_F(RunTest, StartFails) {
  for (onnxStatus code :
       {ONNXIFI_STATUS_NO_SYSTEM_MEMORY, ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
        ONNXIFI_STATUS_NO_DEVICE_MEMORY, ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
        ONNXIFI_STATUS_BACKEND_UNAVAILABLE, ONNXIFI_STATUS_INTERNAL_ERROR}) {
    world().FailAt(Point::kStart, Fail(code, "test"));
    EXPECT_STATUS(code, RunToEnd(graph_));
  }
  EXPECT_OK(RunToEnd(graph_));
}

// Memory that other runs hold comes back; the run waits for it.
TEST_F(RunTest, WaitsForMemoryOfOtherRuns) {
  world().CloseGate();
  onnxEvent ready = MakeEvent(), a, b;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph_, ready, &a));
  uint8_t other[4];
  ASSERT_OK(SetIo(graph_, x_, other));
  world().FailAt(Point::kStart, Fail(ONNXIFI_STATUS_NO_DEVICE_MEMORY, "test"));
  ASSERT_OK(Run(graph_, ready, &b));
  EXPECT_EQ(world().starts(), 1);
  world().OpenGate();
  EXPECT_OK(onnxWaitEvent(b));
  EXPECT_EQ(other[0], 2);
  for (onnxEvent event : {ready, a, b}) EXPECT_OK(onnxReleaseEvent(event));
}

TEST_F(RunTest, OutputEventSignalledByTheUser) {
  world().CloseGate();
  onnxEvent ready = MakeEvent(), output;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph_, ready, &output));
  EXPECT_OK(onnxSignalEvent(output));
  EXPECT_OK(onnxWaitEvent(output));
  world().OpenGate();
  EXPECT_OK(onnxReleaseEvent(output));
  EXPECT_OK(onnxReleaseEvent(ready));
}

TEST_F(RunTest, OutputEventReleasedEarly) {
  world().CloseGate();
  onnxEvent ready = MakeEvent(), output;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph_, ready, &output));
  EXPECT_OK(onnxReleaseEvent(output));
  world().OpenGate();
  EXPECT_OK(onnxReleaseGraph(graph_));
  graph_ = nullptr;
  EXPECT_EQ(y_[0], 2);
  EXPECT_OK(onnxReleaseEvent(ready));
}

TEST_F(RunTest, InputEventReleasedUnsignalled) {
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(Run(graph_, input, &output));
  EXPECT_OK(onnxReleaseEvent(input));
  EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR, onnxWaitEvent(output));
  EXPECT_OK(onnxReleaseEvent(output));
  EXPECT_EQ(world().starts(), 0);
}

TEST_F(RunTest, ReleaseWaitsForRuns) {
  world().CloseGate();
  const long page = sysconf(_SC_PAGESIZE);
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_OK(SetIo(graph_, memory, static_cast<uint8_t*>(memory) + 8));
  onnxEvent ready = MakeEvent(), later = MakeEvent(), a, b;
  ASSERT_OK(onnxSignalEvent(ready));
  ASSERT_OK(Run(graph_, ready, &a));
  ASSERT_OK(Run(graph_, later, &b));
  auto release = std::async(std::launch::async, [&] {
    EXPECT_OK(onnxReleaseGraph(graph_));
    munmap(memory, page);  // nothing touches it any more
  });
  // Until that call has the graph: released here, it would never end.
  onnxMemoryFenceV1 wrong = EventFence(ready), output = EventFence();
  wrong.tag = 1;
  while (onnxRunGraph(graph_, &wrong, &output) !=
         ONNXIFI_STATUS_INVALID_GRAPH) {
    std::this_thread::yield();
  }
  EXPECT_EQ(release.wait_for(milliseconds(30)), std::future_status::timeout);
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_GRAPH, onnxReleaseGraph(graph_));
  world().OpenGate();
  EXPECT_EQ(release.wait_for(milliseconds(30)), std::future_status::timeout);
  EXPECT_OK(onnxSignalEvent(later));
  release.get();
  graph_ = nullptr;
  EXPECT_OK(onnxWaitEvent(a));
  EXPECT_OK(onnxWaitEvent(b));
  for (onnxEvent event : {ready, later, a, b}) {
    EXPECT_OK(onnxReleaseEvent(event));
  }
}

TEST_F(RunTest, EachStepOnItsOwnThread) {
  onnxEvent input = nullptr, output = nullptr;
  onnxGraph graph = nullptr;
  const std::function<void()> steps[] = {
      [&] { graph = MakeGraph(); },
      [&] { EXPECT_OK(SetIo(graph, x_, y_)); },
      [&] { input = MakeEvent(); },
      [&] { EXPECT_OK(Run(graph, input, &output)); },
      [&] { EXPECT_OK(onnxSignalEvent(input)); },
      [&] { EXPECT_OK(onnxWaitEvent(output)); },
      [&] { EXPECT_OK(onnxReleaseGraph(graph)); },
      [&] { EXPECT_OK(onnxReleaseEvent(input)); },
      [&] { EXPECT_OK(onnxReleaseEvent(output)); }};
  for (const auto& step : steps) std::thread(step).join();
  EXPECT_EQ(y_[2], 4);
}

}  // namespace
}  // namespace heddle::onnxifi
