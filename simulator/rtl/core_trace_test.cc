// SPDX-License-Identifier: Apache-2.0
//
// The core's trace against what an observer sees of it, for random streams on
// every configuration: which commands, begin and end of each, why the matrix
// engine stood still; and that tracing moves no cycle.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "simulator/model/random_stream.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {
namespace {

constexpr uint32_t kEngines = 5;  // with control, which has no entries

class Watcher : public CoreObserver {
 public:
  Watcher(const CoreModel* core, const std::vector<uint32_t>& stream)
      : core_(core) {
    for (size_t at = 0; at < stream.size();) {
      const isa::CommandInfo* info =
          isa::FindCommand(isa::OpcodeOf(stream[at]));
      desc::TraceEntry seen;
      seen.offset = static_cast<uint32_t>(4 * at);
      seen.tag = stream[at + 3];
      seen.flags =
          desc::kTraceEntryFlagsValidMask | static_cast<uint32_t>(info->engine);
      waiting_[static_cast<size_t>(info->engine)].push_back(seen);
      at += info->words;
    }
  }
  bool WantsTrace() const override { return true; }
  void OnAccept(isa::Engine engine) override {
    const size_t e = static_cast<size_t>(engine);
    ASSERT_FALSE(waiting_[e].empty());
    held_[e].push_back(waiting_[e].front());
    waiting_[e].pop_front();
    held_[e].back().begin = static_cast<uint32_t>(core_->cycles());
  }
  void OnDone(isa::Engine engine) override {
    std::deque<desc::TraceEntry>& held = held_[static_cast<size_t>(engine)];
    ASSERT_FALSE(held.empty());
    held.front().end = static_cast<uint32_t>(core_->cycles());
    want_[count_++] = held.front();
    held.pop_front();
  }
  void OnMatrixWait(uint32_t reasons) override {
    std::deque<desc::TraceEntry>& held =
        held_[static_cast<size_t>(isa::Engine::kMatrix)];
    if (held.empty()) return;
    for (uint32_t r = 0; r < 3; ++r) held.front().stall[r] += reasons >> r & 1;
  }
  void OnSramWrite(isa::Engine, uint32_t, const uint8_t*, uint32_t) override {}
  void OnMemoryWrite(uint64_t, uint32_t) override {}
  void OnTraceEntry(uint32_t index, const desc::TraceEntry& entry) override {
    ASSERT_TRUE(want_.count(index)) << index;
    desc::TraceEntry want = want_[index];
    want_.erase(index);
    const auto engine = static_cast<isa::Engine>(
        entry.flags & desc::kTraceEntryFlagsEngineMask);
    EXPECT_EQ(entry.begin, want.begin);
    EXPECT_EQ(entry.end, want.end);
    EXPECT_EQ(entry.offset, want.offset);
    EXPECT_EQ(entry.tag, want.tag);
    EXPECT_EQ(entry.flags, want.flags);
    for (uint32_t r = 0; r < 3; ++r) {
      if (engine == isa::Engine::kMatrix) {
        EXPECT_EQ(entry.stall[r], want.stall[r]) << r;
      }
      EXPECT_LE(entry.stall[r], entry.end - entry.begin);
      stalls[static_cast<size_t>(engine)][r] += entry.stall[r];
    }
    ++entries;
  }
  void ExpectComplete() const {
    EXPECT_TRUE(want_.empty()) << want_.size() << " entries are missing";
    for (size_t e = 1; e < kEngines; ++e) {
      EXPECT_TRUE(waiting_[e].empty() && held_[e].empty());
    }
  }

  uint64_t stalls[kEngines][3] = {};
  uint32_t entries = 0;

 private:
  const CoreModel* core_;
  std::deque<desc::TraceEntry> waiting_[kEngines], held_[kEngines];
  std::map<uint32_t, desc::TraceEntry> want_;
  uint32_t count_ = 0;
};

platform::CoreResult RunStream(CoreModel* core,
                               const model::RandomStream& stream,
                               CoreObserver* observer) {
  std::vector<uint8_t> dram = stream.dram;
  const uint64_t at = (dram.size() + 63) / 64 * 64;
  dram.resize(at + stream.words.size() * 4);
  std::memcpy(&dram[at], stream.words.data(), stream.words.size() * 4);
  core->memory()->Attach(dram.data(), dram.size());
  core->Observe(observer);
  core->ClearSram();
  platform::CoreRequest request;
  request.stream_address = at;
  request.stream_bytes = stream.words.size() * 4;
  std::memcpy(request.regions, stream.regions, sizeof(request.regions));
  core->Start(request);
  while (core->busy()) core->Step(1000);
  core->Observe(nullptr);
  return core->result();
}

class CoreTraceTest : public testing::TestWithParam<int> {};

TEST_P(CoreTraceTest, IsWhatAnObserverSees) {
  const isa::Config& config = isa::kConfigs[GetParam()];
  uint64_t stalls[kEngines][3] = {};
  uint32_t entries = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    model::RandomStreamOptions options;
    options.config = config;
    options.seed = seed;
    options.commands = 60;
    const model::RandomStream stream = model::MakeRandomStream(options);
    MemoryOptions memory;
    if (seed % 2) memory.jitter = 40;
    // One after the other: no two cores live at once.
    platform::CoreResult plain;
    {
      const absl::StatusOr<std::unique_ptr<CoreModel>> core =
          MakeCore(config, memory);
      ASSERT_TRUE(core.ok()) << core.status();
      plain = RunStream(core->get(), stream, nullptr);
    }
    const absl::StatusOr<std::unique_ptr<CoreModel>> core =
        MakeCore(config, memory);
    Watcher watcher(core->get(), stream.words);
    const platform::CoreResult traced =
        RunStream(core->get(), stream, &watcher);
    ASSERT_EQ(traced.run.status, isa::Error::kOk) << "seed " << seed;
    watcher.ExpectComplete();
    entries += watcher.entries;
    for (size_t e = 0; e < kEngines; ++e) {
      for (size_t r = 0; r < 3; ++r) stalls[e][r] += watcher.stalls[e][r];
    }
    EXPECT_EQ(plain.cycles, traced.cycles);
    EXPECT_EQ(plain.matrix_busy, traced.matrix_busy);
    EXPECT_EQ(plain.dma_busy, traced.dma_busy);
  }
  EXPECT_GT(entries, 200u);
  // Every reason occurs, and none that an engine does not have.
  for (size_t e = 1; e < kEngines; ++e) {
    const size_t reasons = e == 3 ? 3 : e == 4 ? 1 : 2;
    for (size_t r = 0; r < 3; ++r)
      EXPECT_EQ(stalls[e][r] != 0, r < reasons) << e << ", " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, CoreTraceTest, testing::Values(0, 1, 2));

}  // namespace
}  // namespace heddle::rtl
