// SPDX-License-Identifier: Apache-2.0
// Ifs and Loops of packages on a simulated card.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

absl::Time In(int seconds) { return absl::Now() + absl::Seconds(seconds); }

std::shared_ptr<Graph> Load(const std::shared_ptr<Device>& device,
                            const package::Package& package,
                            const LoadOptions& options = {}) {
  auto graph = LoadGraph(device, package::Serialize(package), options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : nullptr;
}

// Storage of one inference of LoopPackage() or EndlessPackage().
struct Job {
  Job(uint8_t first, int64_t often, bool flag) : n(often), flag(flag) {
    std::iota(h.begin(), h.end(), first);
  }
  std::vector<TensorBuffer> inputs() {
    return {
        {"n", &n, sizeof(n)}, {"flag", &flag, 1}, {"h", h.data(), h.size()}};
  }
  std::vector<TensorBuffer> only_h() { return {{"h", h.data(), h.size()}}; }
  std::vector<TensorBuffer> outputs() { return {{"z", z.data(), z.size()}}; }
  std::vector<uint8_t> Expected() const {
    if (!flag || n % 2 == 0) return h;
    return {h.rbegin(), h.rend()};
  }
  int64_t n;
  bool flag;
  std::vector<uint8_t> h = std::vector<uint8_t>(4096), z = h;
};

TEST(ControlSegment, ALoopWithAChoiceInside) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const auto graph = Load(device, LoopPackage());
  ASSERT_NE(graph, nullptr);
  EXPECT_GT(graph->device_bytes(), 4 * 4096u);
  // What the card has is not kept twice, and the rest is there to look at.
  const auto cards = package::CardPackages(graph->package());
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0]->weights.size(), 0u);
  EXPECT_EQ(cards[0]->nodes[0], "copy");
  for (int64_t n : {0, 1, 2, 5}) {
    for (bool flag : {true, false}) {
      Job job(static_cast<uint8_t>(n), n, flag);
      auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
      ASSERT_TRUE(run.ok()) << run.status();
      ASSERT_TRUE((*run)->Wait(In(60)).ok());
      EXPECT_EQ(job.z, job.Expected()) << n << flag;
      EXPECT_EQ((*run)->statistics().commands, flag ? 9u * n : 0u);
    }
  }
}

TEST(ControlSegment, RunsBesideEachOther) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  LoadOptions options;
  options.host_threads = 3;
  const auto graph = Load(device, LoopPackage(), options);
  ASSERT_NE(graph, nullptr);
  std::vector<Job> jobs;
  for (int i = 0; i < 24; ++i) {
    jobs.emplace_back(static_cast<uint8_t>(i), i % 5, i % 3 != 0);
  }
  std::vector<std::shared_ptr<session::Run>> runs;
  for (Job& job : jobs) {
    auto run = graph->Start(job.inputs(), job.outputs(), nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*run);
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_TRUE(runs[i]->Wait(In(60)).ok());
    EXPECT_EQ(jobs[i].z, jobs[i].Expected());
  }
}

// Nothing else would end it.
TEST(ControlSegment, AnEndlessLoopIsEnded) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  for (bool card : {true, false}) {
    auto graph = Load(device, EndlessPackage(card));
    ASSERT_NE(graph, nullptr);
    Job job(1, 0, true);
    const auto begin = [&](const RunOptions& options) {
      auto run = graph->Start(job.only_h(), job.outputs(), nullptr, options);
      EXPECT_TRUE(run.ok()) << run.status();
      return *run;
    };
    RunOptions options;
    options.deadline = absl::Now() + absl::Milliseconds(50);
    const absl::Status late = begin(options)->Wait(In(60));
    EXPECT_NE(late.message().find("RunOptions.deadline"), std::string::npos)
        << late;
    auto run = begin(RunOptions());
    absl::SleepFor(absl::Milliseconds(20));
    run->Cancel();
    EXPECT_TRUE(absl::IsCancelled(run->Wait(In(60))));
    EXPECT_GT(run->statistics().commands + !card, 0u);
    run = begin(RunOptions());
    graph.reset();
    EXPECT_TRUE(absl::IsCancelled(run->Wait(In(60))));
    EXPECT_EQ(job.z, std::vector<uint8_t>(4096)) << "no output is written";

    LoadOptions limited;
    limited.host_time = absl::Milliseconds(50);
    graph = Load(device, EndlessPackage(card), limited);
    ASSERT_NE(graph, nullptr);
    const absl::Status long_run = begin(RunOptions())->Wait(In(60));
    EXPECT_TRUE(absl::IsDeadlineExceeded(long_run));
    EXPECT_NE(long_run.message().find("host_time"), std::string::npos)
        << long_run;
  }
}

TEST(ControlSegment, AnUnplugEndsALoop) {
  for (bool card : {true, false}) {
    char folder[] = "/tmp/hcs-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string control = std::string(folder) + "/ctl";
    const auto device =
        OpenSim("serial=1" + std::to_string(card) + ",control=" + control);
    ASSERT_NE(device, nullptr);
    const auto graph = Load(device, EndlessPackage(card));
    ASSERT_NE(graph, nullptr);
    Job job(1, 0, true);
    auto run = graph->Start(job.only_h(), job.outputs(), nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(
        (*run)->Wait(absl::Now() + absl::Milliseconds(20))));
    ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
    EXPECT_TRUE(absl::IsUnavailable((*run)->Wait(In(60))));
    unlink(control.c_str());
    rmdir(folder);
  }
}

TEST(ControlSegment, AFaultInABodyNamesTheNode) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = EndlessPackage(true);
  package::Package faulting = FaultingPackage();
  faulting.outputs.pop_back();
  package.segments[0].bodies[0].package =
      std::make_shared<const package::Package>(std::move(faulting));
  const auto graph = Load(device, package);
  ASSERT_NE(graph, nullptr);
  Job job(1, 0, true);
  auto run = graph->Start(job.only_h(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  const absl::Status status = (*run)->Wait(In(60));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("copy"), std::string::npos) << status;
}

// What a body needs counts, and what is refused takes nothing from the card.
TEST(ControlSegment, LimitsHostMemory) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  const package::Package package = LoopPackage();
  // The values, two places of what is carried, the values of the Loop's body,
  // those of the branch that the host takes, and its result.
  const uint64_t needed = package.io_bytes + 2 * (4096 + 64) +
                          (3 * 4096 + 64 + 256) + (2 * 4096 + 256) + 4096;
  LoadOptions options;
  options.host_memory_bytes = needed;
  const std::string bytes = package::Serialize(package);
  EXPECT_TRUE(LoadGraph(device, bytes, options).ok());
  --options.host_memory_bytes;
  const auto graph = LoadGraph(device, bytes, options);
  EXPECT_TRUE(absl::IsResourceExhausted(graph.status())) << graph.status();
  EXPECT_EQ(ExhaustedResource(graph.status()), ExhaustedKind::kSystemMemory);
  EXPECT_EQ(device->memory()->used, 0u);
}

// In a body of a body.
TEST(ControlSegment, RefusesAHostileHostFunction) {
  const auto device = OpenSim();
  ASSERT_NE(device, nullptr);
  package::Package package = LoopPackage();
  package::Package body = *package.segments[0].bodies[0].package;
  package::Package other = *body.segments[0].bodies[1].package;
  other.segments[0].host.nodes[0].op = "Nonsense";
  body.segments[0].bodies[1].package =
      std::make_shared<const package::Package>(std::move(other));
  package.segments[0].bodies[0].package =
      std::make_shared<const package::Package>(std::move(body));
  const auto graph = LoadGraph(device, package::Serialize(package));
  EXPECT_TRUE(absl::IsInvalidArgument(graph.status())) << graph.status();
  EXPECT_EQ(device->memory()->used, 0u);
}

}  // namespace
}  // namespace heddle::session
