// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/boundary.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "simulator/model/access.h"
#include "simulator/model/legal.h"
#include "simulator/model/own_output.h"

namespace heddle::lockstep {
namespace {

using model::Access;
using model::CommandGenerator;
using model::Space;

constexpr uint64_t kMostWork = 600000;
// Targets of a stream: of 400 commands, every third asks for one.
constexpr size_t kTargetShare = 120;

// Cycles, roughly and at most.
uint64_t Work(const isa::Conv& c) {
  const uint64_t taps = uint64_t{c.kh} * c.kw;
  const uint64_t blocks = (c.co + 15) / 16;
  const bool all = c.mode == isa::MatrixMode::kConv;
  return taps * c.out_rows * c.ow * blocks * (all ? (c.ci + 15) / 16 : 1);
}
template <typename C>
uint64_t Elements(const C& c) {
  uint64_t n = 1;
  for (uint64_t d : {c.n_r1, c.n_r2, c.n_r3, c.n_o1, c.n_o2, c.n_o3}) {
    n = std::min(n * d, kMostWork + 1);
  }
  return n;
}
uint64_t Work(const isa::Vrun& c) {
  return Elements(c) * ((c.lanes + 15) / 16) *
         (4 + c.prologue + c.body + c.epilogue);
}
uint64_t Work(const isa::Vmac& c) { return Elements(c) * c.lanes; }
uint64_t Work(const isa::LoadGather& c) { return uint64_t{c.n0} * c.count; }
uint64_t Work(const isa::StoreScatter& c) { return uint64_t{c.n0} * c.count; }
template <typename C>
auto Work(const C& c) -> decltype(uint64_t{c.n3}) {
  const uint64_t most = kMostWork;
  return std::min(uint64_t{c.n0} * c.n1, most) *
         std::min(uint64_t{c.n2} * c.n3, most);
}
uint64_t Work(...) { return 0; }

bool ProgramIsLegal(const isa::Vrun& c, const CommandGenerator& generator,
                    const std::vector<uint8_t>& sram) {
  // Outside the constant area, random_stream.cc loads it before each use.
  const uint64_t at = uint64_t{c.prog_addr} * isa::kWordBytes;
  const uint32_t n = c.prologue + c.body + c.epilogue;
  const uint64_t end =
      (at + 8 * n + isa::kWordBytes - 1) / isa::kWordBytes * isa::kWordBytes;
  if (at + 8 * n > sram.size() ||
      (!generator.IsConstant(c.prog_addr) && end > generator.data_bytes() &&
       (at < generator.tail() || end > sram.size()))) {
    return false;
  }
  for (uint32_t i = 0; i < n; ++i) {
    uint64_t micro;
    std::memcpy(&micro, &sram[at + 8 * i], 8);
    if (model::BrokenRule(c, micro) != nullptr) return false;
  }
  return true;
}

// Indices must be where nothing writes, and below the bound.
bool IndicesAreGood(const isa::Command& command,
                    const CommandGenerator& generator,
                    const std::vector<uint8_t>& sram) {
  const auto good = [&](int64_t at, uint64_t bound) {
    if (at < static_cast<int64_t>(generator.data_bytes()) ||
        at + 4 > static_cast<int64_t>(generator.tail())) {
      return false;
    }
    int32_t index;
    std::memcpy(&index, &sram[static_cast<size_t>(at)], 4);
    return index >= 0 && static_cast<uint64_t>(index) < bound;
  };
  const auto indexed = [&](const auto& c) {
    // In the data area they are zeros that random_stream.cc writes before.
    const uint64_t end = uint64_t{c.index_addr} + uint64_t{4} * c.count;
    if (end <= generator.data_bytes() || c.index_addr >= generator.tail()) {
      return true;
    }
    for (uint32_t j = 0; j < c.count; ++j) {
      if (!good(int64_t{c.index_addr} + 4 * j, c.bound)) return false;
    }
    return true;
  };
  if (auto* c = std::get_if<isa::LoadGather>(&command)) return indexed(*c);
  if (auto* c = std::get_if<isa::StoreScatter>(&command)) return indexed(*c);
  const auto* c = std::get_if<isa::Vrun>(&command);
  if (c == nullptr) return true;
  if (c->pick_a && c->index_bound < CommandGenerator::kPickBound) return false;
  if (!c->gather_a && !c->scatter_d) return true;
  const isa::Stream s = c->GetC();
  Access access;
  access.base = s.base;
  access.bytes = 4;
  access.Along(c->lanes, s.lane_stride)
      .Along(c->n_r1, s.r1_stride)
      .Along(c->n_r2, s.r2_stride)
      .Along(c->n_r3, s.r3_stride)
      .Along(c->n_o1, s.o1_stride)
      .Along(c->n_o2, s.o2_stride)
      .Along(c->n_o3, s.o3_stride);
  if (access.Lowest() < 0) return false;
  bool all = true;
  access.ForEachRun([&](int64_t at, uint64_t n) {
    for (uint64_t i = 0; i < n && all; i += 4) {
      all = good(at + static_cast<int64_t>(i), c->index_bound);
    }
  });
  return all;
}

// False: elements of the result lie on each other because a step is 0 (boxes do
// not tell) or a rolling buffer is too small.
bool StepsAreGood(const isa::Load& c) {
  return (c.n0 == 1 || c.t0 != 0) && (c.n1 == 1 || c.t1 != 0) &&
         (c.n2 == 1 || c.t2 != 0) && (c.n3 == 1 || c.t3 != 0);
}
bool StepsAreGood(const isa::Store& c) {
  return (c.n0 == 1 || c.s0 != 0) && (c.n1 == 1 || c.s1 != 0) &&
         (c.n2 == 1 || c.s2 != 0) && (c.n3 == 1 || c.s3 != 0);
}
bool StepsAreGood(const isa::Conv& c) {
  if (c.acc_hold) return true;
  if (c.co > 16 && c.out_plane == 0) return false;
  if (c.pool == isa::PoolKind::kAverage) return true;
  const bool max = c.pool == isa::PoolKind::kMax;
  const uint32_t columns = max ? c.pool_ow : c.ow;
  const uint32_t rows = max ? c.pool_oh : c.out_rows;
  return (columns <= 1 || c.out_xstep != 0) &&
         (rows <= 1 || c.out_pitch != 0) &&
         (c.out_wrap == 0 || c.out_wrap >= rows);
}
bool StepsAreGood(const isa::Vmac& c) {
  const isa::Stream d = c.GetD();
  return (c.lanes == 1 || d.lane_stride != 0) &&
         (c.n_o1 == 1 || d.o1_stride != 0) &&
         (c.n_o2 == 1 || d.o2_stride != 0) && (c.n_o3 == 1 || d.o3_stride != 0);
}
template <typename C>
bool StepsAreGood(const C&) {
  return true;
}

// Legal, inside, and with a defined result.
bool Good(const isa::Command& command, const CommandGenerator& generator,
          const std::vector<uint8_t>& sram) {
  const isa::Config& config = generator.config();
  if (model::BrokenRule(config, command) != nullptr ||
      !std::visit([](const auto& c) { return c.Check().ok(); }, command) ||
      std::visit([](const auto& c) { return Work(c); }, command) > kMostWork ||
      !std::visit([](const auto& c) { return StepsAreGood(c); }, command)) {
    return false;
  }
  const int64_t tail = static_cast<int64_t>(generator.tail());
  bool inside = true;
  std::vector<Access> writes;
  model::ForEachAccess(config, command, nullptr, [&](const Access& a) {
    if (a.empty || a.space == Space::kAccumulators) return;
    const uint64_t limit = a.space == Space::kDram ? generator.region_bytes()
                           : a.write && a.Lowest() < tail
                               ? generator.data_bytes()
                               : config.sram_bytes;
    if (a.Lowest() < 0 || a.Highest() >= static_cast<int64_t>(limit)) {
      inside = false;
    }
    if (a.space == Space::kDram &&
        (a.region > 1 || (a.write && a.region == 0))) {
      inside = false;
    }
    if (a.write) writes.push_back(a);
  });
  if (!inside) return false;
  const auto* vrun = std::get_if<isa::Vrun>(&command);
  if (vrun != nullptr && !ProgramIsLegal(*vrun, generator, sram)) return false;
  if (!IndicesAreGood(command, generator, sram)) return false;
  // vrun and the indexed ones have an order, and equal fills are equal.
  const bool ordered = vrun != nullptr ||
                       std::holds_alternative<isa::Fill>(command) ||
                       std::holds_alternative<isa::StoreScatter>(command);
  if (ordered) return true;
  std::vector<uint8_t> written(
      std::max<uint64_t>(config.sram_bytes, generator.region_bytes()), 0);
  for (const Access& w : writes) {
    w.ForEachRun([&](int64_t at, uint64_t n) {
      for (uint64_t i = 0; i < n; ++i) {
        inside = inside && written[static_cast<size_t>(at) + i]++ == 0;
      }
    });
  }
  return inside && !model::ReadsItsOutput(config, command);
}

// Makes most of a command small, so that one field of it can be large.
void Simplify(const isa::CommandInfo& info, CommandGenerator* g,
              uint32_t* words) {
  for (size_t i = 0; i < info.num_fields; ++i) {
    const isa::FieldInfo& field = info.fields[i];
    if (field.header || field.fixed || g->OneIn(6)) continue;
    const absl::string_view name = field.name;
    if (field.min == 1 && name != "body" && name != "ci" && name != "co" &&
        name != "bound") {
      isa::SetField(field, 1, words);
    } else if (absl::EndsWith(name, "stride") ||
               absl::EndsWith(name, "pitch") || absl::EndsWith(name, "plane") ||
               absl::EndsWith(name, "_wrap") || absl::EndsWith(name, "row0") ||
               absl::StartsWith(name, "pad_")) {
      isa::SetField(field, 0, words);
    }
  }
}

// A value of a field that may help another.
void Disturb(const isa::FieldInfo& field, CommandGenerator* g,
             uint32_t* words) {
  const uint32_t mask =
      field.bits == 32 ? UINT32_MAX : (uint32_t{1} << field.bits) - 1;
  uint32_t bits;
  if (field.type == isa::FieldType::kEnum) {
    bits = field.enum_info
               ->values[g->Below(
                   static_cast<uint32_t>(field.enum_info->num_values))]
               .value;
  } else if (field.type == isa::FieldType::kF32) {
    bits = 0x3f800000 + g->Below(1 << 24);
  } else {
    switch (g->Below(5)) {
      case 0:
        bits = static_cast<uint32_t>(field.min);
        break;
      case 1:
        bits = static_cast<uint32_t>(field.max);
        break;
      case 2:
        bits = 0;
        break;
      case 3:
        bits = 1;
        break;
      default:
        bits = g->Below(300);
    }
  }
  isa::SetField(field, bits & mask, words);
}

const isa::FieldInfo* FieldOf(const isa::CommandInfo& info,
                              absl::string_view name) {
  for (size_t i = 0; i < info.num_fields; ++i) {
    if (info.fields[i].name == name) return &info.fields[i];
  }
  return nullptr;
}

void Set(const isa::CommandInfo& info, absl::string_view name, uint32_t bits,
         uint32_t* words) {
  if (const isa::FieldInfo* field = FieldOf(info, name)) {
    isa::SetField(*field, bits, words);
  }
}

// What a large value usually needs: a step that takes as little room as it can,
// or a single step of a large one.
void Support(const isa::CommandInfo& info, absl::string_view name,
             uint32_t value, CommandGenerator* g, uint32_t* words) {
  const bool store = info.opcode == isa::Opcode::kStore;
  if (name.size() == 2 && name[0] == 'n') {
    Set(info, "elem_log2", 0, words);
    Set(info, absl::StrCat("t", name.substr(1)), store ? 0 : 1, words);
    Set(info, absl::StrCat("s", name.substr(1)), store ? 1 : 0, words);
    Set(info, "sram_addr", g->Below(64), words);
    Set(info, "dram_offset", g->Below(2), words);
  } else if (name.size() == 2 && (name[0] == 's' || name[0] == 't')) {
    Set(info, "elem_log2", 0, words);
    Set(info, absl::StrCat("n", name.substr(1)), 1, words);
    if (FieldOf(info, "bound") != nullptr && !g->OneIn(3)) {
      // Indices that are all 0.
      Set(info, "bound", 1, words);
      Set(info, "index_addr", 4 * g->Below(64), words);
      Set(info, "sram_addr", 300000 + g->Below(999), words);
    }
  } else if (absl::EndsWith(name, "_stride") && name != "index_stride") {
    const absl::string_view dim = name.substr(2, name.size() - 9);
    Set(info, dim == "lane" ? "lanes" : absl::StrCat("n_", dim), 1, words);
    Set(info, absl::StrCat(name.substr(0, 2), "type"), g->Below(2), words);
  } else if (name == "lanes" || absl::StartsWith(name, "n_")) {
    const std::string dim(name == "lanes" ? "lane" : name.substr(2));
    const uint32_t e = info.opcode == isa::Opcode::kVmac ? 2 : 1;
    for (const char* s : {"a", "b", "c", "d"}) {
      Set(info, absl::StrCat(s, "_", dim, "_stride"), *s == 'd' ? e : 0, words);
    }
    Set(info, "d_type", e == 2 ? 4 : 0, words);
    Set(info, "d_base", 16 * g->Below(32), words);
  } else if (name == "ci" || name == "co") {
    for (const char* plane : {"in_plane", "w_plane", "w_step"}) {
      if (!g->OneIn(4)) Set(info, plane, 0, words);
    }
    // Outputs, parameters, weights of very many channels, one behind the other.
    Set(info, "out_plane", 1, words);
    Set(info, "out_addr", g->Below(64), words);
    Set(info, "param_addr", 5000 + g->Below(64), words);
    Set(info, "w_addr", 40000 + g->Below(64), words);
    Set(info, "out_type", g->Below(2), words);
    Set(info, "w_mode", name == "ci" ? 1 : 2, words);
    const uint32_t mode = isa::GetField(*FieldOf(info, "mode"), words);
    if (mode == static_cast<uint32_t>(isa::MatrixMode::kDepthwise) ||
        mode == static_cast<uint32_t>(isa::MatrixMode::kMaxpool)) {
      Set(info, "w_mode", 0, words);
      Set(info, name == "ci" ? "co" : "ci", value, words);
    }
  } else if (name == "bound" || name == "index_bound") {
    Set(info, "s1", 0, words);
    Set(info, "index_stride", 0, words);
    Set(info, "count", 1, words);
    if (const isa::FieldInfo* at = FieldOf(info, "index_addr")) {
      isa::SetField(*at, isa::GetField(*at, words) + 4 * g->Below(200), words);
    }
  } else if (name == "index_stride") {
    // One element only, for the first index is 0.
    for (const char* count : {"lanes", "n_r1", "n_r2", "n_r3", "n_o1", "n_o2",
                              "n_o3", "index_bound"}) {
      Set(info, count, 1, words);
    }
    Set(info, "a_type", 0, words);
    Set(info, "d_type", 0, words);
  } else if (name == "count" || name == "index_addr") {
    Set(info, "elem_log2", 0, words);
    Set(info, "index_addr", 4 * g->Below(64), words);
    Set(info, "n0", 1, words);
    Set(info, "t1", 1, words);
    if (!g->OneIn(3)) Set(info, "sram_addr", 300000 + g->Below(999), words);
  } else if (name == "out_addr" && !g->OneIn(3)) {
    // Nothing is written there: no pooled row.
    Set(info, "acc_hold", 0, words);
    Set(info, "out_type", g->Below(2), words);
    Set(info, "out_wrap", 0, words);
    Set(info, "pool", 1, words);
    Set(info, "pool_k", 1, words);
    Set(info, "pool_s", 1, words);
    Set(info, "pool_pad", 0, words);
    Set(info, "pool_oh", 0, words);
  } else if (absl::StartsWith(name, "pool_zero") || name == "pool_scale") {
    Set(info, "pool", 2, words);
    Set(info, "out_wrap", 0, words);
    Set(info, "out_type", g->Below(2), words);
  } else if (absl::StartsWith(name, "pool_")) {
    Set(info, "pool", 1, words);
    Set(info, "out_wrap", 0, words);
    Set(info, "pool_ow", g->Below(3), words);
    Set(info, "pool_oh", g->Below(3), words);
  } else if (name == "res_min" || name == "act_min") {
    Set(info, absl::StrCat(name.substr(0, 4), "max"), value, words);
  } else if (name == "res_max" || name == "act_max") {
    Set(info, absl::StrCat(name.substr(0, 4), "min"), value, words);
  }
}

// The generator's kinds of a kind of the coverage model.
const std::vector<size_t>& KindsOf(const std::string& kind) {
  static const auto* const kinds = [] {
    auto* all = new std::map<std::string, std::vector<size_t>>;
    CommandGenerator probe(isa::kH256, 64 * 1024, 1);
    for (size_t k = 0; k < CommandGenerator::kinds(); ++k) {
      std::vector<uint32_t> words;
      isa::Append(probe.Make(k).command, &words);
      std::string of;
      BinsOf(words.data(), words.size(), &of);
      (*all)[of].push_back(k);
    }
    return all;
  }();
  static const std::vector<size_t>* const none = new std::vector<size_t>;
  const auto it = kinds->find(kind);
  return it == kinds->end() ? *none : it->second;
}

// Moves what the field is the address of to the end of SRAM or of its region;
// false if it cannot be there.
bool MoveToTheEnd(const Target& target, const Place& place, uint32_t* words,
                  size_t n) {
  const auto command = isa::DecodeAny(words, n);
  if (!command.ok() ||
      !std::visit([](const auto& c) { return c.Check().ok(); }, *command) ||
      model::BrokenRule(place.config, *command) != nullptr ||
      std::visit([](const auto& c) { return Work(c); }, *command) > kMostWork) {
    return false;
  }
  const isa::FieldInfo& field = *target.field;
  const bool dram = target.bin.field == "dram_offset";
  const int64_t unit =
      dram || field.type != isa::FieldType::kSramWord ? 1 : isa::kWordBytes;
  std::set<int64_t> distances;
  model::ForEachAccess(place.config, *command, nullptr, [&](const Access& a) {
    if (a.empty || (dram ? a.space != Space::kDram : a.space != Space::kSram)) {
      return;
    }
    const uint64_t size =
        dram ? place.regions[a.region].size : place.config.sram_bytes;
    distances.insert((static_cast<int64_t>(size) - 1 - a.Highest()) / unit);
  });
  const int64_t value = isa::FieldValue(field, isa::GetField(field, words));
  const auto inside_at = [&](int64_t at) {
    isa::SetField(field, static_cast<uint32_t>(at), words);
    const auto moved = isa::DecodeAny(words, n);
    return moved.ok() && Inside(place, *moved);
  };
  // The operand that is the field's leaves with the next step.
  int tries = 0;
  for (int64_t distance : distances) {
    const int64_t at = value + distance;
    if (at < field.min || at >= field.max || ++tries > 6) continue;
    if (!inside_at(at + 1) && inside_at(at)) return true;
  }
  return false;
}

}  // namespace

Boundary::Boundary(const std::vector<Target>* targets, uint64_t seed,
                   size_t share)
    : targets_(targets),
      next_(targets->empty() ? 0 : seed * share % targets->size()),
      left_(targets->empty() ? 0 : share) {}

std::optional<isa::Command> Boundary::operator()(
    CommandGenerator* generator, const std::vector<uint8_t>& sram) {
  if (left_ == 0 || !generator->OneIn(3)) return std::nullopt;
  --left_;
  const Target& target = (*targets_)[next_];
  next_ = (next_ + 1) % targets_->size();
  return Find(target, 400, generator, sram);
}

std::optional<isa::Command> Boundary::Find(const Target& target, int tries,
                                           CommandGenerator* g,
                                           const std::vector<uint8_t>& sram) {
  const std::vector<size_t>& kinds = KindsOf(target.bin.kind);
  if (kinds.empty()) return std::nullopt;
  Place place = {g->config()};
  for (uint32_t r : {0, 1}) place.regions[r] = {0, g->region_bytes(), r == 1};
  // The largest offset is that of the last byte of a region of 4 GiB.
  Bin wanted = target.bin;
  const bool largest =
      wanted.field == "dram_offset" && wanted.value == "largest";
  if (largest) wanted.value = kLast;
  const bool last = wanted.value == kLast;
  std::vector<uint32_t> base;
  for (int i = 0; i < tries; ++i) {
    if (i % 10 == 0) {
      base.clear();
      isa::Append(
          g->Make(kinds[g->Below(static_cast<uint32_t>(kinds.size()))]).command,
          &base);
    }
    std::vector<uint32_t> words = base;
    const isa::CommandInfo& info = *isa::FindCommand(isa::OpcodeOf(words[0]));
    if (i > tries / 4) Simplify(info, g, words.data());
    for (uint32_t n = i > tries / 8 ? g->Below(5) : 0; n > 0; --n) {
      const isa::FieldInfo& other =
          info.fields[g->Below(static_cast<uint32_t>(info.num_fields))];
      if (!other.header && !other.fixed &&
          std::strcmp(other.name, "mode") != 0) {
        Disturb(other, g, words.data());
      }
    }
    if (i > tries / 4 && wanted.value != kUnused && !last && !g->OneIn(4)) {
      Support(info, target.bin.field, target.bits, g, words.data());
    }
    if (last) {
      if (largest) {
        for (const char* n : {"n0", "n1", "n2", "n3", "count", "bound"}) {
          Set(info, n, 1, words.data());
        }
        Set(info, "elem_log2", 0, words.data());
      }
      if (!MoveToTheEnd(target, place, words.data(), words.size())) continue;
    } else if (target.has_bits) {
      isa::SetField(*target.field, target.bits, words.data());
    } else {
      Disturb(*target.field, g, words.data());
    }
    const auto command = isa::DecodeAny(words.data(), words.size());
    if (!command.ok() || !Good(*command, *g, sram)) continue;
    std::string kind;
    for (const Bin& bin :
         BinsOf(words.data(), words.size(), &kind, last ? &place : nullptr)) {
      if (!(bin < wanted) && !(wanted < bin)) return *command;
    }
  }
  return std::nullopt;
}

const isa::Config& ConfigOf(uint64_t seed) {
  return isa::kConfigs[seed / 4 % isa::kNumConfigs];
}

model::RandomStreamOptions StreamOptions(uint64_t seed,
                                         const isa::Config& config,
                                         uint64_t length, uint64_t nth,
                                         const std::vector<Target>& targets) {
  model::RandomStreamOptions options;
  options.seed = seed;
  options.config = config;
  options.commands = static_cast<int>(length);
  options.vary = true;
  options.streams = 1 + static_cast<int>(seed % 3);
  if (nth != 0 && seed % nth == 0) {
    // Regions of 4 GiB in every second of them.
    if (seed / nth % 2 == 0) {
      options.region_shift = (uint64_t{1} << 32) - options.region_bytes;
    }
    options.choose = Boundary(&targets, seed / nth, kTargetShare);
  }
  return options;
}

std::vector<Target> TargetsToAimAt(const Unreachable& unreachable) {
  std::vector<Target> targets;
  for (const Target& t : AllTargets()) {
    // Headers and regions are random_stream.cc's.
    if (t.bin.kind == "header" || t.bin.field == "region" ||
        t.bin.value == "any" || unreachable.Has(t.bin)) {
      continue;
    }
    targets.push_back(t);
  }
  return targets;
}

}  // namespace heddle::lockstep
