// SPDX-License-Identifier: Apache-2.0
#include "tests/validator/oracle.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/validate_stream.h"
#include "simulator/model/access.h"
#include "simulator/model/legal.h"
#include "simulator/model/model.h"

namespace heddle::validator {
namespace {

// Regions lie far apart, so that a device address tells region and offset,
// however far a stream reaches.
constexpr int kRegionShift = 58;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kRegionShift) - 1;
// What the model may do for one stream.
constexpr uint64_t kAccessesMax = 1 << 16;
constexpr uint64_t kWorkMax = 1 << 18;

// Device memory without end that notes what is touched.
class Recorder : public model::Memory {
 public:
  bool Read(uint64_t address, void* to, size_t bytes) override {
    std::memset(to, 1, bytes);
    return Note(address, bytes, false);
  }
  bool Write(uint64_t address, const void*, size_t bytes) override {
    return Note(address, bytes, true);
  }

  uint64_t end[isa::kRegions] = {};
  uint32_t written = 0;

 private:
  bool Note(uint64_t address, size_t bytes, bool write) {
    const uint32_t region = (address >> kRegionShift) % isa::kRegions;
    end[region] = std::max(end[region], (address & kOffsetMask) + bytes);
    if (write) written |= 1u << region;
    return ++accesses_ < kAccessesMax;  // then a bus error ends the run
  }
  uint64_t accesses_ = 0;
};

// The fields of a command whose product says how much it works on, and which
// of them count in blocks of 16. Found by name once: millions of commands ask.
struct WorkField {
  const isa::FieldInfo* field;
  bool blocks;
};

std::vector<WorkField> FindWorkFields(const isa::CommandInfo& info) {
  std::vector<WorkField> found;
  for (size_t i = 0; i < info.num_fields; ++i) {
    const std::string name = info.fields[i].name;
    const bool blocks = name == "ci" || name == "co" || name == "lanes";
    if (blocks || name == "n0" || name == "n1" || name == "n2" ||
        name == "n3" || name == "count" || name.rfind("n_", 0) == 0 ||
        name == "ow" || name == "out_rows" || name == "kh" || name == "kw" ||
        name == "pool_ow" || name == "pool_oh") {
      found.push_back({&info.fields[i], blocks});
    }
  }
  return found;
}

// Rough number of elements that a command works on.
uint64_t Work(const isa::CommandInfo& info, const uint32_t* words) {
  static thread_local std::unordered_map<const isa::CommandInfo*,
                                         std::vector<WorkField>>
      fields_of;
  auto entry = fields_of.find(&info);
  if (entry == fields_of.end()) {
    entry = fields_of.emplace(&info, FindWorkFields(info)).first;
  }
  double work = 1;
  for (const WorkField& f : entry->second) {
    const double n = isa::GetField(*f.field, words);
    work *= std::max(f.blocks ? n / 16 + 1 : n, 1.0);
  }
  return work > 1e18 ? uint64_t{1} << 60 : static_cast<uint64_t>(work);
}

std::string CheckDescription(const isa::Config& config,
                             const std::vector<uint32_t>& words,
                             const heddle_validate_result& facts,
                             uint64_t* work) {
  std::string failure;
  size_t at = 0;
  while (at < words.size() && failure.empty()) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) {
      return absl::StrCat("accepted an encoding that is not legal at byte ",
                          at * 4, ": ",
                          std::string(command.status().message()));
    }
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(words[at]));
    const uint64_t command_work = Work(*info, &words[at]);
    *work += command_work;
    // (The model walks rows one by one: skip what would take it minutes.)
    if (command_work < (uint64_t{1} << 40)) {
      if (const char* rule = model::BrokenRule(config, *command)) {
        return absl::StrCat("accepted ", info->name, " at byte ", at * 4,
                            " although ", rule);
      }
    }
    model::ForEachAccess(
        config, *command, nullptr, [&](const model::Access& a) {
          if (a.empty || a.space == model::Space::kAccumulators ||
              !failure.empty())
            return;
          const int64_t high = a.Highest();
          if (a.space == model::Space::kSram) {
            if (a.Lowest() < 0 || high >= config.sram_bytes) {
              failure = absl::StrCat(info->name, " at byte ", at * 4,
                                     " reaches SRAM bytes ", a.Lowest(), " to ",
                                     high);
            }
            return;
          }
          const uint32_t bit = 1u << a.region;
          if (!(facts.used & bit) ||
              static_cast<uint64_t>(high) >= facts.end[a.region] ||
              a.Lowest() < 0) {
            failure =
                absl::StrCat(info->name, " at byte ", at * 4, " reaches byte ",
                             high, " of region ", a.region, ", computed end ",
                             facts.end[a.region]);
          } else if (a.write && !(facts.written & bit)) {
            failure = absl::StrCat(info->name, " at byte ", at * 4,
                                   " writes to region ", a.region);
          }
        });
    at += info->words;
  }
  return failure;
}

std::string CheckExecution(const isa::Config& config,
                           const std::vector<uint32_t>& words,
                           const heddle_validate_result& facts) {
  Recorder recorder;
  model::Options options;
  options.check_regions = false;
  model::Model m(config, &recorder, options);
  model::RegionTable regions;
  for (uint32_t r = 0; r < isa::kRegions; ++r) {
    regions[r] = {uint64_t{r} << kRegionShift, kOffsetMask, true};
  }
  const model::RunResult result =
      m.Run(words.data(), words.size() * 4, regions);
  switch (result.status) {
    case isa::Error::kIllegalCommand:
    case isa::Error::kStreamOverrun:
    case isa::Error::kSramBounds:
    case isa::Error::kSemaphoreOverflow:
      return absl::StrCat(
          "accepted, but the model faults with ", isa::ToString(result.status),
          " at byte ", result.fault_offset, ", address ", result.fault_address);
    default:
      break;  // indices and microprograms are data
  }
  for (uint32_t r = 0; r < isa::kRegions; ++r) {
    const bool used = facts.used >> r & 1;
    if (recorder.end[r] > (used ? facts.end[r] : 0)) {
      return absl::StrCat("touched byte ", recorder.end[r] - 1, " of region ",
                          r, ", computed end ", used ? facts.end[r] : 0);
    }
  }
  if (recorder.written & ~facts.written)
    return "wrote to a region that counts as read only";
  return "";
}

}  // namespace

Verdict Check(const isa::Config& config, const std::vector<uint32_t>& words,
              bool execute) {
  Verdict verdict;
  heddle_validate_result facts;
  // A copy of exact size: reading beyond the end is found by sanitizers.
  std::vector<uint32_t> copy(words);
  copy.shrink_to_fit();
  if (!hosted::ValidateStream(config.id, copy, &facts)) return verdict;
  verdict.accepted = true;
  uint64_t work = 0;
  verdict.failure = CheckDescription(config, words, facts, &work);
  if (!verdict.failure.empty() || !execute || work > kWorkMax) return verdict;
  verdict.executed = true;
  verdict.failure = CheckExecution(config, words, facts);
  return verdict;
}

void Mutate(std::mt19937_64* random, std::vector<uint32_t>* words) {
  auto below = [&](uint64_t n) { return n == 0 ? 0 : (*random)() % n; };
  std::vector<size_t> starts;
  for (size_t at = 0; at < words->size();) {
    const isa::CommandInfo* info =
        isa::FindCommand(isa::OpcodeOf((*words)[at]));
    if (info == nullptr || info->words > words->size() - at) break;
    starts.push_back(at);
    at += info->words;
  }
  if (starts.empty()) return;
  const size_t at = starts[below(starts.size())];
  const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf((*words)[at]));
  switch (below(24)) {
    case 0:  // any bit
      (*words)[below(words->size())] ^= 1u << below(32);
      return;
    case 1:  // cut at the end, by whole SRAM words
      words->resize(words->size() -
                    std::min<size_t>(words->size(), 4 * (1 + below(8))));
      return;
    case 2:  // lose a command
      words->erase(words->begin() + at, words->begin() + at + info->words);
      return;
    case 3:  // an instruction nobody knows
      (*words)[at] =
          ((*words)[at] & ~0xffu) | static_cast<uint32_t>(below(256));
      return;
    case 4: {  // end with the first part of a longer command
      const size_t keep = std::min<size_t>(info->words, 4 * (1 + below(3)));
      std::vector<uint32_t> part(words->begin() + at,
                                 words->begin() + at + keep);
      words->resize(words->size() - std::min<size_t>(words->size(), 4));
      words->insert(words->end(), part.begin(), part.end());
      return;
    }
    case 5: {  // something in the middle that is as long as a header
      const uint32_t word = static_cast<uint32_t>((*random)() & 0xff) | 4u << 8;
      const uint32_t command[4] = {word, 0, 0, 0};
      words->insert(words->begin() + at, command, command + 4);
      return;
    }
    default:
      break;
  }
  // A field of the command to a value that is likely to matter.
  std::vector<const isa::FieldInfo*> fields;
  for (size_t i = 0; i < info->num_fields; ++i) {
    if (!info->fields[i].header || below(16) == 0)
      fields.push_back(&info->fields[i]);
  }
  if (fields.empty()) return;
  const isa::FieldInfo& f = *fields[below(fields.size())];
  const uint32_t mask = f.bits == 32 ? ~0u : (1u << f.bits) - 1;
  const uint32_t old = isa::GetField(f, &(*words)[at]);
  uint32_t value = 0;
  switch (below(10)) {
    case 0:
      value = 0;
      break;
    case 1:
      value = mask;
      break;
    case 2:
      value = mask >> 1;
      break;
    case 3:
      value = static_cast<uint32_t>(f.max);
      break;
    case 4:
      value = old + 1;
      break;
    case 5:
      value = old - 1;
      break;
    case 6:
      value = static_cast<uint32_t>((*random)()) & 0xfffffff0u;
      break;
    case 7:
      value = old * 2;
      break;
    case 8:
      value = 0u - old;
      break;
    default:
      value = static_cast<uint32_t>((*random)()) >> below(32);
  }
  isa::SetField(f, value & mask, &(*words)[at]);
}

}  // namespace heddle::validator
