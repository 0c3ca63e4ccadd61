// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/weight_streaming.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/package/package.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/stream/access.h"
#include "compiler/stream/split.h"

namespace heddle::compiler {
namespace {

using package::WeightCopy;
using package::WeightPlan;

// Copies of pieces that are so close are one: a step costs more than the bytes.
constexpr uint64_t kGap = 4096;

// Windows that are tried: all of the room for weights, three quarters, a half,
// three eighths ...
constexpr int kSizes = 16;

// Commands that are looked at, at most, for a better window than the first.
constexpr uint64_t kMostVisits = 1 << 23;

// What streams add to the memory beside the weights is known when they are
// made: the window then is made again.
constexpr int kMostRounds = 12;

uint64_t PageUp(uint64_t bytes) {
  return (bytes + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

// Bytes of region 0, aligned.
struct Range {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

// What the command reads of region 0; empty: nothing.
Range WeightsOf(const isa::Command& command, const isa::Config& config) {
  for (const Access& a : AccessesOf(command, config)) {
    if (a.space != kWeightRegion || a.write) continue;
    return {a.begin / package::kWeightAlign * package::kWeightAlign,
            (a.end + package::kWeightAlign - 1) / package::kWeightAlign *
                package::kWeightAlign};
  }
  return {};
}

class RangeSet {
 public:
  // Ranges with at most `gap` bytes between them become one.
  explicit RangeSet(uint64_t gap) : gap_(gap) {}

  uint64_t bytes() const { return bytes_; }
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }

  bool Holds(const Range& r) const {
    auto it = ranges_.upper_bound(r.begin);
    return it != ranges_.begin() && std::prev(it)->second >= r.end;
  }

  // Bytes more that it has with `r`.
  uint64_t Growth(const Range& r) const {
    Range merged = r;
    return r.size() == 0 ? 0 : Merge(&merged).growth;
  }
  void Add(const Range& r) {
    if (r.size() == 0) return;
    Range merged = r;
    const Merged m = Merge(&merged);
    ranges_.erase(m.first, m.last);
    ranges_.emplace(merged.begin, merged.end);
    bytes_ += m.growth;
  }

 private:
  using Iterator = std::map<uint64_t, uint64_t>::const_iterator;
  struct Merged {
    Iterator first, last;
    uint64_t growth;
  };
  Merged Merge(Range* r) const {
    auto first = ranges_.upper_bound(r->begin);
    if (first != ranges_.begin() &&
        std::prev(first)->second + gap_ >= r->begin) {
      --first;
    }
    uint64_t replaced = 0;
    auto last = first;
    for (; last != ranges_.end() && last->first <= r->end + gap_; ++last) {
      r->begin = std::min(r->begin, last->first);
      r->end = std::max(r->end, last->second);
      replaced += last->second - last->first;
    }
    return {first, last, r->size() - replaced};
  }

  uint64_t gap_, bytes_ = 0;
  std::map<uint64_t, uint64_t> ranges_;  // begin and end
};

absl::Status Refuse(uint64_t needed, uint64_t most, const std::string& why) {
  return Reject(
      Rejection::kNoDeviceMemory,
      absl::StrCat("the model needs ", needed, " bytes of device memory, ",
                   most,
                   " are there; with the weights in host memory it does not "
                   "fit either: ",
                   why,
                   "; make the batch or the tensors smaller, split the model, "
                   "or take a card with more memory"));
}

// What is resident, how large the window is, where streams end, and what that
// costs.
struct Division {
  RangeSet resident{0};
  uint64_t window = 0;
  std::vector<size_t> ends;
  uint64_t copied = 0, steps = 0;
};

// In which part of what fits a window streams may end. A late end makes few
// streams, an early one may load less again.
constexpr size_t kParts[] = {8, 2};

// Synchronisation adds commands.
constexpr uint64_t OfStream(uint64_t bytes) { return bytes / 4 * 3; }

class Divider {
 public:
  Divider(const StreamBuilder& stream, const isa::Config& config,
          uint64_t stream_bytes)
      : commands_(stream.commands()),
        config_(config),
        stream_bytes_(stream_bytes),
        splitter_(commands_, config) {
    ranges_.reserve(commands_.size());
    for (const isa::Command& c : commands_) {
      ranges_.push_back(WeightsOf(c, config));
      largest_ = std::max(largest_, ranges_.back().size());
    }
    // What is read again and again would be copied again for each window.
    std::map<std::pair<uint64_t, uint64_t>, size_t> reads;
    for (const Range& r : ranges_) {
      if (r.size() > 0 && ++reads[{r.begin, r.end}] == 1) in_turn_.push_back(r);
    }
    RangeSet all(0);
    for (const Range& r : in_turn_) all.Add(r);
    all_ = all.bytes();
    often_first_ = in_turn_;
    std::stable_sort(often_first_.begin(), often_first_.end(),
                     [&](const Range& a, const Range& b) {
                       return reads[{a.begin, a.end}] > reads[{b.begin, b.end}];
                     });
  }

  // Of `bytes` of device memory. The window that makes the least be copied, or
  // why there is none.
  absl::StatusOr<Division> Divide(uint64_t bytes, std::string* why) const {
    std::optional<Division> best;
    uint64_t visits = 0;
    for (int i = 0; i < kSizes && (!best || visits < kMostVisits); ++i) {
      const uint64_t size = (i % 2 == 0 ? bytes : bytes / 4 * 3) >> (i / 2);
      const uint64_t window =
          size / package::kWeightAlign * package::kWeightAlign;
      for (const auto* order : {&in_turn_, &often_first_}) {
        for (const size_t part : kParts) {
          visits += commands_.size();
          std::string no;
          std::optional<Division> division =
              Try(bytes - window, window, *order, part,
                  best ? best->copied : UINT64_MAX, &no);
          if (!division && i == 0) *why = no;
          if (division) best = std::move(division);
        }
      }
    }
    if (!best) return absl::ResourceExhaustedError(*why);
    return *std::move(best);
  }

  // What `commands` need in the window.
  RangeSet Needed(const Division& division,
                  const std::vector<isa::Command>& commands) const {
    RangeSet needed(kGap);
    for (const isa::Command& c : commands) {
      const Range range = WeightsOf(c, config_);
      if (!division.resident.Holds(range)) needed.Add(range);
    }
    return needed;
  }

 private:
  // Behind the last command of a stream that begins with `before` and goes on
  // with number `begin`.
  size_t Reach(const Division& division,
               const std::vector<isa::Command>& before, size_t begin) const {
    RangeSet needed = Needed(division, before);
    for (size_t i = begin; i < commands_.size(); ++i) {
      if (division.resident.Holds(ranges_[i])) continue;
      if (needed.bytes() + needed.Growth(ranges_[i]) > division.window) {
        return i;
      }
      needed.Add(ranges_[i]);
    }
    return commands_.size();
  }

  // None that copies `most` bytes or more.
  std::optional<Division> Try(uint64_t resident, uint64_t window,
                              const std::vector<Range>& order, size_t part,
                              uint64_t most, std::string* why) const {
    Division division;
    division.window = window;
    // What is too large for the window first.
    for (const bool too_large : {true, false}) {
      for (const Range& r : order) {
        if ((r.size() > window) != too_large) continue;
        const uint64_t growth = division.resident.Growth(r);
        if (division.resident.bytes() + growth <= resident) {
          division.resident.Add(r);
        } else if (too_large) {
          *why = absl::StrCat("one command reads ", largest_,
                              " bytes of weights, for which ", window,
                              " bytes are left");
          return std::nullopt;
        }
      }
    }
    if (all_ - std::min(all_, division.resident.bytes()) >= most) {
      return std::nullopt;
    }
    std::vector<isa::Command> before;
    for (size_t begin = 0; begin < commands_.size();) {
      size_t end = std::min(Reach(division, before, begin),
                            splitter_.EndOf(begin, OfStream(stream_bytes_)));
      Cut cut;
      std::vector<isa::Command> next;
      do {
        cut = splitter_.CutAt(splitter_.Cheapest(begin, end, part));
        if (cut.at == begin) {
          *why =
              absl::StrCat("commands that cannot be separated read more than ",
                           window, " bytes of weights");
          return std::nullopt;
        }
        next.clear();
        for (size_t i : cut.again) next.push_back(commands_[i]);
        // What was loaded ahead may leave no room for what comes next.
        end = cut.at - std::max<size_t>(1, (cut.at - begin) / 32);
      } while (cut.at < commands_.size() &&
               Reach(division, next, cut.at) == cut.at);
      RangeSet needed = Needed(division, before);
      for (size_t i = begin; i < cut.at; ++i) {
        if (!division.resident.Holds(ranges_[i])) needed.Add(ranges_[i]);
      }
      division.copied += needed.bytes();
      if (division.copied >= most) return std::nullopt;
      division.steps += 1 + needed.ranges().size();
      if (division.steps > kMostWeightSteps) {
        *why = absl::StrCat("windows of ", window,
                            " bytes of weights would take more than the ",
                            kMostWeightSteps,
                            " copies and streams of one inference");
        return std::nullopt;
      }
      division.ends.push_back(cut.at);
      begin = cut.at;
      before = std::move(next);
    }
    return division;
  }

  const std::vector<isa::Command>& commands_;
  const isa::Config& config_;
  const uint64_t stream_bytes_;
  const Splitter splitter_;
  std::vector<Range> ranges_;  // of each command
  // Different ones, in the order of the first and of the number of reads.
  std::vector<Range> in_turn_, often_first_;
  uint64_t largest_ = 0;
  uint64_t all_ = 0;  // that are read
};

absl::StatusOr<std::vector<isa::Command>> CommandsOf(
    const std::vector<uint32_t>& words) {
  std::vector<isa::Command> commands;
  for (size_t at = 0; at < words.size();) {
    ASSIGN_OR_RETURN(isa::Command command,
                     isa::DecodeAny(&words[at], words.size() - at));
    at += isa::WordsOf(command);
    commands.push_back(std::move(command));
  }
  return commands;
}

// Appends copies of the set to `to` and behind it; returns their end.
uint64_t AddCopies(const RangeSet& set, uint32_t stream, uint64_t weight_bytes,
                   uint64_t to, std::vector<WeightCopy>* copies) {
  for (const auto& [begin, end] : set.ranges()) {
    copies->push_back({stream, begin, to, std::min(end, weight_bytes) - begin});
    to += end - begin;
  }
  return to;
}

absl::StatusOr<WeightPlan> PlanOf(const Divider& divider,
                                  const Division& division,
                                  const std::vector<EncodedStream>& streams,
                                  uint64_t weight_bytes) {
  WeightPlan plan;
  const uint64_t window =
      AddCopies(division.resident, 0, weight_bytes, 0, &plan.resident);
  plan.device_bytes = window;
  for (size_t s = 0; s < streams.size(); ++s) {
    ASSIGN_OR_RETURN(const auto commands, CommandsOf(streams[s].words));
    plan.device_bytes = std::max(
        plan.device_bytes,
        AddCopies(divider.Needed(division, commands), static_cast<uint32_t>(s),
                  weight_bytes, window, &plan.copies));
  }
  // A region has no fewer; nothing reads it.
  plan.device_bytes = std::max(plan.device_bytes, package::kWeightAlign);
  return plan;
}

}  // namespace

uint64_t DeviceNeed::Total() const {
  return PageUp(weights) + PageUp(scratch) + PageUp(io) + streams;
}

uint64_t StreamPages(const std::vector<EncodedStream>& streams) {
  uint64_t bytes = 0;
  for (const EncodedStream& s : streams) {
    bytes += PageUp(s.words.size() * sizeof(uint32_t));
  }
  return bytes;
}

absl::StatusOr<StreamedWeights> StreamWeights(const StreamBuilder& stream,
                                              const isa::Config& config,
                                              uint64_t stream_bytes,
                                              const DeviceNeed& need,
                                              uint64_t device_memory_bytes) {
  const Divider divider(stream, config, stream_bytes);
  const uint64_t waiting = AlignToRegion(need.scratch);
  DeviceNeed small = need;
  uint64_t beside = need.Total() - PageUp(need.weights);
  for (int round = 0; round < kMostRounds; ++round) {
    if (beside >= device_memory_bytes) {
      return Refuse(need.Total(), device_memory_bytes,
                    absl::StrCat("inputs, outputs, scratch memory and commands "
                                 "take ",
                                 beside, " bytes"));
    }
    // Whole pages: region 0 is a buffer of its own.
    const uint64_t room = (device_memory_bytes - beside) / package::kPageBytes *
                          package::kPageBytes;
    std::string why;
    const absl::StatusOr<Division> division = divider.Divide(room, &why);
    if (!division.ok()) return Refuse(need.Total(), device_memory_bytes, why);
    StreamLimits limits;
    limits.bytes = stream_bytes;
    limits.streams = kMostWeightSteps;
    limits.ends = division->ends;
    StreamedWeights made;
    ASSIGN_OR_RETURN(made.split,
                     stream.FinishInStreams(limits, kScratchRegion, waiting));
    ASSIGN_OR_RETURN(made.plan, PlanOf(divider, *division, made.split.streams,
                                       need.weights));
    small.weights = made.plan.device_bytes;
    small.streams = StreamPages(made.split.streams);
    if (made.split.kept_bytes > 0) {
      small.scratch = waiting + made.split.kept_bytes;
    }
    const uint64_t total = small.Total();
    if (total <= device_memory_bytes) return made;
    beside += PageUp(total - device_memory_bytes);
  }
  return Refuse(need.Total(), device_memory_bytes,
                absl::StrCat("what waits between streams leaves less than ",
                             package::kPageBytes, " bytes for them"));
}

absl::StatusOr<std::vector<uint32_t>> AddressWeights(
    const std::vector<uint32_t>& words, uint32_t stream, const WeightPlan& plan,
    const isa::Config& config) {
  ASSIGN_OR_RETURN(std::vector<isa::Command> commands, CommandsOf(words));
  // Both lists are in the order of the weights, too.
  const auto first = [&](uint32_t s) {
    return std::lower_bound(
        plan.copies.begin(), plan.copies.end(), s,
        [](const WeightCopy& c, uint32_t of) { return c.stream < of; });
  };
  const auto find = [](auto begin, auto end,
                       const Range& r) -> const WeightCopy* {
    auto c = std::upper_bound(
        begin, end, r.begin,
        [](uint64_t at, const WeightCopy& of) { return at < of.from; });
    if (c == begin || r.end > AlignToRegion((c - 1)->from + (c - 1)->size)) {
      return nullptr;
    }
    return &*(c - 1);
  };
  std::vector<uint32_t> out;
  out.reserve(words.size());
  for (isa::Command& command : commands) {
    const Range range = WeightsOf(command, config);
    if (range.size() > 0) {
      const WeightCopy* place =
          find(plan.resident.begin(), plan.resident.end(), range);
      if (place == nullptr) {
        place = find(first(stream), first(stream + 1), range);
      }
      if (place == nullptr) {
        return absl::InternalError(absl::StrCat(
            "weights at ", range.begin, " of stream ", stream,
            " have no place on the card: ", isa::ToString(command)));
      }
      const auto move = [&](uint32_t* offset) {
        *offset = static_cast<uint32_t>(*offset - place->from + place->to);
      };
      if (auto* load = std::get_if<isa::Load>(&command)) {
        move(&load->dram_offset);
      } else if (auto* gather = std::get_if<isa::LoadGather>(&command)) {
        move(&gather->dram_offset);
      } else {
        return absl::InternalError(
            absl::StrCat("weights are read by ", isa::ToString(command)));
      }
    }
    isa::Append(command, &out);
  }
  return out;
}

std::string WeightPlanText(const WeightPlan& plan) {
  if (plan.empty()) return "";
  std::string text = absl::StrFormat(
      "weights: region 0 has %d bytes, %d of them resident; %d bytes are "
      "copied from host memory for each run\n",
      plan.device_bytes, plan.resident_bytes(), plan.copied_bytes());
  for (const auto* list : {&plan.resident, &plan.copies}) {
    for (const WeightCopy& c : *list) {
      absl::StrAppendFormat(&text, "  %s %#x..%#x to %#x\n",
                            list == &plan.resident
                                ? "resident "
                                : absl::StrCat("stream ", c.stream, ":"),
                            c.from, c.from + c.size, c.to);
    }
  }
  return text;
}

}  // namespace heddle::compiler
