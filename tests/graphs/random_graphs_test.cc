// SPDX-License-Identifier: Apache-2.0
// Random models with nodes on the host, control flow and symbolic dimensions
// (random_model.h), by every way (run_model.h). Of each block of seeds a share
// at least must have what the models are made for, or they prove nothing.
//
//   --count=N   models of all blocks (1,000)
//   --first=N   the first seed (1)
//   --blocks=N  the blocks they are divided into (8)
//   --only=N    that seed alone, and what its model is
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/graphs/run_model.h"
#include "tests/graphs/shrink.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

constexpr int kBlocks = 8;  // By default, and at most.
// Models that fail, and how often each is tried in parts.
constexpr int kMostShrunk = 3, kMostTried = 60;
// Of fewer models shares mean nothing.
constexpr uint64_t kLeastBlock = 50;
constexpr const char* kConfigs[] = {"h256", "h512", "h1024"};

uint64_t g_first = 1, g_count = 1000, g_blocks = kBlocks, g_only = 0;

ModelRunner& RunnerOf(uint64_t seed) {
  static auto* const runners =
      new std::map<std::string, std::unique_ptr<ModelRunner>>();
  const std::string config = kConfigs[seed / 50 % 3];
  auto& runner = (*runners)[config];
  if (runner == nullptr) runner = std::make_unique<ModelRunner>(config);
  return *runner;
}

// In which way it fails.
std::string WayOf(const absl::Status& status) {
  return std::string(status.message().substr(0, status.message().find(':')));
}

void RunOne(uint64_t seed, Shares* shares) {
  const RandomModel model = MakeRandomModel(seed);
  if (g_only != 0) std::printf("%s\n", TextOf(model).c_str());
  ModelRunner& runner = RunnerOf(seed);
  const int scans = shares->scans;
  const absl::Status status = runner.Run(model, shares);
  if (status.ok()) {
    EXPECT_EQ(shares->scans, scans + (model.long_scan ? 1 : 0)) << seed;
    return;
  }
  static int shrunk = 0;
  std::string text;
  if (shrunk++ < kMostShrunk) {
    const RandomModel small = Shrink(
        model,
        [&](const RandomModel& candidate) {
          Shares ignored;
          const absl::Status again = runner.Run(candidate, &ignored);
          return !again.ok() && WayOf(again) == WayOf(status);
        },
        kMostTried);
    Shares ignored;
    text = absl::StrCat(
        "a part of it fails, too: ", runner.Run(small, &ignored).message(),
        "\n", TextOf(small));
  }
  ADD_FAILURE()
      << "seed " << seed << ": " << status
      << "\nrepeat it: ./dev test --test_output=all --test_arg=--only=" << seed
      << " //tests/graphs:random_graphs_test\n"
      << text;
}

// What a block must have, by its models.
void ExpectShares(const Shares& s, uint64_t size) {
  const auto expect = [&](const char* what, int count, double least) {
    EXPECT_GE(count, least * static_cast<double>(size)) << what;
  };
  expect("models that pass", s.models, 1);
  expect("with nodes on the host and on the card", s.host, 0.9);
  expect("with control flow that the run decides", s.decided, 0.25);
  expect("with bodies on the card", s.card_bodies, 0.2);
  expect("with control flow that folds", s.folded, 0.25);
  expect("with outputs whose size the run decides", s.bounded, 0.1);
  expect("of several sizes", s.symbolic, 0.24);
  expect("of several sizes, by cost", s.by_cost, 0.1);
  expect("runs of a size that was compiled before", s.exact, 0.2);
  expect("runs of a size that is compiled then", s.compiled, 0.1);
  expect("runs of a size that is padded", s.padded, 0.02);
  expect("outputs compared with ONNX Runtime", s.compared, 8);
  EXPECT_LE(s.left_out, 0.04 * static_cast<double>(size));
}

class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, AreTheSameByEveryWay) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Shares shares;
  if (g_only != 0) {
    if (GetParam() == 0) RunOne(g_only, &shares);
    return;
  }
  if (static_cast<uint64_t>(GetParam()) >= g_blocks) {
    GTEST_SKIP() << "no such block";
  }
  const uint64_t size = g_count / g_blocks;
  ASSERT_GT(size, 0u) << "--count is smaller than the number of blocks";
  const uint64_t first = g_first + GetParam() * size;
  for (uint64_t seed = first; seed < first + size; ++seed) {
    RunOne(seed, &shares);
  }
  std::printf("seeds %llu to %llu: %s\n",
              static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + size - 1),
              shares.ToString().c_str());
  if (size >= kLeastBlock) ExpectShares(shares, size);
}

// Without the bounds of what is not exact some models fail.
TEST(RandomGraphsRunner, LooksAtTheBounds) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  int failed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomModel model = MakeRandomModel(seed);
    for (Value& output : model.outputs) output.error = 0;
    Shares ignored;
    const absl::Status status = RunnerOf(1).Run(model, &ignored);
    if (status.ok()) continue;
    EXPECT_EQ(WayOf(status), "against ONNX Runtime");
    ++failed;
  }
  EXPECT_GT(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(Blocks, RandomGraphs, testing::Range(0, kBlocks));

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](const char* name, uint64_t* to) {
      if (argument.rfind(name, 0) == 0) {
        *to = std::strtoull(argument.c_str() + std::string(name).size(),
                            nullptr, 10);
      }
    };
    value("--first=", &g_first);
    value("--count=", &g_count);
    value("--blocks=", &g_blocks);
    value("--only=", &g_only);
  }
  if (g_blocks < 1 || g_blocks > kBlocks) {
    std::fprintf(stderr, "--blocks is 1 to %d\n", kBlocks);
    return 2;
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
