// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/coverage_model.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "simulator/model/access.h"
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

std::string BinOf(const isa::FieldInfo& field, uint32_t bits) {
  if (field.type == isa::FieldType::kEnum) {
    return isa::NameOf(*field.enum_info, bits);
  }
  if (field.type == isa::FieldType::kF32) return "any";
  const int64_t value = isa::FieldValue(field, bits);
  if (value == field.min) return "smallest";
  if (value == field.max) return "largest";
  return value == 0 ? "zero" : value == 1 ? "one" : "between";
}

// f(bin, has_bits, bits)
template <typename F>
void ForEachBin(const isa::FieldInfo& field, const F& f) {
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

bool IsAddress(absl::string_view field) {
  return absl::EndsWith(field, "_addr") || absl::EndsWith(field, "_base") ||
         field == "dram_offset";
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
        ForEachBin(field, [&](const char* bin, bool has_bits, uint32_t bits) {
          targets.push_back({{of, field.name, bin}, &field, has_bits, bits});
        });
        if (IsAddress(field.name)) {
          targets.push_back({{of, field.name, kLast}, &field, false, 0});
        }
        if (CanBeUnused(info.opcode, field.name)) {
          targets.push_back({{of, field.name, kUnused}, &field, false, 0});
        }
      }
    });
  }
  return targets;
}

namespace {

// Whether all that it touches is there, and something of it ends where SRAM or
// the region does.
struct Extent {
  bool inside = true, ends = false;
};
Extent ExtentOf(const Place& place, const isa::Command& command) {
  Extent extent;
  model::ForEachAccess(
      place.config, command, nullptr, [&](const model::Access& a) {
        if (a.empty || a.space == model::Space::kAccumulators) return;
        const bool sram = a.space == model::Space::kSram;
        const int64_t size = static_cast<int64_t>(
            sram ? place.config.sram_bytes : place.regions[a.region].size);
        const int64_t highest = a.Highest();
        extent.inside = extent.inside && a.Lowest() >= 0 && highest < size;
        extent.ends = extent.ends ||
                      highest >= size - (sram ? int64_t{isa::kWordBytes} : 1);
      });
  return extent;
}

}  // namespace

bool Inside(const Place& place, const isa::Command& command) {
  return ExtentOf(place, command).inside;
}

std::vector<Bin> BinsOf(const uint32_t* words, size_t n, std::string* kind,
                        const Place* place) {
  std::vector<Bin> bins;
  kind->clear();
  const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[0]));
  if (info == nullptr || n < info->words) return bins;
  const auto command = isa::DecodeAny(words, n);
  if (!command.ok()) return bins;
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
    bins.push_back({field.header ? "header" : *kind, field.name,
                    used ? BinOf(field, bits) : kUnused});
  }
  if (place == nullptr) return bins;
  const Extent extent = ExtentOf(*place, *command);
  if (!extent.inside || !extent.ends) return bins;
  // It is this field's, if one more leaves SRAM or the region.
  for (size_t i = 0; i < info->num_fields; ++i) {
    const isa::FieldInfo& field = info->fields[i];
    if (!IsAddress(field.name)) continue;
    std::vector<uint32_t> next(words, words + info->words);
    isa::SetField(field, isa::GetField(field, words) + 1, next.data());
    const auto moved = isa::DecodeAny(next.data(), next.size());
    if (moved.ok() && !Inside(*place, *moved)) {
      bins.push_back({*kind, field.name, kLast});
    }
  }
  return bins;
}

std::vector<Bin> ProgramBins() {
  std::vector<Bin> bins;
  for (const isa::MicroOpInfo& op : isa::kMicroOps) {
    bins.push_back({isa::Vrun::kMnemonic, kProgram, op.name});
  }
  return bins;
}

namespace {

constexpr char kConvCross[] = "mode, stride, padding, configuration";
constexpr char kStreamCross[] = "stream, type, direction";
constexpr char kTransferCross[] = "dimensions, layout";
constexpr const char* kDirections[] = {"down", "still", "up"};
// Whether the elements of the innermost dimension lie side by side.
constexpr const char* kLayouts[] = {"as it is", "collect", "spread", "both"};

Bin ConvCross(isa::MatrixMode mode, bool stride, bool padding,
              const char* config) {
  return {"cross conv", kConvCross,
          absl::StrCat(isa::ToString(mode), ", ", stride ? "many" : "one", ", ",
                       padding ? "some" : "none", ", ", config)};
}

Bin StreamCross(const char* kind, char stream, isa::ElementType type,
                int direction) {
  return {absl::StrCat("cross ", kind), kStreamCross,
          absl::StrCat(std::string(1, stream), ", ", isa::ToString(type), ", ",
                       kDirections[direction])};
}

Bin TransferCross(const char* kind, int dimensions, int layout) {
  return {absl::StrCat("cross ", kind), kTransferCross,
          absl::StrCat(dimensions, ", ", kLayouts[layout])};
}

void Cross(const Place& place, const isa::Conv& c, std::vector<Bin>* bins) {
  const int64_t right =
      int64_t{c.ow - 1} * c.sx + int64_t{c.kw - 1} * c.dx - c.pad_left;
  const bool padding = c.pad_left > 0 || c.pad_top > 0 || right >= c.iw;
  bins->push_back(
      ConvCross(c.mode, c.sx > 1 || c.sy > 1, padding, place.config.name));
}

void CrossStream(const char* kind, char name, const isa::Stream& s,
                 uint32_t lanes, std::vector<Bin>* bins) {
  if (lanes == 1) return;
  bins->push_back(StreamCross(kind, name, s.type,
                              s.lane_stride < 0    ? 0
                              : s.lane_stride == 0 ? 1
                                                   : 2));
}
void Cross(const Place&, const isa::Vrun& c, std::vector<Bin>* bins) {
  if (c.enable_a) CrossStream(c.kMnemonic, 'a', c.GetA(), c.lanes, bins);
  if (c.enable_b) CrossStream(c.kMnemonic, 'b', c.GetB(), c.lanes, bins);
  if (c.enable_c) CrossStream(c.kMnemonic, 'c', c.GetC(), c.lanes, bins);
  if (c.store != isa::StoreMode::kNone) {
    CrossStream(c.kMnemonic, 'd', c.GetD(), c.lanes, bins);
  }
}
void Cross(const Place&, const isa::Vmac& c, std::vector<Bin>* bins) {
  CrossStream(c.kMnemonic, 'a', c.GetA(), c.lanes, bins);
  CrossStream(c.kMnemonic, 'b', c.GetB(), c.lanes, bins);
  if (c.initial) CrossStream(c.kMnemonic, 'c', c.GetC(), c.lanes, bins);
  CrossStream(c.kMnemonic, 'd', c.GetD(), c.lanes, bins);
}

template <typename T>
void CrossTransfer(const T& c, std::vector<Bin>* bins) {
  const int64_t element = int64_t{1} << c.elem_log2;
  const uint32_t n[4] = {c.n0, c.n1, c.n2, c.n3};
  const int64_t s[4] = {c.s0, c.s1, c.s2, c.s3};
  const int64_t t[4] = {c.t0, c.t1, c.t2, c.t3};
  int dimensions = 0, layout = 0;
  for (int i = 0; i < 4; ++i) {
    if (n[i] == 1) continue;
    if (dimensions++ == 0) {
      layout = (s[i] != element ? 1 : 0) + (t[i] != element ? 2 : 0);
    }
  }
  bins->push_back(TransferCross(c.kMnemonic, dimensions, layout));
}
void Cross(const Place&, const isa::Load& c, std::vector<Bin>* bins) {
  CrossTransfer(c, bins);
}
void Cross(const Place&, const isa::Store& c, std::vector<Bin>* bins) {
  CrossTransfer(c, bins);
}
template <typename T>
void Cross(const Place&, const T&, std::vector<Bin>*) {}

}  // namespace

std::vector<Bin> CrossBins() {
  std::vector<Bin> bins;
  for (size_t m = 0; m < isa::kNumMatrixModeValues; ++m) {
    for (const isa::Config& config : isa::kConfigs) {
      for (int i = 0; i < 4; ++i) {
        bins.push_back(ConvCross(static_cast<isa::MatrixMode>(m), i % 2 != 0,
                                 i / 2 != 0, config.name));
      }
    }
  }
  for (const char* kind : {isa::Vrun::kMnemonic, isa::Vmac::kMnemonic}) {
    for (char stream = 'a'; stream <= 'd'; ++stream) {
      for (size_t t = 0; t < isa::kNumElementTypeValues; ++t) {
        for (int d = 0; d < 3; ++d) {
          bins.push_back(
              StreamCross(kind, stream, static_cast<isa::ElementType>(t), d));
        }
      }
    }
  }
  for (const char* kind : {isa::Load::kMnemonic, isa::Store::kMnemonic}) {
    bins.push_back(TransferCross(kind, 0, 0));
    for (int n = 1; n <= 4; ++n) {
      for (int l = 0; l < 4; ++l) bins.push_back(TransferCross(kind, n, l));
    }
  }
  return bins;
}

CoverageModel::CoverageModel() {
  for (const isa::CommandInfo& info : isa::kCommands) {
    ForEachKind(info, [&](const std::string& kind) { kinds_[kind] = 0; });
  }
  for (const Target& target : AllTargets()) hits_[target.bin] = 0;
  for (const Bin& bin : ProgramBins()) hits_[bin] = 0;
  for (const Bin& bin : CrossBins()) hits_[bin] = 0;
}

void CoverageModel::Count(const model::RandomStream& stream,
                          const isa::Config& config) {
  Place place = {config};
  std::copy(std::begin(stream.regions), std::end(stream.regions),
            place.regions);
  // Region 2 goes to SRAM as it is.
  const model::Region& loaded = stream.regions[2];
  const auto programs = absl::MakeConstSpan(stream.dram)
                            .subspan(loaded.base - stream.dram_at, loaded.size);
  Count(stream.words, programs, &place);
  for (const auto& words : stream.following) Count(words, programs, &place);
}

void CoverageModel::Count(const std::vector<uint32_t>& words,
                          absl::Span<const uint8_t> programs,
                          const Place* place) {
  std::string kind;
  for (size_t at = 0; at < words.size();) {
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
    if (info == nullptr) return;
    std::vector<Bin> bins = BinsOf(&words[at], words.size() - at, &kind, place);
    if (kind.empty()) return;
    if (place != nullptr) {
      const auto command = isa::DecodeAny(&words[at], words.size() - at);
      std::visit([&](const auto& c) { Cross(*place, c, &bins); }, *command);
    }
    for (const Bin& bin : bins) {
      const auto it = hits_.find(bin);
      if (it != hits_.end()) ++it->second;
    }
    if (info->opcode == isa::Opcode::kVrun) {
      const auto run = isa::Vrun::Decode(&words[at], info->words);
      if (run.ok()) CountProgram(*run, programs);
    }
    ++kinds_[kind];
    ++commands_;
    at += info->words;
  }
}

void CoverageModel::CountProgram(const isa::Vrun& c,
                                 absl::Span<const uint8_t> programs) {
  const size_t first = size_t{c.prog_addr} * isa::kWordBytes;
  const size_t n = c.prologue + c.body + c.epilogue;
  for (size_t i = 0; i < n && first + 8 * i + 8 <= programs.size(); ++i) {
    const isa::MicroOpInfo* op = isa::FindMicroOp(programs[first + 8 * i]);
    if (op != nullptr) ++hits_[{isa::Vrun::kMnemonic, kProgram, op->name}];
  }
}

size_t CoverageModel::hit() const {
  size_t n = 0;
  for (const auto& [bin, count] : hits_) n += count > 0;
  return n;
}

std::string CoverageModel::Missing() const {
  std::string text, kind, field;
  for (const auto& [bin, count] : hits_) {
    if (count > 0) continue;
    if (bin.kind != kind) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", bin.kind, ":");
      field.clear();
    }
    absl::StrAppend(&text, bin.kind == kind && bin.field == field
                               ? absl::StrCat(", ", bin.value)
                               : absl::StrCat("  ", bin.field, " ", bin.value));
    kind = bin.kind;
    field = bin.field;
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

bool Unreachable::Names(const Line& line, const Bin& bin) {
  return Like(line.kind, bin.kind) && Like(line.field, bin.field) &&
         Like(line.value, bin.value);
}

bool Unreachable::Has(const Bin& bin) const {
  for (const Line& line : lines_) {
    if (Names(line, bin)) return true;
  }
  return false;
}

std::string Unreachable::Idle() const {
  std::string idle;
  const std::vector<Target> targets = AllTargets();
  const std::vector<Bin> crosses = CrossBins();
  for (const Line& line : lines_) {
    bool named = false;
    for (const Target& t : targets) named = named || Names(line, t.bin);
    for (const Bin& bin : crosses) named = named || Names(line, bin);
    if (!named) absl::StrAppend(&idle, line.text, "\n");
  }
  return idle;
}

}  // namespace heddle::lockstep
