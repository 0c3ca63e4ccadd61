// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/quota.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::lockstep {
namespace {

constexpr char kMode[] = "mode";

const isa::FieldInfo* ModeOf(const isa::CommandInfo& info) {
  if (info.opcode != isa::Opcode::kConv) return nullptr;
  for (size_t i = 0; i < info.num_fields; ++i) {
    if (std::strcmp(info.fields[i].name, kMode) == 0) return &info.fields[i];
  }
  return nullptr;
}

// The cell of a field's value; the names of all its cells with f.
std::string Cell(const isa::FieldInfo& field, uint32_t bits) {
  if (field.type == isa::FieldType::kEnum) {
    return isa::NameOf(*field.enum_info, bits);
  }
  if (field.type == isa::FieldType::kF32) return "any";
  const int64_t value = isa::FieldValue(field, bits);
  if (value == field.min) return absl::StrCat("smallest (", field.min, ")");
  if (value == field.max) return absl::StrCat("largest (", field.max, ")");
  return "between";
}

template <typename F>
void ForEachCell(const isa::FieldInfo& field, const F& f) {
  if (field.fixed) return;
  if (field.type == isa::FieldType::kEnum) {
    for (size_t i = 0; i < field.enum_info->num_values; ++i) {
      f(std::string(field.enum_info->values[i].name));
    }
  } else if (field.type == isa::FieldType::kF32) {
    f("any");
  } else {
    f(absl::StrCat("smallest (", field.min, ")"));
    f(absl::StrCat("largest (", field.max, ")"));
    if (field.max - field.min > 1) f("between");
  }
}

}  // namespace

Quota::Quota() {
  for (const isa::CommandInfo& info : isa::kCommands) {
    const isa::FieldInfo* mode = ModeOf(info);
    std::vector<std::string> kinds;
    if (mode == nullptr) {
      kinds.push_back(info.mnemonic);
    } else {
      for (size_t i = 0; i < mode->enum_info->num_values; ++i) {
        kinds.push_back(
            absl::StrCat(info.mnemonic, " ", mode->enum_info->values[i].name));
      }
    }
    for (const std::string& kind : kinds) {
      kinds_[kind] = 0;
      for (size_t i = 0; i < info.num_fields; ++i) {
        // The header is the same for all: once, for load.
        const isa::FieldInfo& field = info.fields[i];
        if (&field == mode) continue;
        if (field.header && info.opcode != isa::Opcode::kLoad) continue;
        ForEachCell(field, [&](const std::string& cell) {
          hits_[{field.header ? "header" : kind, field.name, cell}] = 0;
        });
      }
    }
  }
}

void Quota::Count(const std::vector<uint32_t>& words) {
  for (size_t at = 0; at < words.size();) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
    if (info == nullptr || words.size() - at < info->words) return;
    const isa::FieldInfo* mode = ModeOf(*info);
    std::string kind = info->mnemonic;
    if (mode != nullptr) {
      absl::StrAppend(
          &kind, " ",
          isa::NameOf(*mode->enum_info, isa::GetField(*mode, &words[at])));
    }
    ++kinds_[kind];
    ++commands_;
    for (size_t i = 0; i < info->num_fields; ++i) {
      const isa::FieldInfo& field = info->fields[i];
      auto it = hits_.find({field.header ? "header" : kind, field.name,
                            Cell(field, isa::GetField(field, &words[at]))});
      if (it != hits_.end()) ++it->second;
    }
    at += info->words;
  }
}

size_t Quota::hit() const {
  size_t n = 0;
  for (const auto& [key, count] : hits_) n += count > 0;
  return n;
}

std::string Quota::Missing() const {
  std::string text, kind, field;
  for (const auto& [key, count] : hits_) {
    if (count > 0) continue;
    if (key.kind != kind) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", key.kind, ":");
      field.clear();
    }
    absl::StrAppend(&text, key.kind == kind && key.field == field
                               ? absl::StrCat(", ", key.value)
                               : absl::StrCat("  ", key.field, " ", key.value));
    kind = key.kind;
    field = key.field;
  }
  return text;
}

}  // namespace heddle::lockstep
