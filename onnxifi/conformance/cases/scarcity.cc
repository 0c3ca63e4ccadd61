// SPDX-License-Identifier: Apache-2.0
// A single request for memory, a thread or a descriptor is refused in the
// middle of a call, or that one and all behind it: the call says so or does
// without, stores no handle, and the next one succeeds.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {
namespace {

constexpr onnxStatus kSuccess = ONNXIFI_STATUS_SUCCESS;

bool Succeeded(onnxStatus status) {
  return status == kSuccess || status == ONNXIFI_STATUS_FALLBACK;
}

// One function of the interface. While something is refused only `call` runs,
// which needs nothing itself.
struct Tried {
  int function;
  std::function<void()> prepare;
  std::function<onnxStatus()> call;
  std::function<void()> undo;   // what `call` made, if it succeeded
  std::function<void()> clean;  // what `prepare` made
  const void* const* handle;    // NULL after a failure; or none
  bool never_fails = false;     // to release needs nothing
};

// What a function may return for want of something: what the specification has
// for that; INTERNAL_ERROR where the function's list does not have it.
bool SaysSo(int function, const std::string& word, onnxStatus status) {
  const onnxStatus want = word.rfind("allocation", 0) == 0
                              ? ONNXIFI_STATUS_NO_SYSTEM_MEMORY
                              : ONNXIFI_STATUS_NO_SYSTEM_RESOURCES;
  // The two are hard to tell apart: the kernel needs memory for resources.
  return status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY ||
         status == ONNXIFI_STATUS_NO_SYSTEM_RESOURCES ||
         (status == ONNXIFI_STATUS_INTERNAL_ERROR &&
          !MayReturn(function, want));
}

// Once with that refused, and once more if that failed. False: there were not
// so many requests, or the case has failed.
bool Once(Context& t, const Tried& tried, const std::string& word,
          uint64_t number) {
  const std::string name = FunctionName(tried.function);
  tried.prepare();
  t.Provoke(word, number);
  onnxStatus status = tried.call();
  const bool refused = t.Spare();
  const void* const handle = tried.handle == nullptr ? nullptr : *tried.handle;
  const auto with = [&] {
    return absl::StrCat(name, ", ", word, " ", number, " refused: ");
  };
  if (!Succeeded(status)) {
    if (!refused) {
      t.Check(false, absl::StrCat(name, " returned ", StatusName(status)));
      return false;
    }
    t.Check(SaysSo(tried.function, word, status),
            absl::StrCat(with(), StatusName(status),
                         ", which does not mention memory or resources"));
    if (tried.never_fails) {
      t.Rule(false, absl::StrCat(with(), "a release should need nothing"));
    }
    t.Check(handle == nullptr,
            absl::StrCat(with(), "the handle is not NULL after a failure"));
    status = tried.call();
    t.Check(Succeeded(status), absl::StrCat(with(), "and then, with enough, ",
                                            StatusName(status)));
  }
  if (Succeeded(status)) tried.undo();
  tried.clean();
  return refused && !t.failed();
}

// The first requests of a call each, and of the others a sample.
void Each(Context& t, const Tried& tried, const std::string& kind) {
  for (const char* behind : {"", "s"}) {
    uint64_t number = 1;
    while (Once(t, tried, kind + behind, number)) {
      number += 1 + t.random()() % (number / 2 + 1);
      if (number > 1000000) return;
    }
    if (t.failed()) return;
  }
}

class Objects {
 public:
  explicit Objects(Context& t)
      : t_(t),
        lib_(t.lib()),
        model_(t.Elementwise({2, 3}).Serialize()),
        job_(t),
        in_(t.abi(), {job_.x.Describe(), job_.z.Describe()}),
        out_(t.abi(), {job_.y.Describe()}) {
    if (lib_.has_extension_function()) {
      (void)lib_.GetExtensionFunctionAddress(t.id(), "onnxSetIOAndRunGraph",
                                             &function_);
    }
  }

  std::vector<Tried> Functions() {
    const auto nothing = [] {};
    const auto release_event = [this] { Release(&event_); };
    const auto new_event = [this] { Must(InitEvent(), "onnxInitEvent"); };
    const auto free_output = [this] { Release(&output_); };
    std::vector<Tried> all = {
        {kGetBackendIDs, nothing,
         [this] {
           count_ = kIds;
           return lib_.GetBackendIDs(ids_, &count_);
         },
         [this] {
           for (size_t i = 0; i < std::min(count_, kIds); ++i) {
             Must(lib_.ReleaseBackendID(ids_[i]), "onnxReleaseBackendID");
           }
         },
         nothing, nullptr},
        {kGetBackendInfo, nothing,
         [this] {
           size_t size = sizeof(text_);
           return lib_.GetBackendInfo(t_.id(), ONNXIFI_BACKEND_EXTENSIONS,
                                      text_, &size);
         },
         nothing, nothing, nullptr},
        {kGetBackendCompatibility, nothing,
         [this] {
           return lib_.GetBackendCompatibility(t_.id(), model_.size(),
                                               model_.data());
         },
         nothing, nothing, nullptr},
        {kInitBackend, nothing, [this] { return InitBackend(); },
         [this] { Must(ReleaseBackend(), "onnxReleaseBackend"); }, nothing,
         &backend_},
        {kInitEvent, nothing, [this] { return InitEvent(); }, release_event,
         nothing, &event_},
        {kSignalEvent, new_event, [this] { return lib_.SignalEvent(event_); },
         nothing, release_event, nullptr},
        {kGetEventState, new_event,
         [this] {
           onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
           return lib_.GetEventState(event_, &state);
         },
         nothing, release_event, nullptr},
        {kInitGraph, nothing, [this] { return InitGraph(); },
         [this] { Must(ReleaseGraph(), "onnxReleaseGraph"); }, nothing,
         &graph_},
        {kSetGraphIO, nothing, [this] { return SetIO(); }, nothing, nothing,
         nullptr},
        {kRunGraph,
         [this, new_event] {
           new_event();
           Must(SetIO(), "onnxSetGraphIO");
           job_.Refill();
         },
         [this] { return Run(); },
         [this] {
           Must(lib_.SignalEvent(event_), "onnxSignalEvent");
           Must(lib_.WaitEvent(output_), "onnxWaitEvent for the end of a run");
           t_.Check(job_.Right(), "the result of a run is wrong");
           Release(&output_);
         },
         release_event, &output_},
        // A run is what is short of something; it may fail, its end is told.
        {kWaitEvent,
         [this, new_event] {
           new_event();
           Must(SetIO(), "onnxSetGraphIO");
           job_.Refill();
           Must(Run(), "onnxRunGraph");
           signalled_ = failed_ = false;
         },
         [this] {
           if (failed_) return kSuccess;  // there is no second end
           if (!signalled_) {
             const onnxStatus status = lib_.SignalEvent(event_);
             if (status != kSuccess) return status;
             signalled_ = true;
           }
           const onnxStatus status = lib_.WaitEvent(output_);
           failed_ = status != kSuccess;
           return status;
         },
         [this] {
           t_.Check(failed_ || job_.Right(), "the result of a run is wrong");
         },
         [release_event, free_output] {
           free_output();
           release_event();
         },
         nullptr},
        {kReleaseEvent, new_event, [this] { return lib_.ReleaseEvent(event_); },
         nothing, nothing, nullptr, true},
        {kReleaseGraph, [this] { Must(InitGraph(), "onnxInitGraph"); },
         [this] { return ReleaseGraph(); }, nothing, nothing, nullptr, true},
        {kReleaseBackend, [this] { Must(InitBackend(), "onnxInitBackend"); },
         [this] { return ReleaseBackend(); }, nothing, nothing, nullptr, true},
        {kReleaseBackendID,
         [this] {
           count_ = kIds;
           Must(lib_.GetBackendIDs(ids_, &count_), "onnxGetBackendIDs");
           if (count_ == 0) t_.Fail("the device is not listed any more");
           for (size_t i = 1; i < std::min(count_, kIds); ++i) {
             Must(lib_.ReleaseBackendID(ids_[i]), "onnxReleaseBackendID");
           }
         },
         [this] { return lib_.ReleaseBackendID(ids_[0]); }, nothing, nothing,
         nullptr, true},
    };
    if (function_ != nullptr) {
      all.push_back({kSetIOAndRunGraph, [this] { job_.Refill(); },
                     [this] {
                       onnxMemoryFenceV1 out = EventFence(nullptr);
                       const onnxStatus status = lib_.SetIOAndRunGraph(
                           ExtensionAs<onnxSetIOAndRunGraphFunction>(function_),
                           job_.graph, 2, in_.data(), 1, out_.data(), &out);
                       output_ = out.event;
                       return status;
                     },
                     [this] {
                       // It runs while something is refused; its end is told.
                       const onnxStatus end = lib_.WaitEvent(output_);
                       t_.Expect(end, {kSuccess, ONNXIFI_STATUS_INTERNAL_ERROR},
                                 "onnxWaitEvent for the end of a run");
                       t_.Check(end != kSuccess || job_.Right(),
                                "the result of a run is wrong");
                       Release(&output_);
                     },
                     nothing, &output_});
    }
    return all;
  }

  // With enough of everything it all works.
  void Works() {
    job_.MustSetIO();
    job_.Refill();
    job_.Run();
  }

 private:
  static constexpr size_t kIds = 64;

  void Must(onnxStatus status, const char* what) {
    if (!Succeeded(status)) {
      t_.Fail(absl::StrCat(what, " with enough of everything returned ",
                           StatusName(status)));
    }
  }
  onnxStatus InitBackend() {
    return lib_.InitBackend(t_.id(), nullptr, &backend_);
  }
  onnxStatus ReleaseBackend() { return lib_.ReleaseBackend(backend_); }
  onnxStatus InitEvent() { return lib_.InitEvent(t_.backend(), &event_); }
  onnxStatus InitGraph() {
    return lib_.InitGraph(t_.backend(), nullptr, model_.size(), model_.data(),
                          0, nullptr, &graph_);
  }
  onnxStatus ReleaseGraph() { return lib_.ReleaseGraph(graph_); }
  onnxStatus SetIO() {
    return lib_.SetGraphIO(job_.graph, 2, in_.data(), 1, out_.data());
  }
  onnxStatus Run() {
    const onnxMemoryFenceV1 in = EventFence(event_);
    onnxMemoryFenceV1 out = EventFence(nullptr);
    const onnxStatus status = lib_.RunGraph(job_.graph, &in, &out);
    output_ = out.event;
    return status;
  }
  void Release(onnxEvent* event) {
    Must(lib_.ReleaseEvent(*event), "onnxReleaseEvent");
    *event = nullptr;
  }

  Context& t_;
  Library& lib_;
  const std::string model_;
  Job job_;
  const DescriptorArray in_, out_;
  onnxExtensionFunctionPointer function_ = nullptr;
  onnxBackendID ids_[kIds];
  size_t count_ = 0;
  char text_[1024];
  onnxBackend backend_ = nullptr;
  onnxEvent event_ = nullptr, output_ = nullptr;
  onnxGraph graph_ = nullptr;
  bool signalled_ = false, failed_ = false;
};

void Refused(Context& t, const char* kind) {
  t.Provoke("spare");  // or not supported, before anything is made
  Objects objects(t);
  objects.Works();
  for (const Tried& tried : objects.Functions()) {
    Each(t, tried, kind);
    if (t.failed()) return;
  }
  objects.Works();
}

void Allocations(Context& t) { Refused(t, "allocation"); }
void Threads(Context& t) { Refused(t, "thread"); }
void Descriptors(Context& t) { Refused(t, "descriptor"); }

}  // namespace

std::vector<Case> ScarcityCases() {
  return {
      {"scarcity.allocations",
       "each function that is refused memory reports it or does without",
       Allocations, kLong},
      {"scarcity.threads",
       "each function that is refused a thread reports it or does without",
       Threads, kLong},
      {"scarcity.descriptors",
       "each function that is refused a descriptor reports it or does without",
       Descriptors, kLong},
  };
}

}  // namespace heddle::conformance
