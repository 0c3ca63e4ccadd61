// SPDX-License-Identifier: Apache-2.0
//
// The validator's C tables say the same as the C++ ones, and the C structs have
// the layout of the C++ ones.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"
#include "tools/specgen/random_command.h"

extern "C" {
#include "heddle_isa_fields.h"
}

namespace heddle {
namespace {

TEST(KernelTablesTest, CommandsAndFieldsAreThoseOfTheCxxTables) {
  ASSERT_EQ(static_cast<size_t>(HEDDLE_NUM_COMMANDS), isa::kNumCommands);
  for (uint32_t opcode = 0; opcode < 256; ++opcode) {
    const isa::CommandInfo* want = isa::FindCommand(opcode);
    const int index = heddle_isa_by_opcode[opcode];
    ASSERT_EQ(index != 0, want != nullptr) << opcode;
    if (want == nullptr) continue;
    const heddle_isa_command& got = heddle_isa_commands[index - 1];
    EXPECT_EQ(got.opcode, opcode);
    EXPECT_EQ(got.words, want->words);
    EXPECT_EQ(got.engine, static_cast<uint32_t>(want->engine));
    ASSERT_EQ(got.num_fields, want->num_fields);
    EXPECT_EQ(std::memcmp(got.reserved, want->reserved, 4 * got.words), 0);
    for (size_t i = 0; i < want->num_fields; ++i) {
      const heddle_isa_field& g = got.fields[i];
      const isa::FieldInfo& w = want->fields[i];
      EXPECT_STREQ(g.name, w.name);
      EXPECT_EQ(g.word, w.word);
      EXPECT_EQ(g.lsb, w.lsb);
      EXPECT_EQ(g.bits, w.bits);
      EXPECT_EQ(g.min, w.min);
      EXPECT_EQ(g.max, w.max);
      EXPECT_EQ((g.flags & HEDDLE_FIELD_NONZERO) != 0, w.nonzero);
      EXPECT_EQ((g.flags & HEDDLE_FIELD_SIGNED) != 0,
                w.type == isa::FieldType::kInt);
      EXPECT_EQ(g.kind == HEDDLE_KIND_ENUM, w.enum_info != nullptr);
      for (uint32_t v = 0; w.enum_info != nullptr && v < 64; ++v) {
        EXPECT_EQ((g.legal >> v & 1) != 0,
                  std::string(isa::NameOf(*w.enum_info, v)) != "?");
      }
    }
  }
}

TEST(KernelTablesTest, AccessorsReadTheFields) {
  std::mt19937 rng(1);
  for (int i = 0; i < 500; ++i) {
    std::vector<uint32_t> w =
        specgen::RandomCommand(*isa::FindCommand(HEDDLE_OP_CONV), &rng);
    const isa::Conv conv = isa::Conv::Decode(w.data(), w.size()).value();
    EXPECT_EQ(heddle_conv_in_addr(w.data()), conv.in_addr);
    EXPECT_EQ(heddle_conv_za(w.data()), conv.za);
    EXPECT_EQ(heddle_conv_zw(w.data()), conv.zw);
    EXPECT_EQ(heddle_conv_pad_left(w.data()), conv.pad_left);
    EXPECT_EQ(heddle_conv_pool(w.data()), static_cast<uint32_t>(conv.pool));
    EXPECT_EQ(heddle_header_wait0_sem(w.data()), conv.header.wait0_sem);
    w = specgen::RandomCommand(*isa::FindCommand(HEDDLE_OP_VRUN), &rng);
    const isa::Vrun vrun = isa::Vrun::Decode(w.data(), w.size()).value();
    EXPECT_EQ(heddle_vrun_d_o3_stride(w.data()), vrun.d_o3_stride);
    EXPECT_EQ(heddle_stream_o3_stride(w.data() + HEDDLE_VRUN_D_WORD),
              vrun.d_o3_stride);
    EXPECT_EQ(heddle_stream_base(w.data() + HEDDLE_VRUN_B_WORD), vrun.b_base);
  }
}

TEST(KernelTablesTest, StructsRegistersConfigsAndErrorsAgree) {
  EXPECT_EQ(sizeof(heddle_job_descriptor), sizeof(desc::JobDescriptor));
  EXPECT_EQ(sizeof(heddle_step), sizeof(desc::Step));
  EXPECT_EQ(sizeof(heddle_completion), sizeof(desc::Completion));
  EXPECT_EQ(offsetof(heddle_completion, sequence),
            offsetof(desc::Completion, sequence));
  EXPECT_EQ(static_cast<uint32_t>(HEDDLE_REG_INT_STATUS),
            reg::kIntStatusOffset);
  ASSERT_EQ(static_cast<size_t>(HEDDLE_NUM_CONFIGS), isa::kNumConfigs);
  for (size_t i = 0; i < isa::kNumConfigs; ++i) {
    EXPECT_STREQ(heddle_configs[i].name, isa::kConfigs[i].name);
    EXPECT_EQ(heddle_configs[i].id, isa::kConfigs[i].id);
    EXPECT_EQ(heddle_configs[i].sram_bytes, isa::kConfigs[i].sram_bytes);
  }
  ASSERT_EQ(static_cast<size_t>(HEDDLE_NUM_ERRORS), isa::kNumErrors);
  for (size_t i = 0; i < isa::kNumErrors; ++i) {
    EXPECT_EQ(heddle_errors[i].code,
              static_cast<uint32_t>(isa::kErrors[i].code));
    EXPECT_EQ(heddle_errors[i].err, -isa::kErrors[i].errno_value);
  }
}

}  // namespace
}  // namespace heddle
