// SPDX-License-Identifier: Apache-2.0
//
// Wrong bits of SRAM under loads, stores and fills: what is corrected, what is
// lost, what nobody learns.

#include "simulator/model/sram_errors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "simulator/platform/test_stream.h"

namespace heddle::model {
namespace {

using isa::Error;
using platform::TestStream;

class SramErrorsTest : public testing::Test {
 protected:
  RunResult Run(const TestStream& stream) {
    const std::vector<uint8_t> bytes = TestStream(stream).Bytes();
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const RegionTable regions = {{0, sizeof(data_), true}};
    return model_.Run(words.data(), bytes.size(), regions);
  }
  // Of bytes of SRAM to region 0.
  RunResult Store(uint32_t sram, uint32_t bytes) {
    return Run(TestStream().Store(0, 0, sram, bytes));
  }
  // Of bytes of SRAM; no others change.
  static isa::Fill Fill(uint32_t sram, uint32_t bytes) {
    isa::Fill fill;
    fill.sram_addr = sram;
    fill.n0 = bytes;
    fill.t0 = fill.n1 = fill.n2 = fill.n3 = 1;
    return fill;
  }

  uint8_t data_[4096] = {};
  FlatMemory memory_{data_, sizeof(data_)};
  Model model_{isa::kH256, &memory_};
};

TEST_F(SramErrorsTest, OneBitIsCorrectedOnce) {
  model_.FlipSram(37, 2);
  RunResult result = Store(0, 32);
  EXPECT_EQ(result.sram_corrected, 0u) << "not its word";
  std::memset(data_, 0xff, sizeof(data_));
  result = Store(32, 64);
  EXPECT_EQ(result.status, Error::kOk);
  EXPECT_EQ(result.sram_corrected, 1u);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(data_[i], 0);
  EXPECT_EQ(Store(32, 64).sram_corrected, 0u);
  // A bit that changes twice is right.
  model_.FlipSram(37, 2);
  model_.FlipSram(37, 2);
  EXPECT_EQ(Store(32, 64).sram_corrected, 0u);
}

TEST_F(SramErrorsTest, WordsCountByThemselves) {
  for (uint32_t byte : {0u, 16u, 255u, 256u}) model_.FlipSram(byte, 0);
  EXPECT_EQ(Store(0, 256).sram_corrected, 3u);
  EXPECT_EQ(Store(0, 512).sram_corrected, 1u);
}

TEST_F(SramErrorsTest, TwoBitsOfAWordAreTheEnd) {
  model_.FlipSram(64, 0);
  model_.FlipSram(79, 7);
  std::memset(data_, 0xff, sizeof(data_));
  for (int i = 0; i < 2; ++i) {
    const RunResult result = Run(TestStream()
                                     .Load(0, 512, 256, 16)
                                     .Barrier()
                                     .Store(0, 0, 0, 256)
                                     .Barrier());
    EXPECT_EQ(result.status, Error::kSramUncorrectable);
    EXPECT_EQ(result.fault_address, 64u);
    EXPECT_EQ(result.fault_engine, isa::Engine::kControl);
    // The barrier before it was the last that retired.
    EXPECT_EQ(result.fault_offset, isa::Load::kWords * 4);
    EXPECT_EQ(result.commands, 2u);
    EXPECT_EQ(result.sram_corrected, 0u);
    EXPECT_EQ(data_[0], 0xff);
  }
  model_.ClearSram();
  EXPECT_EQ(Store(0, 256).status, Error::kOk);
}

TEST_F(SramErrorsTest, WritesOfAllOfAWordEndIt) {
  for (uint32_t bit : {0u, 1u}) model_.FlipSram(64, bit);
  model_.FlipSram(80, 0);
  const RunResult written = Run(TestStream().Add(Fill(64, 32)));
  EXPECT_EQ(written.status, Error::kOk);
  EXPECT_EQ(written.sram_corrected, 0u);
  const RunResult read = Store(64, 32);
  EXPECT_EQ(read.status, Error::kOk);
  EXPECT_EQ(read.sram_corrected, 0u);
}

TEST_F(SramErrorsTest, WritesOfAPartRead) {
  model_.FlipSram(64, 0);
  EXPECT_EQ(Run(TestStream().Add(Fill(72, 8))).sram_corrected, 1u);
  EXPECT_EQ(Store(64, 16).sram_corrected, 0u);
  for (uint32_t bit : {0u, 1u}) model_.FlipSram(64, bit);
  EXPECT_EQ(Run(TestStream().Add(Fill(60, 19))).status,
            Error::kSramUncorrectable);
}

TEST_F(SramErrorsTest, TheNextReadMeetsOne) {
  model_.CorruptNextRead(1);
  EXPECT_EQ(Run(TestStream().Add(Fill(72, 8))).sram_corrected, 0u);
  EXPECT_EQ(model_.corruption_waiting(), 1u);
  EXPECT_EQ(Store(16, 64).sram_corrected, 1u);
  EXPECT_EQ(model_.corruption_waiting(), 0u);
  model_.CorruptNextRead(2);
  const RunResult result = Store(16, 64);
  EXPECT_EQ(result.status, Error::kSramUncorrectable);
  EXPECT_EQ(result.fault_address, 16u);
  model_.CorruptNextRead(2);
  model_.CorruptNextRead(0);
  model_.ClearSram();
  EXPECT_EQ(Store(16, 64).status, Error::kOk);
}

}  // namespace
}  // namespace heddle::model
