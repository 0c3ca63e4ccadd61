// SPDX-License-Identifier: Apache-2.0
// What is released is gone, and when.
#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/scarcity.h"

namespace heddle::conformance {
namespace {

using std::chrono::milliseconds;

void GraphBlocks(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
  Job job(t);
  // Memory that goes away as soon as the graph does.
  const size_t bytes = 6 * sizeof(float);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Descriptor y = job.y.Describe();
  y.buffer = reinterpret_cast<uint64_t>(memory);
  t.Expect(t.SetIO(job.graph, {job.x.Describe(), job.z.Describe()}, {y}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  std::atomic<bool> released{false};
  std::thread releaser([&] {
    job.Release();
    released = true;
  });
  std::this_thread::sleep_for(milliseconds(60));
  t.Check(!released, "onnxReleaseGraph returned while a run was in flight");
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  releaser.join();
  std::memcpy(job.y.data.data(), memory, bytes);
  t.Check(job.Right(),
          "the run was not complete when onnxReleaseGraph had "
          "returned");
  munmap(memory, page);
  t.Check(t.StateOf(output) == ONNXIFI_EVENT_STATE_SIGNALLED,
          "the output event is not SIGNALLED after onnxReleaseGraph");
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent for an event of a released graph");
  t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent of an event of a released graph");
}

void EventsOutlive(Context& t) {
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxEvent output = job.Start(input);
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  job.Release();
  t.Check(t.StateOf(output) == ONNXIFI_EVENT_STATE_SIGNALLED,
          "the output event is not SIGNALLED after its graph was released");
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent for an event of a released graph");
  t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent of an event of a released graph");
}

int Entries(const char* folder) {
  int count = 0;
  if (DIR* dir = opendir(folder)) {
    while (readdir(dir) != nullptr) ++count;
    closedir(dir);
  }
  return count;
}

// One life of everything.
void Cycle(Context& t) {
  t.NeedDevice();
  Library& lib = t.lib();
  std::vector<onnxBackendID> ids(16);
  size_t count = ids.size();
  if (!t.Expect(lib.GetBackendIDs(ids.data(), &count), {ONNXIFI_STATUS_SUCCESS},
                "onnxGetBackendIDs")) {
    return;
  }
  onnxBackend backend = nullptr;
  t.Expect(lib.InitBackend(ids[0], nullptr, &backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxInitBackend");
  {
    Job job(t, {16, 16}, backend);
    job.MustSetIO();
    onnxEvent input = nullptr;
    t.Expect(lib.InitEvent(backend, &input), {ONNXIFI_STATUS_SUCCESS},
             "onnxInitEvent");
    t.Expect(lib.SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    const onnxEvent output = job.Start(input);
    t.Expect(lib.WaitEvent(output), {ONNXIFI_STATUS_SUCCESS}, "onnxWaitEvent");
    t.Expect(lib.ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    t.Expect(lib.ReleaseEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    job.Release();
  }
  t.Expect(lib.ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend");
  for (size_t i = 0; i < count; ++i) {
    t.Expect(lib.ReleaseBackendID(ids[i]), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseBackendID");
  }
}

void CyclesLeakNothing(Context& t) {
  constexpr int kCycles = 20;
  (void)t.op();
  for (int i = 0; i < 3 && !t.failed(); ++i) Cycle(t);
  const int descriptors = Entries("/proc/self/fd");
  const int threads = Entries("/proc/self/task");
  const long memory = MemoryKib();
  for (int i = 0; i < kCycles && !t.failed(); ++i) Cycle(t);
  for (int i = 0; i < 100 && (Entries("/proc/self/task") > threads ||
                              Entries("/proc/self/fd") > descriptors);
       ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  const int more_descriptors = Entries("/proc/self/fd") - descriptors;
  const int more_threads = Entries("/proc/self/task") - threads;
  const long more_memory = MemoryKib() - memory;
  t.Check(more_descriptors < kCycles / 2,
          absl::StrCat(kCycles, " backends, created and released, have leaked ",
                       more_descriptors, " descriptors"));
  t.Check(more_threads < kCycles / 2,
          absl::StrCat(kCycles, " backends, created and released, have leaked ",
                       more_threads, " threads"));
  t.Check(more_memory < kCycles * 256,
          absl::StrCat(kCycles, " backends, created and released, have leaked ",
                       more_memory, " KiB of memory"));
}

void FailuresLeakNothing(Context& t) {
  constexpr int kTimes = 100;
  Model bad = t.Elementwise({2, 3});
  bad.outputs[0].shape = {2, 4};
  const std::string bytes = bad.Serialize();
  const auto fail = [&] {
    onnxGraph graph = nullptr;
    onnxBackend backend = nullptr;
    const uint64_t list[] = {77, 0, 0, 0};
    t.Check(t.TryGraph(bytes, &graph) != ONNXIFI_STATUS_SUCCESS,
            "a bad model was initialised");
    t.Check(
        t.lib().InitBackend(t.id(), list, &backend) != ONNXIFI_STATUS_SUCCESS,
        "an unknown property was accepted");
  };
  fail();
  const int descriptors = Entries("/proc/self/fd");
  const int threads = Entries("/proc/self/task");
  const long memory = MemoryKib();
  for (int i = 0; i < kTimes; ++i) fail();
  const int more_descriptors = Entries("/proc/self/fd") - descriptors;
  const int more_threads = Entries("/proc/self/task") - threads;
  const long more_memory = MemoryKib() - memory;
  t.Check(more_descriptors < kTimes / 2,
          absl::StrCat(kTimes, " failing calls have leaked ", more_descriptors,
                       " descriptors"));
  t.Check(more_threads < kTimes / 2,
          absl::StrCat(kTimes, " failing calls have leaked ", more_threads,
                       " threads"));
  t.Check(more_memory < kTimes * 64,
          absl::StrCat(kTimes, " failing calls have leaked ", more_memory,
                       " KiB of memory"));
}

void ManyEvents(Context& t) {
  constexpr int kTimes = 20000;
  const long memory = MemoryKib();
  const int descriptors = Entries("/proc/self/fd");
  for (int i = 0; i < kTimes && !t.failed(); ++i) {
    onnxEvent event = nullptr;
    t.Expect(t.lib().InitEvent(t.backend(), &event), {ONNXIFI_STATUS_SUCCESS},
             "onnxInitEvent");
    t.Expect(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
  }
  t.Check(MemoryKib() - memory < 8192,
          absl::StrCat(kTimes, " events have leaked ", MemoryKib() - memory,
                       " KiB of memory"));
  t.Check(Entries("/proc/self/fd") - descriptors < 100,
          "events have leaked descriptors");
}

void TwoGraphs(Context& t) {
  Job first(t), second(t);
  first.MustSetIO();
  second.MustSetIO();
  second.Run();
  first.Release();
  second.Run();
}

}  // namespace

std::vector<Case> ReleaseCases() {
  return {
      {"release.graph_blocks",
       "onnxReleaseGraph returns when the graph's runs have ended",
       GraphBlocks},
      {"release.events_outlive", "output events outlive their graph",
       EventsOutlive},
      {"release.two_graphs", "releasing a graph leaves others alone",
       TwoGraphs},
      {"release.cycles_leak_nothing",
       "creating and releasing a backend leaks no descriptors, threads or "
       "memory",
       CyclesLeakNothing, kLong},
      {"release.failures_leak_nothing",
       "failing calls leak no descriptors, threads or memory",
       FailuresLeakNothing},
      {"release.many_events", "events leak no descriptors or memory",
       ManyEvents},
  };
}

}  // namespace heddle::conformance
