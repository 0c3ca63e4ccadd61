// SPDX-License-Identifier: Apache-2.0
// A device that misbehaves, or goes in the middle of calls: what becomes of the
// work in hand is open, that the program and the next work survive is not.
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

constexpr onnxStatus kSuccess = ONNXIFI_STATUS_SUCCESS;
constexpr onnxStatus kGone = ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
constexpr onnxStatus kError = ONNXIFI_STATUS_INTERNAL_ERROR;

// What a run of a device that fails may end with.
void ExpectEnd(Context& t, onnxStatus status) {
  t.Expect(status, {kSuccess, kError, kGone},
           "onnxWaitEvent for a run of a device that fails");
}

// The device works: at once, or after whatever brings it back.
void MustWorkAgain(Context& t) {
  for (int i = 0; i < 500; ++i) {
    onnxBackend backend = nullptr;
    if (t.lib().InitBackend(t.id(), nullptr, &backend) == kSuccess) {
      t.KeepBackend(backend);
      Job job(t, {2, 3}, backend);
      job.MustSetIO();
      job.Run();
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  t.Fail("the device cannot be opened five seconds after the fault");
}

void RunWith(Context& t, const char* word, uint64_t amount) {
  t.Provoke("reset");
  Job job(t);
  job.MustSetIO();
  job.Run();
  t.Provoke(word, amount);
  const onnxEvent input = t.NewEvent();
  const onnxMemoryFenceV1 in = EventFence(input);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(t.lib().SignalEvent(input), {kSuccess}, "onnxSignalEvent");
  const onnxStatus begun = t.lib().RunGraph(job.graph, &in, &out);
  t.Expect(begun, {kSuccess, kError, kGone}, "onnxRunGraph");
  if (begun == kSuccess) {
    ExpectEnd(t, t.lib().WaitEvent(out.event));
    t.Expect(t.lib().ReleaseEvent(out.event), {kSuccess}, "onnxReleaseEvent");
  }
  t.Provoke("reset");
  MustWorkAgain(t);
}

void Hang(Context& t) { RunWith(t, "hang", 0); }
void WrongWeights(Context& t) { RunWith(t, "bit_flip", 0); }
void WrongProgram(Context& t) { RunWith(t, "bit_flip", 1); }

// What another thread does while the device goes: one call, until it says that
// the device is gone.
struct During {
  const char* name;
  std::function<onnxStatus(Context&, Job&, const std::string& model)> call;
};

std::vector<During> Calls() {
  return {
      {"onnxInitBackend",
       [](Context& t, Job&, const std::string&) {
         onnxBackend backend = nullptr;
         const onnxStatus status =
             t.lib().InitBackend(t.id(), nullptr, &backend);
         if (backend != nullptr) (void)t.lib().ReleaseBackend(backend);
         return status;
       }},
      {"onnxInitGraph",
       [](Context& t, Job&, const std::string& model) {
         onnxGraph graph = nullptr;
         const onnxStatus status =
             t.lib().InitGraph(t.backend(), nullptr, model.size(), model.data(),
                               0, nullptr, &graph);
         if (graph != nullptr) (void)t.lib().ReleaseGraph(graph);
         return status == ONNXIFI_STATUS_FALLBACK ? kSuccess : status;
       }},
      {"onnxSetGraphIO",
       [](Context&, Job& job, const std::string&) { return job.SetIO(); }},
      {"onnxRunGraph and onnxWaitEvent",
       [](Context& t, Job& job, const std::string&) {
         onnxEvent input = nullptr;
         onnxStatus status = t.lib().InitEvent(t.backend(), &input);
         if (status != kSuccess) return status;
         const onnxMemoryFenceV1 in = EventFence(input);
         onnxMemoryFenceV1 out = EventFence(nullptr);
         status = t.lib().RunGraph(job.graph, &in, &out);
         if (status == kSuccess) {
           const onnxStatus signalled = t.lib().SignalEvent(input);
           status = t.lib().WaitEvent(out.event);
           if (signalled != kSuccess) status = signalled;
           (void)t.lib().ReleaseEvent(out.event);
         }
         (void)t.lib().ReleaseEvent(input);
         return status;
       }},
  };
}

void UnplugDuring(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_HOT_PLUGGABLE, "HOT_PLUGGABLE");
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
  // Five points in each of four calls; what Context makes lazily is made here.
  const std::string model = t.Elementwise({2, 3}).Serialize();
  for (const During& during : Calls()) {
    for (int point = 0; point < 5 && !t.failed(); ++point) {
      onnxBackend backend = t.backend();
      Job job(t);
      job.MustSetIO();
      job.Run();
      std::atomic<bool> started{false};
      std::atomic<onnxStatus> end{kSuccess};
      std::thread caller([&] {
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (end == kSuccess && std::chrono::steady_clock::now() < until) {
          started = true;
          end = during.call(t, job, model);
        }
      });
      while (!started) std::this_thread::yield();
      std::this_thread::sleep_for(
          std::chrono::microseconds(t.random()() % 3000));
      t.Provoke("unplug");
      caller.join();
      t.Check(end == kGone,
              absl::StrCat(during.name,
                           " during the removal of the device ended with ",
                           StatusName(end), ", not BACKEND_UNAVAILABLE"));
      t.Provoke("plug");
      t.Expect(t.lib().ReleaseGraph(job.graph), {kSuccess},
               "onnxReleaseGraph of a device that was gone");
      t.ForgetGraph(job.graph);
      t.Expect(t.lib().ReleaseBackend(backend), {kSuccess},
               "onnxReleaseBackend of a device that was gone");
      t.ForgetBackend(backend);
      MustWorkAgain(t);
    }
  }
}

// Until the library knows. A call that did not block must not find the device
// there again before anybody has noticed.
void MustBeGone(Context& t) {
  for (int i = 0; i < 500; ++i) {
    size_t size = 0;
    if (t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_NAME, nullptr, &size) ==
        kGone) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  t.Fail(
      "onnxGetBackendInfo is not BACKEND_UNAVAILABLE five seconds after the "
      "device was unplugged");
}

// Calls that wait for something that will never come, once each, when the
// device goes: an event that nobody signals, a run whose input nobody makes
// ready.
void UnplugWhileBlocked(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_HOT_PLUGGABLE, "HOT_PLUGGABLE");
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
  struct Blocked {
    const char* name;
    std::function<onnxStatus(Job&, onnxEvent input, onnxEvent output)> call;
    std::set<onnxStatus> ends;
  };
  Library& lib = t.lib();
  const std::vector<Blocked> calls = {
      {"onnxWaitEvent for an event of the caller's",
       [&](Job&, onnxEvent input, onnxEvent) { return lib.WaitEvent(input); },
       {kGone}},
      {"onnxWaitEvent for a run",
       [&](Job&, onnxEvent, onnxEvent output) { return lib.WaitEvent(output); },
       {kGone}},
      // It need not block, and has succeeded then.
      {"onnxSetGraphIO of a graph with a run in flight",
       [&](Job& job, onnxEvent, onnxEvent) { return job.SetIO(); },
       {kGone, kSuccess}},
      {"onnxReleaseGraph of a graph with a run in flight",
       [&](Job& job, onnxEvent, onnxEvent) {
         return lib.ReleaseGraph(job.graph);
       },
       {kSuccess}},
  };
  for (const Blocked& blocked : calls) {
    const onnxBackend backend = t.backend();
    Job job(t);
    job.MustSetIO();
    const onnxEvent input = t.NewEvent();
    const onnxEvent output = job.Start(input);
    std::atomic<bool> started{false};
    onnxStatus end = kSuccess;
    std::thread caller([&] {
      started = true;
      end = blocked.call(job, input, output);
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::microseconds(2000 + t.random()() % 20000));
    t.Provoke("unplug");
    MustBeGone(t);
    caller.join();  // or the case hangs
    t.Check(blocked.ends.count(end) != 0,
            absl::StrCat(blocked.name,
                         ", blocked when the device is removed, ended "
                         "with ",
                         StatusName(end)));
    t.Provoke("plug");
    t.ForgetGraph(job.graph);
    if (absl::string_view(blocked.name).find("ReleaseGraph") ==
        absl::string_view::npos) {
      t.Expect(lib.ReleaseGraph(job.graph), {kSuccess},
               "onnxReleaseGraph of a device that was gone");
    }
    t.ForgetEvent(input);
    for (const onnxEvent event : {input, output}) {
      t.Expect(lib.ReleaseEvent(event), {kSuccess},
               "onnxReleaseEvent of a device that was gone");
    }
    t.Expect(lib.ReleaseBackend(backend), {kSuccess},
             "onnxReleaseBackend of a device that was gone");
    t.ForgetBackend(backend);
    MustWorkAgain(t);
  }
}

void Memory(Context& t) {
  const uint64_t before = t.InfoNumber(ONNXIFI_BACKEND_MEMORY_SIZE);
  const uint64_t half = before / 2 / 4096 * 4096;
  if (half < 65536) t.Unsupported("the device has hardly any memory");
  t.Provoke("reset");
  t.Provoke("memory", half);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  uint64_t now = before;
  for (int i = 0; i < 500 && now > half; ++i) {
    size_t size = sizeof(now), count = 0;
    (void)t.lib().GetBackendIDs(nullptr, &count);
    if (t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_MEMORY_SIZE, &now,
                               &size) != kSuccess) {
      now = before;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  t.Check(now <= half && now > 0,
          absl::StrCat("MEMORY_SIZE is ", now, " of a device that has ", half,
                       " bytes"));
  MustWorkAgain(t);
}

}  // namespace

std::vector<Case> ProvokedCases() {
  constexpr unsigned kFlags = kLong | kUnplugs | kColdStart;
  return {
      {"provoked.hang", "a run that hangs ends, and the next is right", Hang,
       kFlags},
      {"provoked.wrong_weights",
       "the run after a bit of the weights was flipped is right", WrongWeights,
       kFlags},
      {"provoked.wrong_program",
       "the run after a bit of the program was flipped is right", WrongProgram,
       kFlags},
      {"provoked.unplug_during",
       "a call during which the device is removed is BACKEND_UNAVAILABLE",
       UnplugDuring, kFlags},
      {"provoked.unplug_while_blocked",
       "blocked calls end when the device is removed", UnplugWhileBlocked,
       kUnplugs | kColdStart},
      {"provoked.memory", "MEMORY_SIZE follows the device", Memory,
       kFlags | kRuleOnly},
  };
}

}  // namespace heddle::conformance
