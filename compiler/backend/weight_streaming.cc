// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/weight_streaming.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/count_text.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/package/package.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/stream/access.h"
#include "compiler/stream/job_cycles.h"
#include "compiler/stream/split.h"
#include "simulator/timing/command_cost.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {
namespace {

using package::WeightCopy;
using package::WeightPlan;

// Copies of pieces that are so close are one: a step costs more than the bytes.
constexpr uint64_t kGap = 4096;

// Windows that are tried together take all of the room for weights, three
// quarters, a half, three eighths ...
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

// What the command reads of a region; empty: nothing.
Range WeightsOf(const isa::Command& command, const isa::Config& config,
                int region = kWeightRegion) {
  for (const Access& a : AccessesOf(command, config)) {
    if (a.space != region || a.write) continue;
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
  return Reject(Rejection::kNoDeviceMemory,
                absl::StrCat("the model needs ", BytesText(needed),
                             " of device memory, ", BytesText(most),
                             " are available; it does not fit with the weights "
                             "in host memory either: ",
                             why,
                             "; make the batch or the tensors smaller, split "
                             "the model, or use a card with more memory"));
}

// What is resident, how large the windows are, where streams end, and what that
// costs.
struct Division {
  RangeSet resident{0};
  uint32_t windows = 1;
  uint64_t window = 0;  // bytes of each
  std::vector<size_t> ends;
  uint64_t copied = 0, steps = 0;
  uint64_t cycles = 0, computing = 0;  // of a job; without its copies

  // Bytes that are copied in vain take the bus from others and cost power, even
  // where nobody waits for them: an eighth of their time counts.
  uint64_t price() const { return cycles + CopyCycles(copied, 0) / 8; }
};

// What a part of the commands costs, the engines beside each other.
struct Work {
  std::array<uint64_t, timing::kTimedEngines + 1> busy{};  // by isa::Engine
  uint64_t memory = 0;  // cycles in which device memory is used
  uint64_t alone = 0;   // of these, those beside which nothing is computed

  Work& operator+=(const Work& o) {
    for (size_t e = 0; e < busy.size(); ++e) busy[e] += o.busy[e];
    memory += o.memory;
    alone += o.alone;
    return *this;
  }
  Work operator-(const Work& o) const {
    Work w = *this;
    for (size_t e = 0; e < busy.size(); ++e) w.busy[e] -= o.busy[e];
    w.memory -= o.memory;
    return w;
  }
  uint64_t cycles() const {
    return kRunLatency +
           std::max(memory,
                    alone + *std::max_element(busy.begin(), busy.end()));
  }
};

Work WorkOf(const isa::Command& command, const isa::Config& config) {
  Work work;
  work.busy[static_cast<size_t>(EngineOf(command))] =
      timing::EstimateCycles(command, config);
  work.memory = timing::DramBytesOf(command) / config.dram_bytes_per_cycle;
  return work;
}

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
    work_.resize(1);
    work_.reserve(commands_.size() + 1);
    for (const isa::Command& c : commands_) {
      Work work = WorkOf(c, config);
      work += work_.back();
      work_.push_back(work);
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

  // Of `bytes` of device memory, whole pages, with at most so many windows. The
  // division whose job is over first, or why there is none.
  absl::StatusOr<Division> Divide(uint64_t bytes, uint32_t most_windows,
                                  std::string* why) const {
    std::optional<Division> best;
    uint64_t visits = 0;
    for (int i = 0; i < kSizes && (!best || visits < kMostVisits); ++i) {
      const uint64_t size = (i % 2 == 0 ? bytes : bytes / 4 * 3) >> (i / 2);
      for (uint32_t windows = 1; windows <= most_windows; ++windows) {
        // Each is a buffer of its own.
        Division empty;
        empty.windows = windows;
        empty.window =
            size / windows / package::kPageBytes * package::kPageBytes;
        if (empty.window == 0) continue;
        const uint64_t resident = bytes - windows * empty.window;
        const std::vector<Range> spread = Spread(resident, empty.window);
        for (const auto* order : {&in_turn_, &often_first_, &spread}) {
          if (windows == 1 && order == &spread) continue;
          for (const size_t part : kParts) {
            visits += commands_.size();
            std::string no;
            std::optional<Division> division =
                Try(empty, resident, *order, part,
                    best ? best->price() : UINT64_MAX, &no);
            if (!division && i == 0 && windows == 1) *why = no;
            if (division && (!best || division->price() < best->price())) {
              best = std::move(division);
            }
          }
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
  // What is read in turn, that first which stays if copies are to be spread
  // evenly over the job: behind each window full of weights, a part that is
  // resident.
  std::vector<Range> Spread(uint64_t resident, uint64_t window) const {
    if (resident >= all_) return in_turn_;
    const uint64_t copied = all_ - resident;
    const uint64_t periods = (copied + window - 1) / window;
    const uint64_t period = all_ / periods + 1;
    const uint64_t stays = resident / periods;
    std::vector<Range> order, others;
    uint64_t at = 0;
    for (const Range& r : in_turn_) {
      (at % period < stays ? order : others).push_back(r);
      at += r.size();
    }
    order.insert(order.end(), others.begin(), others.end());
    return order;
  }

  // In front of the first command that reads what is copied, at most `end`.
  size_t FirstCopied(const Division& division, size_t end) const {
    for (size_t i = 0; i < end; ++i) {
      if (ranges_[i].size() > 0 && !division.resident.Holds(ranges_[i])) {
        return i;
      }
    }
    return end;
  }

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

  // Goes on from `division`, of which only the windows are known. None whose
  // price is above `most`.
  std::optional<Division> Try(Division division, uint64_t resident,
                              const std::vector<Range>& order, size_t part,
                              uint64_t most, std::string* why) const {
    const uint64_t window = division.window;
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
    if (CopyCycles(all_ - std::min(all_, division.resident.bytes()), 0) >
        most) {
      return std::nullopt;
    }
    std::vector<isa::Command> before;
    // Of the stream that runs while the next one's weights come.
    Work running;
    uint64_t kept_before = 0;
    for (size_t begin = 0; begin < commands_.size();) {
      size_t end = std::min(Reach(division, before, begin),
                            splitter_.EndOf(begin, OfStream(stream_bytes_)));
      // Nothing runs beside the copies of the first stream: it has none.
      if (begin == 0 && division.windows > 1) {
        const size_t quiet = FirstCopied(division, end);
        if (splitter_.Cheapest(0, quiet, part) > 0) end = quiet;
      }
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
      Work work = work_[cut.at] - work_[begin];
      for (const isa::Command& c : before) work += WorkOf(c, config_);
      // What is loaded again or kept comes in when nothing can be computed yet,
      // and goes out when everything has been.
      uint64_t kept = 0;
      for (const SramRange& r : cut.kept) kept += r.end - r.begin;
      kept /= config_.dram_bytes_per_cycle;
      work.memory += kept_before + kept;
      for (const isa::Command& c : before) {
        work.alone += WorkOf(c, config_).memory;
      }
      work.alone += kept_before + kept;
      kept_before = kept;
      division.copied += needed.bytes();
      const uint64_t copy = CopyCycles(needed.bytes(), needed.ranges().size());
      if (division.windows == 1) {
        division.cycles += copy + work.cycles();
      } else {
        // The copies use device memory, too.
        division.cycles += std::max(
            {copy, begin == 0 ? 0 : running.cycles(),
             running.memory + needed.bytes() / config_.dram_bytes_per_cycle});
        if (cut.at == commands_.size()) division.cycles += work.cycles();
      }
      division.computing += work.cycles();
      running = work;
      if (division.cycles > most) return std::nullopt;
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
  std::vector<Work> work_;     // in front of each command; and all
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
  plan.device_bytes =
      AddCopies(division.resident, 0, weight_bytes, 0, &plan.resident);
  plan.windows = division.windows;
  for (size_t s = 0; s < streams.size(); ++s) {
    ASSIGN_OR_RETURN(const auto commands, CommandsOf(streams[s].words));
    plan.window_bytes = std::max(
        plan.window_bytes,
        AddCopies(divider.Needed(division, commands), static_cast<uint32_t>(s),
                  weight_bytes, 0, &plan.copies));
  }
  // A region has no fewer; nothing reads it.
  plan.window_bytes = std::max(plan.window_bytes, package::kWeightAlign);
  return plan;
}

using Copies = std::vector<WeightCopy>::const_iterator;

// The first copy of that stream, or behind all before it.
Copies FirstOf(const WeightPlan& plan, uint32_t stream) {
  return std::lower_bound(
      plan.copies.begin(), plan.copies.end(), stream,
      [](const WeightCopy& c, uint32_t of) { return c.stream < of; });
}

// The copy that has all of the range, whose `place` (in the weights, or where
// they are put) ascends from `begin` to `end`.
const WeightCopy* Find(Copies begin, Copies end, uint64_t WeightCopy::*place,
                       const Range& r) {
  const auto c = std::upper_bound(
      begin, end, r.begin,
      [place](uint64_t at, const WeightCopy& of) { return at < of.*place; });
  if (c == begin) return nullptr;
  const WeightCopy& found = *(c - 1);
  return r.end > AlignToRegion(found.*place + found.size) ? nullptr : &found;
}

// Calls `f` with what reads weights, of any kind of such a command.
template <typename F>
absl::Status ChangeLoad(isa::Command* command, const F& f) {
  if (auto* load = std::get_if<isa::Load>(command)) return f(load);
  if (auto* gather = std::get_if<isa::LoadGather>(command)) return f(gather);
  return absl::InternalError(
      absl::StrCat("weights are read by ", isa::ToString(*command)));
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
                                              uint64_t device_memory_bytes,
                                              uint32_t most_windows) {
  const Divider divider(stream, config, stream_bytes);
  const uint64_t waiting = AlignToRegion(need.scratch);
  DeviceNeed small = need;
  uint64_t beside = need.Total() - PageUp(need.weights);
  for (int round = 0; round < kMostRounds; ++round) {
    if (beside >= device_memory_bytes) {
      return Refuse(need.Total(), device_memory_bytes,
                    absl::StrCat("inputs, outputs, scratch memory and commands "
                                 "take ",
                                 BytesText(beside)));
    }
    // Whole pages: region 0 and the windows are buffers of their own.
    const uint64_t room = (device_memory_bytes - beside) / package::kPageBytes *
                          package::kPageBytes;
    std::string why;
    const absl::StatusOr<Division> division =
        divider.Divide(room, most_windows, &why);
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
    made.wait_cycles = division->cycles - division->computing;
    small.weights = PageUp(made.plan.device_bytes) +
                    made.plan.windows * PageUp(made.plan.window_bytes);
    small.streams = StreamPages(made.split.streams);
    if (made.split.kept_bytes > 0) {
      small.scratch = waiting + made.split.kept_bytes;
    }
    const uint64_t total = small.Total();
    if (total <= device_memory_bytes) return made;
    beside += PageUp(total - device_memory_bytes);
  }
  return Refuse(need.Total(), device_memory_bytes,
                absl::StrCat("data kept between streams leaves less than ",
                             package::kPageBytes, " bytes for them"));
}

absl::StatusOr<std::vector<uint32_t>> AddressWeights(
    const std::vector<uint32_t>& words, uint32_t stream, const WeightPlan& plan,
    const isa::Config& config) {
  ASSIGN_OR_RETURN(std::vector<isa::Command> commands, CommandsOf(words));
  std::vector<uint32_t> out;
  out.reserve(words.size());
  for (isa::Command& command : commands) {
    const Range range = WeightsOf(command, config);
    if (range.size() > 0) {
      const WeightCopy* place = Find(plan.resident.begin(), plan.resident.end(),
                                     &WeightCopy::from, range);
      const bool resident = place != nullptr;
      if (!resident) {
        place = Find(FirstOf(plan, stream), FirstOf(plan, stream + 1),
                     &WeightCopy::from, range);
      }
      if (place == nullptr) {
        return absl::InternalError(
            absl::StrCat("weights at ", range.begin, " of stream ", stream,
                         " do not fit the card: ", isa::ToString(command)));
      }
      RETURN_IF_ERROR(ChangeLoad(&command, [&](auto* load) {
        load->dram_offset =
            static_cast<uint32_t>(load->dram_offset - place->from + place->to);
        if (!resident) load->region = package::kWindowRegion;
        return absl::OkStatus();
      }));
    }
    isa::Append(command, &out);
  }
  return out;
}

absl::StatusOr<std::vector<uint32_t>> AddressAllWeights(
    const std::vector<uint32_t>& words, uint32_t stream, const WeightPlan& plan,
    const isa::Config& config) {
  ASSIGN_OR_RETURN(std::vector<isa::Command> commands, CommandsOf(words));
  std::vector<uint32_t> out;
  out.reserve(words.size());
  for (isa::Command& command : commands) {
    const Range resident = WeightsOf(command, config);
    const Range copied = WeightsOf(command, config, package::kWindowRegion);
    if (resident.size() > 0 || copied.size() > 0) {
      const WeightCopy* place =
          resident.size() > 0
              ? Find(plan.resident.begin(), plan.resident.end(),
                     &WeightCopy::to, resident)
              : Find(FirstOf(plan, stream), FirstOf(plan, stream + 1),
                     &WeightCopy::to, copied);
      RETURN_IF_ERROR(ChangeLoad(&command, [&](auto* load) -> absl::Status {
        const uint64_t at = place == nullptr
                                ? UINT64_MAX
                                : load->dram_offset - place->to + place->from;
        if (at > UINT32_MAX) {
          return absl::InvalidArgumentError(
              absl::StrCat("stream ", stream,
                           " reads weights where the plan "
                           "puts none: ",
                           load->ToString()));
        }
        load->dram_offset = static_cast<uint32_t>(at);
        load->region = kWeightRegion;
        return absl::OkStatus();
      }));
    }
    isa::Append(command, &out);
  }
  return out;
}

std::string WeightPlanText(const WeightPlan& plan) {
  if (plan.empty()) return "";
  std::string text = absl::StrFormat(
      "weights: region 0 has %d bytes, %d of them resident; %d bytes are "
      "copied from host memory for each run, to %d window%s of %d bytes\n",
      plan.device_bytes, plan.resident_bytes(), plan.copied_bytes(),
      plan.windows, plan.windows == 1 ? "" : "s", plan.window_bytes);
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
