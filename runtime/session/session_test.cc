// SPDX-License-Identifier: Apache-2.0
// The session on a simulated card: the real heddle-hosted and heddle-sim, found
// through HEDDLE_BIN_DIR.
#include "runtime/session/session.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "rtl/spec/version.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

using absl::InfiniteFuture;

absl::Time In(int seconds) { return absl::Now() + absl::Seconds(seconds); }

std::vector<uint8_t> Pattern(size_t bytes, uint8_t first) {
  std::vector<uint8_t> data(bytes);
  std::iota(data.begin(), data.end(), first);
  return data;
}

// Storage of one inference of CopyPackage().
struct Job {
  explicit Job(uint8_t first, size_t bytes = 4096, size_t weight_bytes = 256)
      : x(Pattern(bytes, first)), y(bytes), w(weight_bytes) {}
  std::vector<TensorBuffer> inputs() { return {{"x", x.data(), x.size()}}; }
  std::vector<TensorBuffer> outputs() {
    return {{"w", w.data(), w.size()}, {"y", y.data(), y.size()}};
  }
  std::vector<uint8_t> x, y, w;
};

std::vector<uint8_t> Weights(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i % 251);
  return data;
}

std::shared_ptr<Graph> Load(const std::shared_ptr<Device>& device,
                            const package::Package& package,
                            const LoadOptions& options = {}) {
  auto graph = LoadGraph(device, package::Serialize(package), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : nullptr;
}

absl::Status RunOnce(Graph* graph, Job* job) {
  auto run = graph->Start(job->inputs(), job->outputs(), nullptr);
  if (!run.ok()) return run.status();
  return (*run)->Wait(In(20));
}

TEST(Session, ListsTheSimulatedCard) {
  ASSERT_EQ(setenv("HEDDLE_DEVICE", "sim", 1), 0);
  const auto devices = ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 1u);
  const DeviceDescription& device = devices->front();
  EXPECT_EQ(device.id, "sim#0");
  EXPECT_EQ(device.config, "h256");
  EXPECT_EQ(device.core, "functional");
  EXPECT_TRUE(device.simulated);
  EXPECT_EQ(device.unique, 1u);
  EXPECT_EQ(device.memory_bytes, (512u << 20) - (1u << 20));
  EXPECT_TRUE(OpenDevice(device.id).ok());
}

TEST(Session, RunsAPackage) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, CopyPackage());
  ASSERT_NE(graph, nullptr);
  for (uint8_t first : {1, 2, 3}) {
    Job job(first);
    auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(In(20)).ok());
    EXPECT_EQ(job.y, job.x);
    EXPECT_EQ(job.w, Weights(256));
    EXPECT_EQ((*run)->statistics().commands, 9u);
    EXPECT_EQ((*run)->statistics().bytes_loaded, 2 * 4096u + 256u);
  }
}

TEST(Session, TapsComeOnlyWhenAskedFor) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  Job job(5);
  std::vector<uint8_t> tap(4096);
  std::vector<TensorBuffer> outputs = {{"t", tap.data(), tap.size()}};
  const auto plain = Load(device, CopyPackage());
  ASSERT_NE(plain, nullptr);
  const auto refused = plain->Start(job.inputs(), outputs, nullptr);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  LoadOptions options;
  options.taps = true;
  const auto tapped = Load(device, CopyPackage(), options);
  ASSERT_NE(tapped, nullptr);
  auto run = tapped->Start(job.inputs(), outputs, nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Wait(In(20)).ok());
  EXPECT_EQ(tap, job.x);
}

TEST(Session, RefusesWrongBuffers) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, CopyPackage());
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const auto start = [&](std::vector<TensorBuffer> in,
                         std::vector<TensorBuffer> out) {
    return graph->Start(in, out, nullptr).status();
  };
  const auto has = [](const absl::Status& status, const char* text) {
    return status.code() == absl::StatusCode::kInvalidArgument &&
           status.message().find(text) != absl::string_view::npos;
  };
  EXPECT_TRUE(has(start({}, job.outputs()), "input 'x'"));
  EXPECT_TRUE(has(start({{"x", job.x.data(), 7}}, job.outputs()), "4096"));
  EXPECT_TRUE(has(start({{"x", nullptr, 4096}}, job.outputs()), "null"));
  EXPECT_TRUE(
      has(start({job.inputs()[0], job.inputs()[0]}, job.outputs()), "twice"));
  EXPECT_TRUE(has(start(job.inputs(), {{"q", job.y.data(), 4096}}), "'y'"));
  EXPECT_TRUE(RunOnce(graph.get(), &job).ok());
}

// The card holds int64 as int32.
TEST(Session, RefusesInt64ValuesBeyondInt32) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = CopyPackage();
  package.inputs[0].type = compiler::DataType::kInt64;
  package.inputs[0].shape = {512};
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1);
  std::vector<int64_t> values(512, INT32_MIN);
  values[511] = int64_t{INT32_MAX} + 1;
  const std::vector<TensorBuffer> in = {{"x", values.data(), 4096}};
  const absl::Status status = graph->Start(in, job.outputs(), nullptr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("element 511 of input 'x' is 2147483648"),
            absl::string_view::npos)
      << status;
  values[511] = INT32_MAX;
  auto run = graph->Start(in, job.outputs(), nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE((*run)->Wait(In(20)).ok());
}

TEST(Session, RefusesOtherConfigurationsAndDamage) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto other =
      LoadGraph(device, package::Serialize(CopyPackage(64, 64, "h512")));
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(other.status().message().find("h512"), absl::string_view::npos);
  std::string bytes = package::Serialize(CopyPackage());
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(LoadGraph(device, bytes).status().code(),
            absl::StatusCode::kInvalidArgument);
  package::Package broken = CopyPackage();
  broken.streams[1][0] = 0xffffffff;
  const auto refused = LoadGraph(device, package::Serialize(broken));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("command stream 1"),
            absl::string_view::npos);
  EXPECT_EQ(device->memory()->used, 0u);
}

TEST(Session, CardsOfAnEarlierVersionTakeWhatNeedsNoMore) {
  const uint32_t earlier =
      reg::MakeVersion(reg::MajorOf(reg::kVersionReset), 0);
  const auto device =
      OpenSim("hw-version=" + reg::VersionText(earlier) + ",serial=10");
  ASSERT_NE(device, nullptr);
  package::Package package = CopyPackage();
  package.hw_version = reg::kVersionReset;
  const auto refused = LoadGraph(device, package::Serialize(package));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find(absl::StrCat(
                "needs hardware version ", reg::VersionText(reg::kVersionReset),
                ", the card has ", reg::VersionText(earlier))),
            absl::string_view::npos)
      << refused.status();
  package.hw_version = earlier;
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const absl::Status ran = RunOnce(graph.get(), &job);
  EXPECT_TRUE(ran.ok()) << ran;
}

TEST(Session, PackagesOfAnEarlierVersionRun) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = CopyPackage();
  package.hw_version = reg::MakeVersion(reg::MajorOf(reg::kVersionReset), 0);
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const absl::Status ran = RunOnce(graph.get(), &job);
  EXPECT_TRUE(ran.ok()) << ran;
}

TEST(Session, AFaultNamesTheNode) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, FaultingPackage());
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const absl::Status status = RunOnce(graph.get(), &job);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_NE(status.message().find("node 'copy'"), absl::string_view::npos)
      << status;
  EXPECT_NE(status.message().find("index"), absl::string_view::npos);
  EXPECT_TRUE(device->available());
}

// Each run finds the windows as the one before left them.
void RunWithWindows(uint32_t windows) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const package::Package package = StreamedPackage(windows);
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  // Region 0 and windows, not the weights; pages of two regions and three
  // streams.
  EXPECT_EQ(graph->device_bytes(),
            4096u * (1 + windows) + 4096 + 16384 + 3 * 4096);
  EXPECT_EQ(device->memory()->used, graph->device_bytes());
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<std::shared_ptr<session::Run>> runs;
  for (uint8_t first : {1, 2, 3}) {
    jobs.push_back(std::make_unique<Job>(first, 4096, 1024));
    auto run =
        graph->Start(jobs.back()->inputs(), jobs.back()->outputs(), nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*run);
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const absl::Status status = runs[i]->Wait(In(20));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(jobs[i]->y, jobs[i]->x);
    EXPECT_EQ(jobs[i]->w, Weights(1024));
  }
}

TEST(Session, WeightsInHostMemory) { RunWithWindows(1); }

TEST(Session, WeightsInHostMemoryAndTwoWindows) { RunWithWindows(2); }

// The streams are not one step after another.
TEST(Session, AFaultBehindCopiesOfWeightsNamesTheNode) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = StreamedPackage();
  package.nodes.push_back("last");
  package.streams[2] = FaultingPackage().streams[0];
  package.sources[2].node = 2;
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1, 4096, 1024);
  const absl::Status status = RunOnce(graph.get(), &job);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_NE(status.message().find("node 'last'"), absl::string_view::npos)
      << status;
}

TEST(Session, RefusesMoreCopiesThanAJobHasSteps) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = StreamedPackage();
  // 62 steps are left, three of them run streams.
  package.weight_plan.copies.assign(59, {});
  package.weights.resize(1 << 16);
  package.weight_plan.window_bytes = 1 << 15;
  for (uint64_t i = 0; i < 59; ++i) {
    package.weight_plan.copies[i] = {2, 64 * i, 64 + 64 * i, 64};
  }
  EXPECT_TRUE(LoadGraph(device, package::Serialize(package)).ok());
  package.weight_plan.copies.push_back({2, 0, 8192, 64});
  const auto refused = LoadGraph(device, package::Serialize(package));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find(
                "3 command streams and 60 copies of weights"),
            absl::string_view::npos)
      << refused.status();
}

TEST(Session, RefusesAHostileWeightPlan) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = StreamedPackage();
  package.weight_plan.copies[1].size = 1 << 30;
  const auto refused = LoadGraph(device, package::Serialize(package));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("weight plan"),
            absl::string_view::npos)
      << refused.status();
  // A window that the streams leave is the card's to refuse.
  package = StreamedPackage();
  package.weight_plan.copies.pop_back();
  package.streams[2] = StreamedPackage().streams[2];
  package.streams[2][5] = 1 << 16;  // dram_offset
  const auto outside = Load(device, package);
  ASSERT_NE(outside, nullptr);
  Job job(1, 4096, 1024);
  EXPECT_FALSE(outside->Start(job.inputs(), job.outputs(), nullptr).ok());
  EXPECT_TRUE(device->available());
}

TEST(Session, DeviceMemoryIsExact) {
  const auto device = OpenSim("memory=64M");
  ASSERT_NE(device, nullptr);
  const auto total = device->memory()->total;
  package::Package large = CopyPackage();
  large.scratch_bytes = 40u << 20;
  const auto first = Load(device, large);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(device->memory()->used, first->device_bytes());
  const auto second = LoadGraph(device, package::Serialize(large));
  EXPECT_TRUE(absl::IsResourceExhausted(second.status()));
  EXPECT_EQ(ExhaustedResource(second.status()), ExhaustedKind::kDeviceMemory);
  EXPECT_NE(second.status().message().find(
                std::to_string(total - first->device_bytes())),
            absl::string_view::npos)
      << second.status();
  EXPECT_NE(second.status().message().find("--device-memory"),
            absl::string_view::npos)
      << second.status();
  EXPECT_EQ(device->memory()->used, first->device_bytes());
  // What is left can be used to the last page.
  package::Package rest = CopyPackage();
  const uint64_t others = first->device_bytes() - (large.scratch_bytes);
  rest.scratch_bytes = total - first->device_bytes() - others;
  {
    const auto third = Load(device, rest);
    ASSERT_NE(third, nullptr);
    EXPECT_EQ(device->memory()->used, total);
    Job job(9);
    EXPECT_TRUE(RunOnce(third.get(), &job).ok());
    EXPECT_EQ(job.y, job.x);
  }
  EXPECT_EQ(device->memory()->used, first->device_bytes());
}

TEST(Session, ManyThreadsAndCallbacks) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  constexpr int kThreads = 4, kRuns = 25;
  std::vector<std::shared_ptr<Graph>> graphs = {Load(device, CopyPackage()),
                                                Load(device, CopyPackage())};
  std::atomic<int> called{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Graph* graph = graphs[t % graphs.size()].get();
      std::vector<std::unique_ptr<Job>> jobs;
      std::vector<std::shared_ptr<session::Run>> runs;
      for (int i = 0; i < kRuns; ++i) {
        jobs.push_back(std::make_unique<Job>(t * kRuns + i));
        auto run = graph->Start(jobs.back()->inputs(), jobs.back()->outputs(),
                                [&](const absl::Status& status) {
                                  if (!status.ok()) ++wrong;
                                  ++called;
                                });
        if (run.ok()) runs.push_back(*run);
      }
      for (const auto& run : runs) {
        if (!run->Wait(In(30)).ok()) ++wrong;
      }
      for (const auto& job : jobs) {
        if (job->x != job->y) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  graphs.clear();
  for (int i = 0; i < 200 && called < kThreads * kRuns; ++i) usleep(10000);
  EXPECT_EQ(called, kThreads * kRuns);
  EXPECT_EQ(wrong, 0);
}

TEST(Session, HandlesMayGoInAnyOrder) {
  auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, CopyPackage());
  Job job(3);
  device.reset();
  auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok());
  graph.reset();  // waits
  EXPECT_EQ(job.y, job.x);
  EXPECT_TRUE((*run)->Wait(absl::InfinitePast()).ok());
}

TEST(Session, AnUnplugWakesEverybody) {
  // The path of a socket is short: not the test's own folder.
  char folder[] = "/tmp/hst-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  const auto device = OpenSim("serial=7,control=" + control);
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, CopyPackage());
  ASSERT_NE(graph, nullptr);
  std::atomic<int> removed{0};
  device->OnRemoved([&removed] { ++removed; });
  ASSERT_NE(Control(control, "fault stuck_engine").find("true"),
            std::string::npos);
  Job job(1), next(2);
  auto stuck = graph->Start(job.inputs(), job.outputs(), nullptr);
  auto waiting = graph->Start(next.inputs(), next.outputs(), nullptr);
  ASSERT_TRUE(stuck.ok() && waiting.ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      (*stuck)->Wait(absl::Now() + absl::Milliseconds(100))));
  const absl::Time start = absl::Now();
  ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
  EXPECT_TRUE(absl::IsUnavailable((*stuck)->Wait(In(20))));
  EXPECT_TRUE(absl::IsUnavailable((*waiting)->Wait(In(20))));
  EXPECT_LT(absl::Now() - start, absl::Seconds(1));
  for (int i = 0; i < 100 && removed == 0; ++i) usleep(10000);
  EXPECT_EQ(removed, 1);
  EXPECT_FALSE(device->available());
  EXPECT_TRUE(absl::IsUnavailable(
      graph->Start(job.inputs(), job.outputs(), nullptr).status()));
  EXPECT_TRUE(absl::IsUnavailable(device->memory().status()));
  // A late callback is called, too.
  device->OnRemoved([&removed] { ++removed; });
  for (int i = 0; i < 100 && removed < 2; ++i) usleep(10000);
  EXPECT_EQ(removed, 2);

  // Nothing is started in its place; after a re-plug the card is the same one.
  const std::string id = device->description().id;
  EXPECT_TRUE(absl::IsUnavailable(OpenDevice(id).status()));
  ASSERT_NE(Control(control, "plug").find("true"), std::string::npos);
  absl::StatusOr<std::shared_ptr<Device>> again = OpenDevice(id);
  for (int i = 0; i < 500 && !again.ok(); ++i) {
    usleep(10000);
    again = OpenDevice(id);
  }
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->description().unique, 7u);
  EXPECT_FALSE(device->available());
  const auto fresh = Load(*again, CopyPackage());
  ASSERT_NE(fresh, nullptr);
  EXPECT_TRUE(RunOnce(fresh.get(), &job).ok());
  unlink(control.c_str());
  rmdir(folder);
}

TEST(Session, ForkIsSafe) {
  auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, CopyPackage());
  ASSERT_NE(graph, nullptr);
  Job job(1);
  auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const auto gone = [](const absl::Status& s) {
      return absl::IsUnavailable(s);
    };
    bool good = gone((*run)->Wait(InfiniteFuture()));
    good &= gone(graph->Start(job.inputs(), job.outputs(), nullptr).status());
    good &= gone(LoadGraph(device, package::Serialize(CopyPackage())).status());
    good &= gone(device->memory().status());
    good &= !device->available();
    run = absl::UnknownError("");
    graph.reset();
    device.reset();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  // The parent's objects are as they were.
  EXPECT_TRUE((*run)->Wait(In(20)).ok());
  EXPECT_EQ(job.y, job.x);
  EXPECT_TRUE(RunOnce(graph.get(), &job).ok());
  // The simulator is nobody's child.
  EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace heddle::session
