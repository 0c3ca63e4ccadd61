// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/required_version.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rtl/spec/generated/isa.h"
#include "rtl/spec/version.h"

namespace heddle::compiler {
namespace {

uint32_t Minor(const std::vector<uint32_t>& words,
               const std::vector<isa::MicroInstruction>& program = {}) {
  std::vector<uint8_t> bytes(8 * program.size());
  for (size_t i = 0; i < program.size(); ++i) {
    const uint64_t word = program[i].Encode();
    std::memcpy(&bytes[8 * i], &word, sizeof(word));
  }
  bytes.resize(bytes.size() + 64);  // as between programs
  const uint32_t version = RequiredVersion(words, {{0, bytes}});
  EXPECT_EQ(reg::MajorOf(version), reg::MajorOf(reg::kVersionReset));
  return reg::MinorOf(version);
}

std::vector<uint32_t> Words(const isa::Command& command) {
  std::vector<uint32_t> words;
  isa::Append(isa::Nop(), &words);
  isa::Append(command, &words);
  isa::Append(isa::End(), &words);
  return words;
}

TEST(RequiredVersion, OfCommands) {
  EXPECT_EQ(Minor(Words(isa::Conv())), 0u);
  isa::Vrun run;
  EXPECT_EQ(Minor(Words(run)), 0u);
  run.a_type = isa::ElementType::kU16;
  EXPECT_EQ(Minor(Words(run)), 1u);
  run.a_type = isa::ElementType::kU8;
  run.pick_a = true;
  EXPECT_EQ(Minor(Words(run)), 1u);
  isa::Vmac mac;
  EXPECT_EQ(Minor(Words(mac)), 0u);
  mac.clamp = true;
  EXPECT_EQ(Minor(Words(mac)), 1u);
}

TEST(RequiredVersion, OfMicroprograms) {
  isa::MicroInstruction op;
  op.op = isa::MicroOp::kFadd;
  EXPECT_EQ(Minor(Words(isa::Vrun()), {op}), 0u);
  isa::MicroInstruction later = op;
  later.op = isa::MicroOp::kIdiv;
  EXPECT_EQ(Minor(Words(isa::Vrun()), {op, later, op}), 1u);
}

}  // namespace
}  // namespace heddle::compiler
