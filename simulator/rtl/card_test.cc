// SPDX-License-Identifier: Apache-2.0
//
// The whole card as a model: cycles that do not depend on how they are asked
// for, and jobs that are ended in the middle of their work, with bursts under
// way: the card comes back, the next job computes the right bytes, and nobody
// else's memory has changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/test_stream.h"
#include "simulator/rtl/card_host.h"

namespace heddle::rtl {
namespace {

using isa::Error;
using platform::Program;
using platform::TestStream;

constexpr uint64_t kDevice = 1 << 20;
constexpr uint64_t kCode = 0x1000;
constexpr uint64_t kOther = 0x20000;  // somebody else's, before
constexpr uint64_t kData = 0x40000;
constexpr uint64_t kDataBytes = 0x40000;  // and behind this region

std::vector<uint8_t> Pattern(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> out(bytes);
  for (uint8_t& b : out) b = static_cast<uint8_t>(random());
  return out;
}

class RtlCardTest : public testing::Test {
 protected:
  void SetUp() override { Make({}); }
  void TearDown() override { EXPECT_EQ(host_->model()->violation(), ""); }
  void Make(const CardOptions& options) {
    auto host = CardHost::Make(isa::kH256, kDevice, options);
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = std::move(*host);
    others_ = Pattern(kDevice, 3);
    std::memcpy(&host_->device()[0], others_.data(), kDevice);
  }
  // Region 2 is the data.
  desc::Step Load(TestStream stream) {
    const std::vector<uint8_t> bytes = stream.Bytes();
    std::memcpy(&host_->device()[kCode], bytes.data(), bytes.size());
    EXPECT_LT(kCode + bytes.size(), kOther);
    std::vector<desc::Region> regions(3);
    regions[2].base = kData;
    regions[2].size = kDataBytes;
    regions[2].flags = desc::kRegionFlagsWritableMask;
    return host_->Run(kCode, bytes.size(), regions);
  }
  // out[i] = a[i] + b[i], int32, by rows of 256; `rows` of them.
  TestStream Sum(uint32_t rows) {
    isa::MicroInstruction add;
    add.op = isa::MicroOp::kIadd;
    add.d = isa::Destination::kOut;
    add.a = isa::Operand::kStreamA;
    add.b = isa::Operand::kStreamB;
    const std::vector<uint8_t> program = Program({add});
    std::memcpy(&host_->device()[kData], program.data(), program.size());
    TestStream code;
    code.Load(2, 0, 0, 16).Barrier();
    isa::Vrun run;
    run.body = 1;
    run.lanes = 256;
    run.store = isa::StoreMode::kBody;
    run.enable_a = run.enable_b = true;
    isa::Stream stream;
    stream.type = isa::ElementType::kS32;
    stream.lane_stride = 4;
    for (uint32_t r = 0; r < rows; ++r) {
      code.Load(2, 4096 + r * 2048, 4096, 2048).Barrier();
      stream.base = 4096;
      run.SetA(stream);
      stream.base = 4096 + 1024;
      run.SetB(stream);
      stream.base = 8192;
      run.SetD(stream);
      code.Add(run).Barrier();
      code.Store(2, kSumOut + r * 1024, 8192, 1024).Barrier();
    }
    return code;
  }
  static constexpr uint32_t kSumOut = 0x20000;
  void ExpectSum(uint32_t rows) {
    const uint8_t* data = &host_->device()[kData];
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t i = 0; i < 256; ++i) {
        uint32_t a, b, out;
        std::memcpy(&a, data + 4096 + r * 2048 + 4 * i, 4);
        std::memcpy(&b, data + 4096 + r * 2048 + 1024 + 4 * i, 4);
        std::memcpy(&out, data + kSumOut + r * 1024 + 4 * i, 4);
        ASSERT_EQ(out, a + b) << r << " " << i;
      }
    }
  }
  // Nothing outside of code and data.
  void ExpectOthersUntouched() {
    const std::vector<uint8_t>& now = host_->device();
    EXPECT_TRUE(std::equal(now.begin(), now.begin() + kCode, others_.begin()));
    EXPECT_TRUE(std::equal(now.begin() + kOther, now.begin() + kData,
                           others_.begin() + kOther));
    EXPECT_TRUE(std::equal(now.begin() + kData + kDataBytes, now.end(),
                           others_.begin() + kData + kDataBytes));
  }
  bool Ready() {
    return host_->model()->Read(reg::kStatusOffset) == reg::kStatusReadyMask;
  }
  void ResetEngine() {
    host_->model()->Write(reg::kResetOffset, reg::kResetEngineMask);
  }
  uint32_t RunJob(const desc::Step& step, uint64_t limit = 1000000) {
    host_->Queue({step});
    desc::Completion record;
    return host_->Wait(&record, limit) ? record.status : ~0u;
  }
  // The card works and has disturbed nobody.
  void ExpectGoodCard() {
    host_->FreeAll();
    EXPECT_EQ(RunJob(Load(Sum(3))), 0u);
    ExpectSum(3);
    ExpectOthersUntouched();
  }

  std::unique_ptr<CardHost> host_;
  std::vector<uint8_t> others_;
};

uint32_t Code(Error error) { return static_cast<uint32_t>(error); }

TEST_F(RtlCardTest, CyclesDoNotDependOnTheQuantum) {
  std::vector<uint64_t> cycles;
  for (uint64_t quantum : {1, 10, 100, 100000}) {
    Make({});
    const uint64_t to = host_->Alloc(3072);
    const desc::Step in = host_->CopyIn(kData + 4096, Pattern(6144, 9));
    host_->Queue({in, Load(Sum(3)), host_->CopyOut(kData + kSumOut, 3072, to)},
                 desc::kJobDescriptorFlagsInterruptMask);
    desc::Completion record;
    ASSERT_TRUE(host_->Wait(&record, 1000000, quantum));
    EXPECT_EQ(record.status, 0u);
    ExpectSum(3);
    EXPECT_EQ(
        std::memcmp(host_->At(to), &host_->device()[kData + kSumOut], 3072), 0);
    EXPECT_EQ(host_->interrupts(0), 1u);
    EXPECT_GT(record.cycles, 8 * CardOptions().host_latency);
    cycles.push_back(record.cycles);
    cycles.push_back(record.vector_busy);
    cycles.push_back(record.dma_busy);
    cycles.push_back(host_->model()->cycles());
    // An idle card is not clocked.
    EXPECT_FALSE(host_->model()->active());
    EXPECT_EQ(host_->model()->Advance(1000), 0u);
  }
  for (size_t i = 4; i < cycles.size(); ++i)
    EXPECT_EQ(cycles[i], cycles[i % 4]);
}

TEST_F(RtlCardTest, RegistersDoNotDisturbAJob) {
  std::vector<uint64_t> cycles;
  for (bool look : {false, true}) {
    Make({});
    host_->Queue({Load(Sum(3))});
    while (look && host_->model()->active()) {
      host_->model()->Read(reg::kProgressOffset);
      host_->model()->Advance(37);
    }
    desc::Completion record;
    if (look) host_->Queue({Load(Sum(1))});  // Wait needs something to do
    ASSERT_TRUE(host_->Wait(&record, 1000000));
    cycles.push_back(record.cycles);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
}

// The latency of the host shows in the record, that of device memory too.
TEST_F(RtlCardTest, LatenciesAreInTheCycles) {
  const auto cycles = [this](uint32_t host, uint32_t device) {
    CardOptions options;
    options.host_latency = host;
    options.memory.extra_latency = device;
    Make(options);
    host_->Queue({Load(Sum(2))});
    desc::Completion record;
    EXPECT_TRUE(host_->Wait(&record, 1000000));
    return record.cycles;
  };
  const uint64_t least = cycles(100, 0);
  // Descriptor, steps, region table.
  EXPECT_EQ(cycles(600, 0), least + 3 * 500);
  // Code; twice in, twice out, once the program; each with a barrier.
  EXPECT_EQ(cycles(100, 1000), least + 6 * 1000);
}

// What a copy and a run take together: as long as the longer one, or as long as
// device memory needs for both. At the default latency the host gives as many
// bytes per cycle as device memory takes, so what is copied and then loaded
// needs memory twice as long as the copy; behind a slower bus the copy is all
// that counts.
TEST_F(RtlCardTest, ACopyBesideARun) {
  constexpr uint64_t kBytes = 0x40000, kTo = 0x80000, kBeat = 16;
  const std::vector<uint8_t> weights = Pattern(kBytes, 5);
  struct Case {
    uint32_t host_latency;
    uint64_t loaded;  // bytes
  };
  for (const Case& c : {Case{500, kBytes / 8}, Case{500, kBytes},
                        Case{500, 2 * kBytes}, Case{2000, kBytes}}) {
    SCOPED_TRACE(testing::Message() << c.host_latency << ' ' << c.loaded);
    CardOptions options;
    options.host_latency = c.host_latency;
    const auto cycles = [&](bool run, bool copy, uint32_t flags) {
      Make(options);
      EXPECT_EQ(RunJob(Load(Sum(1))), 0u);  // clears SRAM
      std::vector<desc::Step> steps;
      TestStream loads;
      constexpr uint32_t kPiece = 0x4000;
      for (uint64_t at = 0; at < c.loaded; at += kPiece) {
        loads.Load(2, static_cast<uint32_t>(at % kDataBytes),
                   at / kPiece % 2 * kPiece, kPiece);
      }
      if (run) steps.push_back(Load(loads));
      if (copy) steps.push_back(host_->CopyIn(kTo, weights));
      steps.back().flags = flags;
      host_->Queue(steps);
      desc::Completion record;
      EXPECT_TRUE(host_->Wait(&record, 1000000));
      EXPECT_EQ(record.status, 0u);
      EXPECT_EQ(record.bytes_copied, copy ? kBytes : 0);
      EXPECT_TRUE(!copy || std::equal(weights.begin(), weights.end(),
                                      host_->device().begin() + kTo));
      return record.cycles;
    };
    const uint64_t copy = cycles(false, true, 0);
    const uint64_t run = cycles(true, false, 0);
    const uint64_t one_by_one = cycles(true, true, 0);
    const uint64_t together = cycles(true, true, desc::kStepFlagsOverlapMask);
    const uint64_t memory = (kBytes + c.loaded) / kBeat;
    const uint64_t bound = std::max({copy, run, memory});
    std::printf(
        "latency %u: copy %lu, run %lu, memory %lu; one by one %lu, together "
        "%lu\n",
        c.host_latency, copy, run, memory, one_by_one, together);
    EXPECT_GE(together, bound);
    EXPECT_LE(together, bound + bound / 10);
    EXPECT_LT(together, one_by_one);
  }
}

// A tile is loads, vector work and stores, so that a reset after a few hundred
// cycles hits any of them, with bursts under way, and any state of the job.
TEST_F(RtlCardTest, ResetAtAnyTime) {
  for (uint64_t when = 100; when < 17500; when += 613) {
    host_->FreeAll();
    host_->Queue({Load(Sum(30))});
    host_->model()->Advance(when);
    ASSERT_TRUE(host_->model()->active()) << "too short for " << when;
    ResetEngine();
    desc::Completion record;
    ASSERT_TRUE(host_->Wait(&record, 1000000)) << when;
    ASSERT_EQ(record.status, Code(Error::kAborted)) << when;
    ASSERT_TRUE(Ready()) << when;
    ExpectGoodCard();
  }
}

TEST_F(RtlCardTest, AbortInTheMiddleOfATile) {
  for (uint64_t when = 15000; when < 17000; when += 97) {
    host_->FreeAll();
    const uint64_t fence = host_->Queue({Load(Sum(30))});
    host_->model()->Advance(when);
    host_->model()->Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
    desc::Completion record;
    ASSERT_TRUE(host_->Wait(&record, 1000000)) << when;
    ASSERT_EQ(record.status, Code(Error::kAborted)) << when;
    EXPECT_LT(record.commands, 182u);
    EXPECT_EQ(host_->model()->Read(reg::kStatusOffset),
              reg::kStatusReadyMask | reg::kStatusHaltedMask);
    ResetEngine();
    host_->model()->Advance(1000000);
    ASSERT_TRUE(Ready());
    ExpectGoodCard();
  }
}

TEST_F(RtlCardTest, StuckEngine) {
  bool hangs = false;
  host_->OnStream([&hangs](const StreamStart& s) { hangs = s.hangs; });
  host_->model()->SetHang(true);
  const uint64_t fence = host_->Queue({Load(Sum(3))});
  host_->model()->Advance(50000);
  EXPECT_TRUE(hangs);
  host_->model()->SetHang(false);
  const uint32_t progress = host_->model()->Read(reg::kProgressOffset);
  host_->model()->Write(reg::kAbortOffset, static_cast<uint32_t>(fence));
  EXPECT_EQ(host_->model()->Advance(50000), 50000u);
  EXPECT_EQ(host_->model()->Read(reg::kProgressOffset), progress);
  ResetEngine();
  desc::Completion record;
  ASSERT_TRUE(host_->Wait(&record, 1000000));
  EXPECT_EQ(record.status, Code(Error::kAborted));
  ExpectGoodCard();
  EXPECT_FALSE(hangs);
}

// At any access of a job: it ends, tells it, and the next one works.
TEST_F(RtlCardTest, BusErrorsAtAnyTime) {
  int hits = 0;
  for (uint64_t when = 0; when < 9000; when += 397) {
    host_->FreeAll();
    host_->Queue({Load(Sum(10))});
    host_->model()->Advance(when);
    host_->model()->memory()->InjectError();
    desc::Completion record;
    ASSERT_TRUE(host_->Wait(&record, 1000000)) << when;
    if (host_->model()->memory()->TakeError()) {
      EXPECT_EQ(record.status, 0u) << when;
    } else {
      EXPECT_EQ(record.status, Code(Error::kBusError)) << when;
      ++hits;
    }
    EXPECT_TRUE(Ready());
    ExpectGoodCard();
  }
  EXPECT_GT(hits, 15);
}

TEST_F(RtlCardTest, FunctionResetAndPowerCycleAtAnyTime) {
  for (uint64_t when = 50; when < 17500; when += 1411) {
    for (bool power : {false, true}) {
      host_->FreeAll();
      host_->Queue({Load(Sum(30))});
      host_->model()->Advance(when);
      if (power) {
        host_->model()->PowerCycle();
      } else {
        host_->model()->FunctionReset();
      }
      EXPECT_FALSE(host_->model()->active());
      EXPECT_TRUE(Ready());
      EXPECT_EQ(host_->model()->Read(reg::RingSizeOffset(0)), 0u);
      EXPECT_EQ(host_->model()->Read(reg::kCounterJobsOffset), 0u);
      host_->SetUpRings();
      ExpectGoodCard();
    }
  }
}

// A bit of SRAM as a stream starts, and one of its commands as it is fetched.
TEST_F(RtlCardTest, FlippedBits) {
  const desc::Step save = Load(TestStream().Store(2, 4096, 0, 64));
  host_->OnStream([this](const StreamStart&) {
    ASSERT_TRUE(host_->model()->FlipSram(17, 3));
  });
  ASSERT_EQ(RunJob(save), 0u);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(host_->device()[kData + 4096 + i], 0);
  }
  EXPECT_EQ(host_->model()->Read(reg::kCounterSramCorrectedOffset), 1u);
  host_->OnStream([this](const StreamStart& stream) {
    EXPECT_EQ(stream.address, kCode);
    host_->model()->memory()->FlipOnRead(stream.address, 7);
  });
  EXPECT_EQ(RunJob(save), Code(Error::kIllegalCommand));
  host_->OnStream(nullptr);
  EXPECT_EQ(RunJob(save), 0u);
  // One that no stream reads is forgotten with its end.
  host_->OnStream([this](const StreamStart&) {
    host_->model()->memory()->FlipOnRead(kOther, 0);
  });
  EXPECT_EQ(RunJob(save), 0u);
  const uint64_t to = host_->Alloc(16);
  EXPECT_EQ(RunJob(host_->CopyOut(kOther, 16, to)), 0u);
  EXPECT_EQ(std::memcmp(host_->At(to), &others_[kOther], 16), 0);
}

// A word of SRAM that is wrong when it is read: corrected, counted and told, or
// the end of its job alone.
TEST_F(RtlCardTest, SramErrors) {
  CardModel* card = host_->model();
  const desc::Step save = Load(TestStream().Store(2, 4096, 0, 64));
  for (uint32_t n = 1; n <= 3; ++n) {
    std::memset(&host_->device()[kData + 4096], 0xff, 64);
    card->CorruptNextRead(1);
    EXPECT_EQ(RunJob(save), 0u);
    EXPECT_EQ(card->corruption_waiting(), 0u);
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(host_->device()[kData + 4096 + i], 0);
    }
    EXPECT_EQ(card->Read(reg::kCounterSramCorrectedOffset), n);
    EXPECT_EQ(host_->interrupts(3), n);
    EXPECT_EQ(card->Read(reg::kDeviceErrorOffset), Code(Error::kSramCorrected));
    card->Write(reg::kIntStatusOffset, reg::kIntStatusErrorMask);
    card->Write(reg::kDeviceErrorOffset, ~0u);
    EXPECT_EQ(card->Read(reg::kDeviceErrorOffset), 0u);
  }
  card->CorruptNextRead(2);
  EXPECT_EQ(RunJob(save), Code(Error::kSramUncorrectable));
  EXPECT_EQ(card->Read(reg::kCounterSramCorrectedOffset), 3u);
  EXPECT_EQ(card->Read(reg::kDeviceErrorOffset), 0u);
  // It is still there for who reads it; clearing ends it.
  EXPECT_EQ(RunJob(save), Code(Error::kSramUncorrectable));
  card->Write(reg::kResetOffset, reg::kResetEngineMask);
  card->Advance(100000);
  EXPECT_TRUE(Ready());
  EXPECT_EQ(RunJob(save), 0u);
  EXPECT_EQ(card->Read(reg::kCounterSramCorrectedOffset), 3u);
  card->Write(reg::kResetOffset, reg::kResetCardMask);
  card->Advance(100000);
  EXPECT_TRUE(Ready());
  EXPECT_EQ(card->Read(reg::kCounterSramCorrectedOffset), 0u);
}

TEST_F(RtlCardTest, MemoryChangesSize) {
  EXPECT_EQ(host_->model()->Read(reg::kDramLoOffset), kDevice);
  host_->model()->SetDeviceMemory(host_->device().data(), kDevice / 2);
  host_->model()->Advance(10);
  EXPECT_EQ(host_->interrupts(2), 1u);
  EXPECT_EQ(host_->model()->Read(reg::kDramLoOffset), kDevice / 2);
  const uint64_t to = host_->Alloc(64);
  EXPECT_EQ(RunJob(host_->CopyOut(kDevice / 2, 64, to)),
            Code(Error::kCopyBounds));
  EXPECT_EQ(RunJob(host_->CopyOut(kDevice / 2 - 64, 64, to)), 0u);
}

}  // namespace
}  // namespace heddle::rtl
