// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/quota.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/lockstep/used.h"

namespace heddle::lockstep {
namespace {

constexpr char kMode[] = "mode", kProgram[] = "program";

const isa::FieldInfo* ModeOf(const isa::CommandInfo& info) {
  if (info.opcode != isa::Opcode::kConv) return nullptr;
  for (size_t i = 0; i < info.num_fields; ++i) {
    if (std::strcmp(info.fields[i].name, kMode) == 0) return &info.fields[i];
  }
  return nullptr;
}

std::string CellOf(const isa::FieldInfo& field, uint32_t bits) {
  if (field.type == isa::FieldType::kEnum) {
    return isa::NameOf(*field.enum_info, bits);
  }
  if (field.type == isa::FieldType::kF32) return "any";
  const int64_t value = isa::FieldValue(field, bits);
  if (value == field.min) return "smallest";
  if (value == field.max) return "largest";
  return value == 0 ? "zero" : value == 1 ? "one" : "between";
}

// f(cell, has_bits, bits)
template <typename F>
void ForEachCell(const isa::FieldInfo& field, const F& f) {
  if (field.fixed) return;
  const uint32_t mask =
      field.bits == 32 ? UINT32_MAX : (uint32_t{1} << field.bits) - 1;
  if (field.type == isa::FieldType::kEnum) {
    for (size_t i = 0; i < field.enum_info->num_values; ++i) {
      f(field.enum_info->values[i].name, true,
        field.enum_info->values[i].value);
    }
  } else if (field.type == isa::FieldType::kF32) {
    f("any", false, 0);
  } else {
    f("smallest", true, static_cast<uint32_t>(field.min) & mask);
    f("largest", true, static_cast<uint32_t>(field.max) & mask);
    if (field.min < 0 && field.max > 0) f("zero", true, 0);
    if (field.min < 1 && field.max > 1) f("one", true, 1);
    if (field.max - field.min > 2) f("between", false, 0);
  }
}

template <typename F>
void ForEachKind(const isa::CommandInfo& info, const F& f) {
  const isa::FieldInfo* mode = ModeOf(info);
  if (mode == nullptr) return f(std::string(info.mnemonic));
  for (size_t i = 0; i < mode->enum_info->num_values; ++i) {
    f(absl::StrCat(info.mnemonic, " ", mode->enum_info->values[i].name));
  }
}

// With * for any characters and ? for one.
bool Like(absl::string_view pattern, absl::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return Like(pattern.substr(1), name) ||
           (!name.empty() && Like(pattern, name.substr(1)));
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         Like(pattern.substr(1), name.substr(1));
}

}  // namespace

std::vector<Target> AllTargets() {
  std::vector<Target> targets;
  for (const isa::CommandInfo& info : isa::kCommands) {
    const isa::FieldInfo* mode = ModeOf(info);
    ForEachKind(info, [&](const std::string& kind) {
      for (size_t i = 0; i < info.num_fields; ++i) {
        // The header is the same for all: once, for load.
        const isa::FieldInfo& field = info.fields[i];
        if (&field == mode) continue;
        if (field.header && info.opcode != isa::Opcode::kLoad) continue;
        const std::string of = field.header ? "header" : kind;
        ForEachCell(field, [&](const char* cell, bool has_bits, uint32_t bits) {
          targets.push_back({{of, field.name, cell}, &field, has_bits, bits});
        });
        if (CanBeUnused(info.opcode, field.name)) {
          targets.push_back({{of, field.name, kUnused}, &field, false, 0});
        }
      }
    });
  }
  return targets;
}

std::vector<Cell> CellsOf(const uint32_t* words, size_t n, std::string* kind) {
  std::vector<Cell> cells;
  kind->clear();
  const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[0]));
  if (info == nullptr || n < info->words) return cells;
  const auto command = isa::DecodeAny(words, n);
  if (!command.ok()) return cells;
  const isa::FieldInfo* mode = ModeOf(*info);
  *kind = info->mnemonic;
  if (mode != nullptr) {
    absl::StrAppend(kind, " ",
                    isa::NameOf(*mode->enum_info, isa::GetField(*mode, words)));
  }
  for (size_t i = 0; i < info->num_fields; ++i) {
    const isa::FieldInfo& field = info->fields[i];
    if (&field == mode || field.fixed) continue;
    const uint32_t bits = isa::GetField(field, words);
    const bool used = IsUsed(*command, field.name);
    if (!used && bits == 0) continue;
    cells.push_back({field.header ? "header" : *kind, field.name,
                     used ? CellOf(field, bits) : kUnused});
  }
  return cells;
}

std::vector<Cell> ProgramCells() {
  std::vector<Cell> cells;
  for (const isa::MicroOpInfo& op : isa::kMicroOps) {
    cells.push_back({isa::Vrun::kMnemonic, kProgram, op.name});
  }
  return cells;
}

Quota::Quota() {
  for (const isa::CommandInfo& info : isa::kCommands) {
    ForEachKind(info, [&](const std::string& kind) { kinds_[kind] = 0; });
  }
  for (const Target& target : AllTargets()) hits_[target.cell] = 0;
  for (const Cell& cell : ProgramCells()) hits_[cell] = 0;
}

void Quota::Count(const model::RandomStream& stream) {
  // Region 2 goes to SRAM as it is.
  const model::Region& loaded = stream.regions[2];
  const auto programs =
      absl::MakeConstSpan(stream.dram).subspan(loaded.base, loaded.size);
  Count(stream.words, programs);
  for (const auto& words : stream.following) Count(words, programs);
}

void Quota::Count(const std::vector<uint32_t>& words,
                  absl::Span<const uint8_t> programs) {
  std::string kind;
  for (size_t at = 0; at < words.size();) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
    if (info == nullptr) return;
    for (const Cell& cell : CellsOf(&words[at], words.size() - at, &kind)) {
      const auto it = hits_.find(cell);
      if (it != hits_.end()) ++it->second;
    }
    if (kind.empty()) return;
    if (info->opcode == isa::Opcode::kVrun) {
      const auto run = isa::Vrun::Decode(&words[at], info->words);
      if (run.ok()) CountProgram(*run, programs);
    }
    ++kinds_[kind];
    ++commands_;
    at += info->words;
  }
}

void Quota::CountProgram(const isa::Vrun& c,
                         absl::Span<const uint8_t> programs) {
  const size_t first = size_t{c.prog_addr} * isa::kWordBytes;
  const size_t n = c.prologue + c.body + c.epilogue;
  for (size_t i = 0; i < n && first + 8 * i + 8 <= programs.size(); ++i) {
    const isa::MicroOpInfo* op = isa::FindMicroOp(programs[first + 8 * i]);
    if (op != nullptr) ++hits_[{isa::Vrun::kMnemonic, kProgram, op->name}];
  }
}

size_t Quota::hit() const {
  size_t n = 0;
  for (const auto& [cell, count] : hits_) n += count > 0;
  return n;
}

std::string Quota::Missing() const {
  std::string text, kind, field;
  for (const auto& [cell, count] : hits_) {
    if (count > 0) continue;
    if (cell.kind != kind) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", cell.kind, ":");
      field.clear();
    }
    absl::StrAppend(&text,
                    cell.kind == kind && cell.field == field
                        ? absl::StrCat(", ", cell.value)
                        : absl::StrCat("  ", cell.field, " ", cell.value));
    kind = cell.kind;
    field = cell.field;
  }
  return text;
}

absl::StatusOr<Unreachable> Unreachable::Parse(absl::string_view text) {
  Unreachable list;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    const std::vector<absl::string_view> names =
        absl::StrSplit(parts.first, " | ");
    if (names.size() != 3 || parts.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("not 'kind | field | value: reason': ", line));
    }
    list.lines_.push_back({std::string(line), std::string(names[0]),
                           std::string(names[1]), std::string(names[2])});
  }
  return list;
}

bool Unreachable::Names(const Line& line, const Cell& cell) {
  return Like(line.kind, cell.kind) && Like(line.field, cell.field) &&
         Like(line.value, cell.value);
}

bool Unreachable::Has(const Cell& cell) const {
  for (const Line& line : lines_) {
    if (Names(line, cell)) return true;
  }
  return false;
}

std::string Unreachable::Idle() const {
  std::string idle;
  const std::vector<Target> targets = AllTargets();
  for (const Line& line : lines_) {
    bool named = false;
    for (const Target& t : targets) named = named || Names(line, t.cell);
    if (!named) absl::StrAppend(&idle, line.text, "\n");
  }
  return idle;
}

}  // namespace heddle::lockstep
