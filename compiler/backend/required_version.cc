// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/required_version.h"

#include <algorithm>
#include <cstring>

#include "rtl/spec/generated/isa.h"
#include "rtl/spec/version.h"

namespace heddle::compiler {

uint32_t RequiredVersion(const std::vector<uint32_t>& words,
                         const std::vector<timing::KnownBytes>& programs) {
  uint32_t minor = 0;
  for (size_t at = 0; at < words.size();) {
    minor = std::max(minor, isa::SinceVersion(&words[at]));
    at += isa::FindCommand(isa::OpcodeOf(words[at]))->words;
  }
  for (const timing::KnownBytes& part : programs) {
    uint64_t word = 0;
    for (size_t at = 0; at + sizeof(word) <= part.bytes.size();
         at += sizeof(word)) {
      std::memcpy(&word, &part.bytes[at], sizeof(word));
      if (word == 0) continue;
      const auto instruction = isa::MicroInstruction::Decode(word);
      if (!instruction.ok()) continue;
      const auto op = static_cast<uint32_t>(instruction->op);
      minor = std::max(minor, isa::FindMicroOp(op)->since);
    }
  }
  return reg::MakeVersion(reg::MajorOf(reg::kVersionReset), minor);
}

}  // namespace heddle::compiler
