// SPDX-License-Identifier: Apache-2.0
// Handles of every kind, good and bad, and what failing functions store.
#include <sys/mman.h>

#include <cstring>

#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// Every function that takes a handle, with something that is none.
void ExpectRefused(Context& t, void* handle, const std::string& what,
                   bool as_id, bool as_backend, bool as_event, bool as_graph) {
  Library& lib = t.lib();
  const std::string model = t.Elementwise({2, 3}).Serialize();
  if (as_id) {
    size_t size = 0;
    onnxBackend backend = nullptr;
    t.Expect(lib.GetBackendInfo(handle, ONNXIFI_BACKEND_NAME, nullptr, &size),
             {ONNXIFI_STATUS_INVALID_ID}, "onnxGetBackendInfo of " + what);
    t.Expect(lib.GetBackendCompatibility(handle, model.size(), model.data()),
             {ONNXIFI_STATUS_INVALID_ID},
             "onnxGetBackendCompatibility of " + what);
    t.Expect(lib.InitBackend(handle, nullptr, &backend),
             {ONNXIFI_STATUS_INVALID_ID}, "onnxInitBackend of " + what);
    t.Expect(lib.ReleaseBackendID(handle), {ONNXIFI_STATUS_INVALID_ID},
             "onnxReleaseBackendID of " + what);
  }
  if (as_backend) {
    onnxEvent event = nullptr;
    onnxGraph graph = nullptr;
    t.Expect(lib.InitEvent(handle, &event), {ONNXIFI_STATUS_INVALID_BACKEND},
             "onnxInitEvent with " + what);
    t.Expect(lib.InitGraph(handle, nullptr, model.size(), model.data(), 0,
                           nullptr, &graph),
             {ONNXIFI_STATUS_INVALID_BACKEND}, "onnxInitGraph with " + what);
    t.Expect(lib.ReleaseBackend(handle), {ONNXIFI_STATUS_INVALID_BACKEND},
             "onnxReleaseBackend of " + what);
  }
  if (as_event) {
    onnxEventState state = ONNXIFI_EVENT_STATE_SIGNALLED;
    t.Expect(lib.GetEventState(handle, &state), {ONNXIFI_STATUS_INVALID_EVENT},
             "onnxGetEventState of " + what);
    t.Expect(lib.SignalEvent(handle), {ONNXIFI_STATUS_INVALID_EVENT},
             "onnxSignalEvent of " + what);
    t.Expect(lib.WaitEvent(handle), {ONNXIFI_STATUS_INVALID_EVENT},
             "onnxWaitEvent for " + what);
    t.Expect(lib.ReleaseEvent(handle), {ONNXIFI_STATUS_INVALID_EVENT},
             "onnxReleaseEvent of " + what);
  }
  if (as_graph) {
    Tensor x("x", {2, 3}), z("z", {2, 3}), y("y", {2, 3});
    t.Expect(t.SetIO(handle, {x.Describe(), z.Describe()}, {y.Describe()}),
             {ONNXIFI_STATUS_INVALID_GRAPH}, "onnxSetGraphIO of " + what);
    const onnxMemoryFenceV1 in = EventFence(t.NewEvent());
    onnxMemoryFenceV1 out = EventFence(nullptr);
    t.Expect(lib.RunGraph(handle, &in, &out), {ONNXIFI_STATUS_INVALID_GRAPH},
             "onnxRunGraph of " + what);
    t.Expect(lib.ReleaseGraph(handle), {ONNXIFI_STATUS_INVALID_GRAPH},
             "onnxReleaseGraph of " + what);
  }
}

void HandleNull(Context& t) {
  ExpectRefused(t, nullptr, "NULL", true, true, true, true);
}

void HandleForeign(Context& t) {
  alignas(64) static unsigned char memory[4096];
  ExpectRefused(t, memory + 256, "a handle that points to zeros", true, true,
                true, true);
  for (unsigned char& byte : memory) {
    byte = static_cast<unsigned char>(t.random()());
  }
  ExpectRefused(t, memory + 256, "a handle that points to random bytes", true,
                true, true, true);
}

void HandleOtherType(Context& t) {
  const onnxEvent event = t.NewEvent();
  Job job(t);
  ExpectRefused(t, t.id(), "a backend ID", false, true, true, true);
  ExpectRefused(t, t.backend(), "a backend", true, false, true, true);
  ExpectRefused(t, event, "an event", true, true, false, true);
  ExpectRefused(t, job.graph, "a graph", true, true, true, false);
  // They have not suffered.
  job.MustSetIO();
  job.Run();
}

void HandleReleased(Context& t) {
  Library& lib = t.lib();
  const onnxBackend backend = t.NewBackend();
  const onnxEvent event = t.NewEvent(backend);
  Job job(t, {2, 3}, backend);
  const onnxGraph graph = job.graph;
  job.Release();
  ExpectRefused(t, graph, "a released graph", false, false, false, true);
  t.Expect(lib.ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent");
  t.ForgetEvent(event);
  ExpectRefused(t, event, "a released event", false, false, true, false);
  const onnxMemoryFenceV1 in = EventFence(event);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  Job other(t);
  other.MustSetIO();
  t.Expect(lib.RunGraph(other.graph, &in, &out), {ONNXIFI_STATUS_INVALID_EVENT},
           "onnxRunGraph with a released input event");
  // ExpectRefused makes events of t.backend(), another one.
  for (const onnxEvent mine : {t.NewEvent(backend)}) {
    t.Expect(lib.ReleaseEvent(mine), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    t.ForgetEvent(mine);
  }
  t.Expect(lib.ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend");
  t.ForgetBackend(backend);
  ExpectRefused(t, backend, "a released backend", false, true, false, false);
}

void HandleWild(Context& t) {
  void* page =
      mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ExpectRefused(t, page, "a handle that points nowhere", true, true, true,
                true);
  ExpectRefused(t, reinterpret_cast<void*>(1), "the handle 1", true, true, true,
                true);
  ExpectRefused(t, reinterpret_cast<void*>(~uintptr_t{0}), "the largest handle",
                true, true, true, true);
}

void OutHandles(Context& t) {
  Library& lib = t.lib();
  onnxBackend backend = CanaryPointer();
  t.Expect(lib.InitBackend(nullptr, nullptr, &backend),
           {ONNXIFI_STATUS_INVALID_ID}, "onnxInitBackend of NULL");
  t.Check(backend == nullptr,
          "onnxInitBackend failed and did not set the handle to NULL");
  onnxEvent event = CanaryPointer();
  t.Expect(lib.InitEvent(nullptr, &event), {ONNXIFI_STATUS_INVALID_BACKEND},
           "onnxInitEvent with NULL");
  t.Check(event == nullptr,
          "onnxInitEvent failed and did not set the handle to NULL");
  const std::string model = t.Elementwise({2, 3}).Serialize();
  onnxGraph graph = CanaryPointer();
  t.Expect(lib.InitGraph(nullptr, nullptr, model.size(), model.data(), 0,
                         nullptr, &graph),
           {ONNXIFI_STATUS_INVALID_BACKEND}, "onnxInitGraph with NULL");
  t.Check(graph == nullptr,
          "onnxInitGraph failed and did not set the handle to NULL");
  onnxEventState state = 0x7777;
  t.Expect(lib.GetEventState(nullptr, &state), {ONNXIFI_STATUS_INVALID_EVENT},
           "onnxGetEventState of NULL");
  t.Check(state == ONNXIFI_EVENT_STATE_INVALID,
          "onnxGetEventState failed and did not store STATE_INVALID");
}

}  // namespace

std::vector<Case> GeneralCases() {
  return {
      {"general.handle_null", "NULL is rejected as every kind of handle",
       HandleNull},
      {"general.handle_foreign",
       "memory that is not an object of the library is rejected as a handle",
       HandleForeign},
      {"general.handle_other_type",
       "a handle of one kind is rejected as a handle of another",
       HandleOtherType},
      {"general.handle_released", "a released handle is rejected",
       HandleReleased},
      {"general.handle_wild", "an unmapped address is rejected as a handle",
       HandleWild, kRuleOnly},
      {"general.out_handles",
       "a function that fails sets its output handle to NULL", OutHandles},
  };
}

}  // namespace heddle::conformance
