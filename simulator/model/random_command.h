// SPDX-License-Identifier: Apache-2.0
// Random legal commands over a fixed division of the SRAM, for tests.
//
// The SRAM is divided into a data area, where commands read and write, and a
// constant area at its end that is loaded once: microprograms, indices and
// parameters whose values make sense. Everything comes from the seed.
#ifndef HEDDLE_SIMULATOR_MODEL_RANDOM_COMMAND_H_
#define HEDDLE_SIMULATOR_MODEL_RANDOM_COMMAND_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"

namespace heddle::model {

// A command without waits and signals, and what it is a case of ("conv fold
// average"): what the generator draws by weight.
struct RandomCommand {
  isa::Command command;
  std::string kind;
};

class CommandGenerator {
 public:
  // Regions 0 (read-only) and 1 (writable) of `region_bytes` each are used.
  CommandGenerator(const isa::Config& config, uint64_t region_bytes,
                   uint64_t seed);

  // Kinds 0 .. kinds()-1; Make gives a legal command of that kind that stays
  // inside the SRAM and regions and does not read what it writes, except where
  // ISA.md defines the result (vrun in place, pooling, C of vmac on D).
  static size_t kinds();
  RandomCommand Make(size_t kind);

  // Of a vrun that picks: no index that its program computes is as large.
  static constexpr uint32_t kPickBound = 128;

  // What must be in SRAM before the first command: all of it.
  std::vector<uint8_t> InitialSram();
  // Bytes whose values are useful in many types: random, moderate f32 and f16,
  // subnormals, infinities and NaNs.
  std::vector<uint8_t> Data(size_t bytes);

  const isa::Config& config() const { return config_; }
  uint64_t region_bytes() const { return region_bytes_; }
  // The data area is [0, data_bytes()); behind the constants are data again,
  // from tail() to the end of SRAM, which Make() does not write. The last word
  // holds a program at first.
  uint64_t data_bytes() const { return data_bytes_; }
  uint64_t tail() const { return config_.sram_bytes - kTailBytes; }
  // Nothing writes this SRAM word after it was loaded.
  bool IsConstant(uint32_t word) const {
    const uint64_t at = uint64_t{word} * isa::kWordBytes;
    return at >= data_bytes_ && at < tail();
  }

  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>((random_() >> 16) % n);
  }
  uint32_t Between(uint32_t low, uint32_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

 private:
  static constexpr uint64_t kTailBytes = 1024;
  struct Program {
    uint32_t first_word;  // SRAM word
    uint32_t length;
    bool a, b, c;  // streams it names
    bool pick;     // A by pick, with indices below kPickBound
    std::vector<uint64_t> code;
  };

  void MakePrograms();
  Program MakeProgram(uint32_t length, bool a, bool b, bool c, bool pick);
  template <typename T>
  bool Box(uint32_t e, uint64_t limit, const T& set, uint64_t* extent);
  isa::Command MakeTransfer(bool load);
  isa::Command MakeFill();
  isa::Command MakeIndexed(bool load);
  isa::Command MakeConv(isa::MatrixMode mode, int variant);
  void ConvInput(isa::Conv* c);
  void ConvOutput(isa::Conv* c, int variant);
  isa::Command MakeVrun(int variant);
  isa::Command MakeVmac(int variant);
  isa::Stream RandomStreamFor(isa::ElementType type, const uint32_t n[7],
                              bool distinct, bool over_r);
  uint32_t Word(uint64_t words);
  uint32_t Pick(std::initializer_list<uint32_t> values) {
    return values.begin()[Below(static_cast<uint32_t>(values.size()))];
  }
  float Scale();

  isa::Config config_;
  uint64_t region_bytes_;
  std::mt19937_64 random_;
  uint64_t data_bytes_;  // the data area is [0, data_bytes_)
  uint64_t index_address_ = 0;
  uint64_t params_[3] = {};  // 8 words, 9 words, f32 bias
  std::vector<Program> programs_;
};

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_RANDOM_COMMAND_H_
