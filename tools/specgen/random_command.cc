// SPDX-License-Identifier: Apache-2.0
#include "tools/specgen/random_command.h"

namespace heddle::specgen {

uint32_t RandomBits(const isa::FieldInfo& f, std::mt19937* rng) {
  const uint32_t mask = f.bits == 32 ? ~0u : (1u << f.bits) - 1;
  if (f.type == isa::FieldType::kEnum) {
    return f.enum_info->values[(*rng)() % f.enum_info->num_values].value;
  }
  for (;;) {
    uint32_t bits = 0;
    switch ((*rng)() % 5) {
      case 0:
        bits = f.default_bits;
        break;
      case 1:
        bits = static_cast<uint32_t>(f.min) & mask;
        break;
      case 2:
        bits = static_cast<uint32_t>(f.max) & mask;
        break;
      default:
        bits = static_cast<uint32_t>(
            f.min + static_cast<int64_t>((*rng)() % (f.max - f.min + 1)));
        bits &= mask;
    }
    if (f.type == isa::FieldType::kF32 && (*rng)() % 2 == 0) {
      static constexpr uint32_t kSpecial[] = {
          0x00000000, 0x80000000, 0x00000001, 0x807fffff,
          0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
          0x7f800001, 0x3f800000, 0x7f7fffff, 0x4b800000};
      bits = kSpecial[(*rng)() % 12];
    }
    if (isa::CheckField(f, bits).ok()) return bits;
  }
}

std::vector<uint32_t> RandomCommand(const isa::CommandInfo& info,
                                    std::mt19937* rng) {
  std::vector<uint32_t> words(info.words, 0);
  for (size_t i = 0; i < info.num_fields; ++i) {
    isa::SetField(info.fields[i], RandomBits(info.fields[i], rng),
                  words.data());
  }
  return words;
}

}  // namespace heddle::specgen
