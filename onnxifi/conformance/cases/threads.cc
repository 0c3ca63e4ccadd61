// SPDX-License-Identifier: Apache-2.0
// Objects on other threads than their own, and many at a time.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

void Need(Context& t) {
  t.NeedCapability(ONNXIFI_CAPABILITY_THREAD_SAFE, "THREAD_SAFE");
}

// Runs each step on a thread of its own, one after the other. All threads live
// until the end, so that no two of them can be taken for one.
void OnThreads(const std::vector<std::function<void()>>& steps) {
  std::mutex mutex;
  std::condition_variable changed;
  size_t turn = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < steps.size(); ++i) {
    threads.emplace_back([&, i] {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return turn == i; });
      lock.unlock();
      steps[i]();
      lock.lock();
      ++turn;
      changed.notify_all();
      changed.wait(lock, [&] { return turn == steps.size(); });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void OneThreadEach(Context& t) {
  Need(t);
  (void)t.op();
  onnxBackend backend = nullptr;
  onnxEvent input = nullptr, output = nullptr;
  std::unique_ptr<Job> job;
  OnThreads({
      [&] { backend = t.NewBackend(); },
      [&] {
        job = std::make_unique<Job>(t, std::vector<uint64_t>{2, 3}, backend);
      },
      [&] { job->MustSetIO(); },
      [&] { input = t.NewEvent(backend); },
      [&] { output = job->Start(input); },
      [&] {
        t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
                 "onnxSignalEvent");
      },
      [&] {
        t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
                 "onnxWaitEvent");
        t.Check(job->Right(), "the result of a run is wrong");
      },
      [&] {
        t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
                 "onnxReleaseEvent");
        job->Release();
      },
  });
}

// What one thread of many does, with objects of its own.
void Work(Context& t, uint64_t seed, onnxBackend backend, int rounds) {
  std::mt19937_64 random(seed);
  const std::string model = t.Elementwise({3, 5}).Serialize();
  for (int i = 0; i < rounds && !t.failed(); ++i) {
    onnxGraph graph = nullptr;
    const onnxStatus status = t.lib().InitGraph(
        backend, nullptr, model.size(), model.data(), 0, nullptr, &graph);
    if (!t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                  "onnxInitGraph")) {
      return;
    }
    Tensor x("x", {3, 5}), z("z", {3, 5}), y("y", {3, 5});
    for (size_t k = 0; k < 15; ++k) {
      x.data[k] = static_cast<float>(random() % 16);
      z.data[k] = static_cast<float>(random() % 16);
    }
    t.Expect(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()}),
             {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
    onnxEvent input = nullptr;
    t.Expect(t.lib().InitEvent(backend, &input), {ONNXIFI_STATUS_SUCCESS},
             "onnxInitEvent");
    const onnxMemoryFenceV1 in = EventFence(input);
    onnxMemoryFenceV1 out = EventFence(nullptr);
    if (!t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
                  "onnxRunGraph")) {
      return;
    }
    t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    for (size_t k = 0; k < 15; ++k) {
      t.Check(y.data[k] == t.op().apply(x.data[k], z.data[k]),
              "the result of a run among other threads is wrong");
    }
    t.Expect(t.lib().ReleaseEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    t.Expect(t.lib().ReleaseEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseGraph");
  }
}

void Many(Context& t) {
  Need(t);
  (void)t.op();
  const onnxBackend backend = t.backend();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&t, backend, i] { Work(t, t.seed() + i, backend, 8); });
  }
  for (std::thread& thread : threads) thread.join();
}

void OneGraph(Context& t) {
  // Runs of one graph with the same locations may follow each other; none may
  // be lost or fail.
  Need(t);
  Job job(t);
  job.MustSetIO();
  const onnxBackend backend = t.backend();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&t, &job, backend] {
      for (int k = 0; k < 10 && !t.failed(); ++k) {
        onnxEvent input = nullptr;
        t.Expect(t.lib().InitEvent(backend, &input), {ONNXIFI_STATUS_SUCCESS},
                 "onnxInitEvent");
        t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
                 "onnxSignalEvent");
        const onnxEvent output = job.Start(input);
        t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
                 "onnxWaitEvent");
        t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
                 "onnxReleaseEvent");
        t.Expect(t.lib().ReleaseEvent(input), {ONNXIFI_STATUS_SUCCESS},
                 "onnxReleaseEvent");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  t.Check(job.Right(), "the result of a run is wrong");
}

void IdsAndInfo(Context& t) {
  // Neither function has objects that belong to a thread.
  std::vector<std::thread> threads;
  const onnxBackendID id = t.id();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&t, id] {
      for (int k = 0; k < 50 && !t.failed(); ++k) {
        std::vector<onnxBackendID> ids(16);
        size_t count = ids.size();
        t.Expect(t.lib().GetBackendIDs(ids.data(), &count),
                 {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendIDs");
        char name[1024];
        size_t size = sizeof(name);
        t.Expect(t.lib().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, name, &size),
                 {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendInfo");
        for (size_t n = 0; n < count; ++n) {
          t.Expect(t.lib().ReleaseBackendID(ids[n]), {ONNXIFI_STATUS_SUCCESS},
                   "onnxReleaseBackendID");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::atomic<int> handled{0};

// Whether a thread of this process sleeps.
bool Asleep(pid_t thread) {
  std::ifstream file(absl::StrCat("/proc/self/task/", thread, "/stat"));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != line.npos && line.compare(name_end, 3, ") S") == 0;
}

void Interrupted(Context& t) {
  // A signal whose handler does not restart calls.
  Need(t);
  struct sigaction action = {};
  action.sa_handler = [](int) { ++handled; };
  sigaction(SIGUSR1, &action, nullptr);
  Job job(t);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent();
  const onnxEvent output = job.Start(input);
  std::atomic<bool> back{false};
  std::atomic<pid_t> thread{0};
  std::thread waiter([&] {
    thread = static_cast<pid_t>(syscall(SYS_gettid));
    t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent that a signal handler interrupts");
    back = true;
  });
  // A signal counts that finds the thread asleep in the call; on a busy machine
  // it may take long to get there, and again behind each signal. A library
  // that never sleeps is interrupted all the same.
  const auto wait_for = [&back](int milliseconds, const auto& holds) {
    for (int i = 0; i < milliseconds && !back && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  for (int i = 0; i < 20 && !back; ++i) {
    wait_for(100, [&] {
      return t.record()->inside[kWaitEvent] > 0 && Asleep(thread);
    });
    const int before = handled;
    if (!back) pthread_kill(waiter.native_handle(), SIGUSR1);
    wait_for(1000, [before] { return handled != before; });
  }
  t.Check(!back, "a signal handler has ended onnxWaitEvent");
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  waiter.join();
  t.Expect(t.lib().ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent");
  t.Check(job.Right(), "the result of a run is wrong");
}

}  // namespace

std::vector<Case> ThreadCases() {
  return {
      {"threads.one_thread_each",
       "objects made on one thread work on all others", OneThreadEach},
      {"threads.many", "threads with graphs of their own compute correctly",
       Many},
      {"threads.one_graph", "threads that share a graph compute correctly",
       OneGraph},
      {"threads.ids_and_info",
       "IDs and information can be queried from many threads", IdsAndInfo},
      {"threads.interrupted", "signal handlers do not interrupt waiting",
       Interrupted},
  };
}

}  // namespace heddle::conformance
