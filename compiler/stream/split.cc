// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/split.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <variant>

namespace heddle::compiler {
namespace {

// Loads and fills of one piece of SRAM that are worth being done again.
constexpr size_t kMostWriters = 64;

// Loads whose last reader comes more commands later are kept in a list: the
// others are found by looking so far back.
constexpr size_t kLong = 1024;

// A cut is looked for in the last part of what fits.
constexpr size_t kPartOfStream = 8;

constexpr uint64_t kWord = isa::kWordBytes;

bool CanBeDoneAgain(const isa::Command& command) {
  return std::holds_alternative<isa::Load>(command) ||
         std::holds_alternative<isa::Fill>(command);
}

template <typename T>
bool SameBox(const T& a, const T& b) {
  return a.elem_log2 == b.elem_log2 && a.sram_addr == b.sram_addr &&
         a.n0 == b.n0 && a.n1 == b.n1 && a.n2 == b.n2 && a.n3 == b.n3 &&
         a.t0 == b.t0 && a.t1 == b.t1 && a.t2 == b.t2 && a.t3 == b.t3;
}

// Bytes that a load or a fill writes.
uint64_t SramBytes(const isa::Command& command) {
  const auto of = [](const auto& c) {
    return (uint64_t{c.n0} * c.n1 * c.n2 * c.n3) << c.elem_log2;
  };
  if (const auto* load = std::get_if<isa::Load>(&command)) return of(*load);
  const auto* fill = std::get_if<isa::Fill>(&command);
  return fill == nullptr ? 0 : of(*fill);
}

// Whether both write the same bytes of SRAM.
bool WriteTheSame(const isa::Command& a, const isa::Command& b) {
  if (const auto* x = std::get_if<isa::Load>(&a)) {
    const auto* y = std::get_if<isa::Load>(&b);
    return y != nullptr && SameBox(*x, *y);
  }
  const auto* x = std::get_if<isa::Fill>(&a);
  const auto* y = std::get_if<isa::Fill>(&b);
  return x != nullptr && y != nullptr && SameBox(*x, *y);
}

// Who wrote what a piece of SRAM, or the accumulators, hold: every command
// since the last one that surely wrote all of it.
struct Content {
  std::vector<size_t> writers;  // in order
  bool again = true;            // they are loads and fills only
  size_t first = 0;             // of the writers, those that were dropped too
  int live = -1;                // index, once it was read
};

class ContentMap {
 public:
  // Calls `visit(begin, end, Content*)` for each piece of [begin, end), also
  // those that nobody has written yet.
  template <typename F>
  void ForRange(uint64_t begin, uint64_t end, F visit) {
    Split(begin);
    Split(end);
    auto it = pieces_.lower_bound(begin);
    for (uint64_t at = begin; at < end; ++it) {
      if (it == pieces_.end() || it->first > at) {
        const uint64_t stop =
            it == pieces_.end() ? end : std::min(end, it->first);
        it = pieces_.emplace_hint(it, at, std::make_pair(stop, Content()));
      }
      visit(at, it->second.first, &it->second.second);
      at = it->second.first;
    }
  }

  // All of [begin, end) is now what `writer` wrote.
  void Replace(uint64_t begin, uint64_t end, size_t writer, bool again) {
    Split(begin);
    Split(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    Content content;
    content.writers = {writer};
    content.again = again;
    content.first = writer;
    pieces_.emplace(begin, std::make_pair(end, std::move(content)));
  }

 private:
  void Split(uint64_t at) {
    auto it = pieces_.upper_bound(at);
    if (it == pieces_.begin()) return;
    --it;
    if (it->first >= at || it->second.first <= at) return;
    auto tail = std::make_pair(it->second.first, it->second.second);
    it->second.first = at;
    pieces_.emplace(at, std::move(tail));
  }

  std::map<uint64_t, std::pair<uint64_t, Content>> pieces_;
};

// `command`, number `i`, has written part of the piece, nobody knows which.
void AddWriter(const std::vector<isa::Command>& commands, size_t i,
               Content* content) {
  std::vector<size_t>& writers = content->writers;
  if (writers.empty()) content->first = i;
  const auto same = std::find_if(writers.begin(), writers.end(), [&](size_t w) {
    return WriteTheSame(commands[w], commands[i]);
  });
  if (same != writers.end()) {
    writers.erase(same);
    if (content->again) content->first = writers.empty() ? i : writers.front();
  }
  writers.push_back(i);
  if (!CanBeDoneAgain(commands[i]) || writers.size() > kMostWriters) {
    content->again = false;
  }
  if (!content->again) writers = {i};
}

// Whole words, and ranges that touch as one.
std::vector<SramRange> InWords(std::vector<SramRange> ranges) {
  for (SramRange& r : ranges) {
    r.begin = r.begin / kWord * kWord;
    r.end = (r.end + kWord - 1) / kWord * kWord;
  }
  std::sort(
      ranges.begin(), ranges.end(),
      [](const SramRange& a, const SramRange& b) { return a.begin < b.begin; });
  std::vector<SramRange> out;
  for (const SramRange& r : ranges) {
    if (!out.empty() && r.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, r.end);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

}  // namespace

Splitter::Splitter(const std::vector<isa::Command>& commands,
                   const isa::Config& config)
    : commands_(commands),
      bytes_(commands.size() + 1),
      accumulates_(commands.size() + 1),
      live_bytes_(commands.size() + 1),
      again_bytes_(commands.size() + 2),
      last_read_(commands.size()) {
  ContentMap sram;
  size_t accumulated = 0;  // by this command
  for (size_t i = 0; i < commands.size(); ++i) {
    const isa::Command& command = commands[i];
    bytes_[i + 1] =
        bytes_[i] +
        std::visit([](const auto& c) { return c.kWords; }, command) *
            sizeof(uint32_t);
    const std::vector<Access> accesses = AccessesOf(command, config);
    for (const Access& a : accesses) {
      if (a.write) continue;
      if (a.space == kAccumulatorSpace) {
        std::fill(accumulates_.begin() + accumulated + 1,
                  accumulates_.begin() + i + 1, true);
      } else if (a.space == kSramSpace) {
        sram.ForRange(a.begin, a.end,
                      [&](uint64_t begin, uint64_t end, Content* content) {
                        if (content->again) {
                          for (size_t w : content->writers) last_read_[w] = i;
                          return;
                        }
                        if (content->live < 0) {
                          content->live = static_cast<int>(live_.size());
                          live_.push_back({content->first, i, {begin, end}});
                        }
                        live_[content->live].last = i;
                      });
      }
    }
    for (const Access& a : accesses) {
      if (!a.write) continue;
      if (a.space == kAccumulatorSpace) {
        accumulated = i;
      } else if (a.space != kSramSpace) {
        device_writes_.push_back(
            {i, static_cast<uint32_t>(a.space), a.begin, a.end});
      } else if (a.dense) {
        sram.Replace(a.begin, a.end, i, CanBeDoneAgain(command));
      } else {
        sram.ForRange(a.begin, a.end,
                      [&](uint64_t, uint64_t, Content* content) {
                        AddWriter(commands, i, content);
                      });
      }
    }
  }
  // Differences from place to place first; modulo 2^64.
  for (const Live& l : live_) {
    live_bytes_[l.first + 1] += l.range.end - l.range.begin;
    if (l.last < commands.size()) {
      live_bytes_[l.last + 1] -= l.range.end - l.range.begin;
    }
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    if (last_read_[i] <= i) continue;
    again_bytes_[i + 1] += SramBytes(commands[i]);
    again_bytes_[last_read_[i] + 1] -= SramBytes(commands[i]);
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    again_bytes_[i + 1] += again_bytes_[i];
    live_bytes_[i + 1] += live_bytes_[i];
    if (last_read_[i] > i + kLong) long_.push_back(i);
  }
}

bool Splitter::IsOverwritten(const isa::Load& load, size_t loaded,
                             size_t at) const {
  const uint64_t begin = load.dram_offset;
  const uint64_t end = begin + uint64_t{load.n0 - 1} * load.s0 +
                       uint64_t{load.n1 - 1} * load.s1 +
                       uint64_t{load.n2 - 1} * load.s2 +
                       uint64_t{load.n3 - 1} * load.s3 + (1u << load.elem_log2);
  const auto first = std::lower_bound(
      device_writes_.begin(), device_writes_.end(), loaded,
      [](const DeviceWrite& w, size_t command) { return w.command < command; });
  for (auto w = first; w != device_writes_.end() && w->command < at; ++w) {
    if (w->region == load.region && w->begin < end && begin < w->end) {
      return true;
    }
  }
  return false;
}

Cut Splitter::CutAt(size_t at) const {
  Cut cut;
  cut.at = at;
  for (const Live& l : live_) {
    if (l.first < at && at <= l.last) cut.kept.push_back(l.range);
  }
  const auto add = [&](size_t i) {
    if (last_read_[i] < at) return;
    const auto* load = std::get_if<isa::Load>(&commands_[i]);
    if (load == nullptr || !IsOverwritten(*load, i, at)) {
      cut.again.push_back(i);
      return;
    }
    cut.kept.push_back({load->sram_addr, load->sram_addr +
                                             uint64_t{load->n0 - 1} * load->t0 +
                                             uint64_t{load->n1 - 1} * load->t1 +
                                             uint64_t{load->n2 - 1} * load->t2 +
                                             uint64_t{load->n3 - 1} * load->t3 +
                                             (1u << load->elem_log2)});
  };
  const size_t near = at > kLong ? at - kLong : 0;
  for (size_t i : long_) {
    if (i >= near) break;
    add(i);
  }
  for (size_t i = near; i < at; ++i) add(i);
  cut.kept = InWords(std::move(cut.kept));
  return cut;
}

size_t Splitter::EndOf(size_t begin, uint64_t most_bytes) const {
  const auto fits = std::upper_bound(bytes_.begin() + begin, bytes_.end(),
                                     bytes_[begin] + most_bytes);
  return static_cast<size_t>(fits - bytes_.begin()) - 1;
}

size_t Splitter::Cheapest(size_t begin, size_t end, size_t part) const {
  if (end == commands_.size()) return end;
  const size_t window = end - (end - begin) / part;
  size_t best = begin;
  uint64_t least = UINT64_MAX;
  for (size_t at = end; at > begin; --at) {
    if (at < window && best != begin) break;
    if (accumulates_[at]) continue;
    const uint64_t bytes = live_bytes_[at] + again_bytes_[at];
    if (bytes < least) {
      least = bytes;
      best = at;
    }
  }
  return best;
}

Cut Splitter::Next(size_t begin, uint64_t most_bytes) const {
  const size_t last = EndOf(begin, most_bytes);
  Cut none;
  none.at = last == commands_.size() ? last : begin;
  if (none.at == last) return none;
  const size_t window = last - (last - begin) / kPartOfStream;
  size_t best = begin;
  for (size_t at = last; at > begin; --at) {
    if (at < window && best != begin) break;
    if (accumulates_[at]) continue;
    if (best == begin || live_bytes_[at] < live_bytes_[best]) best = at;
  }
  return best == begin ? none : CutAt(best);
}

}  // namespace heddle::compiler
