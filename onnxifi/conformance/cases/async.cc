// SPDX-License-Identifier: Apache-2.0
// Runs that wait for their inputs.
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

using std::chrono::milliseconds;

void Signal(Context& t, onnxEvent event) {
  t.Expect(t.lib().SignalEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
}

void WaitAndKeep(Context& t, onnxEvent event) {
  t.Expect(t.lib().WaitEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent for the end of a run");
  t.KeepEvent(event);
}

void RunBeforeSignal(Context& t) {
  // On one thread: onnxRunGraph must come back before the inputs are there.
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  t.Check(t.StateOf(output) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "the output event is not NONSIGNALLED before the inputs are ready");
  t.Check(t.StateOf(input) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "a run has signalled its input event");
  std::this_thread::sleep_for(milliseconds(30));
  t.Check(t.StateOf(output) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "the output event was signalled before the inputs were ready");
  Signal(t, input);
  WaitAndKeep(t, output);
  t.Check(job.Right(), "the result of a run is wrong");
}

void InputsLate(Context& t) {
  // The inputs become valid between onnxRunGraph and the signal.
  Job job(t);
  job.MustSetIO();
  for (int i = 0; i < 5; ++i) {
    std::memset(job.x.data.data(), 0xFF, job.x.data.size() * sizeof(float));
    std::memset(job.z.data.data(), 0xFF, job.z.data.size() * sizeof(float));
    const onnxEvent input = t.NewEvent();
    const onnxEvent output = job.Start(input);
    std::this_thread::sleep_for(milliseconds(5));
    job.Refill();
    Signal(t, input);
    WaitAndKeep(t, output);
    t.Check(job.Right(),
            "a run has not used the inputs of the time when they "
            "were signalled");
  }
}

void OutputsComplete(Context& t) {
  // Larger, so that an early signal would be seen.
  Job job(t, {64, 1024});
  job.MustSetIO();
  for (int i = 0; i < 4 && !t.failed(); ++i) {
    job.Refill();
    const onnxEvent input = t.NewEvent();
    const onnxEvent output = job.Start(input);
    Signal(t, input);
    WaitAndKeep(t, output);
    t.Check(job.Right(),
            "outputs were not complete when their event was "
            "signalled");
  }
}

void OutputState(Context& t) {
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  Signal(t, input);
  // Polling reaches the end as well as waiting.
  onnxEventState state = ONNXIFI_EVENT_STATE_NONSIGNALLED;
  for (int i = 0; i < 2000 && state == ONNXIFI_EVENT_STATE_NONSIGNALLED; ++i) {
    state = t.StateOf(output);
    if (state == ONNXIFI_EVENT_STATE_NONSIGNALLED) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  t.Check(state == ONNXIFI_EVENT_STATE_SIGNALLED,
          "the output event was not seen signalled within two seconds");
  t.Check(job.Right(),
          "outputs were not complete when their event was "
          "signalled");
  WaitAndKeep(t, output);
}

void ReverseOrder(Context& t) {
  // Several graphs wait; the last becomes ready first.
  constexpr size_t kJobs = 4;
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<onnxEvent> inputs, outputs;
  for (size_t i = 0; i < kJobs; ++i) {
    jobs.push_back(std::make_unique<Job>(t, std::vector<uint64_t>{i + 1, 3}));
    jobs.back()->MustSetIO();
    inputs.push_back(t.NewEvent());
    outputs.push_back(jobs.back()->Start(inputs.back()));
  }
  for (size_t i = kJobs; i-- > 0;) {
    Signal(t, inputs[i]);
    WaitAndKeep(t, outputs[i]);
    t.Check(jobs[i]->Right(), "the result of a run is wrong");
  }
}

void Backends(Context& t) {
  const onnxBackend other = t.NewBackend();
  Job first(t), second(t, {2, 3}, other);
  first.MustSetIO();
  second.MustSetIO();
  const onnxEvent in1 = t.NewEvent(), in2 = t.NewEvent(other);
  const onnxEvent out1 = first.Start(in1), out2 = second.Start(in2);
  Signal(t, in2);
  WaitAndKeep(t, out2);
  t.Check(t.StateOf(out1) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
          "a run has ended without its inputs");
  Signal(t, in1);
  WaitAndKeep(t, out1);
  t.Check(first.Right() && second.Right(), "the result of a run is wrong");
}

void InFlightKeepsLocations(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  Tensor x("x", {2, 3}), z("z", {2, 3}), y("y", {2, 3});
  y.data.assign(6, 77);
  // It may block until the run ends, so somebody has to let it.
  std::thread signaller([&] {
    std::this_thread::sleep_for(milliseconds(30));
    Signal(t, input);
  });
  t.Expect(t.SetIO(job.graph, {x.Describe(), z.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO while a run is in flight");
  WaitAndKeep(t, output);
  signaller.join();
  t.Check(job.Right(), "a run in flight has not kept its locations");
  t.Check(y.data == std::vector<float>(6, 77),
          "a run in flight has used the new locations");
}

void EarlyRelease(Context& t) {
  // The output event is released before the end: nobody learns of it, and
  // nothing breaks.
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent of the output event of a run in flight");
  Signal(t, input);
  job.Run();
}

void InputReleased(Context& t) {
  // Nobody can signal it any more.
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  t.ExpectRule(t.lib().ReleaseEvent(input), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseEvent of an input event that a run waits for");
  t.ForgetEvent(input);
  t.ExpectRule(t.lib().WaitEvent(output), {ONNXIFI_STATUS_INTERNAL_ERROR},
               "onnxWaitEvent for a run whose input event was released");
  t.KeepEvent(output);
  job.MustSetIO();
  job.Run();
}

void UserSignalsOutput(Context& t) {
  // "Technically possible": it harms nobody but who asks then.
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  t.ExpectRule(t.lib().SignalEvent(output), {ONNXIFI_STATUS_SUCCESS},
               "onnxSignalEvent of an output event");
  t.ExpectRule(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
               "onnxWaitEvent for an output event that the caller signalled");
  Signal(t, input);
  job.Run();
  t.KeepEvent(output);
}

void Pipeline(Context& t) {
  // The end of one run starts the next.
  Job first(t), second(t);
  first.MustSetIO();
  second.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent middle = first.Start(input);
  const onnxEvent output = second.Start(middle);
  Signal(t, input);
  WaitAndKeep(t, output);
  WaitAndKeep(t, middle);
  t.Check(first.Right() && second.Right(), "the result of a run is wrong");
}

}  // namespace

std::vector<Case> AsyncCases() {
  return {
      {"async.run_before_signal",
       "onnxRunGraph returns before its inputs are ready, and the run waits",
       RunBeforeSignal},
      {"async.inputs_late",
       "inputs are read once their event is signalled, not before", InputsLate},
      {"async.outputs_complete",
       "outputs are complete when their event is signalled", OutputsComplete},
      {"async.output_state", "the end of a run can be polled", OutputState},
      {"async.reverse_order", "no graph waits for another that is not ready",
       ReverseOrder},
      {"async.backends", "no backend waits for another", Backends},
      {"async.in_flight_keeps_locations",
       "a run in flight keeps the locations it started with",
       InFlightKeepsLocations},
      {"async.early_release",
       "an output event can be released before the end of its run",
       EarlyRelease},
      {"async.input_released",
       "releasing the input event of a waiting run ends that run",
       InputReleased, kRuleOnly},
      {"async.user_signals_output", "signalling an output event does no harm",
       UserSignalsOutput, kRuleOnly},
      {"async.pipeline",
       "the output event of one run can be the input event of another",
       Pipeline, kRuleOnly},
  };
}

}  // namespace heddle::conformance
