// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Named cases of the validator; its main test is tests/validator (oracle).
extern "C" {
#include "kmd/core/heddle_validate.h"

#include "heddle_hw.h"
}
#include <errno.h>

#include <vector>

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"

namespace {

using heddle::isa::SetField;

// A command with all fields at their defaults, to be changed by name.
class Cmd {
 public:
  explicit Cmd(const char* mnemonic)
      : info_(heddle::isa::FindCommandByMnemonic(mnemonic)),
        words_(info_->words) {
    for (size_t i = 0; i < info_->num_fields; ++i) {
      const auto& f = info_->fields[i];
      SetField(f, f.fixed ? static_cast<uint32_t>(f.min) : f.default_bits,
               words_.data());
    }
  }
  Cmd& Set(const std::string& name, uint32_t value) {
    for (size_t i = 0; i < info_->num_fields; ++i) {
      if (name == info_->fields[i].name) {
        SetField(info_->fields[i], value, words_.data());
        return *this;
      }
    }
    ADD_FAILURE() << "no field " << name;
    return *this;
  }
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  const heddle::isa::CommandInfo* info_;
  std::vector<uint32_t> words_;
};

heddle_validate_result Validate(const std::vector<Cmd>& commands,
                                bool end = true) {
  std::vector<uint32_t> words;
  for (const Cmd& c : commands)
    words.insert(words.end(), c.words().begin(), c.words().end());
  if (end) {
    const Cmd e("end");
    words.insert(words.end(), e.words().begin(), e.words().end());
  }
  heddle_validate_result r;
  const int err = heddle_validate(heddle_find_config(HEDDLE_CONFIG_H256),
                                  words.data(), words.size() * 4, &r);
  EXPECT_EQ(err, r.error == HEDDLE_VALIDATE_OK ? 0 : -ENOEXEC);
  return r;
}

TEST(HeddleValidate, AcceptsTheShortestStream) {
  const auto r = Validate({});
  EXPECT_EQ(r.error, HEDDLE_VALIDATE_OK);
  EXPECT_EQ(r.commands, 1u);
  EXPECT_EQ(r.used, 0u);
}

TEST(HeddleValidate, RefusesSizesThatNoStreamHas) {
  heddle_validate_result r;
  const uint32_t words[8] = {};
  const auto* config = heddle_find_config(HEDDLE_CONFIG_H256);
  for (size_t bytes : {size_t{0}, size_t{4}, size_t{20},
                       size_t{HEDDLE_STREAM_BYTES_MAX} + 16}) {
    EXPECT_EQ(heddle_validate(config, words, bytes, &r), -ENOEXEC);
    EXPECT_EQ(r.error, HEDDLE_VALIDATE_SIZE);
  }
  EXPECT_EQ(heddle_find_config(0), nullptr);
  EXPECT_EQ(heddle_find_config(99), nullptr);
}

TEST(HeddleValidate, WantsOneEndAtTheEnd) {
  EXPECT_EQ(Validate({Cmd("nop")}, false).error, HEDDLE_VALIDATE_END);
  EXPECT_EQ(Validate({Cmd("end")}).error, HEDDLE_VALIDATE_END);
  EXPECT_EQ(Validate({Cmd("end"), Cmd("nop")}, false).error,
            HEDDLE_VALIDATE_END);
}

TEST(HeddleValidate, RefusesACommandCutByTheEnd) {
  std::vector<uint32_t> words = Cmd("load").words();
  heddle_validate_result r;
  for (size_t n = 4; n < words.size(); n += 4) {
    // Memory of that size only: reading on is seen by the address sanitizer.
    std::vector<uint32_t> cut(words.begin(), words.begin() + n);
    heddle_validate(heddle_find_config(HEDDLE_CONFIG_H256), cut.data(), n * 4,
                    &r);
    EXPECT_EQ(r.error, HEDDLE_VALIDATE_TRUNCATED) << n;
  }
}

TEST(HeddleValidate, RefusesWrongOpcodesLengthsAndReservedBits) {
  for (uint32_t op = 0; op < 256; ++op) {
    Cmd c("nop");
    c.Set("opcode", op);
    const bool known = heddle::isa::FindCommand(op) != nullptr;
    EXPECT_EQ(Validate({c}).error == HEDDLE_VALIDATE_OPCODE, !known) << op;
  }
  EXPECT_EQ(Validate({Cmd("nop").Set("words", 5)}).error,
            HEDDLE_VALIDATE_LENGTH);
  std::vector<uint32_t> words = Cmd("end").words();
  words[2] |= 1u << 31;
  heddle_validate_result r;
  heddle_validate(heddle_find_config(HEDDLE_CONFIG_H256), words.data(), 16, &r);
  EXPECT_EQ(r.error, HEDDLE_VALIDATE_RESERVED);
}

TEST(HeddleValidate, ComputesExtentsOfTransfers) {
  const auto r = Validate(
      {Cmd("load")
           .Set("region", 3)
           .Set("dram_offset", 100)
           .Set("n0", 10)
           .Set("s0", 1000)
           .Set("t0", 1),
       Cmd("store").Set("region", 15).Set("n3", 65535).Set("s3", ~0u)});
  EXPECT_EQ(r.error, HEDDLE_VALIDATE_OK);
  EXPECT_EQ(r.used, 1u << 3 | 1u << 15);
  EXPECT_EQ(r.written, 1u << 15);
  EXPECT_EQ(r.end[3], 100u + 9 * 1000 + 1);
  EXPECT_EQ(r.end[15], 65534ull * 0xffffffff + 1);
}

TEST(HeddleValidate, GathersReachEveryRowBelowTheBound) {
  Cmd c("load.gather");
  c.Set("region", 2)
      .Set("bound", 1000)
      .Set("s1", 64)
      .Set("n0", 64)
      .Set("t1", 64);
  const auto r = Validate({c});
  EXPECT_EQ(r.end[2], 1000u * 64);
  c.Set("bound", ~0u).Set("s1", ~0u);
  EXPECT_EQ(Validate({c}).error, HEDDLE_VALIDATE_REGION) << "2^64 does not fit";
  c.Set("bound", 1).Set("index_addr", 2);
  EXPECT_EQ(Validate({c}).error, HEDDLE_VALIDATE_RULE);
}

TEST(HeddleValidate, KeepsTransfersInSram) {
  const uint32_t top = heddle_find_config(HEDDLE_CONFIG_H256)->sram_bytes;
  EXPECT_EQ(Validate({Cmd("fill").Set("sram_addr", top - 1)}).error,
            HEDDLE_VALIDATE_OK);
  EXPECT_EQ(Validate({Cmd("fill").Set("sram_addr", top)}).error,
            HEDDLE_VALIDATE_SRAM);
  EXPECT_EQ(Validate({Cmd("fill").Set("n0", 2).Set("t0", top)}).error,
            HEDDLE_VALIDATE_SRAM);
  EXPECT_EQ(
      Validate({Cmd("fill").Set("elem_log2", 2).Set("sram_addr", 2)}).error,
      HEDDLE_VALIDATE_RULE);
  EXPECT_EQ(Validate({Cmd("fill").Set("elem_log2", 3)}).error,
            HEDDLE_VALIDATE_FIELD);
  EXPECT_EQ(Validate({Cmd("fill").Set("n0", 0)}).error, HEDDLE_VALIDATE_FIELD);
}

TEST(HeddleValidate, FollowsSemaphoresInProgramOrder) {
  auto give = [](uint32_t n) {
    return Cmd("fill")
        .Set("signal0_enable", 1)
        .Set("signal0_sem", 31)
        .Set("signal0_count", n);
  };
  auto take = [](uint32_t n) {
    return Cmd("fill")
        .Set("wait1_enable", 1)
        .Set("wait1_sem", 31)
        .Set("wait1_count", n);
  };
  EXPECT_EQ(Validate({give(2), take(2)}).error, HEDDLE_VALIDATE_OK);
  EXPECT_EQ(Validate({take(1), give(1)}).error, HEDDLE_VALIDATE_WAIT);
  EXPECT_EQ(Validate({give(2), take(2), take(1)}).error, HEDDLE_VALIDATE_WAIT);
  EXPECT_EQ(Validate({give(255)}).error, HEDDLE_VALIDATE_OK);
  EXPECT_EQ(Validate({give(255), give(1)}).error, HEDDLE_VALIDATE_SIGNAL);
  EXPECT_EQ(Validate({give(255), take(255), give(255)}).error,
            HEDDLE_VALIDATE_OK);
  EXPECT_EQ(Validate({Cmd("barrier").Set("signal0_enable", 1)}).error,
            HEDDLE_VALIDATE_RULE);
  EXPECT_EQ(Validate({Cmd("sync.load").Set("signal0_enable", 1)}).error,
            HEDDLE_VALIDATE_OK);
  EXPECT_EQ(
      Validate(
          {Cmd("sync.load").Set("signal0_enable", 1).Set("signal1_enable", 1)})
          .error,
      HEDDLE_VALIDATE_RULE);
}

TEST(HeddleValidate, SeesNegativeStrides) {
  Cmd c("vrun");
  c.Set("enable_a", 1).Set("lanes", 4).Set("a_lane_stride", 0xffffff);
  EXPECT_EQ(Validate({c}).error, HEDDLE_VALIDATE_SRAM) << "bytes -3 .. 0";
  EXPECT_EQ(Validate({c.Set("a_base", 3)}).error, HEDDLE_VALIDATE_OK);
}

TEST(HeddleValidate, ComparesWithWhatIsBound) {
  heddle_validate_result r = {};
  u64 sizes[HEDDLE_REGIONS] = {};
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 0), 0);
  r.used = 1u << 5;
  r.end[5] = 100;
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 0), -ERANGE);
  sizes[5] = 99;
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 0), -ERANGE);
  sizes[5] = 100;
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 0), 0);
  r.written = 1u << 5;
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 1u << 4), -ERANGE);
  EXPECT_EQ(heddle_validate_binding(&r, sizes, 1u << 5), 0);
}

}  // namespace
