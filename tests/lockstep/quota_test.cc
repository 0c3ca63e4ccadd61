// SPDX-License-Identifier: Apache-2.0
// The streams of random_lockstep_test hit every cell of the quota but those
// that unreachable.txt lists, and none of these.
//
//   --streams=N   how many
#include "tests/lockstep/quota.h"

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

TEST(Quota, EveryCellIsHitOrListed) {
  const auto unreachable = Unreachable::Parse(kUnreachable);
  ASSERT_TRUE(unreachable.ok()) << unreachable.status();
  EXPECT_EQ(unreachable->Idle(), "") << "these lines name no cell";
  const std::vector<Target> targets = TargetsToAimAt(*unreachable);
  Quota quota;
  for (uint64_t seed = 1; seed <= streams; ++seed) {
    const model::RandomStream stream = model::MakeRandomStream(
        StreamOptions(seed, ConfigOf(seed), kLength, kNth, targets));
    quota.Count(stream);
  }
  std::string missing, listed;
  size_t listed_cells = 0;
  for (const Target& t : AllTargets()) {
    const std::string name =
        t.cell.kind + " | " + t.cell.field + " | " + t.cell.value + "\n";
    if (!unreachable->Has(t.cell)) {
      if (!quota.IsHit(t.cell)) missing += name;
    } else {
      ++listed_cells;
      if (quota.IsHit(t.cell)) listed += name;
    }
  }
  for (const Cell& cell : ProgramCells()) {
    if (!quota.IsHit(cell)) missing += "micro-instruction " + cell.value + "\n";
  }
  std::printf("%zu of %zu cells hit, %zu listed\n", quota.hit(), quota.cells(),
              listed_cells);
  EXPECT_EQ(missing, "") << "neither hit nor listed";
  EXPECT_EQ(listed, "") << "listed, but hit";
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
