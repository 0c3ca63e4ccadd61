// SPDX-License-Identifier: Apache-2.0
// Lockstep itself: it is silent about a core that is right, and it finds every
// kind of fault in it, in the right command.
#include "tests/lockstep/lockstep.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "simulator/model/random_stream.h"
#include "simulator/rtl/fake_core.h"
#include "tests/lockstep/coverage_model.h"

namespace heddle::lockstep {
namespace {

using rtl::FakeCore;
using rtl::InjectedFault;

Program RandomProgram(uint64_t seed, const isa::Config& config, int commands) {
  model::RandomStreamOptions options;
  options.seed = seed;
  options.config = config;
  options.commands = commands;
  model::RandomStream stream = model::MakeRandomStream(options);
  Program program;
  program.words = stream.words;
  std::copy(std::begin(stream.regions), std::end(stream.regions),
            program.regions);
  program.memory = std::move(stream.dram);
  return program;
}

// The commands of a program: opcode and offset of each.
struct Listed {
  isa::Opcode opcode;
  uint32_t offset;
};
std::vector<Listed> List(const Program& program) {
  std::vector<Listed> list;
  for (size_t at = 0; at < program.words.size();) {
    const isa::CommandInfo* info =
        isa::FindCommand(isa::OpcodeOf(program.words[at]));
    list.push_back({info->opcode, static_cast<uint32_t>(at * 4)});
    at += info->words;
  }
  return list;
}

TEST(Lockstep, AgreesWithACoreThatIsRight) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const isa::Config& config = isa::kConfigs[seed % isa::kNumConfigs];
    const Program program = RandomProgram(seed, config, 200);
    FakeCore core(config, {});
    core.Overlap(seed % 2 == 0);
    Lockstep lockstep(&core);
    EXPECT_EQ(lockstep.Run(program).divergence, "") << seed;
    // Again on the same core: SRAM is cleared.
    EXPECT_EQ(lockstep.Run(program).divergence, "") << seed;
  }
}

TEST(Lockstep, FaultsAreEqual) {
  const isa::Config& config = isa::kH256;
  Program program = RandomProgram(3, config, 60);
  const std::vector<Listed> list = List(program);
  FakeCore core(config, {});
  Lockstep lockstep(&core);
  int faults = 0;
  for (size_t i = 1; i < list.size(); i += 7) {
    Program bad = program;
    bad.words[list[i].offset / 4 + 1] |= 0xf0000000;  // reserved bits
    const Outcome outcome = lockstep.Run(bad);
    EXPECT_EQ(outcome.divergence, "");
    EXPECT_EQ(outcome.result.run.status, isa::Error::kIllegalCommand);
    EXPECT_EQ(outcome.result.run.fault_offset, list[i].offset);
    ++faults;
  }
  EXPECT_GT(faults, 5);
}

// Which commands of a program write, or read, something, by the model.
std::vector<bool> Users(bool write, const Program& program,
                        const isa::Config& config) {
  NotingMemory memory(program.memory);
  model::Model model(config, &memory);
  std::vector<bool> users;
  const std::vector<Listed> list = List(program);
  const auto sram_bytes = [&](size_t i) {
    const size_t at = list[i].offset / 4;
    SramPlaces places = SramPlacesOf(
        config, *isa::DecodeAny(&program.words[at], program.words.size() - at),
        model.sram());
    places.writes.Take(model.sram());
    return write ? places.writes.bytes() : places.reads.size();
  };
  uint64_t sram = sram_bytes(0);
  model.Run(program.words.data(), program.words.size() * 4, program.regions,
            [&](uint64_t n) {
              const uint64_t moved = write ? memory.TakeEffect().bytes()
                                           : memory.TakeReads().size();
              users.push_back(sram > 0 || moved > 0);
              if (n < list.size()) sram = sram_bytes(n);
              return true;
            });
  return users;
}

TEST(Lockstep, FindsEveryInjectedFaultInItsCommand) {
  using Kind = InjectedFault::Kind;
  int found = 0;
  for (uint64_t seed = 11; seed <= 12; ++seed) {
    const isa::Config& config = isa::kConfigs[seed % isa::kNumConfigs];
    const Program program = RandomProgram(seed, config, 60);
    const std::vector<Listed> list = List(program);
    const std::vector<bool> writers = Users(true, program, config);
    const std::vector<bool> readers = Users(false, program, config);
    for (Kind kind : {Kind::kWrongByte, Kind::kLostWrite, Kind::kStrayWrite,
                      Kind::kEarlyDone, Kind::kLostRead, Kind::kStrayRead,
                      Kind::kEarlyRead}) {
      const std::vector<bool>& users =
          kind < Kind::kLostRead ? writers : readers;
      for (size_t i = seed % 9; i < list.size(); i += 9) {
        if (!users[i]) continue;
        FakeCore core(config, {});
        core.Inject({kind, i});
        Lockstep lockstep(&core);
        const std::string got = lockstep.Run(program).divergence;
        // A stray write to a place that the command writes anyway is none.
        if (got.empty() && kind == Kind::kStrayWrite) continue;
        // Nor is there a stray read where all of SRAM is used.
        if (got.empty() && kind == Kind::kStrayRead) continue;
        EXPECT_TRUE(absl::StrContains(
            got, absl::StrCat("command ", i, " at offset ", list[i].offset)))
            << "kind " << static_cast<int>(kind) << " in command " << i << ": "
            << got;
        ++found;
      }
    }
  }
  EXPECT_GT(found, 60);
}

TEST(Lockstep, FindsWrongResults) {
  const Program program = RandomProgram(21, isa::kH512, 40);
  for (InjectedFault::Kind kind :
       {InjectedFault::Kind::kMoreMacs, InjectedFault::Kind::kWrongStatus}) {
    FakeCore core(isa::kH512, {});
    core.Inject({kind, 0});
    Lockstep lockstep(&core);
    EXPECT_TRUE(absl::StrContains(lockstep.Run(program).divergence,
                                  "the results differ"));
  }
  const std::pair<InjectedFault::Kind, const char*> counters[] = {
      {InjectedFault::Kind::kMatrixBusy, "matrix_busy: expected"},
      {InjectedFault::Kind::kVectorBusy, "vector_busy: expected"},
      {InjectedFault::Kind::kDmaBusy, "dma_busy: expected"}};
  for (const auto& [kind, name] : counters) {
    FakeCore core(isa::kH512, {});
    core.Inject({kind, 0});
    Lockstep lockstep(&core);
    const std::string got = lockstep.Run(program).divergence;
    EXPECT_TRUE(absl::StrContains(got, name)) << got;
  }
}

TEST(Lockstep, NamesTheNode) {
  Program program = RandomProgram(31, isa::kH256, 40);
  program.node = [](uint32_t offset) { return absl::StrCat("at", offset); };
  FakeCore core(isa::kH256, {});
  core.Inject({InjectedFault::Kind::kWrongByte, 0});
  Lockstep lockstep(&core);
  const std::string got = lockstep.Run(program).divergence;
  EXPECT_TRUE(absl::StrContains(got, "node 'at0'")) << got;
  EXPECT_TRUE(absl::StrContains(got, "expected 0x")) << got;
  EXPECT_TRUE(absl::StrContains(got, "load ")) << got;
}

// The streams behind the first find what it left.
TEST(Lockstep, StreamsFollowWithoutClearing) {
  model::RandomStreamOptions options;
  options.commands = 60;
  options.streams = 3;
  options.vary = true;
  model::RandomStream stream = model::MakeRandomStream(options);
  ASSERT_EQ(stream.following.size(), 2u);
  Program program;
  program.words = stream.words;
  program.following = stream.following;
  std::copy(std::begin(stream.regions), std::end(stream.regions),
            program.regions);
  program.memory = stream.dram;
  FakeCore core(isa::kH256, {});
  Lockstep lockstep(&core);
  EXPECT_EQ(lockstep.Run(program).divergence, "");
}

TEST(CoverageModel, KnowsWhatIsMissing) {
  CoverageModel coverage;
  EXPECT_EQ(coverage.hit(), 0u);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    coverage.Count(RandomProgram(seed, isa::kH256, 200).words);
  }
  EXPECT_GT(coverage.commands(), 1000u);
  EXPECT_GT(coverage.hit(), coverage.bins() / 4);
  EXPECT_LT(coverage.hit(), coverage.bins());
  for (const auto& [kind, n] : coverage.kinds()) {
    EXPECT_TRUE(n > 0 || kind == "nop") << kind;
  }
  EXPECT_TRUE(absl::StrContains(coverage.Missing(), " largest"));
}

}  // namespace
}  // namespace heddle::lockstep
