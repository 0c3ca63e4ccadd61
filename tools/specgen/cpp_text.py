# SPDX-License-Identifier: Apache-2.0
"""The parts of isa.h and isa.cc that do not depend on the description."""

HEADER_TOP = """// {banner}
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// The instruction set in C++: limits, configurations, enumerations, one struct per command with
// its encoding, tables of all fields (for assembler, fuzzers and tests), micro-instructions and
// status codes. Commands are sequences of 32-bit words, little-endian in memory. Decoders accept
// any words: whatever is not a legal encoding is refused with INVALID_ARGUMENT.
#ifndef RTL_SPEC_GENERATED_ISA_H_
#define RTL_SPEC_GENERATED_ISA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::isa {{

"""

INFO_TYPES = """// An enumeration as data.
struct EnumValueInfo {
  const char* name;
  uint32_t value;
  uint32_t since;  // as of FieldInfo
};
struct EnumInfo {
  const char* name;
  const EnumValueInfo* values;
  size_t num_values;
};
// Name of a value, "?" when it does not exist.
const char* NameOf(const EnumInfo& info, uint32_t value);
// True when the enumeration has a value of that name; writes it.
bool ValueOf(const EnumInfo& info, absl::string_view name, uint32_t* value);

enum class FieldType : uint8_t {
  kUint, kInt, kBool, kF32, kEnum, kSem, kRegion, kSramWord, kSramByte, kDramOffset
};

// One bit field of a command: bits [lsb, lsb + bits) of a 32-bit word.
struct FieldInfo {
  const char* name;
  uint8_t word;
  uint8_t lsb;
  uint8_t bits;
  FieldType type;
  bool header;          // one of the fields that every command starts with
  bool fixed;           // the instruction fixes the value: min == max == that value in its table
  bool nonzero;         // zero is refused
  bool required;        // the default is not a legal value
  int64_t min;          // smallest and largest legal value (not for kF32 and kEnum)
  int64_t max;
  uint32_t default_bits;
  const EnumInfo* enum_info;  // for kEnum
  uint32_t since;       // minor version of VERSION that gave values other than zero their meaning
};

"""

COMMAND_API = """
inline constexpr size_t kNumCommands = {num};
inline constexpr size_t kLongestCommandWords = {longest};

// What is known of an opcode.
struct CommandInfo {{
  Opcode opcode;
  const char* name;
  const char* mnemonic;
  Engine engine;
  uint32_t words;            // length, header included
  const FieldInfo* fields;   // header fields included, in bit order
  size_t num_fields;
  const uint32_t* reserved;  // per word: bits that must be zero
  const char* summary;
  uint32_t since;            // as of FieldInfo
}};
extern const CommandInfo kCommands[kNumCommands];
// nullptr when there is none.
const CommandInfo* FindCommand(uint32_t opcode);
const CommandInfo* FindCommandByMnemonic(absl::string_view mnemonic);
// Opcode of a command from its first word.
uint32_t OpcodeOf(uint32_t first_word);

// Raw bits of a field, and its value (sign-extended for kInt).
uint32_t GetField(const FieldInfo& field, const uint32_t* words);
void SetField(const FieldInfo& field, uint32_t bits, uint32_t* words);
int64_t FieldValue(const FieldInfo& field, uint32_t bits);
// OK, or why these bits are not a legal value of the field.
absl::Status CheckField(const FieldInfo& field, uint32_t bits);
// A field's value as the assembler writes it: decimal, hexadecimal, true/false, name, float.
std::string FormatField(const FieldInfo& field, uint32_t bits);

// Checks the command that starts at words[0]; n words may be read. OK when it is a legal encoding.
absl::Status CheckCommand(const uint32_t* words, size_t n);
// The least minor version of VERSION, within this build's major one, whose cards do what this build
// says of the command that starts at words[0]. The command is legal. Microprograms are apart: each
// operation has its own (MicroOpInfo).
uint32_t SinceVersion(const uint32_t* words);
// Decodes the command that starts at words[0]; n words may be read, more than it needs is fine.
absl::StatusOr<Command> DecodeAny(const uint32_t* words, size_t n);
size_t WordsOf(const Command& command);
void Append(const Command& command, std::vector<uint32_t>* words);
std::string ToString(const Command& command);

"""

SOURCE_TOP = """// {banner}
// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Every library and tool links this file: commands, packages and models are little-endian in memory.
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_POINTER__ != 8
#error "Heddle is for 64-bit little-endian machines (amd64, arm64); build it on or for one of these"
#endif

#include "rtl/spec/generated/isa.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::isa {{

namespace {{

[[maybe_unused]] uint32_t FloatBits(float value) {{
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}}

[[maybe_unused]] float BitsFloat(uint32_t bits) {{
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}}

[[maybe_unused]] int32_t SignExtend(uint32_t value, int bits) {{
  const uint32_t sign = 1u << (bits - 1);
  value &= sign | (sign - 1);
  return static_cast<int32_t>((value ^ sign) - sign);
}}

std::string Hex(uint64_t value) {{ return absl::StrCat("0x", absl::Hex(value)); }}

}}  // namespace

const Config* FindConfig(absl::string_view name) {{
  for (const Config& c : kConfigs) {{
    if (name == c.name) return &c;
  }}
  return nullptr;
}}

const Config* FindConfigById(uint32_t id) {{
  for (const Config& c : kConfigs) {{
    if (id == c.id) return &c;
  }}
  return nullptr;
}}

const char* NameOf(const EnumInfo& info, uint32_t value) {{
  for (size_t i = 0; i < info.num_values; ++i) {{
    if (info.values[i].value == value) return info.values[i].name;
  }}
  return "?";
}}

bool ValueOf(const EnumInfo& info, absl::string_view name, uint32_t* value) {{
  for (size_t i = 0; i < info.num_values; ++i) {{
    if (name == info.values[i].name) {{
      *value = info.values[i].value;
      return true;
    }}
  }}
  return false;
}}

"""

COMMON_CC = """uint32_t OpcodeOf(uint32_t first_word) { return %(opcode_of)s; }

const CommandInfo* FindCommand(uint32_t opcode) {
  for (const CommandInfo& c : kCommands) {
    if (static_cast<uint32_t>(c.opcode) == opcode) return &c;
  }
  return nullptr;
}

const CommandInfo* FindCommandByMnemonic(absl::string_view mnemonic) {
  for (const CommandInfo& c : kCommands) {
    if (mnemonic == c.mnemonic) return &c;
  }
  return nullptr;
}

const char* ToString(Opcode opcode) {
  const CommandInfo* c = FindCommand(static_cast<uint32_t>(opcode));
  return c == nullptr ? "?" : c->name;
}

uint32_t GetField(const FieldInfo& field, const uint32_t* words) {
  const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
  return (words[field.word] >> field.lsb) & mask;
}

void SetField(const FieldInfo& field, uint32_t bits, uint32_t* words) {
  const uint32_t mask = field.bits == 32 ? ~0u : (1u << field.bits) - 1;
  words[field.word] &= ~(mask << field.lsb);
  words[field.word] |= (bits & mask) << field.lsb;
}

int64_t FieldValue(const FieldInfo& field, uint32_t bits) {
  return field.type == FieldType::kInt ? SignExtend(bits, field.bits) : static_cast<int64_t>(bits);
}

absl::Status CheckField(const FieldInfo& field, uint32_t bits) {
  const int64_t value = FieldValue(field, bits);
  if (field.type == FieldType::kF32) {
    if (field.nonzero && (bits & 0x7fffffffu) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' must not be zero"));
    }
    return absl::OkStatus();
  }
  if (field.type == FieldType::kEnum) {
    for (size_t i = 0; i < field.enum_info->num_values; ++i) {
      if (field.enum_info->values[i].value == bits) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "': ", value,
                                                   " is not a value of enumeration '",
                                                   field.enum_info->name, "'"));
  }
  if (field.nonzero && value == 0) {
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' must not be zero"));
  }
  if (value < field.min || value > field.max) {
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name, "' = ", value,
                                                   " is outside ", field.min, " .. ", field.max));
  }
  return absl::OkStatus();
}

std::string FormatField(const FieldInfo& field, uint32_t bits) {
  switch (field.type) {
    case FieldType::kEnum:
      for (size_t i = 0; i < field.enum_info->num_values; ++i) {
        if (field.enum_info->values[i].value == bits) return field.enum_info->values[i].name;
      }
      return absl::StrCat(bits);
    case FieldType::kBool:
      return bits == 0 ? "false" : "true";
    case FieldType::kF32: {
      const float value = BitsFloat(bits);
      if (std::isnan(value)) return Hex(bits);  // raw bits keep the payload
      char text[64];
      const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
      std::string out(text, end.ptr);
      // A raw hexadecimal integer means bits, so a float always shows that it is one.
      if (out.find_first_of(".en") == std::string::npos) out += ".0";
      return out;
    }
    case FieldType::kSramWord:
    case FieldType::kSramByte:
    case FieldType::kDramOffset:
      return Hex(bits);
    default:
      return absl::StrCat(FieldValue(field, bits));
  }
}

static absl::Status CheckExactly(const uint32_t* words, size_t n, const CommandInfo& info) {
  if (n != info.words) {
    return absl::InvalidArgumentError(absl::StrCat("command '", info.mnemonic, "' has ", info.words,
                                                   " words, ", n, " are given"));
  }
  const uint32_t opcode = OpcodeOf(words[0]);
  if (opcode != static_cast<uint32_t>(info.opcode)) {
    return absl::InvalidArgumentError(absl::StrCat("opcode ", Hex(opcode), " is not that of '",
                                                   info.mnemonic, "'"));
  }
  for (uint32_t i = 0; i < info.words; ++i) {
    if ((words[i] & info.reserved[i]) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("command '", info.mnemonic, "': reserved bits ",
                       Hex(words[i] & info.reserved[i]), " of word ", i, " are set"));
    }
  }
  for (size_t i = 0; i < info.num_fields; ++i) {
    absl::Status status = CheckField(info.fields[i], GetField(info.fields[i], words));
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("command '", info.mnemonic, "': ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCommand(const uint32_t* words, size_t n) {
  if (n == 0) return absl::InvalidArgumentError("no words are left for a command");
  const CommandInfo* info = FindCommand(OpcodeOf(words[0]));
  if (info == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown opcode ", Hex(OpcodeOf(words[0]))));
  }
  if (n < info->words) {
    return absl::InvalidArgumentError(absl::StrCat("command '", info->mnemonic, "' has ",
                                                   info->words, " words, only ", n, " are left"));
  }
  return CheckExactly(words, info->words, *info);
}

uint32_t SinceVersion(const uint32_t* words) {
  const CommandInfo* info = FindCommand(OpcodeOf(words[0]));
  if (info == nullptr) return 0;
  uint32_t since = info->since;
  for (size_t i = 0; i < info->num_fields; ++i) {
    const FieldInfo& field = info->fields[i];
    const uint32_t bits = GetField(field, words);
    if (bits != 0 && field.since > since) since = field.since;
    if (field.type != FieldType::kEnum) continue;
    for (size_t k = 0; k < field.enum_info->num_values; ++k) {
      const EnumValueInfo& value = field.enum_info->values[k];
      if (value.value == bits && value.since > since) since = value.since;
    }
  }
  return since;
}

static absl::Status DoesNotFit(const char* mnemonic, const char* field) {
  return absl::InvalidArgumentError(absl::StrCat("command '", mnemonic, "': field '", field,
                                                 "' has a value wider than its bits"));
}

static std::string FormatWords(const uint32_t* words, const CommandInfo& info) {
  std::string out = info.mnemonic;
  for (size_t i = 0; i < info.num_fields; ++i) {
    const FieldInfo& f = info.fields[i];
    if (f.fixed) continue;
    const uint32_t bits = GetField(f, words);
    if (bits == f.default_bits && !f.required) continue;
    absl::StrAppend(&out, " ", f.name, "=", FormatField(f, bits));
  }
  return out;
}

"""

DECODE_ANY_TOP = """template <typename T>
static absl::StatusOr<Command> Wrap(absl::StatusOr<T> command) {
  if (!command.ok()) return command.status();
  return Command(*std::move(command));
}

absl::StatusOr<Command> DecodeAny(const uint32_t* words, size_t n) {
  absl::Status status = CheckCommand(words, n);
  if (!status.ok()) return status;
  switch (OpcodeOf(words[0])) {
"""

DECODE_ANY_END = """  }
  return absl::InvalidArgumentError("unknown opcode");
}

size_t WordsOf(const Command& command) {
  return std::visit([](const auto& c) { return c.kWords; }, command);
}

void Append(const Command& command, std::vector<uint32_t>* words) {
  const size_t at = words->size();
  words->resize(at + WordsOf(command));
  std::visit([&](const auto& c) { c.Encode(words->data() + at); }, command);
}

std::string ToString(const Command& command) {
  return std::visit([](const auto& c) { return c.ToString(); }, command);
}

"""

MICRO_CC = """static uint32_t MicroBits(const FieldInfo& f, %(word)s word) {
  const %(word)s mask = f.bits == 32 ? 0xffffffffu : (1u << f.bits) - 1;
  return static_cast<uint32_t>((word >> (32 * f.word + f.lsb)) & mask);
}

const MicroOpInfo* FindMicroOp(uint32_t op) {
  for (const MicroOpInfo& o : kMicroOps) {
    if (static_cast<uint32_t>(o.op) == op) return &o;
  }
  return nullptr;
}

const MicroOpInfo* FindMicroOpByName(absl::string_view name) {
  for (const MicroOpInfo& o : kMicroOps) {
    if (name == o.name) return &o;
  }
  return nullptr;
}

const char* ToString(MicroOp op) {
  const MicroOpInfo* o = FindMicroOp(static_cast<uint32_t>(op));
  return o == nullptr ? "?" : o->name;
}

static absl::Status CheckMicro(%(word)s word) {
  constexpr size_t kOp = %(op)s;
  const uint32_t op = MicroBits(kMicroFields[kOp], word);
  const MicroOpInfo* info = FindMicroOp(op);
  if (info == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("unknown micro operation ", op));
  }
  if ((word & static_cast<%(word)s>(%(free)s)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("micro operation '", info->name,
                                                   "': reserved bits are set"));
  }
  for (size_t i = 0; i < kNumMicroFields; ++i) {
    if (i == kOp) continue;
    bool has = false;
    for (int k = 0; k < info->num_operands; ++k) {
      has |= info->operands[k] == i;
%(selects)s    }
    const uint32_t bits = MicroBits(kMicroFields[i], word);
    if (!has) {
      if (bits == 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("micro operation '", info->name,
                                                     "' has no operand '", kMicroFields[i].name,
                                                     "': it must be zero"));
    }
    absl::Status status = CheckField(kMicroFields[i], bits);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("micro operation '", info->name, "': ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::string MicroInstruction::ToString() const {
  const %(word)s word = Encode();
  std::string out = isa::ToString(op);
  const MicroOpInfo* info = FindMicroOp(static_cast<uint32_t>(op));
  if (info == nullptr) return out;
  for (int k = 0; k < info->num_operands; ++k) {
    const FieldInfo& f = kMicroFields[info->operands[k]];
    absl::StrAppend(&out, k == 0 ? " " : ", ", FormatField(f, MicroBits(f, word)));
  }
  // What no operation lists as an operand is an immediate.
  for (size_t i = 0; i < kNumMicroFields; ++i) {
    if (kMicroFields[i].enum_info != nullptr || i == %(op)s) continue;
    const uint32_t bits = MicroBits(kMicroFields[i], word);
    if (bits != 0) absl::StrAppend(&out, ", ", kMicroFields[i].name, "=", Hex(bits));
  }
  return out;
}

"""

ERRORS_CC = """const ErrorInfo* FindError(uint32_t code) {
  for (const ErrorInfo& e : kErrors) {
    if (static_cast<uint32_t>(e.code) == code) return &e;
  }
  return nullptr;
}

const char* ToString(Error code) {
  const ErrorInfo* e = FindError(static_cast<uint32_t>(code));
  return e == nullptr ? "unknown" : e->name;
}

"""
