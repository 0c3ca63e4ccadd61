// SPDX-License-Identifier: Apache-2.0
// Streams, faults and semaphores, and a few commands with results worked out by
// hand. Equality over all modes is tested in equality_test.cc.
#include "simulator/model/model.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "simulator/model/access.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

using isa::Error;

class ModelTest : public ::testing::Test {
 protected:
  ModelTest() : dram_(1 << 16), memory_(dram_.data(), dram_.size()) {
    regions_[0] = {0, 4096, false};
    regions_[1] = {4096, 4096, true};
    std::iota(dram_.begin(), dram_.end(), 0);
  }

  template <typename T>
  void Add(const T& command) {
    isa::Append(isa::Command(command), &stream_);
  }

  RunResult Run(Options options = {}) {
    model_ = std::make_unique<Model>(isa::kH256, &memory_, options);
    return model_->Run(stream_.data(), stream_.size() * 4, regions_);
  }
  RunResult RunToEnd(Options options = {}) {
    Add(isa::End());
    return Run(options);
  }

  std::vector<uint8_t> dram_;
  FlatMemory memory_;
  RegionTable regions_ = {};
  std::vector<uint32_t> stream_;
  std::unique_ptr<Model> model_;
};

TEST_F(ModelTest, EmptyStreamOverruns) {
  EXPECT_EQ(Run().status, Error::kStreamOverrun);
}

TEST_F(ModelTest, EndAloneIsAStream) {
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kOk);
  EXPECT_EQ(r.commands, 1u);
}

TEST_F(ModelTest, MissingEndOverrunsAtTheEnd) {
  Add(isa::Nop());
  const RunResult r = Run();
  EXPECT_EQ(r.status, Error::kStreamOverrun);
  EXPECT_EQ(r.fault_offset, 16u);
  EXPECT_EQ(r.commands, 1u);
}

TEST_F(ModelTest, CutCommandOverruns) {
  Add(isa::Fill());
  stream_.resize(8);
  EXPECT_EQ(Run().status, Error::kStreamOverrun);
}

TEST_F(ModelTest, EndBeforeTheEndIsIllegal) {
  Add(isa::End());
  Add(isa::End());
  const RunResult r = Run();
  EXPECT_EQ(r.status, Error::kIllegalCommand);
  EXPECT_EQ(r.fault_offset, 0u);
}

TEST_F(ModelTest, UnknownOpcodeAndReservedBitsAreIllegal) {
  Add(isa::Nop());
  stream_[0] = 0x4ff;
  EXPECT_EQ(Run().status, Error::kIllegalCommand);
  stream_.clear();
  Add(isa::Nop());
  stream_[0] |= 1u << 31;
  EXPECT_EQ(Run().status, Error::kIllegalCommand);
}

TEST_F(ModelTest, LoadTransposesByStrides) {
  isa::Load load;
  load.header.tag = 77;
  load.n0 = 4;
  load.n1 = 3;
  load.s0 = 1;
  load.s1 = 100;
  load.t0 = 16;
  load.t1 = 1;
  load.sram_addr = 32;
  Add(load);
  const RunResult r = RunToEnd();
  ASSERT_EQ(r.status, Error::kOk);
  EXPECT_EQ(r.bytes_loaded, 12u);
  for (int i1 = 0; i1 < 3; ++i1) {
    for (int i0 = 0; i0 < 4; ++i0) {
      EXPECT_EQ(model_->sram()[32 + 16 * i0 + i1], dram_[100 * i1 + i0]);
    }
  }
}

TEST_F(ModelTest, RegionsAreChecked) {
  isa::Load load;
  load.header.tag = 5;
  load.n0 = 2;
  load.s0 = 4095;
  Add(isa::Nop());
  Add(load);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  stream_.clear();
  load.s0 = 4096;
  Add(isa::Nop());
  Add(load);
  RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kRegionBounds);
  EXPECT_EQ(r.fault_offset, 16u);
  EXPECT_EQ(r.fault_tag, 5u);
  EXPECT_EQ(r.fault_engine, isa::Engine::kLoad);
  EXPECT_EQ(r.fault_address, 4096u);
  Options unchecked;
  unchecked.check_regions = false;
  EXPECT_EQ(Run(unchecked).status, Error::kOk);
  stream_.clear();
  load.region = 9;  // not bound
  load.s0 = 0;
  Add(load);
  EXPECT_EQ(RunToEnd().status, Error::kRegionBounds);
}

TEST_F(ModelTest, StoreNeedsAWritableRegion) {
  isa::Store store;
  Add(store);
  EXPECT_EQ(RunToEnd().status, Error::kRegionReadonly);
  stream_.clear();
  store.region = 1;
  store.dram_offset = 7;
  Add(store);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  EXPECT_EQ(dram_[4096 + 7], 0);
}

TEST_F(ModelTest, StridesDoNotWrap) {
  isa::Load load;
  load.n0 = load.n1 = load.n2 = load.n3 = 65535;
  load.s0 = load.s1 = load.s2 = load.s3 = 0xffffffffu;
  Add(load);
  EXPECT_EQ(RunToEnd().status, Error::kRegionBounds);
}

TEST_F(ModelTest, SramIsBounded) {
  isa::Fill fill;
  fill.value = 9;
  fill.sram_addr = isa::kH256.sram_bytes - 1;
  Add(fill);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  stream_.clear();
  fill.n0 = 2;
  fill.t0 = 1;
  Add(fill);
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kSramBounds);
  EXPECT_EQ(r.fault_address, isa::kH256.sram_bytes);
}

TEST_F(ModelTest, BusErrorIsReported) {
  regions_[2] = {1 << 20, 64, false};
  isa::Load load;
  load.region = 2;
  Add(load);
  EXPECT_EQ(RunToEnd().status, Error::kBusError);
}

TEST_F(ModelTest, GatherChecksIndices) {
  isa::Fill index;
  index.elem_log2 = 2;
  index.value = 3;
  Add(index);
  isa::LoadGather gather;
  gather.n0 = 8;
  gather.s1 = 8;
  gather.sram_addr = 64;
  gather.bound = 4;
  Add(gather);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  EXPECT_EQ(std::memcmp(model_->sram() + 64, dram_.data() + 24, 8), 0);
  stream_.clear();
  Add(index);
  gather.bound = 3;
  Add(gather);
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kIndexBounds);
  EXPECT_EQ(r.fault_address, 3u);
}

// out = a[lane + 1]: both implementations read A where the program says, and
// find the same index to blame.
TEST_F(ModelTest, PicksByTheProgram) {
  isa::MicroInstruction next, pick;
  next.op = isa::MicroOp::kIadd;
  next.a = isa::Operand::kLane;
  next.b = isa::Operand::kImm;
  next.imm = 1;
  pick.op = isa::MicroOp::kPick;
  pick.d = isa::Destination::kOut;
  const uint64_t program[2] = {next.Encode(), pick.Encode()};
  isa::Vrun run;
  run.prog_addr = 64;
  run.body = 2;
  run.enable_a = run.pick_a = true;
  run.store = isa::StoreMode::kBody;
  run.lanes = 40;
  run.index_stride = 2;
  run.index_bound = 41;
  isa::Stream a, d;
  a.base = 2048;
  a.type = isa::ElementType::kS16;
  d.base = 4096;
  d.type = isa::ElementType::kS32;
  d.lane_stride = 4;
  run.SetA(a);
  run.SetD(d);
  for (const auto implementation :
       {Implementation::kReference, Implementation::kFast}) {
    Options options;
    options.implementation = implementation;
    FlatMemory memory(dram_.data(), dram_.size());
    Model model(isa::kH256, &memory, options);
    std::memcpy(model.sram() + 1024, program, sizeof(program));
    for (int16_t i = 0; i < 41; ++i) {
      const auto value = static_cast<int16_t>(-3 * i);
      std::memcpy(model.sram() + 2048 + 2 * i, &value, 2);
    }
    std::vector<uint32_t> stream;
    isa::Append(run, &stream);
    isa::Append(isa::End(), &stream);
    EXPECT_EQ(model.Run(stream.data(), 4 * stream.size(), regions_).status,
              Error::kOk);
    for (int32_t i = 0; i < 40; ++i) {
      int32_t got;
      std::memcpy(&got, model.sram() + 4096 + 4 * i, 4);
      EXPECT_EQ(got, -3 * (i + 1));
    }
    isa::Vrun less = run;
    less.index_bound = 37;
    stream.clear();
    isa::Append(less, &stream);
    const RunResult r = model.Run(stream.data(), 4 * stream.size(), regions_);
    EXPECT_EQ(r.status, Error::kIndexBounds);
    EXPECT_EQ(r.fault_address, 37u);
    less.pick_a = false;
    stream.clear();
    isa::Append(less, &stream);
    EXPECT_EQ(model.Run(stream.data(), 4 * stream.size(), regions_).status,
              Error::kIllegalProgram);
  }
}

TEST_F(ModelTest, WaitsMustBeSatisfiedInProgramOrder) {
  isa::SyncLoad give;
  give.header.signal0_enable = true;
  give.header.signal0_sem = 4;
  give.header.signal0_count = 2;
  isa::SyncVector take;
  take.header.wait0_enable = true;
  take.header.wait0_sem = 4;
  take.header.wait0_count = 1;
  Add(give);
  Add(take);
  Add(take);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  stream_.pop_back();
  stream_.resize(stream_.size() - 3);
  Add(take);
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kIllegalCommand);
  EXPECT_EQ(r.fault_offset, 48u);
}

TEST_F(ModelTest, SemaphoresOverflow) {
  isa::SyncLoad give;
  give.header.signal0_enable = true;
  give.header.signal0_sem = 31;
  give.header.signal0_count = 255;
  Add(give);
  give.header.signal0_count = 1;
  Add(give);
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kSemaphoreOverflow);
  EXPECT_EQ(r.fault_offset, 16u);
  EXPECT_EQ(r.fault_address, 31u);
}

TEST_F(ModelTest, ProgressAborts) {
  Add(isa::Nop());
  Add(isa::Nop());
  Add(isa::End());
  Model model(isa::kH256, &memory_);
  const RunResult r = model.Run(stream_.data(), stream_.size() * 4, regions_,
                                [](uint64_t n) { return n < 2; });
  EXPECT_EQ(r.status, Error::kAborted);
  EXPECT_EQ(r.commands, 2u);
}

// 3x3 ones, padding 1, on a 3x3 image of ones in one channel: 4 6 4 / 6 9 6 ...
TEST_F(ModelTest, ConvolutionCountsItsNeighbours) {
  isa::Fill ones;
  ones.value = 5;  // minus zero point 4 is 1
  ones.n0 = 9;
  ones.t0 = 16;
  Add(ones);
  isa::Fill weights;
  weights.sram_addr = 1024;
  weights.value = 1;
  weights.n0 = 9 * 256;
  weights.t0 = 1;
  Add(weights);
  isa::Fill scale;
  scale.sram_addr = 8192 + 64;
  scale.elem_log2 = 2;
  scale.value = Bits(1.0f);
  scale.n0 = 16;
  scale.t0 = 4;
  Add(scale);
  isa::Conv conv;
  conv.ih = conv.iw = conv.ow = conv.out_rows = conv.kh = conv.kw = 3;
  conv.in_pitch = conv.out_pitch = 3;
  conv.pad_top = conv.pad_left = 1;
  conv.za = 4;
  conv.w_addr = 1024 / 16;
  conv.param_addr = 8192 / 16;
  conv.out_addr = 16384 / 16;
  conv.zo = 10;
  conv.act_min = -10;
  conv.act_max = 245;
  Add(conv);
  const RunResult r = RunToEnd();
  ASSERT_EQ(r.status, Error::kOk);
  EXPECT_EQ(r.macs, 81u);
  const int want[9] = {14, 16, 14, 16, 19, 16, 14, 16, 14};
  for (int p = 0; p < 9; ++p) {
    EXPECT_EQ(model_->sram()[16384 + 16 * p], want[p]) << p;
  }
}

// Columns that no tap touches may lie beyond the end of SRAM.
TEST_F(ModelTest, UntouchedColumnsAreNotRead) {
  isa::Conv conv;
  conv.ih = 1;
  conv.ow = 2;
  conv.sx = 15;
  conv.dx = 255;
  conv.kw = 255;
  conv.in_addr = isa::kH256.sram_bytes / 16 - 1 - 15;
  conv.w_addr = 0;
  conv.param_addr = 8192;
  conv.out_addr = 8300;
  conv.iw = 200;  // taps 0 of pixels 0 and 1: columns 0 and 15, the last word
  Add(conv);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  stream_.clear();
  conv.in_addr += 1;
  Add(conv);
  EXPECT_EQ(RunToEnd().status, Error::kSramBounds);
}

TEST_F(ModelTest, IllegalMicroInstructionIsNamed) {
  isa::Fill program;
  program.elem_log2 = 2;
  program.value = 0xff;
  program.sram_addr = 8;
  Add(program);
  isa::MicroInstruction mov;
  const uint64_t word = mov.Encode();
  program.sram_addr = 0;
  program.value = static_cast<uint32_t>(word);
  Add(program);
  isa::Vrun run;
  run.body = 1;
  Add(run);
  EXPECT_EQ(RunToEnd().status, Error::kOk);
  stream_.resize(stream_.size() - 4 - isa::Vrun::kWords);
  run.body = 2;
  Add(run);
  const RunResult r = RunToEnd();
  EXPECT_EQ(r.status, Error::kIllegalProgram);
  EXPECT_EQ(r.fault_address, 1u);
}

TEST(Access, ExtentsBeyond64BitsStayBeyondEveryMemory) {
  Access up, down;
  up.bytes = down.bytes = 64;
  up.Along(uint64_t{1} << 32, 0xfffffffe);
  up.Along(uint64_t{1} << 32, 0xfffffffe);
  EXPECT_EQ(up.Highest(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(up.Lowest(), 0);
  down.Along(uint64_t{1} << 32, -int64_t{0xfffffffe});
  down.Along(uint64_t{1} << 32, -int64_t{0xfffffffe});
  EXPECT_EQ(down.Lowest(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(down.Highest(), 63);
}

}  // namespace
}  // namespace heddle::model
