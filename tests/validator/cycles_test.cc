// SPDX-License-Identifier: Apache-2.0
// The validator's bound of run time against the RTL: random streams and whole
// networks take no more cycles than it says, and networks not absurdly fewer.
//
//   cycles_test [--streams=N] [--seed=S] [--most=RATIO] [--estimate]
//               [NETWORK | MODEL.onnx ...]
//
// --estimate: networks are not run, but compared with the compiler's estimate,
// which //tests/lockstep:rtl_bench_test holds to 5 % of the RTL.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/networks.h"
#include "kmd/hosted/validate_stream.h"
#include "simulator/model/random_stream.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::validator {
namespace {

uint64_t streams = 24;
uint64_t first_seed = 1;
double most = 10;
bool estimate = false;
std::vector<std::string> networks;

uint64_t BoundOf(const isa::Config& config,
                 const std::vector<uint32_t>& words) {
  heddle_validate_result facts;
  EXPECT_TRUE(hosted::ValidateStream(config.id, words, &facts))
      << "error " << facts.error << " at " << facts.offset;
  return facts.max_cycles;
}

uint64_t CyclesOf(rtl::CoreModel* core, const model::RandomStream& stream,
                  const std::vector<uint32_t>& words) {
  std::vector<uint8_t> memory = stream.dram;
  const uint64_t address = (memory.size() + isa::kStreamAlign - 1) /
                           isa::kStreamAlign * isa::kStreamAlign;
  const uint64_t bytes = words.size() * 4;
  memory.resize(address + bytes);
  std::memcpy(&memory[address], words.data(), bytes);
  core->memory()->Attach(memory.data(), memory.size());
  core->ClearSram();
  platform::CoreRequest request;
  request.stream_address = address;
  request.stream_bytes = bytes;
  std::copy(std::begin(stream.regions), std::end(stream.regions),
            std::begin(request.regions));
  core->Start(request);
  while (core->busy()) core->Step(1 << 20);
  const platform::CoreResult result = core->result();
  EXPECT_EQ(result.run.status, isa::Error::kOk);
  return result.cycles;
}

// Streams of a few commands, every third of one kind alone. They begin with a
// load of all of SRAM, whose time is taken away on both sides: it would hide
// what is too low for the others.
TEST(ValidatorCycles, RandomStreamsTakeNoLonger) {
  double nearest = 0;
  for (const isa::Config& config : isa::kConfigs) {
    auto core = rtl::MakeCore(config);
    ASSERT_TRUE(core.ok()) << core.status();
    for (uint64_t i = 0; i < streams; ++i) {
      model::RandomStreamOptions options;
      options.config = config;
      options.seed = first_seed + i;
      options.commands = 1 + static_cast<int>(i % 12);
      options.vary = i % 2 == 1;
      const char* const kinds[] = {"conv", "vrun", "vmac", "load", "store"};
      if (i % 3 == 0) options.kinds = {kinds[i / 3 % 5]};
      const model::RandomStream stream = model::MakeRandomStream(options);
      std::vector<uint32_t> first(stream.words.begin(),
                                  stream.words.begin() + isa::Load::kWords);
      isa::Append(isa::End(), &first);
      const uint64_t cycles = CyclesOf(core->get(), stream, stream.words) -
                              CyclesOf(core->get(), stream, first);
      const uint64_t bound =
          BoundOf(config, stream.words) - BoundOf(config, first);
      EXPECT_LE(cycles, bound) << config.name << ", seed " << options.seed;
      nearest = std::max(
          nearest, static_cast<double>(cycles) / static_cast<double>(bound));
    }
  }
  std::printf("random streams: at most %.0f %% of the bound\n", 100 * nearest);
}

TEST(ValidatorCycles, NetworksTakeNoLongerAndNotMuchLess) {
  for (const std::string& name : networks) {
    for (const isa::Config& config : isa::kConfigs) {
      auto model = compiler::NetworkOrFile(name);
      ASSERT_TRUE(model.ok()) << model.status();
      compiler::CompileOptions options;
      options.config = config.name;
      auto compiled = compiler::CompileOnnx(*model, options);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const package::Package package = *package::Parse(compiled->package);
      uint64_t bound = 0;
      for (const auto& stream : package.streams) {
        bound += BoundOf(config, stream);
      }
      uint64_t cycles = package.estimated_cycles;
      if (!estimate) {
        lockstep::RunOptions run_options;
        run_options.look = false;
        auto run = lockstep::RunOnCore(package, lockstep::InputsFor(package),
                                       run_options);
        ASSERT_TRUE(run.ok()) << run.status();
        cycles = run->cycles;
      }
      const double ratio =
          static_cast<double>(bound) / static_cast<double>(cycles);
      std::printf("%-16s %-6s %12.0f cycles, bound %.2f times that\n",
                  name.substr(name.rfind('/') + 1).c_str(), config.name,
                  static_cast<double>(cycles), ratio);
      EXPECT_GE(ratio, 1) << name << " on " << config.name;
      EXPECT_LE(ratio, most) << name << " on " << config.name;
    }
  }
}

}  // namespace
}  // namespace heddle::validator

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    bool good = true;
    if (absl::ConsumePrefix(&arg, "--streams=")) {
      good = absl::SimpleAtoi(arg, &heddle::validator::streams);
    } else if (absl::ConsumePrefix(&arg, "--seed=")) {
      good = absl::SimpleAtoi(arg, &heddle::validator::first_seed);
    } else if (absl::ConsumePrefix(&arg, "--most=")) {
      good = absl::SimpleAtod(arg, &heddle::validator::most);
    } else if (arg == "--estimate") {
      heddle::validator::estimate = true;
    } else {
      good = arg.empty() || arg[0] != '-';
      heddle::validator::networks.emplace_back(arg);
    }
    if (!good) {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
