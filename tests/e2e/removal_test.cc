// SPDX-License-Identifier: Apache-2.0
// The card is pulled (kill -9 of heddle-sim) with jobs in flight: every waiting
// ONNXIFI call gives BACKEND_UNAVAILABLE within a second; a new card works in a
// new backend.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/client.h"
#include "tests/e2e/product.h"
#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

using status::kBackendUnavailable;
using status::kSuccess;

constexpr int64_t kSize = 64;
constexpr int kWaiters = 4;

bool Busy(const VirtualCard& card) {
  return card.Control("status").find("\"busy\":true") != std::string::npos;
}

// Runs a model once on a backend of its own.
void ExpectWorkingCard() {
  Backend backend;
  Graph graph(backend, MatMulModel(kSize, kSize, 0.5f));
  ASSERT_EQ(graph.init_status(), kSuccess);
  ASSERT_EQ(graph.SetIo(std::vector<float>(kSize, 2), {1, kSize}, {1, kSize}),
            kSuccess);
  EXPECT_EQ(graph.Run(), kSuccess);
  EXPECT_EQ(graph.y(), std::vector<float>(kSize, kSize));
}

TEST(Removal, WaitingCallsEndWithinASecondAndANewCardWorks) {
  TempFolder folder;
  VirtualCard card(folder / "card", {});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  ExpectWorkingCard();
  {
    Backend backend;
    Graph stuck(backend, MatMulModel(kSize, kSize, 0.5f));
    Graph queued(backend, MatMulModel(kSize, kSize, 0.5f));
    Graph unready(backend, MatMulModel(kSize, kSize, 0.5f));
    for (Graph* graph : {&stuck, &queued, &unready}) {
      ASSERT_EQ(graph->init_status(), kSuccess);
      ASSERT_EQ(
          graph->SetIo(std::vector<float>(kSize, 1), {1, kSize}, {1, kSize}),
          kSuccess);
    }
    // One job runs and does not end, one waits behind it, one waits for its
    // input; an event of the user is never signalled.
    card.Control("fault stuck_engine");
    std::vector<void*> events(4);
    ASSERT_EQ(stuck.Start(&events[0]), kSuccess);
    ASSERT_TRUE(Eventually([&card] { return Busy(card); }));
    ASSERT_EQ(queued.Start(&events[1]), kSuccess);
    void* input = nullptr;
    ASSERT_EQ(Onnxifi().InitEvent(backend.get(), &input), kSuccess);
    ASSERT_EQ(Onnxifi().RunGraph(unready.get(), input, &events[2]), kSuccess);
    ASSERT_EQ(Onnxifi().InitEvent(backend.get(), &events[3]), kSuccess);

    struct Waiter {
      int status = -1;
      absl::Time end;
    };
    std::vector<Waiter> waiters(events.size() * kWaiters);
    std::vector<std::thread> threads;
    std::atomic<int> waiting{0};
    for (size_t i = 0; i < waiters.size(); ++i) {
      threads.emplace_back([&, i] {
        ++waiting;
        waiters[i].status = Onnxifi().WaitEvent(events[i / kWaiters]);
        waiters[i].end = absl::Now();
      });
    }
    ASSERT_TRUE(Eventually(
        [&] { return waiting == static_cast<int>(waiters.size()); }));
    EXPECT_TRUE(Busy(card));

    const absl::Time pulled = absl::Now();
    card.Kill();
    for (std::thread& thread : threads) thread.join();
    for (const Waiter& waiter : waiters) {
      EXPECT_EQ(comparer::StatusName(waiter.status),
                comparer::StatusName(kBackendUnavailable));
      EXPECT_LT(waiter.end - pulled, absl::Seconds(1));
    }
    // Nothing works on it any more, everything can be released.
    void* unused = nullptr;
    EXPECT_EQ(Onnxifi().InitGraph(backend.get(), MatMulModel(kSize, kSize, 1),
                                  &unused),
              kBackendUnavailable);
    EXPECT_EQ(unused, nullptr);
    EXPECT_EQ(stuck.Run(), kBackendUnavailable);
    EXPECT_EQ(Onnxifi().InitEvent(backend.get(), &unused), kBackendUnavailable);
    for (void* event : events) {
      EXPECT_EQ(Onnxifi().ReleaseEvent(event), kSuccess);
    }
    EXPECT_EQ(Onnxifi().ReleaseEvent(input), kSuccess);

    EXPECT_TRUE(driver.alive());
    VirtualCard next(folder / "card", {});
    ASSERT_TRUE(driver.WaitForCards(1));
    ExpectWorkingCard();
    // The old backend stays dead.
    EXPECT_EQ(stuck.Run(), kBackendUnavailable);
  }
}

std::set<pid_t> Threads() {
  std::set<pid_t> threads;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] != '.') threads.insert(std::atoi(task->d_name));
  }
  closedir(tasks);
  return threads;
}

// Threads that are stopped while this exists, by a process that traces them
// (the runtime's take no signals).
class Held {
 public:
  explicit Held(const std::set<pid_t>& threads) {
    int ready[2], end[2];
    if (pipe(ready) != 0 || pipe(end) != 0) return;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    tracer_ = fork();
    if (tracer_ == 0) {
      close(end[1]);
      char byte = 'y';
      for (const pid_t thread : threads) {
        if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0 ||
            ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 ||
            waitpid(thread, nullptr, __WALL) != thread) {
          _exit(1);
        }
      }
      // They go on when their tracer ends.
      const bool told = write(ready[1], &byte, 1) == 1;
      _exit(told && read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ready[1]);
    close(end[0]);
    end_ = end[1];
    char byte;
    all_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  ~Held() {
    close(end_);
    if (tracer_ > 0) waitpid(tracer_, nullptr, 0);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  bool all() const { return all_; }

 private:
  pid_t tracer_ = -1;
  int end_ = -1;
  bool all_ = false;
};

// The threads of a backend that would hear of the removal get no time to: who
// was told that the card of its ID is gone gets no event of it all the same.
TEST(Removal, ABackendIsGoneAsSoonAsItsIdIs) {
  constexpr int kName = 1;  // ONNXIFI_BACKEND_NAME
  TempFolder folder;
  VirtualCard card(folder / "card", {});
  HostedDriver driver(folder / "driver", {folder / "card"});
  UseDevice(driver.device());
  std::vector<void*> ids;
  ASSERT_EQ(Onnxifi().GetBackendIds(&ids), kSuccess);
  ASSERT_EQ(ids.size(), 1u);
  std::string name;
  ASSERT_EQ(Onnxifi().GetBackendInfo(ids[0], kName, &name), kSuccess);
  const std::set<pid_t> others = Threads();
  void* backend = nullptr;
  ASSERT_EQ(Onnxifi().InitBackend(ids[0], &backend), kSuccess);
  std::set<pid_t> all = Threads(), own;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                      std::inserter(own, own.end()));
  ASSERT_FALSE(own.empty());
  {
    const Held held(own);
    if (!held.all()) GTEST_SKIP() << "this process may not be traced";
    card.Kill();
    ASSERT_TRUE(Eventually([&] {
      return Onnxifi().GetBackendInfo(ids[0], kName, &name) ==
             kBackendUnavailable;
    }));
    void* event = nullptr;
    EXPECT_EQ(Onnxifi().InitEvent(backend, &event), kBackendUnavailable);
    EXPECT_EQ(event, nullptr);
  }
  EXPECT_EQ(Onnxifi().ReleaseBackend(backend), kSuccess);
  EXPECT_EQ(Onnxifi().ReleaseBackendId(ids[0]), kSuccess);
}

// Removal between and in many short runs: every run before it is right, the
// first after it fails as it should.
TEST(Removal, InTheMiddleOfManyRuns) {
  for (const int runs_before : {1, 7, 40}) {
    SCOPED_TRACE(runs_before);
    TempFolder folder;
    VirtualCard card(folder / "card", {});
    HostedDriver driver(folder / "driver", {folder / "card"});
    UseDevice(driver.device());
    Backend backend;
    Graph graph(backend, MatMulModel(kSize, kSize, 0.5f));
    ASSERT_EQ(graph.init_status(), kSuccess);
    ASSERT_EQ(graph.SetIo(std::vector<float>(kSize, 2), {1, kSize}, {1, kSize}),
              kSuccess);
    std::atomic<int> done{0};
    int last = kSuccess;
    bool right = true;
    std::thread runner([&] {
      for (; last == kSuccess; ++done) {
        last = graph.Run();
        right &=
            last != kSuccess || graph.y() == std::vector<float>(kSize, kSize);
      }
    });
    EXPECT_TRUE(Eventually([&] { return done >= runs_before; }));
    card.Kill();
    runner.join();
    EXPECT_TRUE(right);
    EXPECT_EQ(comparer::StatusName(last),
              comparer::StatusName(kBackendUnavailable));
  }
}

}  // namespace
}  // namespace heddle::tests
