// SPDX-License-Identifier: Apache-2.0
#include "tests/uapi/streams.h"

#include "gtest/gtest.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::uapi {

Command::Command(const char* mnemonic) : mnemonic_(mnemonic) {
  const isa::CommandInfo* info = isa::FindCommandByMnemonic(mnemonic);
  words_.resize(info->words);
  for (size_t i = 0; i < info->num_fields; ++i) {
    const auto& f = info->fields[i];
    isa::SetField(f, f.fixed ? static_cast<uint32_t>(f.min) : f.default_bits,
                  words_.data());
  }
}

Command& Command::Set(const std::string& field, uint32_t value) {
  const isa::CommandInfo* info = isa::FindCommandByMnemonic(mnemonic_);
  for (size_t i = 0; i < info->num_fields; ++i) {
    if (field != info->fields[i].name) continue;
    isa::SetField(info->fields[i], value, words_.data());
    return *this;
  }
  ADD_FAILURE() << mnemonic_ << " has no field " << field;
  return *this;
}

std::vector<uint32_t> Stream(const std::vector<Command>& commands) {
  std::vector<uint32_t> words;
  for (const Command& c : commands) {
    words.insert(words.end(), c.words().begin(), c.words().end());
  }
  return words;
}

std::vector<uint32_t> EmptyStream() { return Stream({Command("end")}); }

std::vector<uint32_t> CopyStream(uint32_t from, uint32_t to, uint32_t bytes,
                                 uint32_t offset) {
  auto box = [&](Command command, uint32_t region) {
    return command.Set("region", region)
        .Set("dram_offset", offset)
        .Set("n0", bytes)
        .Set("s0", 1)
        .Set("t0", 1);
  };
  return Stream({box(Command("load"), from), Command("barrier"),
                 box(Command("store"), to), Command("end")});
}

std::vector<uint32_t> FaultingStream(uint32_t from) {
  // The index is 7, the table has one row.
  return Stream({Command("fill")
                     .Set("sram_addr", 64)
                     .Set("value", 7)
                     .Set("n0", 4)
                     .Set("t0", 1),
                 Command("barrier"),
                 Command("load.gather")
                     .Set("region", from)
                     .Set("n0", 16)
                     .Set("index_addr", 64)
                     .Set("s1", 16)
                     .Set("tag", 0x1234),
                 Command("end")});
}

}  // namespace heddle::uapi
