// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/stream.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/stream/access.h"
#include "compiler/stream/split.h"

namespace heddle::compiler {
namespace {

constexpr int kEngines = 4;  // load, store, matrix, vector
constexpr int kPoints = 2;
static_assert(kEngines * kEngines * kPoints == isa::kSemaphores,
              "one semaphore per ordered pair of engines and point");

int EngineIndex(const isa::Command& command) {
  return static_cast<int>(EngineOf(command)) - 1;
}

uint32_t Semaphore(int from, int to, int point) {
  return (from * kEngines + to) * kPoints + point;
}

// Index of the last command known to have reached each point, per engine.
struct Clock {
  std::array<std::array<int, kPoints>, kEngines> reached;
  Clock() {
    for (auto& engine : reached) engine.fill(-1);
  }
  void Merge(const Clock& other) {
    for (int e = 0; e < kEngines; ++e) {
      for (int p = 0; p < kPoints; ++p) {
        reached[e][p] = std::max(reached[e][p], other.reached[e][p]);
      }
    }
  }
};

// The last write and the last read of a byte interval by each engine since it
// was last overwritten.
struct Segment {
  std::array<int, kEngines> write{-1, -1, -1, -1};
  std::array<int, kEngines> read{-1, -1, -1, -1};
  bool operator==(const Segment& o) const {
    return write == o.write && read == o.read;
  }
};

// Disjoint segments of one space, keyed by their first byte.
class SegmentMap {
 public:
  // Applies `visit(Segment*)` to every segment of [begin, end), splitting at
  // the borders and creating segments for gaps. Neighbours that are equal
  // afterwards become one, so that a range that is written as a whole costs
  // nothing for how it was written before.
  template <typename F>
  void ForRange(uint64_t begin, uint64_t end, F visit) {
    Split(begin);
    Split(end);
    auto it = segments_.lower_bound(begin);
    uint64_t at = begin;
    while (at < end) {
      if (it == segments_.end() || it->first > at) {
        const uint64_t stop =
            it == segments_.end() ? end : std::min(end, it->first);
        it = segments_.emplace_hint(it, at, std::make_pair(stop, Segment()));
      }
      visit(&it->second.second);
      at = it->second.first;
      it = std::next(MergeWithPrevious(it));
    }
    if (it != segments_.end()) MergeWithPrevious(it);
  }

 private:
  using Map = std::map<uint64_t, std::pair<uint64_t, Segment>>;

  // The segment that holds what `it` did.
  Map::iterator MergeWithPrevious(Map::iterator it) {
    if (it == segments_.begin()) return it;
    const auto previous = std::prev(it);
    if (previous->second.first != it->first ||
        !(previous->second.second == it->second.second)) {
      return it;
    }
    previous->second.first = it->second.first;
    segments_.erase(it);
    return previous;
  }

  void Split(uint64_t at) {
    auto it = segments_.upper_bound(at);
    if (it == segments_.begin()) return;
    --it;
    if (it->first >= at || it->second.first <= at) return;
    const auto tail = std::make_pair(it->second.first, it->second.second);
    it->second.first = at;
    segments_.emplace(at, tail);
  }

  Map segments_;  // first byte to the byte behind the last
};

struct Token {
  int engine;  // the other side
  int point;
};

// Waits and signals of every command, found from its accesses.
struct Plan {
  std::vector<std::vector<Token>> waits;    // engine = signaller
  std::vector<std::vector<Token>> signals;  // engine = waiter
  std::vector<bool> barriers;               // in front of the command
};

// The largest value that one more unit can raise a semaphore to: `takers` are
// the commands that take the units given before, in order, `known` is the last
// command that has surely started when this unit is given.
size_t Highest(const std::vector<int>& takers, int known) {
  const auto taken = std::upper_bound(takers.begin(), takers.end(), known);
  return static_cast<size_t>(takers.end() - taken) + 1;
}

Plan MakePlan(const std::vector<isa::Command>& commands,
              const std::vector<std::vector<Access>>& accesses) {
  Plan plan;
  plan.waits.resize(commands.size());
  plan.signals.resize(commands.size());
  plan.barriers.resize(commands.size());
  // Per semaphore the commands that take its units, in order.
  std::array<std::vector<int>, isa::kSemaphores> takers;
  std::vector<SegmentMap> spaces(kNumSpaces);
  // What is known to have happened when the latest command of each engine
  // started, and when each command started.
  std::array<Clock, kEngines> engine_clock;
  std::vector<Clock> start_clock(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    const int self = EngineIndex(commands[i]);
    const int index = static_cast<int>(i);
    // The last command of each engine that must have reached each point.
    std::array<std::array<int, kPoints>, kEngines> need;
    for (auto& n : need) n.fill(-1);
    for (const Access& a : accesses[i]) {
      spaces[a.space].ForRange(a.begin, a.end, [&](Segment* s) {
        for (int e = 0; e < kEngines; ++e) {
          // Same engine: write after write and write after read are the
          // hardware's; the vector engine also sees its own writes.
          const bool same = e == self;
          const bool sequential =
              same && e == static_cast<int>(isa::Engine::kVector) - 1;
          if (a.write ? !same : !sequential) {
            need[e][1] = std::max(need[e][1], s->write[e]);
          }
          if (a.write && !same) need[e][0] = std::max(need[e][0], s->read[e]);
        }
      });
    }
    Clock& clock = engine_clock[self];
    std::vector<std::pair<Token, int>> found;
    for (int e = 0; e < kEngines; ++e) {
      if (need[e][1] > clock.reached[e][1]) {
        found.push_back({{e, 1}, need[e][1]});
      }
      // Having reached output_visible implies having reached input_read.
      const int known =
          std::max({clock.reached[e][0], clock.reached[e][1], need[e][1]});
      if (need[e][0] > known) found.push_back({{e, 0}, need[e][0]});
    }
    std::vector<std::pair<Token, int>> needed;
    bool overflow = false;
    for (size_t k = 0; k < found.size(); ++k) {
      const auto [token, from] = found[k];
      // Another of these waits may bring this one along: what its signaller
      // knew when it started. (Never mutually: each started before the other.)
      bool covered = false;
      for (size_t j = 0; j < found.size() && !covered; ++j) {
        if (j == k) continue;
        const auto& reached =
            start_clock[found[j].second].reached[token.engine];
        covered = (token.point == 1 ? reached[1]
                                    : std::max(reached[0], reached[1])) >= from;
      }
      if (covered) continue;
      needed.push_back(found[k]);
      // The giver may run ahead of the takers as far as it knows nothing of
      // them; its own engine's waits are before its signal in any case.
      const auto& reached = start_clock[from].reached[self];
      const int known =
          token.engine == self ? from : std::max(reached[0], reached[1]);
      overflow |= Highest(takers[Semaphore(token.engine, self, token.point)],
                          known) > isa::kSemaphoreMax;
    }
    if (overflow) {
      plan.barriers[i] = true;
      for (Clock& c : engine_clock) {
        for (auto& engine : c.reached) engine.fill(index - 1);
      }
      found.clear();
      needed.clear();
    }
    for (const auto& [token, from] : needed) {
      plan.waits[i].push_back(token);
      plan.signals[from].push_back({self, token.point});
      takers[Semaphore(token.engine, self, token.point)].push_back(index);
    }
    for (const auto& [token, from] : found) {
      clock.Merge(start_clock[from]);
      int& reached = clock.reached[token.engine][token.point];
      reached = std::max(reached, from);
    }
    start_clock[i] = clock;
    for (const Access& a : accesses[i]) {
      spaces[a.space].ForRange(a.begin, a.end, [&](Segment* s) {
        if (a.write) {
          *s = Segment();
          s->write[self] = index;
        } else {
          s->read[self] = index;
        }
      });
    }
  }
  return plan;
}

void SetWait(isa::Header* h, int slot, uint32_t semaphore) {
  (slot ? h->wait1_enable : h->wait0_enable) = true;
  (slot ? h->wait1_sem : h->wait0_sem) = semaphore;
  (slot ? h->wait1_count : h->wait0_count) = 1;
}

void SetSignal(isa::Header* h, int slot, uint32_t semaphore, int point) {
  (slot ? h->signal1_enable : h->signal0_enable) = true;
  (slot ? h->signal1_sem : h->signal0_sem) = semaphore;
  (slot ? h->signal1_count : h->signal0_count) = 1;
  (slot ? h->signal1_point : h->signal0_point) =
      static_cast<isa::SignalPoint>(point);
}

isa::Command SyncFor(int engine, uint32_t tag) {
  isa::Command command;
  switch (static_cast<isa::Engine>(engine + 1)) {
    case isa::Engine::kLoad:
      command = isa::SyncLoad();
      break;
    case isa::Engine::kStore:
      command = isa::SyncStore();
      break;
    case isa::Engine::kMatrix:
      command = isa::SyncMatrix();
      break;
    default:
      command = isa::SyncVector();
      break;
  }
  std::visit([&](auto& c) { c.header.tag = tag; }, command);
  return command;
}

isa::Header* HeaderOf(isa::Command* command) {
  return std::visit([](auto& c) { return &c.header; }, *command);
}

absl::Status Encode(const isa::Command& command, EncodedStream* out) {
  return std::visit(
      [&](const auto& c) -> absl::Status {
        absl::Status status = c.Check();
        if (!status.ok()) {
          return absl::InternalError(absl::StrCat(
              "the compiler emitted an illegal command: ", status.message(),
              " in ", c.ToString()));
        }
        const size_t at = out->words.size();
        out->words.resize(at + c.kWords);
        c.Encode(&out->words[at]);
        ++out->commands;
        return absl::OkStatus();
      },
      command);
}

absl::Status TooLong(uint64_t bytes, const std::string& limit) {
  return Reject(
      Rejection::kUnsupportedShape,
      absl::StrCat("the model's commands take ", bytes, " bytes, ", limit,
                   "; make the batch or the tensors smaller, or split the "
                   "model"));
}

uint64_t BytesOf(const EncodedStream& stream) {
  return stream.words.size() * sizeof(uint32_t);
}

// The commands as a stream of any length.
absl::StatusOr<EncodedStream> EncodeStream(
    const std::vector<isa::Command>& commands, const isa::Config& config) {
  std::vector<std::vector<Access>> accesses;
  accesses.reserve(commands.size());
  for (const isa::Command& c : commands) {
    accesses.push_back(AccessesOf(c, config));
  }
  const Plan plan = MakePlan(commands, accesses);
  EncodedStream out;
  for (size_t i = 0; i < commands.size(); ++i) {
    isa::Command command = commands[i];
    isa::Header* header = HeaderOf(&command);
    const int self = EngineIndex(command);
    if (plan.barriers[i]) {
      RETURN_IF_ERROR(Encode(isa::Barrier(), &out));
    }
    const auto& waits = plan.waits[i];
    const auto& signals = plan.signals[i];
    size_t done = 0;
    while (waits.size() - done > 2) {
      isa::Command sync = SyncFor(self, header->tag);
      for (int slot = 0; slot < 2; ++slot, ++done) {
        SetWait(HeaderOf(&sync), slot,
                Semaphore(waits[done].engine, self, waits[done].point));
      }
      RETURN_IF_ERROR(Encode(sync, &out));
    }
    for (int slot = 0; done < waits.size(); ++slot, ++done) {
      SetWait(header, slot,
              Semaphore(waits[done].engine, self, waits[done].point));
    }
    size_t given = 0;
    for (int slot = 0; slot < 2 && given < signals.size(); ++slot, ++given) {
      SetSignal(header, slot,
                Semaphore(self, signals[given].engine, signals[given].point),
                signals[given].point);
    }
    out.offsets.push_back(BytesOf(out));
    out.tags.push_back(header->tag);
    RETURN_IF_ERROR(Encode(command, &out));
    while (given < signals.size()) {
      isa::Command sync = SyncFor(self, header->tag);
      for (int slot = 0; slot < 2 && given < signals.size(); ++slot, ++given) {
        SetSignal(HeaderOf(&sync), slot,
                  Semaphore(self, signals[given].engine, signals[given].point),
                  signals[given].point);
      }
      RETURN_IF_ERROR(Encode(sync, &out));
    }
  }
  RETURN_IF_ERROR(Encode(isa::End(), &out));
  return out;
}

// Loads or stores of what is kept across a cut, for the layer of `neighbour`.
// Returns how many bytes of the region they take.
template <typename Transfer>
uint64_t Keep(const Cut& cut, uint32_t region, uint64_t offset,
              const isa::Command& neighbour,
              std::vector<isa::Command>* commands) {
  constexpr uint64_t kMostWords = (1 << 16) - 1;  // of n0
  uint64_t at = offset;
  for (const SramRange& range : cut.kept) {
    for (uint64_t begin = range.begin; begin < range.end;) {
      const uint64_t words =
          std::min((range.end - begin) / isa::kWordBytes, kMostWords);
      Transfer transfer;
      transfer.header.tag =
          std::visit([](const auto& c) { return c.header.tag; }, neighbour);
      transfer.region = region;
      transfer.dram_offset = static_cast<uint32_t>(at);
      transfer.sram_addr = static_cast<uint32_t>(begin);
      transfer.elem_log2 = 4;
      transfer.n0 = static_cast<uint32_t>(words);
      transfer.s0 = transfer.t0 = isa::kWordBytes;
      commands->push_back(transfer);
      begin += words * isa::kWordBytes;
      at += words * isa::kWordBytes;
    }
  }
  return at - offset;
}

}  // namespace

void StreamBuilder::Append(isa::Command command, uint32_t tag) {
  isa::Header* header = HeaderOf(&command);
  *header = isa::Header::For(header->opcode, header->words);
  header->tag = tag;
  bytes_ += header->words * sizeof(uint32_t);
  if (!too_long()) commands_.push_back(std::move(command));
}

absl::StatusOr<EncodedStream> StreamBuilder::Finish() const {
  if (bytes_ <= isa::kStreamBytesMax) {
    ASSIGN_OR_RETURN(EncodedStream stream, EncodeStream(commands_, config_));
    if (BytesOf(stream) <= isa::kStreamBytesMax) return stream;
  }
  return TooLong(bytes_,
                 absl::StrCat("a stream has at most ", isa::kStreamBytesMax));
}

absl::StatusOr<SplitStreams> StreamBuilder::FinishInStreams(
    const StreamLimits& limits, uint32_t region, uint64_t offset) const {
  SplitStreams out;
  const uint64_t most_bytes = limits.bytes;
  const std::string limit =
      absl::StrCat("a package has at most ", limits.streams, " streams of ",
                   most_bytes, " bytes");
  if (too_long() || bytes_ > limits.streams * most_bytes) {
    return TooLong(bytes_, limit);
  }
  if (bytes_ <= most_bytes && limits.ends.empty()) {
    ASSIGN_OR_RETURN(EncodedStream whole, EncodeStream(commands_, config_));
    if (BytesOf(whole) <= most_bytes) {
      out.streams.push_back(std::move(whole));
      return out;
    }
  }
  if (offset + config_.sram_bytes > UINT32_MAX) {
    return TooLong(bytes_, "and no scratch memory is left for cutting");
  }
  const Splitter splitter(commands_, config_);
  // How the stream begins.
  std::vector<isa::Command> before;
  for (size_t begin = 0; begin < commands_.size();) {
    if (out.streams.size() == limits.streams) return TooLong(bytes_, limit);
    const bool free = limits.ends.empty();
    // How much is added, by synchronisation too, is known afterwards.
    for (uint64_t budget = most_bytes;;) {
      const Cut cut = free ? splitter.Next(begin, budget)
                           : splitter.CutAt(limits.ends[out.streams.size()]);
      if (cut.at == begin || (!free && budget < most_bytes)) {
        return TooLong(bytes_,
                       absl::StrCat("and cannot be cut into streams of ",
                                    most_bytes, " bytes"));
      }
      std::vector<isa::Command> commands = before;
      commands.insert(commands.end(), commands_.begin() + begin,
                      commands_.begin() + cut.at);
      const uint64_t kept = Keep<isa::Store>(cut, region, offset,
                                             commands_[cut.at - 1], &commands);
      ASSIGN_OR_RETURN(EncodedStream encoded, EncodeStream(commands, config_));
      const uint64_t bytes = BytesOf(encoded);
      if (bytes > most_bytes) {
        budget -= std::min(
            budget, std::max<uint64_t>(bytes - most_bytes, budget / 64 + 1));
        continue;
      }
      out.streams.push_back(std::move(encoded));
      out.kept_bytes = std::max(out.kept_bytes, kept);
      begin = cut.at;
      if (begin == commands_.size()) break;
      before.clear();
      for (size_t i : cut.again) before.push_back(commands_[i]);
      Keep<isa::Load>(cut, region, offset, commands_[begin], &before);
      break;
    }
  }
  return out;
}

}  // namespace heddle::compiler
