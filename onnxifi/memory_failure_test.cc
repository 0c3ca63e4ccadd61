// SPDX-License-Identifier: Apache-2.0
// The n-th allocation of a call fails, for every n: the status is one of the
// function's own, outputs are NULL, nothing leaks, and the next call works.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "onnxifi/testing/fixture.h"

#if defined(__GNUC__) && !defined(__clang__)
// gcc looks into the operators below and finds malloc and free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace {

// Allocations of this thread until one fails; negative: none does.
thread_local long until_failure = -1;

void* Allocate(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(size_t size) {
  void* memory = Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace heddle::onnxifi {
namespace {

class MemoryFailureTest : public OnnxifiTest {
 protected:
  // Fails each allocation of `call` in turn until it succeeds with none
  // failing. `undo` releases what a successful call made.
  void FailEach(Function function, std::function<onnxStatus()> call,
                std::function<void()> undo, bool must_report = true) {
    int failures = 0;
    for (long n = 0;; ++n) {
      ASSERT_LT(n, 100000) << FunctionName(function);
      until_failure = n;
      const onnxStatus status = call();
      const bool injected = until_failure < 0;
      until_failure = -1;
      EXPECT_TRUE(MayReturn(function, status))
          << FunctionName(function) << " returned " << StatusName(status);
      if (status == ONNXIFI_STATUS_SUCCESS) undo();
      if (!injected) {
        EXPECT_STATUS(ONNXIFI_STATUS_SUCCESS, status) << FunctionName(function);
        break;
      }
      failures += status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY;
    }
    if (must_report) {
      EXPECT_GT(failures, 0) << FunctionName(function);
    }
  }
};

TEST_F(MemoryFailureTest, Backends) {
  const std::string model = Serialize({});
  onnxBackendID ids[4];
  size_t count;
  FailEach(
      Function::kGetBackendIDs,
      [&] {
        count = 4;
        return onnxGetBackendIDs(ids, &count);
      },
      [&] { EXPECT_OK(onnxReleaseBackendID(ids[0])); });
  // A device that is seen for the first time.
  world().Plug("new card");
  FailEach(
      Function::kGetBackendIDs,
      [&] {
        count = 4;
        return onnxGetBackendIDs(ids, &count);
      },
      [&] {
        for (int i = 0; i < 2; ++i) EXPECT_OK(onnxReleaseBackendID(ids[i]));
      });
  FailEach(
      Function::kGetBackendCompatibility,
      [&] {
        return onnxGetBackendCompatibility(id_, model.size(), model.data());
      },
      [] {});
  onnxBackend backend;
  FailEach(
      Function::kInitBackend,
      [&] { return onnxInitBackend(id_, nullptr, &backend); },
      [&] { EXPECT_OK(onnxReleaseBackend(backend)); });
}

TEST_F(MemoryFailureTest, Events) {
  onnxEvent event;
  FailEach(
      Function::kInitEvent, [&] { return onnxInitEvent(backend_, &event); },
      [&] {
        onnxEventState state;
        FailEach(
            Function::kGetEventState,
            [&] { return onnxGetEventState(event, &state); }, [] {}, false);
        FailEach(
            Function::kSignalEvent, [&] { return onnxSignalEvent(event); },
            [] {}, false);
        FailEach(
            Function::kWaitEvent, [&] { return onnxWaitEvent(event); }, [] {},
            false);
        FailEach(
            Function::kReleaseEvent, [&] { return onnxReleaseEvent(event); },
            [] {}, false);
      });
}

TEST_F(MemoryFailureTest, Graphs) {
  const std::string model = Serialize({{{"x"}, {"w"}}, {{"y"}}, {}, 0});
  uint8_t x[4] = {1}, y[4], w[4] = {1};
  const TestDescriptor weight("w", {4}, w);
  onnxGraph graph = nullptr;
  FailEach(
      Function::kInitGraph,
      [&] {
        graph = &graph;
        const onnxStatus status =
            onnxInitGraph(backend_, nullptr, model.size(), model.data(), 1,
                          &weight.value, &graph, 0, nullptr);
        if (status != ONNXIFI_STATUS_SUCCESS) {
          EXPECT_EQ(graph, nullptr);
        }
        return status;
      },
      [&] { EXPECT_OK(onnxReleaseGraph(graph)); });
  EXPECT_EQ(world().live_graphs(), 0);
  ASSERT_OK(onnxInitGraph(backend_, nullptr, model.size(), model.data(), 1,
                          &weight.value, &graph, 0, nullptr));
  const TestDescriptor in("x", {4}, x), out("y", {4}, y);
  FailEach(
      Function::kSetGraphIO,
      [&] { return onnxSetGraphIO(graph, 1, &in.value, 1, &out.value); },
      [] {});
  onnxEvent input = MakeEvent(), output;
  ASSERT_OK(onnxSignalEvent(input));
  FailEach(
      Function::kRunGraph, [&] { return Run(graph, input, &output); },
      [&] {
        EXPECT_OK(onnxWaitEvent(output));
        EXPECT_OK(onnxReleaseEvent(output));
      });
  EXPECT_EQ(y[0], 3);
  EXPECT_OK(onnxReleaseEvent(input));
  FailEach(
      Function::kReleaseGraph, [&] { return onnxReleaseGraph(graph); }, [] {},
      false);
}

}  // namespace
}  // namespace heddle::onnxifi
