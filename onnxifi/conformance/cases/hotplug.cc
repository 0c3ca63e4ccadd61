// SPDX-License-Identifier: Apache-2.0
// The device goes, and comes back.
#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

constexpr onnxStatus kGone = ONNXIFI_STATUS_BACKEND_UNAVAILABLE;

// Unplugs, and waits until the library knows. What is to be there before must
// be made before.
void Unplug(Context& t) {
  const onnxBackendID id = t.id();
  t.Provoke("unplug");
  for (int i = 0; i < 500; ++i) {
    size_t size = 0;
    const onnxStatus status =
        t.lib().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, nullptr, &size);
    if (status == kGone) return;
    if (status != ONNXIFI_STATUS_FALLBACK) {
      t.Fail("onnxGetBackendInfo of a device that is gone returned " +
             StatusName(status));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  t.Fail(
      "onnxGetBackendInfo is not BACKEND_UNAVAILABLE five seconds after the "
      "device was unplugged");
}

void Need(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_HOT_PLUGGABLE, "HOT_PLUGGABLE");
}

void Ids(Context& t) {
  Need(t);
  Library& lib = t.lib();
  const std::string model = t.Elementwise({2, 3}).Serialize();
  const onnxBackendID id = t.id();
  Unplug(t);
  std::vector<onnxBackendID> ids(16);
  size_t count = ids.size();
  t.Expect(lib.GetBackendIDs(ids.data(), &count), {ONNXIFI_STATUS_SUCCESS},
           "onnxGetBackendIDs without the device");
  t.Rule(std::find(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(count),
                   id) == ids.begin() + static_cast<ptrdiff_t>(count),
         "onnxGetBackendIDs lists a device that is gone");
  for (size_t i = 0; i < count; ++i) (void)lib.ReleaseBackendID(ids[i]);
  // The ID stays valid, so it is not INVALID_ID.
  char name[256];
  size_t size = sizeof(name);
  t.Expect(lib.GetBackendInfo(id, ONNXIFI_BACKEND_NAME, name, &size), {kGone},
           "onnxGetBackendInfo of a device that is gone");
  t.Expect(lib.GetBackendCompatibility(id, model.size(), model.data()), {kGone},
           "onnxGetBackendCompatibility of a device that is gone");
  onnxBackend backend = CanaryPointer();
  t.Expect(lib.InitBackend(id, nullptr, &backend), {kGone},
           "onnxInitBackend of a device that is gone");
  t.Check(backend == nullptr,
          "onnxInitBackend failed and did not set the handle to NULL");
  if (lib.has_extension_function()) {
    onnxExtensionFunctionPointer function = nullptr;
    t.Expect(
        lib.GetExtensionFunctionAddress(id, "onnxSetIOAndRunGraph", &function),
        {kGone}, "onnxGetExtensionFunctionAddress of a device that is gone");
    t.Check(function == nullptr,
            "onnxGetExtensionFunctionAddress failed and did not store NULL");
  }
  // Clean() releases the ID and expects success.
}

void Objects(Context& t) {
  Need(t);
  Library& lib = t.lib();
  const std::string model = t.Elementwise({2, 3}).Serialize();
  Job job(t);
  job.MustSetIO();
  job.Run();
  const onnxEvent event = t.NewEvent();
  onnxExtensionFunctionPointer function = nullptr;
  if (lib.has_extension_function()) {
    (void)lib.GetExtensionFunctionAddress(t.id(), "onnxSetIOAndRunGraph",
                                          &function);
  }
  Unplug(t);
  onnxEvent made = CanaryPointer();
  t.Expect(lib.InitEvent(t.backend(), &made), {kGone},
           "onnxInitEvent of a backend that is gone");
  t.Check(made == nullptr,
          "onnxInitEvent failed and did not set the handle to NULL");
  onnxGraph graph = CanaryPointer();
  t.Expect(lib.InitGraph(t.backend(), nullptr, model.size(), model.data(), 0,
                         nullptr, &graph),
           {kGone}, "onnxInitGraph of a backend that is gone");
  t.Check(graph == nullptr,
          "onnxInitGraph failed and did not set the handle to NULL");
  t.Expect(job.SetIO(), {kGone}, "onnxSetGraphIO of a backend that is gone");
  const onnxMemoryFenceV1 in = EventFence(event);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(lib.RunGraph(job.graph, &in, &out), {kGone},
           "onnxRunGraph of a backend that is gone");
  if (function != nullptr) {
    const DescriptorArray x(t.abi(), {job.x.Describe(), job.z.Describe()});
    const DescriptorArray y(t.abi(), {job.y.Describe()});
    t.Expect(lib.SetIOAndRunGraph(
                 ExtensionAs<onnxSetIOAndRunGraphFunction>(function), job.graph,
                 2, x.data(), 1, y.data(), &out),
             {kGone}, "onnxSetIOAndRunGraph of a backend that is gone");
  }
  onnxEventState state = ONNXIFI_EVENT_STATE_SIGNALLED;
  t.Expect(lib.GetEventState(event, &state), {kGone},
           "onnxGetEventState of a backend that is gone");
  t.Check(state == ONNXIFI_EVENT_STATE_INVALID,
          "onnxGetEventState failed and did not store STATE_INVALID");
  t.Expect(lib.SignalEvent(event), {kGone},
           "onnxSignalEvent of a backend that is gone");
  t.Expect(lib.WaitEvent(event), {kGone},
           "onnxWaitEvent of a backend that is gone");
  // Clean() releases everything and expects success.
}

void Waiters(Context& t) {
  Need(t);
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
  Job job(t);
  job.MustSetIO();
  const onnxEvent never = t.NewEvent();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  t.KeepEvent(output);
  std::vector<std::thread> waiters;
  for (const onnxEvent event : {never, output}) {
    waiters.emplace_back([&t, event] {
      t.Expect(t.lib().WaitEvent(event), {kGone},
               "onnxWaitEvent while the device goes");
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Unplug(t);
  for (std::thread& waiter : waiters) waiter.join();  // or the case hangs
}

void ReleaseInFlight(Context& t) {
  // The run will never end; its graph can be released all the same.
  Need(t);
  Job job(t);
  job.MustSetIO();
  const onnxEvent output = job.Start(t.NewEvent());
  t.KeepEvent(output);
  Unplug(t);
  job.Release();
}

void Replug(Context& t) {
  Need(t);
  Library& lib = t.lib();
  const onnxBackendID id = t.id();
  const onnxBackend old = t.backend();
  {
    Job job(t);
    job.MustSetIO();
    job.Run();
    job.Release();
  }
  Unplug(t);
  t.Provoke("plug");
  std::vector<onnxBackendID> ids(16);
  size_t count = 0;
  for (int i = 0; i < 500 && count == 0; ++i) {
    count = ids.size();
    t.Expect(lib.GetBackendIDs(ids.data(), &count), {ONNXIFI_STATUS_SUCCESS},
             "onnxGetBackendIDs after the device came back");
    if (count == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  if (!t.Check(count > 0,
               "the device is not listed five seconds after it came "
               "back")) {
    return;
  }
  t.Rule(std::find(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(count),
                   id) != ids.begin() + static_cast<ptrdiff_t>(count),
         "a device that came back has another ID");
  onnxEvent event = nullptr;
  t.ExpectRule(lib.InitEvent(old, &event), {kGone},
               "onnxInitEvent of a backend from before the device was "
               "unplugged");
  if (event != nullptr) t.KeepEvent(event);
  onnxBackend backend = nullptr;
  t.Expect(lib.InitBackend(ids[0], nullptr, &backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxInitBackend of a device that came back");
  if (backend != nullptr) {
    Job job(t, {2, 3}, backend);
    job.MustSetIO();
    job.Run();
    // Clean() releases in the right order what it knows of.
    job.Release();
  }
  for (size_t i = 0; i < count; ++i) t.Keep(ids[i]);
  if (backend != nullptr) t.KeepBackend(backend);
}

}  // namespace

std::vector<Case> HotplugCases() {
  return {
      {"hotplug.ids",
       "the ID of a removed device stays valid: BACKEND_UNAVAILABLE", Ids,
       kUnplugs},
      {"hotplug.objects",
       "objects of a removed device are BACKEND_UNAVAILABLE and can be "
       "released",
       Objects, kUnplugs},
      {"hotplug.waiters", "waiting calls return when the device is removed",
       Waiters, kUnplugs},
      {"hotplug.release_in_flight",
       "a graph whose run will never end can be released", ReleaseInFlight,
       kUnplugs},
      {"hotplug.replug", "a device that comes back can be used", Replug,
       kUnplugs},
  };
}

}  // namespace heddle::conformance
