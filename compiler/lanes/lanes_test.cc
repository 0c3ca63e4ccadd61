// SPDX-License-Identifier: Apache-2.0
// Every variant gives the bits of the portable one, and functions those of the
// programs that have the same steps.
#include "compiler/lanes/lanes.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compiler/ops/microprogram.h"
#include "gtest/gtest.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int kFunctions = static_cast<int>(LaneFunction::kCount);
constexpr LaneFold kFolds[] = {LaneFold::kSum, LaneFold::kSumOfMagnitudes,
                               LaneFold::kSumOfSquares, LaneFold::kMax,
                               LaneFold::kMin};

class Lanes : public ::testing::TestWithParam<const LaneKernels*> {
 protected:
  uint32_t Pattern() {
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
        0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
        0x3f000000, 0x4f000000, 0xcf000000, 0xcf000001, 0x4effffff, 0x80000003};
    const uint32_t r = random_();
    if (r % 4 == 0) return special[random_() % std::size(special)];
    if (r % 4 == 1) return random_();
    return (random_() & 0x807fffffu) | (118 + random_() % 18) << 23;
  }
  std::vector<uint32_t> Patterns(size_t n) {
    std::vector<uint32_t> v(n);
    for (uint32_t& x : v) x = Pattern();
    return v;
  }
  std::vector<float> Floats(size_t n, bool special) {
    std::vector<float> v(n);
    for (float& x : v) {
      x = special && random_() % 16 == 0
              ? model::FromBits(Pattern())
              : static_cast<float>(static_cast<int>(random_() % 2001) - 1000) /
                    64;
    }
    return v;
  }
  // Of `n` elements, some streams of one for all.
  LaneOperands Operands(size_t n, uint32_t singles) {
    LaneOperands operands;
    for (int s = 0; s < 3; ++s) {
      streams_[s] = Patterns(n);
      operands.streams[s] = {streams_[s].data(), ((singles >> s) & 1) != 0};
    }
    for (uint32_t& argument : operands.arguments) argument = Pattern();
    return operands;
  }

  const model::ScopedFpEnvironment environment_;
  std::mt19937 random_{11};
  std::vector<uint32_t> streams_[3];
};

TEST_P(Lanes, FunctionsAreThoseOfAnyCpu) {
  for (int f = 0; f < kFunctions; ++f) {
    const auto function = static_cast<LaneFunction>(f);
    for (size_t n : {1, 7, 8, 15, 16, 17, 33, 1000}) {
      for (uint32_t singles = 0; singles < 8; ++singles) {
        const LaneOperands operands = Operands(n, singles);
        std::vector<uint32_t> want(n), got(n);
        PortableLanes()->compute(function, operands, n, want.data());
        GetParam()->compute(function, operands, n, got.data());
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(got[i], want[i]) << f << ", " << n << ", " << std::hex
                                     << streams_[0][singles & 1 ? 0 : i];
        }
      }
    }
  }
}

TEST_P(Lanes, FunctionsAreThoseOfPrograms) {
  constexpr size_t kCount = 4000;
  for (int f = 0; f < kFunctions; ++f) {
    const auto function = static_cast<LaneFunction>(f);
    const auto program = ProgramOf(function);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(FunctionOf(*program), function);
    const LaneOperands operands = Operands(kCount, 0);
    std::array<HostStream, 3> streams;
    std::array<uint32_t, 4> arguments;
    for (int s = 0; s < 3; ++s) streams[s].data = streams_[s].data();
    std::copy_n(operands.arguments, 4, arguments.begin());
    std::vector<uint32_t> want(kCount), got(kCount);
    ASSERT_TRUE(
        Interpret(*program, arguments, streams, kCount, want.data()).ok());
    GetParam()->compute(function, operands, kCount, got.data());
    ASSERT_EQ(got, want) << f;
  }
}

TEST_P(Lanes, ResultsMayReplaceOperands) {
  LaneOperands operands = Operands(100, 0);
  std::vector<uint32_t> want(100);
  GetParam()->compute(LaneFunction::kExpOfDifference, operands, 100,
                      want.data());
  GetParam()->compute(LaneFunction::kExpOfDifference, operands, 100,
                      streams_[0].data());
  EXPECT_EQ(streams_[0], want);
}

TEST_P(Lanes, FoldsKeepTheOrder) {
  for (LaneFold fold : kFolds) {
    for (size_t rows : {1, 3, 4, 9}) {
      for (size_t count : {0, 1, 15, 16, 17, 40, 777}) {
        for (bool special : {false, true}) {
          const std::vector<float> x = Floats(rows * count, special);
          // (Of an infinite center everything is infinitely far.)
          std::vector<float> centers = Floats(rows, false);
          if (special) centers[0] = terms::kInfinity;
          const bool centered =
              fold == LaneFold::kSumOfSquares && count % 2 == 1;
          const float* const given = centered ? centers.data() : nullptr;
          std::vector<float> want(rows), got(rows);
          PortableLanes()->fold_rows(fold, x.data(), given, rows, count,
                                     want.data());
          GetParam()->fold_rows(fold, x.data(), given, rows, count, got.data());
          for (size_t r = 0; r < rows; ++r) {
            ASSERT_EQ(model::Bits(got[r]), model::Bits(want[r]))
                << static_cast<int>(fold) << ", " << count;
          }
        }
      }
    }
  }
}

TEST_P(Lanes, StepsOfChains) {
  for (LaneFold fold : kFolds) {
    for (size_t n : {1, 16, 50}) {
      const std::vector<float> x = Floats(n, true);
      std::vector<float> want = Floats(n, true), got = want;
      PortableLanes()->fold_step(fold, x.data(), n, want.data());
      GetParam()->fold_step(fold, x.data(), n, got.data());
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(model::Bits(model::Canonical(got[i])), model::Bits(want[i]));
      }
    }
  }
}

std::vector<const LaneKernels*> OnThisCpu() {
  std::vector<const LaneKernels*> v;
  for (const LaneKernels* k : {PortableLanes(), Avx2Lanes(), Avx512Lanes()}) {
    if (k != nullptr) v.push_back(k);
  }
  return v;
}

INSTANTIATE_TEST_SUITE_P(Variants, Lanes, ::testing::ValuesIn(OnThisCpu()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

}  // namespace
}  // namespace heddle::compiler
