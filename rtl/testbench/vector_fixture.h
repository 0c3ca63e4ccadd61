// SPDX-License-Identifier: Apache-2.0
//
// The vector engine and the functional model, side by side: what a command does
// on both, and what ordinary ones cost (for hd_vector_engine_test).
#ifndef HEDDLE_RTL_TESTBENCH_VECTOR_FIXTURE_H_
#define HEDDLE_RTL_TESTBENCH_VECTOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "Vhd_vector_engine.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/vector_bench.h"
#include "simulator/model/model.h"
#include "simulator/model/random_command.h"

namespace heddle::rtl {
namespace {

using isa::Destination;
using isa::ElementType;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

using Bench = VectorBench<Vhd_vector_engine>;
using Outcome = VectorOutcome;
constexpr uint32_t kWords = Bench::kWords;

// A bench and the model beside it.
class Pair {
 public:
  explicit Pair(uint32_t stall_percent = 0, uint64_t seed = 1)
      : bench_(stall_percent, seed),
        memory_(dram_, sizeof(dram_)),
        model_(isa::kConfigs[0], &memory_, Options()) {}

  static model::Options Options() {
    model::Options o;
    o.implementation = model::Implementation::kReference;
    return o;
  }

  void Fill(const std::vector<uint8_t>& bytes) {
    std::memcpy(bench_.sram(), bytes.data(), bytes.size());
    std::memcpy(model_.sram(), bytes.data(), bytes.size());
  }
  void Poke(uint64_t at, const void* from, size_t n) {
    std::memcpy(bench_.sram() + at, from, n);
    std::memcpy(model_.sram() + at, from, n);
  }
  Bench& bench() { return bench_; }
  uint8_t* sram() { return model_.sram(); }

  // Runs it on both; true if they agree.
  bool Agree(const isa::Command& command, const std::string& what,
             Outcome* outcome = nullptr) {
    std::vector<uint32_t> stream(kWords + 4);
    size_t words = 0;
    std::visit(
        [&](const auto& c) {
          c.Encode(stream.data());
          words = c.kWords;
        },
        command);
    isa::End().Encode(&stream[words]);
    const model::RegionTable regions = {};
    const model::RunResult expected =
        model_.Run(stream.data(), 4 * (words + 4), regions);
    const Outcome got = bench_.Run(command);
    if (outcome != nullptr) *outcome = got;
    const bool faults = expected.status != isa::Error::kOk;
    EXPECT_EQ(got.fault, faults) << what;
    if (got.fault != faults) return false;
    if (faults) {
      EXPECT_EQ(got.code, expected.status) << what;
      EXPECT_EQ(got.address, expected.fault_address) << what;
      // What was written is undefined.
      std::memcpy(bench_.sram(), model_.sram(), model_.sram_bytes());
      return got.code == expected.status &&
             got.address == expected.fault_address;
    }
    EXPECT_EQ(got.macs, expected.macs) << what;
    EXPECT_TRUE(bench_.model().violations().empty());
    if (std::memcmp(bench_.sram(), model_.sram(), model_.sram_bytes()) == 0) {
      return got.macs == expected.macs;
    }
    size_t shown = 0;
    for (size_t i = 0; i < model_.sram_bytes() && shown < 10; ++i) {
      if (bench_.sram()[i] == model_.sram()[i]) continue;
      ++shown;
      ADD_FAILURE() << what << ": byte " << i << " is " << int{bench_.sram()[i]}
                    << ", not " << int{model_.sram()[i]};
    }
    return false;
  }

 private:
  uint8_t dram_[64] = {};
  Bench bench_;
  model::FlatMemory memory_;
  model::Model model_;
};

constexpr uint32_t kProgramAt = 500 * 1024;

MicroInstruction Op(MicroOp op, Destination d, Operand a,
                    Operand b = Operand::kV0, Operand c = Operand::kV0,
                    uint32_t imm = 0) {
  MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  m.c = c;
  m.imm = imm;
  return m;
}

struct Program {
  std::vector<MicroInstruction> prologue, body, epilogue;
};

isa::Stream Stream(uint32_t base, ElementType type, int32_t lane,
                   int32_t o1 = 0, int32_t o2 = 0, int32_t r1 = 0) {
  isa::Stream s;
  s.base = base;
  s.type = type;
  s.lane_stride = lane;
  s.o1_stride = o1;
  s.o2_stride = o2;
  s.r1_stride = r1;
  return s;
}

class Shapes : public testing::Test {
 protected:
  Shapes() {
    model::CommandGenerator generator(isa::kConfigs[0], 4096, 5);
    pair_.Fill(generator.Data(isa::kConfigs[0].sram_bytes));
  }
  isa::Vrun Load(const Program& p) {
    uint32_t at = kProgramAt;
    for (const auto* section : {&p.prologue, &p.body, &p.epilogue}) {
      for (const MicroInstruction& m : *section) {
        const uint64_t word = m.Encode();
        pair_.Poke(at, &word, 8);
        at += 8;
      }
    }
    isa::Vrun c;
    c.prog_addr = kProgramAt / 16;
    c.prologue = static_cast<uint32_t>(p.prologue.size());
    c.body = static_cast<uint32_t>(p.body.size());
    c.epilogue = static_cast<uint32_t>(p.epilogue.size());
    c.store = isa::StoreMode::kBody;
    return c;
  }
  // Cycles per 16 elements (vrun), or the part of the multipliers at work.
  double Cost(const isa::Command& command, const std::string& what,
              double vectors) {
    Outcome o;
    EXPECT_TRUE(pair_.Agree(command, what, &o));
    const double cost = static_cast<double>(o.cycles) / vectors;
    std::printf("%-44s %8llu cycles %7.2f per vector\n", what.c_str(),
                static_cast<unsigned long long>(o.cycles), cost);
    return cost;
  }
  double Use(const isa::Vmac& command, const std::string& what) {
    Outcome o;
    EXPECT_TRUE(pair_.Agree(command, what, &o));
    const double use =
        static_cast<double>(o.macs) / 16.0 / static_cast<double>(o.cycles);
    std::printf("%-44s %8llu cycles %6.1f %% of 16 MAC\n", what.c_str(),
                static_cast<unsigned long long>(o.cycles), 100 * use);
    return use;
  }
  Pair pair_;
};

constexpr ElementType kF32 = ElementType::kF32;
constexpr ElementType kU8 = ElementType::kU8;

}  // namespace
}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_TESTBENCH_VECTOR_FIXTURE_H_
