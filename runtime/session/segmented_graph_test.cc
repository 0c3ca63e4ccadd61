// SPDX-License-Identifier: Apache-2.0
// Packages of segments on a simulated card.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

absl::Time In(int seconds) { return absl::Now() + absl::Seconds(seconds); }

std::shared_ptr<Graph> Load(const std::shared_ptr<Device>& device,
                            const package::Package& package) {
  auto graph = LoadGraph(device, package::Serialize(package));
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : nullptr;
}

// Storage of one inference of SegmentedPackage() or HostPackage().
struct Job {
  explicit Job(uint8_t first, size_t bytes = 4096) : h(bytes), z(bytes) {
    std::iota(h.begin(), h.end(), first);
  }
  std::vector<TensorBuffer> inputs() { return {{"h", h.data(), h.size()}}; }
  std::vector<TensorBuffer> outputs() { return {{"z", z.data(), z.size()}}; }
  std::vector<uint8_t> Reversed() const { return {h.rbegin(), h.rend()}; }
  std::vector<uint8_t> h, z;
};

absl::Status RunOnce(Graph* graph, Job* job) {
  auto run = graph->Start(job->inputs(), job->outputs(), nullptr);
  if (!run.ok()) return run.status();
  return (*run)->Wait(In(60));
}

TEST(SegmentedGraph, HostCardHost) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  EXPECT_GT(graph->device_bytes(), 4 * 4096u);
  ASSERT_EQ(graph->package().segments.size(), 3u);
  EXPECT_EQ(graph->package().segments[1].card->weights.size(), 0u);
  for (uint8_t first : {1, 2, 3}) {
    Job job(first);
    std::vector<uint8_t> w(256), x(4096);
    std::vector<TensorBuffer> outputs = job.outputs();
    outputs.push_back({"w", w.data(), w.size()});
    outputs.push_back({"x", x.data(), x.size()});
    auto run = graph->Start(job.inputs(), outputs, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(In(60)).ok());
    EXPECT_EQ(job.z, job.h) << "reversed twice";
    EXPECT_EQ(x, job.Reversed()) << "between the segments";
    EXPECT_EQ(w[250], 250);
    EXPECT_EQ((*run)->statistics().commands, 9u);
  }
}

TEST(SegmentedGraph, ManyRunsAndCallbacks) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  std::vector<Job> jobs;
  for (int i = 0; i < 20; ++i) jobs.emplace_back(static_cast<uint8_t>(i));
  std::vector<std::shared_ptr<session::Run>> runs;
  std::atomic<int> done{0};
  for (Job& job : jobs) {
    auto run = graph->Start(job.inputs(), job.outputs(),
                            [&done](const absl::Status& s) { done += s.ok(); });
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*run);
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_TRUE(runs[i]->Wait(In(60)).ok());
    EXPECT_EQ(jobs[i].z, jobs[i].h);
  }
  for (int i = 0; i < 500 && done < 20; ++i) usleep(10000);
  EXPECT_EQ(done, 20);
}

TEST(SegmentedGraph, RefusesTooManyRuns) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, HostPackage(100));
  ASSERT_NE(graph, nullptr);
  Job job(1);  // of all of them, which run one after another
  std::vector<std::shared_ptr<session::Run>> runs;
  absl::Status status;
  // To start one is less work than to run one.
  for (int i = 0; i < 10'000 && status.ok(); ++i) {
    auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
    status = run.status();
    if (run.ok()) runs.push_back(*run);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(ExhaustedResource(status), ExhaustedKind::kDeviceResources);
  EXPECT_GE(runs.size(), kMaxRunsInFlight);
}

TEST(SegmentedGraph, RefusesWrongBuffers) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const auto refused = [&](std::vector<TensorBuffer> in,
                           std::vector<TensorBuffer> out) {
    return absl::IsInvalidArgument(graph->Start(in, out, nullptr).status());
  };
  EXPECT_TRUE(refused({}, job.outputs()));
  EXPECT_TRUE(refused({{"h", job.h.data(), 17}}, job.outputs()));
  EXPECT_TRUE(refused({{"y", job.h.data(), 4096}}, job.outputs()));
  EXPECT_TRUE(refused(job.inputs(), {{"z", nullptr, 4096}}));
  EXPECT_TRUE(refused(job.inputs(), {{"h", job.z.data(), 4096}}));
  EXPECT_TRUE(RunOnce(graph.get(), &job).ok());
}

// What is refused takes nothing from the card.
TEST(SegmentedGraph, LimitsHostMemory) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const package::Package package = SegmentedPackage();
  const std::string bytes = package::Serialize(package);
  LoadOptions options;
  options.host_memory_bytes = package.io_bytes + 4096;
  EXPECT_TRUE(LoadGraph(device, bytes, options).ok());
  for (const uint64_t less : {package.io_bytes + 4095, package.io_bytes - 1}) {
    options.host_memory_bytes = less;
    const auto graph = LoadGraph(device, bytes, options);
    EXPECT_TRUE(absl::IsResourceExhausted(graph.status())) << graph.status();
    EXPECT_EQ(ExhaustedResource(graph.status()), ExhaustedKind::kSystemMemory);
  }
  EXPECT_EQ(device->memory()->used, 0u);
}

// A page of fresh memory is a page fault. The C library keeps what is smaller.
TEST(SegmentedGraph, KeepsMemoryForTheNextRun) {
  constexpr size_t kBytes = 40 << 20;
  constexpr int64_t kPages = kBytes / 4096;
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, DoublingPackage(4, kBytes));
  ASSERT_NE(graph, nullptr);
  std::vector<uint8_t> h(kBytes, 3), z(kBytes);
  const auto faults = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_minflt};
  };
  int64_t first = 0, second = 0;
  for (int64_t* count : {&first, &second}) {
    const int64_t before = faults();
    auto run = graph->Start({{"h", h.data(), h.size()}},
                            {{"z", z.data(), z.size()}}, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(In(60)).ok());
    *count = faults() - before;
  }
  EXPECT_EQ(z, std::vector<uint8_t>(kBytes, 3 * (2 + 4 + 8 + 16)));
  if (first < kPages) GTEST_SKIP() << "memory comes in large pages";
  EXPECT_LT(second, first / 2);
}

TEST(SegmentedGraph, RefusesAHostileHostFunction) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = SegmentedPackage();
  package.segments[2].host.nodes[0].op = "Nonsense";
  auto graph = LoadGraph(device, package::Serialize(package));
  EXPECT_TRUE(absl::IsInvalidArgument(graph.status())) << graph.status();
  package = SegmentedPackage();
  // Of another operator.
  package.segments[0].host.nodes[0].op = "Flatten";
  graph = LoadGraph(device, package::Serialize(package));
  EXPECT_TRUE(absl::IsInvalidArgument(graph.status())) << graph.status();
  package = SegmentedPackage();
  package.config = "h512";
  EXPECT_FALSE(LoadGraph(device, package::Serialize(package)).ok());
  EXPECT_EQ(device->memory()->used, 0u);
}

// The run says how much there is of what its values decide.
TEST(SegmentedGraph, SizesThatValuesDecide) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, FoundPackage(FoundIf::kNowhere));
  ASSERT_NE(graph, nullptr);
  for (const size_t step : {1, 3, 64, 0}) {
    std::vector<uint8_t> h(64), flag(1);
    std::vector<int64_t> z(64, -1), expected(64, -1);
    int64_t found = 0;
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] = step > 0 && i % step == 0;
      if (h[i] != 0) expected[found++] = static_cast<int64_t>(i);
    }
    const std::vector<TensorBuffer> inputs = {{"h", h.data(), h.size()},
                                              {"flag", flag.data(), 1}};
    const std::vector<TensorBuffer> outputs = {
        {"z", reinterpret_cast<uint8_t*>(z.data()), 64 * sizeof(int64_t)}};
    auto run = graph->Start(inputs, outputs, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(In(60)).ok());
    EXPECT_EQ(z, expected) << "what is behind is as it was";
    EXPECT_EQ((*run)->OutputShape("z"), (compiler::Shape{found, 1}));
    EXPECT_EQ((*run)->OutputShape("h"), std::nullopt);
  }
}

// An If neither reads them nor gives them.
TEST(SegmentedGraph, RefusesSizesThatValuesDecideInControlFlow) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  for (const FoundIf where : {FoundIf::kFinds, FoundIf::kTurns}) {
    const std::string bytes = package::Serialize(FoundPackage(where));
    EXPECT_TRUE(package::Parse(bytes).ok()) << package::Parse(bytes).status();
    const absl::Status refused = LoadGraph(device, bytes).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_NE(refused.message().find("'f'"), std::string::npos) << refused;
  }
}

TEST(SegmentedGraph, AnOperatorMayFail) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, LookUpPackage());
  ASSERT_NE(graph, nullptr);
  int64_t index = 255;
  uint8_t found = 0;
  const std::vector<TensorBuffer> inputs = {{"i", &index, sizeof(index)}};
  const std::vector<TensorBuffer> outputs = {{"o", &found, 1}};
  const auto run = [&] {
    auto started = graph->Start(inputs, outputs, nullptr);
    return started.ok() ? (*started)->Wait(In(60)) : started.status();
  };
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(found, 0);
  index = 3;
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(found, 252);
  index = 256;
  const absl::Status status = run();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(absl::IsUnavailable(status)) << status;
  index = 3;
  EXPECT_TRUE(run().ok());
}

TEST(SegmentedGraph, AFaultNamesTheNode) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = SegmentedPackage();
  package.segments[1].card =
      std::make_shared<const package::Package>(FaultingPackage());
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1);
  const absl::Status status = RunOnce(graph.get(), &job);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("copy"), std::string::npos) << status;
}

TEST(SegmentedGraph, ADeadlineDoesNotEndARun) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, HostPackage(2'001));
  ASSERT_NE(graph, nullptr);
  Job job(1);
  auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      (*run)->Wait(absl::Now() + absl::Milliseconds(1))));
  EXPECT_TRUE((*run)->Wait(In(60)).ok());
  EXPECT_EQ(job.z, job.Reversed());
}

// The card goes while the host computes: the runs that are queued, too, end
// with the same status.
TEST(SegmentedGraph, AnUnplugEndsAHostSegment) {
  char folder[] = "/tmp/hsg-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  const auto device = OpenSim("serial=8,control=" + control);
  ASSERT_NE(device, nullptr);
  // Seconds of work, if nothing ended it.
  const auto graph = Load(device, HostPackage(5'000, 65536));
  ASSERT_NE(graph, nullptr);
  Job job(1, 65536), next(2, 65536);
  auto first = graph->Start(job.inputs(), job.outputs(), nullptr);
  auto second = graph->Start(next.inputs(), next.outputs(), nullptr);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      (*first)->Wait(absl::Now() + absl::Milliseconds(50))));
  const absl::Time start = absl::Now();
  ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
  EXPECT_TRUE(absl::IsUnavailable((*first)->Wait(In(60))));
  EXPECT_TRUE(absl::IsUnavailable((*second)->Wait(In(60))));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_EQ(job.z, std::vector<uint8_t>(65536)) << "no output is written";
  EXPECT_TRUE(absl::IsUnavailable(
      graph->Start(job.inputs(), job.outputs(), nullptr).status()));
  unlink(control.c_str());
  rmdir(folder);
}

// Of the package that takes an hour.
struct LongJob {
  LongJob() : h(2048 * 2048), z(1025 * 1025) {}
  std::vector<TensorBuffer> inputs() { return {{"h", h.data(), h.size()}}; }
  std::vector<TensorBuffer> outputs() { return {{"z", z.data(), z.size()}}; }
  std::vector<uint8_t> h, z;
};

TEST(SegmentedGraph, ANodeIsEndedInTheMiddle) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, LongPackage());
  ASSERT_NE(graph, nullptr);
  LongJob job;
  const absl::Time start = absl::Now();
  const auto begin = [&](const RunOptions& options) {
    auto run = graph->Start(job.inputs(), job.outputs(), nullptr, options);
    EXPECT_TRUE(run.ok()) << run.status();
    return *run;
  };
  // By the deadline of the run, not by that of a wait.
  RunOptions options;
  options.deadline = absl::Now() + absl::Milliseconds(50);
  auto run = begin(options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      run->Wait(absl::Now() + absl::Milliseconds(10))));
  const absl::Status late = run->Wait(In(300));
  EXPECT_NE(late.message().find("RunOptions.deadline"), std::string::npos)
      << late;
  options.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      graph->Start(job.inputs(), job.outputs(), nullptr, options).status()));
  // By its owner, who may do that more than once.
  run = begin(RunOptions());
  const auto waiting = begin(RunOptions());
  absl::SleepFor(absl::Milliseconds(20));
  waiting->Cancel();
  EXPECT_TRUE(absl::IsCancelled(waiting->Wait(In(300))));
  run->Cancel();
  run->Cancel();
  EXPECT_TRUE(absl::IsCancelled(run->Wait(In(300))));
  // With the graph, begun or not.
  std::vector<std::shared_ptr<session::Run>> runs;
  for (int i = 0; i < 10; ++i) runs.push_back(begin(RunOptions()));
  absl::SleepFor(absl::Milliseconds(20));
  graph.reset();
  for (const auto& each : runs) {
    EXPECT_TRUE(absl::IsCancelled(each->Wait(absl::InfinitePast())));
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(300));
  EXPECT_EQ(job.z, std::vector<uint8_t>(1025 * 1025)) << "no output is written";
}

TEST(SegmentedGraph, LimitsTheTimeOfTheHost) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  LoadOptions options;
  options.host_time = absl::Milliseconds(100);
  auto graph = LoadGraph(device, package::Serialize(LongPackage()), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  LongJob job;
  auto run = (*graph)->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  const absl::Status status = (*run)->Wait(In(300));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_NE(status.message().find("host_time"), std::string::npos) << status;
}

TEST(SegmentedGraph, RandomDagsGiveTheSameBytesAndErrors) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  int failed = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const RandomDag dag = MakeRandomDag(seed);
    const std::string bytes = package::Serialize(dag.package);
    for (uint32_t threads : {1, 3}) {
      LoadOptions options;
      options.host_threads = threads;
      auto graph = LoadGraph(device, bytes, options);
      ASSERT_TRUE(graph.ok()) << graph.status();
      constexpr int kRuns = 6;
      std::vector<std::shared_ptr<session::Run>> runs;
      std::vector<std::vector<std::vector<uint8_t>>> results(kRuns);
      for (int r = 0; r < kRuns; ++r) {
        std::vector<uint8_t> v0(256);
        std::iota(v0.begin(), v0.end(), static_cast<uint8_t>(seed * kRuns + r));
        int64_t index = r % 3 == 2;
        std::vector<TensorBuffer> outputs;
        results[r].resize(dag.package.outputs.size());
        for (size_t o = 0; o < results[r].size(); ++o) {
          results[r][o].resize(256);
          outputs.push_back(
              {dag.package.outputs[o].name, results[r][o].data(), 256});
        }
        auto run = (*graph)->Start(
            {{"v0", v0.data(), 256}, {"i", &index, sizeof(index)}}, outputs,
            nullptr);
        ASSERT_TRUE(run.ok()) << run.status();
        runs.push_back(*std::move(run));
      }
      for (int r = 0; r < kRuns; ++r) {
        const absl::Status status = runs[r]->Wait(In(60));
        if (r % 3 == 2 && !dag.fails.empty()) {
          ++failed;
          EXPECT_NE(status.message().find("fail" +
                                          std::to_string(dag.fails[0]) + "'"),
                    std::string::npos)
              << status;
          continue;
        }
        ASSERT_TRUE(status.ok()) << status;
        std::vector<uint8_t> v0(256);
        std::iota(v0.begin(), v0.end(), static_cast<uint8_t>(seed * kRuns + r));
        const auto expected = RunInOrder(dag.package, v0);
        for (size_t o = 0; o < results[r].size(); ++o) {
          const auto* value = &dag.package.values[0];
          while (value->name != dag.package.outputs[o].name) ++value;
          EXPECT_EQ(results[r][o], expected[value - &dag.package.values[0]])
              << seed << ": " << value->name;
        }
      }
    }
  }
  EXPECT_GT(failed, 0);
}

TEST(SegmentedGraph, AnUnplugEndsRandomDags) {
  char folder[] = "/tmp/hsg-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  const auto device = OpenSim("serial=9,control=" + control);
  ASSERT_NE(device, nullptr);
  std::vector<std::shared_ptr<Graph>> graphs;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    graphs.push_back(Load(device, MakeRandomDag(seed).package));
    ASSERT_NE(graphs.back(), nullptr);
  }
  std::vector<uint8_t> v0(256);
  int64_t index = 0;
  std::vector<std::shared_ptr<session::Run>> runs;
  bool gone = false;
  for (int i = 0; i < 400; ++i) {
    auto run = graphs[i % 8]->Start(
        {{"v0", v0.data(), 256}, {"i", &index, sizeof(index)}}, {}, nullptr);
    if (i == 200) {
      ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
    }
    if (run.ok()) {
      runs.push_back(*std::move(run));
      continue;
    }
    gone |= absl::IsUnavailable(run.status());
    EXPECT_TRUE(absl::IsUnavailable(run.status()) ||
                absl::IsResourceExhausted(run.status()))
        << run.status();
  }
  for (const auto& run : runs) {
    const absl::Status status = run->Wait(In(60));
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
    gone |= absl::IsUnavailable(status);
  }
  EXPECT_TRUE(gone);
  unlink(control.c_str());
  rmdir(folder);
}

TEST(SegmentedGraph, HandlesMayGoInAnyOrder) {
  auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  Job job(3), cut(4);
  device.reset();
  auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE((*run)->Wait(In(60)).ok());
  EXPECT_EQ(job.z, job.h);
  auto other = graph->Start(cut.inputs(), cut.outputs(), nullptr);
  ASSERT_TRUE(other.ok());
  graph.reset();  // waits
  const absl::Status status = (*other)->Wait(absl::InfinitePast());
  EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  if (status.ok()) {
    EXPECT_EQ(cut.z, cut.h);
  }
}

TEST(SegmentedGraph, ACallbackMayDropTheGraphAndMustNotWait) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  Job job(3), other(4);
  std::shared_ptr<session::Run> waiting;
  std::atomic<bool> may_look{false}, called{false};
  absl::Status waited;
  auto run =
      graph->Start(job.inputs(), job.outputs(), [&](const absl::Status&) {
        while (!may_look) usleep(1000);
        waited = waiting->Wait(absl::InfiniteFuture());
        graph.reset();
        called = true;
      });
  ASSERT_TRUE(run.ok());
  auto started = graph->Start(other.inputs(), other.outputs(), nullptr);
  ASSERT_TRUE(started.ok());
  waiting = *started;
  may_look = true;
  const absl::Status status = (*started)->Wait(In(60));
  EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  for (int i = 0; i < 6000 && !called; ++i) usleep(10'000);
  EXPECT_TRUE(called);
  // Unless the other one had ended.
  EXPECT_TRUE(waited.ok() ||
              waited.code() == absl::StatusCode::kFailedPrecondition)
      << waited;
}

TEST(SegmentedGraph, ForkIsSafe) {
  auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  auto graph = Load(device, SegmentedPackage());
  ASSERT_NE(graph, nullptr);
  Job job(1);
  auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool good = absl::IsUnavailable((*run)->Wait(absl::InfiniteFuture()));
    good &= absl::IsUnavailable(
        graph->Start(job.inputs(), job.outputs(), nullptr).status());
    good &= absl::IsUnavailable(
        LoadGraph(device, package::Serialize(SegmentedPackage())).status());
    run = absl::UnknownError("");
    graph.reset();
    device.reset();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE((*run)->Wait(In(60)).ok());
  EXPECT_EQ(job.z, job.h);
  EXPECT_TRUE(RunOnce(graph.get(), &job).ok());
}

}  // namespace
}  // namespace heddle::session
