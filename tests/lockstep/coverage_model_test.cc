// SPDX-License-Identifier: Apache-2.0
// The streams of random_lockstep_test hit every bin of the coverage model but
// those that unreachable.txt lists, and none of these.
//
//   --streams=N   how many
#include "tests/lockstep/coverage_model.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/lockstep/boundary.h"
#include "tests/lockstep/unreachable.h"

namespace heddle::lockstep {
namespace {

// As BUILD has it for random_lockstep_test, whose 10^5 commands are more
// streams than these.
uint64_t streams = 220;
constexpr uint64_t kLength = 400;
constexpr uint64_t kNth = 5;

TEST(CoverageModel, EveryBinIsHitOrListed) {
  const auto unreachable = Unreachable::Parse(kUnreachable);
  ASSERT_TRUE(unreachable.ok()) << unreachable.status();
  EXPECT_EQ(unreachable->Idle(), "") << "these lines name no bin";
  const std::vector<Target> targets = TargetsToAimAt(*unreachable);
  CoverageModel coverage;
  for (uint64_t seed = 1; seed <= streams; ++seed) {
    const model::RandomStream stream = model::MakeRandomStream(
        StreamOptions(seed, ConfigOf(seed), kLength, kNth, targets));
    coverage.Count(stream, ConfigOf(seed));
  }
  std::string missing, listed;
  size_t listed_bins = 0;
  for (const Target& t : AllTargets()) {
    const std::string name =
        t.bin.kind + " | " + t.bin.field + " | " + t.bin.value + "\n";
    if (!unreachable->Has(t.bin)) {
      if (!coverage.IsHit(t.bin)) missing += name;
    } else {
      ++listed_bins;
      if (coverage.IsHit(t.bin)) listed += name;
    }
  }
  std::vector<Bin> others = ProgramBins();
  for (const Bin& bin : CrossBins()) others.push_back(bin);
  for (const Bin& bin : others) {
    const std::string name =
        bin.kind + " | " + bin.field + " | " + bin.value + "\n";
    if (!unreachable->Has(bin)) {
      if (!coverage.IsHit(bin)) missing += name;
    } else {
      ++listed_bins;
      if (coverage.IsHit(bin)) listed += name;
    }
  }
  std::printf("%zu of %zu bins hit, %zu listed\n", coverage.hit(),
              coverage.bins(), listed_bins);
  EXPECT_EQ(missing, "") << "neither hit nor listed";
  EXPECT_EQ(listed, "") << "listed, but hit";
}

bool Hits(const isa::Command& command, const Place* place, const Bin& want) {
  std::vector<uint32_t> words;
  isa::Append(command, &words);
  std::string kind;
  for (const Bin& bin : BinsOf(words.data(), words.size(), &kind, place)) {
    if (!(bin < want) && !(want < bin)) return true;
  }
  return false;
}

// The last byte of a region, of SRAM, the last word where addresses are words;
// one before it is not, nor one beyond.
TEST(CoverageModel, TheLastPlace) {
  Place place = {isa::kH256};
  place.regions[3] = {0, uint64_t{1} << 32, true};
  isa::Load load;
  load.region = 3;
  load.elem_log2 = 1;
  load.dram_offset = 0xfffffffe;
  EXPECT_TRUE(Hits(load, &place, {"load", "dram_offset", kLast}));
  EXPECT_FALSE(Hits(load, nullptr, {"load", "dram_offset", kLast}));
  EXPECT_FALSE(Hits(load, &place, {"load", "sram_addr", kLast}));
  load.dram_offset = 0xfffffffd;
  EXPECT_FALSE(Hits(load, &place, {"load", "dram_offset", kLast}));
  load.dram_offset = 0xffffffff;
  EXPECT_FALSE(Hits(load, &place, {"load", "dram_offset", kLast}));
  EXPECT_TRUE(Hits(load, &place, {"load", "dram_offset", "largest"}));
  load.dram_offset = 0;
  load.sram_addr = isa::kH256.sram_bytes - 2;
  EXPECT_TRUE(Hits(load, &place, {"load", "sram_addr", kLast}));
  EXPECT_FALSE(Hits(load, &place, {"load", "dram_offset", kLast}));
  --load.sram_addr;
  EXPECT_FALSE(Hits(load, &place, {"load", "sram_addr", kLast}));

  isa::Conv conv;
  conv.param_addr = 1000;
  conv.w_addr = 2000;
  conv.out_addr = isa::kH256.sram_bytes / 16 - 1;
  EXPECT_TRUE(Hits(conv, &place, {"conv conv", "out_addr", kLast}));
  EXPECT_FALSE(Hits(conv, &place, {"conv conv", "in_addr", kLast}));
  --conv.out_addr;
  EXPECT_FALSE(Hits(conv, &place, {"conv conv", "out_addr", kLast}));
}

TEST(CoverageModel, Crosses) {
  const Place place = {isa::kH512};
  isa::Conv conv;
  conv.mode = isa::MatrixMode::kDepthwise;
  conv.sx = 2;
  conv.pad_left = 1;
  isa::Store store;
  store.n1 = 3;
  store.n3 = 2;
  store.s1 = 1;
  store.t1 = 16;
  isa::Vrun vrun;
  vrun.lanes = 2;
  vrun.enable_b = true;
  isa::Stream b;
  b.type = isa::ElementType::kBf16;
  b.lane_stride = -2;
  vrun.SetB(b);
  std::vector<uint32_t> words;
  isa::Append(isa::Command(conv), &words);
  isa::Append(isa::Command(store), &words);
  isa::Append(isa::Command(vrun), &words);
  CoverageModel coverage;
  coverage.Count(words, {}, &place);
  std::string hit;
  for (const Bin& bin : CrossBins()) {
    if (coverage.IsHit(bin)) hit += bin.kind + ": " + bin.value + "\n";
  }
  EXPECT_EQ(hit,
            "cross conv: depthwise, many, some, h512\n"
            "cross vrun: b, bf16, down\n"
            "cross store: 2, spread\n");
}

TEST(Unreachable, RefusesWhatIsNoLine) {
  EXPECT_FALSE(Unreachable::Parse("load | n0: too few").ok());
  EXPECT_FALSE(Unreachable::Parse("load | n0 | largest").ok());
  const auto list = Unreachable::Parse("conv * | ih | *: because\n# no\n");
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list->Has({"conv fold", "ih", "smallest"}));
  EXPECT_FALSE(list->Has({"load", "ih", "smallest"}));
  EXPECT_NE(Unreachable::Parse("x | y | z: r")->Idle(), "");
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--streams=", 10) != 0) return 2;
    heddle::lockstep::streams = std::strtoull(argv[i] + 10, nullptr, 10);
  }
  return RUN_ALL_TESTS();
}
