// SPDX-License-Identifier: Apache-2.0
// onnxRunGraph: fences and results.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

onnxEvent Signalled(Context& t, onnxBackend backend = nullptr) {
  const onnxEvent event = t.NewEvent(backend);
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  return event;
}

void OneRun(Context& t) {
  Job job(t);
  job.MustSetIO();
  job.Run();
}

void FenceNull(Context& t) {
  Job job(t);
  job.MustSetIO();
  const onnxMemoryFenceV1 in = EventFence(Signalled(t));
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(t.lib().RunGraph(job.graph, nullptr, &out),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxRunGraph without an input fence");
  t.Expect(t.lib().RunGraph(job.graph, &in, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxRunGraph without an output fence");
}

void FenceTag(Context& t) {
  Job job(t);
  job.MustSetIO();
  for (const int32_t tag : {0, 0x12345678, 0x43DFBF69}) {
    onnxMemoryFenceV1 in = EventFence(Signalled(t));
    onnxMemoryFenceV1 out = EventFence(nullptr);
    in.tag = tag;
    t.Expect(t.lib().RunGraph(job.graph, &in, &out),
             {ONNXIFI_STATUS_UNSUPPORTED_TAG},
             "onnxRunGraph with an input fence of another tag");
    in.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
    out.tag = tag;
    t.Expect(t.lib().RunGraph(job.graph, &in, &out),
             {ONNXIFI_STATUS_UNSUPPORTED_TAG},
             "onnxRunGraph with an output fence of another tag");
  }
}

void FenceTagFirst(Context& t) {
  Job job(t);
  job.MustSetIO();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + page, page, PROT_NONE);
  const int32_t tag = 0x12345678;
  std::memcpy(memory + page - 8, &tag, sizeof(tag));
  auto* bare = reinterpret_cast<onnxMemoryFenceV1*>(memory + page - 8);
  const onnxMemoryFenceV1 in = EventFence(Signalled(t));
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(t.lib().RunGraph(job.graph, bare, &out),
           {ONNXIFI_STATUS_UNSUPPORTED_TAG},
           "onnxRunGraph with an input fence of another tag and nothing after "
           "it");
  t.Expect(t.lib().RunGraph(job.graph, &in, bare),
           {ONNXIFI_STATUS_UNSUPPORTED_TAG},
           "onnxRunGraph with an output fence of another tag and nothing "
           "after it");
}

void FenceType(Context& t) {
  Job job(t);
  job.MustSetIO();
  for (const uint64_t type :
       {uint64_t{1}, uint64_t{3}, uint64_t{77}, uint64_t{1} << 40}) {
    onnxMemoryFenceV1 in = EventFence(Signalled(t));
    onnxMemoryFenceV1 out = EventFence(nullptr);
    in.type = type;
    t.Expect(t.lib().RunGraph(job.graph, &in, &out),
             {ONNXIFI_STATUS_INVALID_FENCE_TYPE},
             absl::StrCat("onnxRunGraph with an input fence of type ", type));
    in.type = ONNXIFI_SYNCHRONIZATION_EVENT;
    out.type = type;
    t.Expect(t.lib().RunGraph(job.graph, &in, &out),
             {ONNXIFI_STATUS_INVALID_FENCE_TYPE},
             absl::StrCat("onnxRunGraph with an output fence of type ", type));
  }
}

void ImplicitFence(Context& t) {
  if ((t.InfoNumber(ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES) &
       ONNXIFI_SYNCHRONIZATION_IMPLICIT) != 0) {
    t.Unsupported(
        "IMPLICIT synchronization is advertised; its effect is the "
        "vendor's");
  }
  Job job(t);
  job.MustSetIO();
  onnxMemoryFenceV1 in = EventFence(Signalled(t));
  onnxMemoryFenceV1 out = EventFence(nullptr);
  in.type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
  t.Expect(t.lib().RunGraph(job.graph, &in, &out),
           {ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE},
           "onnxRunGraph with an IMPLICIT input fence");
  in.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  out.type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
  t.Expect(t.lib().RunGraph(job.graph, &in, &out),
           {ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE},
           "onnxRunGraph with an IMPLICIT output fence");
}

void InputEvent(Context& t) {
  Job job(t);
  job.MustSetIO();
  onnxMemoryFenceV1 in = EventFence(nullptr);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  t.Expect(t.lib().RunGraph(job.graph, &in, &out),
           {ONNXIFI_STATUS_INVALID_EVENT},
           "onnxRunGraph without an input event");
  in.event = job.graph;
  t.Expect(t.lib().RunGraph(job.graph, &in, &out),
           {ONNXIFI_STATUS_INVALID_EVENT},
           "onnxRunGraph with a graph for an input event");
}

void OtherBackend(Context& t) {
  Job job(t);
  job.MustSetIO();
  const onnxEvent event = Signalled(t, t.NewBackend());
  onnxMemoryFenceV1 in = EventFence(event);
  onnxMemoryFenceV1 out = EventFence(nullptr);
  const onnxStatus status = t.lib().RunGraph(job.graph, &in, &out);
  t.ExpectRule(status, {ONNXIFI_STATUS_INVALID_EVENT},
               "onnxRunGraph with the event of another backend");
  if (status == ONNXIFI_STATUS_SUCCESS) {
    (void)t.lib().WaitEvent(out.event);
    t.KeepEvent(out.event);
  }
}

void BeforeIO(Context& t) {
  Job job(t);
  const onnxMemoryFenceV1 in = EventFence(Signalled(t));
  onnxMemoryFenceV1 out = EventFence(t.NewEvent());
  t.Expect(t.lib().RunGraph(job.graph, &in, &out),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
           "onnxRunGraph before onnxSetGraphIO");
  t.Rule(out.event == nullptr,
         "onnxRunGraph failed and its output fence has an event");
}

void OutputEventIsNew(Context& t) {
  Job job(t);
  job.MustSetIO();
  // What the fence holds on entry is garbage, and an event of the caller's.
  const onnxEvent mine = t.NewEvent();
  std::vector<onnxEvent> outputs;
  for (void* before : {CanaryPointer(), static_cast<void*>(nullptr), mine}) {
    const onnxEvent input = Signalled(t);
    const onnxMemoryFenceV1 in = EventFence(input);
    onnxMemoryFenceV1 out = EventFence(before);
    if (!t.Expect(t.lib().RunGraph(job.graph, &in, &out),
                  {ONNXIFI_STATUS_SUCCESS},
                  "onnxRunGraph whose output fence has some event")) {
      continue;
    }
    t.Check(out.event != nullptr && out.event != CanaryPointer(),
            "onnxRunGraph stored no event");
    t.Check(out.event != mine && out.event != input,
            "the output event is one of the caller's");
    for (onnxEvent other : outputs) {
      t.Check(out.event != other, "two runs have one output event");
    }
    t.Check(out.tag == ONNXIFI_TAG_MEMORY_FENCE_V1 &&
                out.type == ONNXIFI_SYNCHRONIZATION_EVENT,
            "onnxRunGraph has changed tag or type of the output fence");
    t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    t.Check(t.StateOf(out.event) == ONNXIFI_EVENT_STATE_SIGNALLED,
            "the output event is not SIGNALLED after onnxWaitEvent");
    outputs.push_back(out.event);
  }
  t.Check(t.StateOf(mine) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "a run has signalled an event of the caller's");
  for (onnxEvent event : outputs) {
    t.Expect(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent of an output event");
  }
}

void ManyRuns(Context& t) {
  Job job(t, {4, 5, 6});
  job.MustSetIO();
  for (int i = 0; i < 50 && !t.failed(); ++i) {
    job.Refill();
    job.Run();
  }
}

void SpecialValues(Context& t) {
  Job job(t, {8});
  job.x.data = {1e-30f, -1e30f, 0.5f, -0.0f, 3.25f, 16777216.f, 1e-3f, 0};
  job.z.data = {1e-30f, 1.f, 0.25f, 0.f, -3.25f, 1.f, 7.f, -0.0f};
  job.MustSetIO();
  job.Run();
}

void Chain(Context& t) {
  Model model = t.Elementwise({3, 4});
  const std::string op = t.op().name;
  model.nodes = {{op, {"x", "z"}, {"a"}, "", {}},
                 {op, {"a", "x"}, {"b"}, "", {}},
                 {op, {"b", "a"}, {"y"}, "", {}}};
  Job job(t, {3, 4});
  const onnxGraph graph = t.NewGraph(model.Serialize());
  std::swap(job.graph, const_cast<onnxGraph&>(graph));
  job.MustSetIO();
  const onnxEvent output = job.Start(Signalled(t));
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  t.KeepEvent(output);
  const auto f = t.op().apply;
  for (size_t i = 0; i < job.y.data.size(); ++i) {
    const float a = f(job.x.data[i], job.z.data[i]);
    const float b = f(a, job.x.data[i]);
    if (!t.Check(job.y.data[i] == f(b, a),
                 absl::StrCat("element ", i, " of three nodes is ",
                              job.y.data[i], ", not ", f(b, a)))) {
      break;
    }
  }
}

void OneEventTwoRuns(Context& t) {
  Job first(t), second(t);
  first.MustSetIO();
  second.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent a = first.Start(input), b = second.Start(input);
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  for (const onnxEvent event : {a, b}) {
    t.Expect(t.lib().WaitEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    t.KeepEvent(event);
  }
  t.Check(first.Right() && second.Right(), "the result of a run is wrong");
}

}  // namespace

std::vector<Case> RunCases() {
  return {
      {"runs.one", "a run computes what the model says", OneRun},
      {"runs.fence_null", "a missing fence is INVALID_POINTER", FenceNull},
      {"runs.fence_tag", "an unknown fence tag is UNSUPPORTED_TAG", FenceTag},
      {"runs.fence_tag_first", "a fence's tag is checked before anything else",
       FenceTagFirst},
      {"runs.fence_type", "unknown fence types are INVALID_FENCE_TYPE",
       FenceType},
      {"runs.implicit_fence",
       "IMPLICIT fences are UNSUPPORTED_FENCE_TYPE unless they are advertised",
       ImplicitFence},
      {"runs.input_event",
       "an input event that is not an event is INVALID_EVENT", InputEvent},
      {"runs.other_backend", "an event of another backend is INVALID_EVENT",
       OtherBackend, kRuleOnly},
      {"runs.before_io", "a graph without locations is UNIDENTIFIED_NAME",
       BeforeIO},
      {"runs.output_event_is_new",
       "each run makes an output event of its own, whatever the fence held",
       OutputEventIsNew},
      {"runs.many", "consecutive runs each see the inputs of their time",
       ManyRuns},
      {"runs.special_values", "tiny, huge and signed zero floats are computed",
       SpecialValues},
      {"runs.chain", "a chain of nodes is computed", Chain},
      {"runs.one_event_two_runs", "one event can start two runs",
       OneEventTwoRuns, kRuleOnly},
  };
}

}  // namespace heddle::conformance
