// SPDX-License-Identifier: Apache-2.0
// Traces: how the driver's entries are read, and those of runs on a simulated
// card.
#include "runtime/session/trace.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

constexpr uint16_t kValid = DRM_HEDDLE_TRACE_VALID;

drm_heddle_trace_entry Entry(uint8_t step, uint32_t offset, uint8_t engine,
                             uint32_t begin, uint32_t end) {
  drm_heddle_trace_entry entry = {};
  entry.begin = begin;
  entry.end = end;
  entry.offset = offset;
  entry.tag = 40 + offset;
  entry.engine = engine;
  entry.step = step;
  entry.flags = kValid;
  entry.stall0 = 1;
  entry.stall1 = 2;
  entry.stall2 = 3;
  return entry;
}

// Of CopyPackage(), whose streams are run by steps 1 and 3.
absl::StatusOr<RunTrace> Read(std::vector<drm_heddle_trace_entry> entries,
                              uint32_t commands, int error = 0) {
  auto job = std::make_shared<JobTrace>();
  job->entries = std::move(entries);
  job->commands = commands;
  job->error = error;
  return TraceReader(TraceSource::Of(CopyPackage()), job, {1, 3}).Read();
}

TEST(TraceSource, HasRoomForEachCommandOfAnEngine) {
  EXPECT_EQ(TraceSource::Of(CopyPackage())->room(), 7u);
}

TEST(TraceReader, NamesTheCommandsOfAPackage) {
  const auto trace = Read({Entry(1, 0, DRM_HEDDLE_ENGINE_LOAD, 5, 9),
                           Entry(3, 0, DRM_HEDDLE_ENGINE_MATRIX, 6, 12),
                           Entry(1, 64, DRM_HEDDLE_ENGINE_VECTOR, 9, 14),
                           Entry(3, 64, DRM_HEDDLE_ENGINE_STORE, 12, 15)},
                          4);
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->commands.size(), 4u);
  EXPECT_FALSE(trace->estimated);
  EXPECT_TRUE(trace->has_times());
  EXPECT_EQ(trace->lost_by_card + trace->lost_for_room, 0u);
  const TracedCommand& load = trace->commands[0];
  EXPECT_EQ(load.stream, 0u);
  EXPECT_EQ(load.node, "copy");
  EXPECT_EQ(load.engine, isa::Engine::kLoad);
  EXPECT_EQ(load.begin, 5u);
  EXPECT_EQ(load.end, 9u);
  EXPECT_EQ(load.tag, 40u);
  EXPECT_EQ(trace->commands[1].stream, 1u);
  EXPECT_EQ(trace->commands[1].node, "weights");
  const auto reasons = [&trace](size_t i) {
    std::string text;
    for (const Stall& s : trace->commands[i].stalls) {
      text += s.reason + ("=" + std::to_string(s.cycles) + " ");
    }
    return text;
  };
  EXPECT_EQ(reasons(0), "device memory=1 SRAM=2 ");
  EXPECT_EQ(reasons(1), "weights=1 activations=2 output=3 ");
  EXPECT_EQ(reasons(2), "SRAM=1 ");
  EXPECT_EQ(reasons(3), "device memory=1 SRAM=2 ");
}

TEST(TraceReader, TimesGoOnBeyond32Bits) {
  const auto trace = Read(
      {Entry(1, 0, 1, 0xfffffff0, 0xfffffffe), Entry(1, 64, 2, 0xfffffff5, 3),
       // A core that executes one after another.
       Entry(1, 128, 1, 0xfffffff8, 1), Entry(1, 192, 2, 7, 0x70000000),
       Entry(1, 256, 2, 8, 0xe0000000), Entry(1, 320, 2, 9, 0x10)},
      6);
  ASSERT_TRUE(trace.ok());
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {
      {0xfffffff0, 0xfffffffe},        {0xfffffff5, kWrap + 3},
      {0xfffffff8, kWrap + 1},         {kWrap + 7, kWrap + 0x70000000},
      {kWrap + 8, kWrap + 0xe0000000}, {2 * kWrap + 9, 2 * kWrap + 0x10}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(trace->commands[i].begin, expected[i].first) << i;
    EXPECT_EQ(trace->commands[i].end, expected[i].second) << i;
  }
}

TEST(TraceReader, CountsWhatIsLost) {
  std::vector<drm_heddle_trace_entry> entries = {
      Entry(1, 0, 1, 1, 2), Entry(1, 64, 1, 2, 3), Entry(9, 0, 1, 3, 4)};
  entries[1] = {};  // the card could not keep up
  auto trace = Read(entries, 10);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->commands.size(), 1u);
  EXPECT_EQ(trace->lost_by_card, 2u) << "and one of no step that runs";
  EXPECT_EQ(trace->lost_for_room, 7u);
  // Of a job that failed there are fewer than there is room for.
  trace = Read(entries, 1);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->commands.size(), 1u);
  EXPECT_EQ(trace->lost_by_card + trace->lost_for_room, 0u);
}

TEST(TraceReader, SaysWhatIsNoMeasurement) {
  std::vector<drm_heddle_trace_entry> entries = {Entry(1, 0, 1, 0, 0)};
  entries[0].flags |= DRM_HEDDLE_TRACE_ESTIMATED;
  const auto trace = Read(entries, 1);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->estimated);
  EXPECT_FALSE(trace->has_times());
}

TEST(TraceReader, SaysThatATraceCouldNotBeRead) {
  EXPECT_TRUE(absl::IsUnavailable(Read({}, 0, -ENODEV).status()));
}

// On a card.

struct Storage {
  std::vector<uint8_t> x = std::vector<uint8_t>(4096, 3), y = x,
                       w = std::vector<uint8_t>(256);
  absl::StatusOr<std::shared_ptr<Run>> Start(
      Graph* graph, bool trace,
      std::function<void(const absl::Status&)> done = nullptr) {
    RunOptions options;
    options.trace = trace;
    return graph->Start({{"x", x.data(), x.size()}},
                        {{"w", w.data(), w.size()}, {"y", y.data(), y.size()}},
                        std::move(done), options);
  }
};

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

class SessionTrace : public testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenDevice("sim");
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
    LoadOptions options;
    options.trace = true;
    auto graph = LoadGraph(device_, package::Serialize(CopyPackage()), options);
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *graph;
  }
  std::shared_ptr<Device> device_;
  std::shared_ptr<Graph> graph_;
  Storage storage_;
};

TEST_F(SessionTrace, TellsOfEachCommand) {
  auto run = storage_.Start(graph_.get(), true);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Wait(Soon()).ok());
  EXPECT_EQ(storage_.y, storage_.x);
  const auto trace = (*run)->trace();
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->lost_by_card + trace->lost_for_room, 0u);
  EXPECT_TRUE(trace->estimated) << "the functional card";
  std::string engines;
  for (const TracedCommand& c : trace->commands) {
    engines += std::to_string(c.stream) + c.node[0] +
               std::to_string(static_cast<int>(c.engine)) + " ";
  }
  EXPECT_EQ(engines, "0c1 0c2 0c1 0c2 0c2 1w1 1w2 ");
}

TEST_F(SessionTrace, IsThereOnlyIfItWasAskedFor) {
  auto run = storage_.Start(graph_.get(), false);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Wait(Soon()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition((*run)->trace().status()));
  auto plain = LoadGraph(device_, package::Serialize(CopyPackage()));
  ASSERT_TRUE(plain.ok());
  const auto refused = storage_.Start(plain->get(), true);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_TRUE(storage_.Start(plain->get(), false).ok());
}

TEST_F(SessionTrace, IsOfARunThatIsAlone) {
  // The run has ended, but its callback keeps the next one in flight.
  std::promise<void> go_on;
  Storage first, second;
  auto blocking = first.Start(graph_.get(), false, [&](const absl::Status&) {
    go_on.get_future().wait();
  });
  ASSERT_TRUE(blocking.ok());
  auto running = second.Start(graph_.get(), false);
  ASSERT_TRUE(running.ok());
  const auto refused = storage_.Start(graph_.get(), true);
  EXPECT_EQ(ExhaustedResource(refused.status()),
            ExhaustedKind::kDeviceResources)
      << refused.status();
  go_on.set_value();
  ASSERT_TRUE((*running)->Wait(Soon()).ok());
  auto traced = storage_.Start(graph_.get(), true);
  ASSERT_TRUE(traced.ok()) << traced.status();
  ASSERT_TRUE((*traced)->Wait(Soon()).ok());
  EXPECT_TRUE((*traced)->trace().ok());
  EXPECT_TRUE(first.Start(graph_.get(), false).ok());
}

// More than a file may have contexts: each goes with its run, however long the
// run itself is kept, and with it what the driver keeps.
TEST_F(SessionTrace, KeepsNothingInTheDriver) {
  std::vector<std::shared_ptr<session::Run>> runs;
  for (int i = 0; i < 300; ++i) {
    auto run = storage_.Start(graph_.get(), true);
    ASSERT_TRUE(run.ok()) << i << ": " << run.status();
    ASSERT_TRUE((*run)->Wait(Soon()).ok());
    runs.push_back(*run);
  }
  for (const auto& run : runs) EXPECT_EQ(run->trace()->commands.size(), 7u);
}

TEST_F(SessionTrace, NeedsACardThatHasOne) {
  auto null = OpenDevice("null");
  ASSERT_TRUE(null.ok()) << null.status();
  LoadOptions options;
  options.trace = true;
  const auto refused =
      LoadGraph(*null, package::Serialize(CopyPackage()), options);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_NE(refused.status().message().find(
                "executes no commands, so it has no trace"),
            absl::string_view::npos)
      << refused.status();
}

TEST_F(SessionTrace, OfARunThatFailsEndsBeforeTheFault) {
  LoadOptions options;
  options.trace = true;
  const package::Package package = FaultingPackage();
  auto graph = LoadGraph(device_, package::Serialize(package), options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto run = storage_.Start(graph->get(), true);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_FALSE((*run)->Wait(Soon()).ok());
  const auto trace = (*run)->trace();
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_LT(trace->commands.size(), TraceSource::Of(package)->room());
  EXPECT_EQ(trace->lost_by_card + trace->lost_for_room, 0u);
}

}  // namespace
}  // namespace heddle::session
