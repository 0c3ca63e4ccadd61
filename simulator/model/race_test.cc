// SPDX-License-Identifier: Apache-2.0
// Each sentence of the ordering rule with a stream that needs it and has it,
// and the same stream without.
#include "simulator/model/race.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "simulator/model/model.h"
#include "simulator/model/random_stream.h"

namespace heddle::model {
namespace {

using isa::SignalPoint;

constexpr SignalPoint kRead = SignalPoint::kInputRead;
constexpr SignalPoint kVisible = SignalPoint::kOutputVisible;

class RaceTest : public ::testing::Test {
 protected:
  RaceTest() : dram_(8192), memory_(dram_.data(), dram_.size()) {
    regions_[0] = {0, 4096, false};
    regions_[1] = {4096, 4096, true};
  }

  // 64 bytes between SRAM and a region.
  static isa::Load LoadTo(uint32_t sram, uint32_t region = 0) {
    isa::Load c;
    c.region = region;
    c.sram_addr = sram;
    c.n0 = 64;
    c.s0 = c.t0 = 1;
    return c;
  }
  static isa::Store StoreFrom(uint32_t sram, uint32_t offset = 0) {
    isa::Store c;
    c.region = 1;
    c.dram_offset = offset;
    c.sram_addr = sram;
    c.n0 = 64;
    c.s0 = c.t0 = 1;
    return c;
  }
  // 16 lanes f32: d = a * a + 0, without microprogram.
  static isa::Vmac Vector(uint32_t from, uint32_t to) {
    isa::Vmac c;
    c.lanes = 16;
    isa::Stream s;
    s.type = isa::ElementType::kF32;
    s.lane_stride = 4;
    s.base = from;
    c.SetA(s);
    c.SetB(s);
    s.base = to;
    c.SetD(s);
    return c;
  }
  // Four words of maximum pooling over nothing but themselves.
  static isa::Conv Matrix(uint32_t from, uint32_t to) {
    isa::Conv c;
    c.mode = isa::MatrixMode::kMaxpool;
    c.ci = c.co = 16;
    c.iw = c.ow = 4;
    c.in_addr = from / 16;
    c.out_addr = to / 16;
    return c;
  }
  // Commands before it: 1x1 with all operands at `from`.
  static isa::Conv Accumulate(uint32_t from, bool go_on, bool hold) {
    isa::Conv c;
    c.in_addr = from / 16;
    c.w_addr = c.param_addr = from / 16;
    c.out_addr = 8192 / 16;
    c.acc_continue = go_on;
    c.acc_hold = hold;
    return c;
  }

  template <typename T>
  T& Add(T command) {
    offsets_.push_back(static_cast<uint32_t>(stream_.size()));
    commands_.push_back(std::make_unique<isa::Command>(command));
    return std::get<T>(*commands_.back());
  }
  static void Signal(isa::Header* h, uint32_t sem, SignalPoint point,
                     uint32_t count = 1) {
    const bool first = !h->signal0_enable;
    (first ? h->signal0_enable : h->signal1_enable) = true;
    (first ? h->signal0_sem : h->signal1_sem) = sem;
    (first ? h->signal0_count : h->signal1_count) = count;
    (first ? h->signal0_point : h->signal1_point) = point;
  }
  static void Wait(isa::Header* h, uint32_t sem, uint32_t count = 1) {
    const bool first = !h->wait0_enable;
    (first ? h->wait0_enable : h->wait1_enable) = true;
    (first ? h->wait0_sem : h->wait1_sem) = sem;
    (first ? h->wait0_count : h->wait1_count) = count;
  }

  std::vector<Finding> Run() {
    offsets_.clear();
    stream_.clear();
    for (const auto& c : commands_) {
      offsets_.push_back(static_cast<uint32_t>(stream_.size() * 4));
      isa::Append(*c, &stream_);
    }
    isa::Append(isa::Command(isa::End()), &stream_);
    Options options;
    options.detect_races = true;
    Model model(isa::kH256, &memory_, options);
    const RunResult r = model.Run(stream_.data(), stream_.size() * 4, regions_);
    EXPECT_EQ(r.status, isa::Error::kOk) << isa::ToString(r.status);
    return model.findings();
  }
  void ExpectClean() {
    for (const Finding& f : Run()) ADD_FAILURE() << f.offset << ": " << f.what;
  }
  // At least one finding, the first between these commands.
  void ExpectRace(size_t command, size_t other, const std::string& text) {
    const std::vector<Finding> findings = Run();
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].offset, offsets_[command]) << findings[0].what;
    EXPECT_EQ(findings[0].other_offset, offsets_[other]) << findings[0].what;
    EXPECT_NE(findings[0].what.find(text), std::string::npos)
        << findings[0].what;
  }

  std::vector<uint8_t> dram_;
  FlatMemory memory_;
  RegionTable regions_ = {};
  std::vector<std::unique_ptr<isa::Command>> commands_;
  std::vector<uint32_t> stream_, offsets_;
};

TEST_F(RaceTest, ReadAfterWriteNeedsOutputVisible) {
  isa::Load& load = Add(LoadTo(0));
  isa::Vmac& use = Add(Vector(0, 1024));
  ExpectRace(1, 0, "reads SRAM byte 0");
  Signal(&load.header, 3, kVisible);
  Wait(&use.header, 3);
  ExpectClean();
  // The other point does not order what the load writes.
  load.header.signal0_point = kRead;
  ExpectRace(1, 0, "reads SRAM byte 0");
}

TEST_F(RaceTest, OverwritingNeedsInputRead) {
  isa::Load& load = Add(LoadTo(0));
  isa::Store& store = Add(StoreFrom(0));
  Signal(&load.header, 0, kVisible);
  Wait(&store.header, 0);
  isa::Load& again = Add(LoadTo(0));
  ExpectRace(2, 1, "writes SRAM byte 0");
  Signal(&store.header, 1, kRead);
  Wait(&again.header, 1);
  ExpectClean();
}

TEST_F(RaceTest, WritesOfTwoEnginesNeedAnOrder) {
  Add(LoadTo(0));
  Add(LoadTo(512));
  Signal(&std::get<isa::Load>(*commands_[1]).header, 0, kVisible);
  isa::Vmac& vector = Add(Vector(512, 0));
  Wait(&vector.header, 0);
  // Both loads: the second one's point comes after the first one's.
  ExpectClean();
  std::swap(commands_[0], commands_[1]);
  ExpectRace(2, 1, "overwrites SRAM byte 0");
}

TEST_F(RaceTest, VisibilityIsTransitive) {
  isa::Load& load = Add(LoadTo(0));
  isa::SyncMatrix& middle = Add(isa::SyncMatrix());
  isa::Vmac& use = Add(Vector(0, 1024));
  Signal(&load.header, 0, kVisible);
  Signal(&middle.header, 1, kVisible);
  Wait(&use.header, 1);
  ExpectRace(2, 0, "reads");
  Wait(&middle.header, 0);
  ExpectClean();
}

TEST_F(RaceTest, UnitsAreTakenInOrder) {
  isa::Load& first = Add(LoadTo(0));
  isa::Load& second = Add(LoadTo(64));
  isa::Vmac& use = Add(Vector(64, 1024));
  Signal(&first.header, 0, kVisible);
  Signal(&second.header, 0, kVisible);
  Wait(&use.header, 0, 1);
  ExpectRace(2, 1, "reads SRAM byte 64");
  use.header.wait0_count = 2;
  ExpectClean();
}

TEST_F(RaceTest, BarrierOrdersEverything) {
  Add(LoadTo(0));
  Add(isa::Barrier());
  Add(Vector(0, 1024));
  Add(isa::Barrier());
  Add(StoreFrom(1024));
  ExpectClean();
}

TEST_F(RaceTest, VectorEngineSeesItsOwnWrites) {
  isa::Load& load = Add(LoadTo(0));
  isa::Vmac& first = Add(Vector(0, 1024));
  Signal(&load.header, 0, kVisible);
  Wait(&first.header, 0);
  Add(Vector(1024, 2048));
  Add(Vector(2048, 1024));
  ExpectClean();
}

TEST_F(RaceTest, OtherEnginesNeedASemaphoreForTheirOwnWrites) {
  isa::Load& load = Add(LoadTo(0));
  isa::Conv& first = Add(Matrix(0, 1024));
  Signal(&load.header, 0, kVisible);
  Wait(&first.header, 0);
  isa::Conv& second = Add(Matrix(1024, 2048));
  ExpectRace(2, 1, "reads SRAM byte 1024");
  Signal(&first.header, 1, kVisible);
  Wait(&second.header, 1);
  ExpectClean();
}

TEST_F(RaceTest, OneEngineMayOverwriteInOrder) {
  isa::Load& load = Add(LoadTo(0));
  isa::Conv& first = Add(Matrix(0, 1024));
  Signal(&load.header, 0, kVisible);
  Wait(&first.header, 0);
  Add(Matrix(0, 1024));  // write after write
  Add(Matrix(0, 0));     // write after read
  ExpectClean();
}

TEST_F(RaceTest, DeviceMemoryCounts) {
  isa::Load& load = Add(LoadTo(0));
  isa::Store& store = Add(StoreFrom(0, 100));
  Signal(&load.header, 0, kVisible);
  Wait(&store.header, 0);
  isa::Load& back = Add(LoadTo(1024, 1));
  back.dram_offset = 163;  // one byte
  ExpectRace(2, 1, "reads byte 163 of region 1");
  back.dram_offset = 164;
  ExpectClean();
  back.dram_offset = 36;
  ExpectClean();
  back.dram_offset = 37;
  Signal(&store.header, 1, kVisible);
  Wait(&back.header, 1);
  ExpectClean();
}

TEST_F(RaceTest, RegionsMayShareMemory) {
  regions_[2] = {4096 + 64, 64, false};
  isa::Load& load = Add(LoadTo(0));
  isa::Store& store = Add(StoreFrom(0, 64));
  Signal(&load.header, 0, kVisible);
  Wait(&store.header, 0);
  Add(LoadTo(1024, 2));
  ExpectRace(2, 1, "region 2");
}

TEST_F(RaceTest, UnwrittenSramIsFound) {
  isa::Load& load = Add(LoadTo(0));
  isa::Store& store = Add(StoreFrom(1));
  Signal(&load.header, 0, kVisible);
  Wait(&store.header, 0);
  const std::vector<Finding> findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("SRAM byte 64, which nothing has written"),
            std::string::npos);
}

TEST_F(RaceTest, AccumulatorsCount) {
  isa::Load& load = Add(LoadTo(0));
  load.n0 = 512;
  isa::Conv& first = Add(Accumulate(0, false, true));
  isa::Conv& second = Add(Accumulate(0, true, false));
  Signal(&load.header, 0, kVisible);
  Wait(&first.header, 0);
  ExpectRace(2, 1, "reads accumulator entry 0");
  Signal(&first.header, 1, kVisible);
  Wait(&second.header, 1);
  ExpectClean();
  // Behind a command that does not hold them they are undefined.
  first.acc_hold = false;
  ExpectRace(2, 1, "left undefined");
}

TEST_F(RaceTest, SemaphoresHaveOneGiverAndOneTaker) {
  isa::SyncLoad& load = Add(isa::SyncLoad());
  isa::SyncMatrix& matrix = Add(isa::SyncMatrix());
  isa::SyncVector& vector = Add(isa::SyncVector());
  Signal(&load.header, 0, kVisible);
  Wait(&vector.header, 0);
  ExpectClean();
  Signal(&matrix.header, 0, kVisible);
  EXPECT_EQ(Run().size(), 1u);  // two engines
  matrix.header.signal0_enable = false;
  load.header.signal0_count = 2;
  Wait(&matrix.header, 0);
  EXPECT_EQ(Run().size(), 1u);  // two waiting engines
  matrix.header.wait0_enable = false;
  isa::SyncLoad& point = Add(isa::SyncLoad());
  Signal(&point.header, 0, kRead);
  EXPECT_EQ(Run().size(), 1u);  // two points
  commands_.insert(commands_.begin() + 3,
                   std::make_unique<isa::Command>(isa::Barrier()));
  ExpectClean();
}

TEST_F(RaceTest, SemaphoresMustNotOverflowInAnyOrder) {
  isa::SyncLoad& give = Add(isa::SyncLoad());
  isa::SyncVector& take = Add(isa::SyncVector());
  isa::SyncLoad& more = Add(isa::SyncLoad());
  Signal(&give.header, 0, kVisible, 200);
  Wait(&take.header, 0, 200);
  Signal(&more.header, 0, kVisible, 100);
  const std::vector<Finding> findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].offset, offsets_[2]);
  Signal(&take.header, 1, kVisible);
  Wait(&more.header, 1);
  ExpectClean();
}

TEST(RandomStreams, AreClean) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RandomStreamOptions options;
    options.seed = seed;
    options.config = isa::kConfigs[seed % isa::kNumConfigs];
    RandomStream stream = MakeRandomStream(options);
    FlatMemory memory(stream.dram.data(), stream.dram.size());
    Options with_races;
    with_races.detect_races = true;
    Model model(options.config, &memory, with_races);
    ASSERT_EQ(
        model.Run(stream.words.data(), stream.words.size() * 4, stream.regions)
            .status,
        isa::Error::kOk);
    for (const Finding& f : model.findings()) {
      ADD_FAILURE() << "seed " << seed << ", " << f.offset << ": " << f.what;
    }
  }
}

// Without its waits, a stream that needed them races.
TEST(RandomStreams, NeedTheirWaits) {
  int racy = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    RandomStreamOptions options;
    options.seed = seed;
    RandomStream stream = MakeRandomStream(options);
    std::vector<uint32_t>& w = stream.words;
    for (size_t at = 0; at < w.size();
         at += isa::FindCommand(isa::OpcodeOf(w[at]))->words) {
      w[at + 1] = w[at + 2] = 0;
    }
    FlatMemory memory(stream.dram.data(), stream.dram.size());
    Options with_races;
    with_races.detect_races = true;
    Model model(options.config, &memory, with_races);
    model.Run(w.data(), w.size() * 4, stream.regions);
    racy += model.findings().empty() ? 0 : 1;
  }
  EXPECT_EQ(racy, 6);
}

}  // namespace
}  // namespace heddle::model
