// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/constant_stream.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::compiler {
namespace {

constexpr uint64_t kAlign = 64;
// An operation with more loads of constants reloads them from tile to tile:
// nothing is gained by loading those far ahead.
constexpr size_t kMostUses = 128;

uint64_t Align(uint64_t value) {
  return (value + kAlign - 1) / kAlign * kAlign;
}

// A place of SRAM during some steps.
struct Span {
  uint64_t begin = 0, end = 0;
  size_t first = 0, last = 0;
  size_t free = 0;  // the step in front of which it can be loaded to again
};

class Streamer {
 public:
  Streamer(const DeviceGraph& graph, const std::vector<uint64_t>& tiles,
           const std::vector<PlacedBuffer>& others, int window, uint64_t begin,
           uint64_t end, MemoryPlan* plan)
      : graph_(graph),
        tiles_(tiles),
        others_(others),
        window_(window),
        begin_(begin),
        end_(end),
        plan_(*plan),
        pinned_(graph.ops.size(), false) {}

  void Run() {
    const size_t count = graph_.ops.size();
    plan_.first_step.assign(1, 0);
    for (size_t i = 0; i < count; ++i) {
      plan_.first_step.push_back(plan_.first_step.back() +
                                 tiles_[i] * graph_.ops[i]->groups.size());
    }
    uses_of_.resize(count + 1);
    for (size_t i = 0; i < count; ++i) {
      uses_of_[i] = plan_.constants.size();
      AddUses(i);
      pinned_[i] = plan_.constants.size() - uses_of_[i] > kMostUses;
    }
    uses_of_[count] = plan_.constants.size();
    if (window_ > 0 && !plan_.constants.empty()) Stream();
  }

 private:
  // As the plan reserves it.
  void AddUses(size_t i) {
    const DeviceOp& op = *graph_.ops[i];
    OpPlan& p = plan_.ops[i];
    uint64_t bytes = 0;
    for (const ConstantGroup& g : op.groups) bytes += g.bytes;
    if (bytes == 0) return;
    const size_t base = plan_.first_step[i];
    const size_t ahead = plan_.first_step[i - p.ahead];
    const std::vector<int> sequence = GroupSequence(op, p, tiles_[i]);
    std::vector<size_t> kept(op.groups.size(), SIZE_MAX);
    std::array<size_t, 2> sides{SIZE_MAX, SIZE_MAX};
    int side = 1;
    p.uses.resize(sequence.size());
    for (size_t t = 0; t < sequence.size(); ++t) {
      const int group = sequence[t];
      if (t > 0 && group == sequence[t - 1]) {
        p.uses[t] = p.uses[t - 1];
      } else {
        side = p.single ? 0 : 1 - side;
        size_t& known = p.keep ? kept[group] : sides[side];
        if (known == SIZE_MAX || plan_.constants[known].group != group) {
          known = plan_.constants.size();
          const size_t number = known - uses_of_[i];
          ConstantUse use;
          use.op = i;
          use.group = group;
          use.first = base + t;
          const bool early =
              number == 0 || (number == 1 && p.ahead > 0 && !p.single);
          use.when = early ? ahead : use.first;
          use.bytes = op.groups[group].bytes;
          use.address = p.constants[side];
          if (p.keep) {
            use.address = p.constants[0];
            for (int g = 0; g < group; ++g) use.address += op.groups[g].bytes;
          }
          plan_.constants.push_back(use);
        }
        p.uses[t] = static_cast<uint32_t>(known);
      }
      plan_.constants[p.uses[t]].last = base + t;
    }
  }

  size_t OpOf(size_t step) const {
    return std::upper_bound(plan_.first_step.begin(), plan_.first_step.end(),
                            step) -
           plan_.first_step.begin() - 1;
  }

  // The load in front of `step` is emitted before the commands of the step
  // before it, if that belongs to the same operation.
  size_t OccupiedFrom(size_t step) const {
    const size_t op = OpOf(step);
    return step == plan_.first_step[op] || plan_.ops[op].single ? step
                                                                : step - 1;
  }
  // The first step in front of which a place can be loaded that is in use until
  // `last`.
  size_t FreeAfter(size_t last) const {
    return OccupiedFrom(last + 1) > last ? last + 1 : last + 2;
  }

  Span SpanOf(const ConstantUse& use) const {
    return {use.address, use.address + Align(use.bytes), OccupiedFrom(use.when),
            use.last, FreeAfter(use.last)};
  }

  void Stream() {
    const size_t count = graph_.ops.size();
    alive_.resize(count);
    for (size_t b = 0; b < others_.size(); ++b) {
      if (others_[b].begin == others_[b].end) continue;
      for (size_t i = others_[b].first; i <= others_[b].last; ++i) {
        alive_[i].push_back(b);
      }
    }
    seen_.assign(others_.size(), SIZE_MAX);
    const std::vector<ConstantUse> reserved = plan_.constants;
    for (size_t i = 0; i < count;) {
      if (pinned_[i] || PlaceUses(i)) {
        ++i;
        continue;
      }
      // Those before it must leave its own place free.
      pinned_[i] = true;
      for (size_t q = i + 1; q-- > Earliest(i);) {
        std::copy(reserved.begin() + uses_of_[q],
                  reserved.begin() + uses_of_[q + 1],
                  plan_.constants.begin() + uses_of_[q]);
      }
      i = Earliest(i);
    }
    Spread();
  }

  // Loads for later operations do not all go in front of the operands of an
  // operation's tiles, but between them.
  void Spread() {
    std::vector<std::vector<ConstantUse*>> by_op(graph_.ops.size());
    for (ConstantUse& use : plan_.constants) {
      const size_t op = OpOf(use.when);
      if (use.loaded && use.op != op) by_op[op].push_back(&use);
    }
    for (size_t i = 0; i < by_op.size(); ++i) {
      if (by_op[i].empty() || !LoadsOperands(i)) continue;
      const size_t base = plan_.first_step[i];
      const double steps = static_cast<double>(plan_.first_step[i + 1] - base);
      double all = 0, before = 0;
      for (const ConstantUse* use : by_op[i]) all += use->bytes;
      if (all == 0) continue;  // groups that have none
      for (ConstantUse* use : by_op[i]) {
        const auto at = static_cast<size_t>(steps * before / all);
        use->when = std::max(use->when, base + at);
        before += static_cast<double>(use->bytes);
      }
    }
  }

  size_t Earliest(size_t op) const {
    return op - std::min<size_t>(op, window_);
  }

  // What may be in the way of the constants of operation `i`, apart from its
  // own.
  std::vector<Span> InTheWay(size_t i) {
    std::vector<Span> spans;
    const auto add = [&](size_t op) {
      if (pinned_[op]) return AddReserved(op, &spans);
      for (size_t u = uses_of_[op]; u < uses_of_[op + 1]; ++u) {
        spans.push_back(SpanOf(plan_.constants[u]));
      }
    };
    for (size_t op = Earliest(i); op <= i; ++op) {
      for (size_t b : alive_[op]) {
        if (std::exchange(seen_[b], stamp_) == stamp_) continue;
        const PlacedBuffer& o = others_[b];
        // (behind an operation the place of its tiles is free)
        spans.push_back({o.begin, Align(o.end), plan_.first_step[o.first],
                         plan_.first_step[o.last + 1] - 1,
                         plan_.first_step[o.last + 1]});
      }
      if (op < i) add(op);
    }
    ++stamp_;
    // Pinned ones are loaded ahead as the plan says.
    const size_t last = std::min(graph_.ops.size(), i + window_ + 1);
    for (size_t op = i + 1; op < last; ++op) {
      if (pinned_[op]) add(op);
    }
    return spans;
  }

  // The whole place that the plan reserves.
  void AddReserved(size_t i, std::vector<Span>* spans) const {
    if (uses_of_[i] == uses_of_[i + 1]) return;
    const OpPlan& p = plan_.ops[i];
    uint64_t most = 0, all = 0;
    for (const ConstantGroup& g : graph_.ops[i]->groups) {
      most = std::max(most, g.bytes);
      all += g.bytes;
    }
    for (uint32_t at : p.constants) {
      spans->push_back({at, at + Align(p.keep ? all : most),
                        plan_.first_step[i - p.ahead],
                        plan_.first_step[i + 1] - 1, plan_.first_step[i + 1]});
    }
  }

  bool LoadsOperands(size_t i) const {
    for (const OpInput& in : graph_.ops[i]->inputs) {
      if (!graph_.StorageOf(in.value).resident &&
          in.rows.kind != AxisNeed::kDirect) {
        return true;
      }
    }
    return false;
  }

  // False if one finds no place.
  bool PlaceUses(size_t i) {
    if (uses_of_[i] == uses_of_[i + 1]) return true;
    std::vector<Span> spans = InTheWay(i);
    const auto by_end = [](const Span& a, const Span& b) {
      return a.end < b.end;
    };
    std::sort(spans.begin(), spans.end(), by_end);
    for (size_t u = uses_of_[i]; u < uses_of_[i + 1]; ++u) {
      ConstantUse& use = plan_.constants[u];
      size_t op = Earliest(i);
      // Those that are not needed first do not delay operands.
      for (size_t q = i; u >= uses_of_[i] + 2 && q > op; --q) {
        if (LoadsOperands(q)) op = q;
      }
      if (!TakeOver(spans, i, &use) &&
          !Place(spans, plan_.first_step[op], &use)) {
        return false;
      }
      const Span span = SpanOf(use);
      spans.insert(std::upper_bound(spans.begin(), spans.end(), span, by_end),
                   span);
    }
    return true;
  }

  // Whether what `use` of operation `i` reads is still where an operation
  // before it has used it; `use` is there then.
  bool TakeOver(const std::vector<Span>& spans, size_t i,
                ConstantUse* use) const {
    const auto offset_of = [this](const ConstantUse& u) {
      return graph_.ops[u.op]->groups[u.group].offset;
    };
    for (size_t u = uses_of_[i]; u-- > uses_of_[Earliest(i)];) {
      const ConstantUse& other = plan_.constants[u];
      if (pinned_[other.op] || other.bytes != use->bytes ||
          offset_of(other) != offset_of(*use)) {
        continue;
      }
      const uint64_t begin = other.address, end = begin + Align(other.bytes);
      const bool taken =
          std::any_of(spans.begin(), spans.end(), [&](const Span& s) {
            return s.begin < end && s.end > begin && s.last > other.last &&
                   s.first <= use->last;
          });
      if (taken) return false;
      use->loaded = false;
      use->address = other.address;
      use->when = other.last + 1;
      return true;
    }
    return false;
  }

  // The lowest of the places to which `use` can be loaded earliest, from step
  // `from` on; `spans` are ordered by their ends.
  bool Place(const std::vector<Span>& spans, size_t from, ConstantUse* use) {
    blocks_.clear();
    for (const Span& s : spans) {
      if (s.first > use->last || s.free <= from) continue;
      blocks_.push_back(s);
      if (s.last >= use->first) blocks_.back().free = SIZE_MAX;
    }
    const uint64_t bytes = Align(use->bytes);
    size_t best = use->first + 1;
    const auto consider = [&](uint64_t at) {
      if (at < begin_ || at + use->bytes > end_) return;
      size_t when = from;
      for (const Span& b : blocks_) {
        if (b.begin >= at + bytes || b.end <= at) continue;
        when = std::max(when, b.free);
        if (when >= best) return;
      }
      best = when;
      use->when = when;
      use->address = static_cast<uint32_t>(at);
    };
    consider(begin_);
    for (size_t i = 0; i < blocks_.size() && best > from; ++i) {
      if (i > 0 && blocks_[i].end == blocks_[i - 1].end) continue;
      consider(blocks_[i].end);
    }
    return best <= use->first;
  }

  const DeviceGraph& graph_;
  const std::vector<uint64_t>& tiles_;
  const std::vector<PlacedBuffer>& others_;
  const int window_;
  const uint64_t begin_, end_;
  MemoryPlan& plan_;
  std::vector<bool> pinned_;     // by operation: as the plan reserves it
  std::vector<size_t> uses_of_;  // first of each operation
  std::vector<std::vector<size_t>> alive_;  // others, by operation
  std::vector<size_t> seen_;                // by other: the last question
  size_t stamp_ = 0;
  std::vector<Span> blocks_;
};

}  // namespace

std::vector<int> GroupSequence(const DeviceOp& op, const OpPlan& plan,
                               uint64_t tiles) {
  std::vector<int> sequence;
  sequence.reserve(tiles * op.groups.size());
  const auto append = [&](int first, int count) {
    for (int g = first; g < first + count; ++g) sequence.push_back(g);
  };
  if (plan.group_outer) {
    for (const GroupRun& run : GroupRuns(op)) {
      for (uint64_t t = 0; t < tiles; ++t) append(run.first, run.count);
    }
  } else {
    for (uint64_t t = 0; t < tiles; ++t) {
      append(0, static_cast<int>(op.groups.size()));
    }
  }
  return sequence;
}

void PlanConstants(const DeviceGraph& graph, const std::vector<uint64_t>& tiles,
                   const std::vector<PlacedBuffer>& others, int window,
                   uint64_t begin, uint64_t end, MemoryPlan* plan) {
  Streamer(graph, tiles, others, window, begin, end, plan).Run();
}

}  // namespace heddle::compiler
