// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/race.h"

#include <algorithm>
#include <limits>

namespace heddle::model {
namespace {

constexpr size_t kMaxFindings = 100;
constexpr uint32_t kVectorEngine = static_cast<uint32_t>(isa::Engine::kVector);

}  // namespace

void RaceDetector::Start() {
  issued_.assign(1, {0, 0, 0, "nothing"});
  last_ = {};
  engines_ = {};
  semaphores_ = {};
  sram_.assign(config_.sram_bytes, {});
  accumulators_.assign(config_.acc_pixels, {});
  dram_.clear();
  dram_[0] = {};
  findings_.clear();
  reported_.clear();
}

void RaceDetector::Report(uint32_t me, uint32_t other,
                          const std::string& what) {
  // One finding per pair of commands and kind (its first letter).
  if (!reported_.insert({me, {other, what[0]}}).second) return;
  if (findings_.size() >= kMaxFindings) return;
  findings_.push_back({issued_[me].offset, issued_[other].offset,
                       std::string(issued_[me].name) + " " + what});
}

void RaceDetector::Add(const isa::Command& command, uint32_t offset,
                       const Core& core) {
  const uint32_t engine = static_cast<uint32_t>(
      std::visit([](const auto& c) { return c.kEngine; }, command));
  const isa::Header& h = std::visit(
      [](const auto& c) -> const isa::Header& { return c.header; }, command);
  const char* name =
      std::visit([](const auto& c) { return c.kMnemonic; }, command);
  if (std::holds_alternative<isa::Barrier>(command)) return Barrier();
  if (engine == static_cast<uint32_t>(isa::Engine::kControl)) return;
  const uint32_t me = static_cast<uint32_t>(issued_.size());
  issued_.push_back({offset, engine, ++last_[engine], name});
  if (h.wait0_enable) Wait(h.wait0_sem, h.wait0_count, me);
  if (h.wait1_enable) Wait(h.wait1_sem, h.wait1_count, me);
  // Without acc_hold the accumulators are left undefined.
  const isa::Conv* conv = std::get_if<isa::Conv>(&command);
  const bool undefined = conv != nullptr && !conv->acc_hold;
  for (bool write : {false, true}) {
    ForEachAccess(config_, command, core.sram.data(), [&](const Access& a) {
      if (a.write == write && !a.empty) Check(a, undefined, core, me);
    });
  }
  if (h.signal0_enable)
    Signal(h.signal0_sem, h.signal0_count, h.signal0_point, me);
  if (h.signal1_enable)
    Signal(h.signal1_sem, h.signal1_count, h.signal1_point, me);
}

void RaceDetector::Barrier() {
  for (Knowledge& k : engines_) {
    k.visible = last_;
    k.read = last_;
  }
  for (Semaphore& s : semaphores_) {
    s.giving_engine = s.giving_point = s.waiting_engine = -1;
  }
}

void RaceDetector::Wait(uint32_t sem, uint32_t count, uint32_t me) {
  Semaphore& s = semaphores_[sem];
  const uint32_t engine = issued_[me].engine;
  if (s.waiting_engine >= 0 && s.waiting_engine != static_cast<int>(engine)) {
    Report(me, 0,
           "waits for semaphore " + std::to_string(sem) +
               ", for which another engine waits as well");
  }
  s.waiting_engine = static_cast<int>(engine);
  const uint64_t before = s.taken.empty() ? 0 : s.taken.back().total;
  s.taken.push_back({engine, issued_[me].number, before + count});
  Knowledge& mine = engines_[engine];
  while (count > 0 && !s.units.empty()) {
    Unit& unit = s.units.front();
    for (size_t e = 0; e < kEngines; ++e) {
      mine.visible[e] = std::max(mine.visible[e], unit.knowledge.visible[e]);
      mine.read[e] = std::max(mine.read[e], unit.knowledge.read[e]);
    }
    const Issued& giver = issued_[unit.giver];
    mine.read[giver.engine] = std::max(mine.read[giver.engine], giver.number);
    if (unit.point == isa::SignalPoint::kOutputVisible) {
      mine.visible[giver.engine] =
          std::max(mine.visible[giver.engine], giver.number);
    }
    const uint32_t n = std::min(count, unit.count);
    count -= n;
    unit.count -= n;
    if (unit.count == 0) s.units.pop_front();
  }
}

void RaceDetector::Signal(uint32_t sem, uint32_t count, isa::SignalPoint point,
                          uint32_t me) {
  Semaphore& s = semaphores_[sem];
  const Issued& giver = issued_[me];
  const int engine = static_cast<int>(giver.engine);
  if (s.giving_engine >= 0 && (s.giving_engine != engine ||
                               s.giving_point != static_cast<int>(point))) {
    Report(me, 0,
           "signals semaphore " + std::to_string(sem) +
               ", which another engine or point signals as well");
  }
  s.giving_engine = engine;
  s.giving_point = static_cast<int>(point);
  s.given += count;
  // The units that are certainly taken when this one is given.
  uint64_t taken = 0;
  for (auto t = s.taken.rbegin(); t != s.taken.rend() && taken == 0; ++t) {
    const bool started = t->engine == giver.engine
                             ? t->number <= giver.number
                             : t->number <= engines_[engine].read[t->engine];
    if (started) taken = t->total;
  }
  if (s.given - taken > isa::kSemaphoreMax) {
    Report(me, 0,
           "could raise semaphore " + std::to_string(sem) +
               " above its maximum, if its waits come late");
  }
  if (count > 0) s.units.push_back({count, me, point, engines_[engine]});
}

template <typename F>
void RaceDetector::Touch(Cell* cell, const Access& access, bool undefined,
                         uint32_t me, const F& where) {
  const uint32_t engine = issued_[me].engine;
  const Knowledge& mine = engines_[engine];
  const Issued& writer = issued_[cell->writer];
  if (cell->writer != 0 && cell->writer != me) {
    const bool seen = writer.number <= mine.visible[writer.engine];
    // Its own engine's order suffices for writes, and for the vector engine.
    const bool in_order =
        writer.engine == engine && (access.write || engine == kVectorEngine);
    if (!seen && !in_order) {
      Report(me, cell->writer,
             (access.write ? "overwrites " : "reads ") + where() +
                 " before the " + writer.name + " at offset " +
                 std::to_string(writer.offset) + " has surely written it");
    }
  }
  if (!access.write) {
    if (access.space != Space::kDram && cell->writer == 0) {
      Report(me, 0, "uses " + where() + ", which nothing has written");
    } else if (access.space == Space::kAccumulators && cell->undefined) {
      Report(me, cell->writer,
             "uses " + where() + ", which the " + writer.name + " at offset " +
                 std::to_string(writer.offset) + " left undefined");
    }
    cell->readers[engine] = me;
    return;
  }
  for (uint32_t e = 0; e < kEngines; ++e) {
    const uint32_t reader = cell->readers[e];
    if (reader == 0 || reader == me || e == engine) continue;
    if (issued_[reader].number > mine.read[e]) {
      Report(me, reader,
             "writes " + where() + " before the " + issued_[reader].name +
                 " at offset " + std::to_string(issued_[reader].offset) +
                 " has surely read it");
    }
  }
  *cell = {};
  cell->writer = me;
  cell->undefined = undefined && access.space == Space::kAccumulators;
}

void RaceDetector::SplitAt(uint64_t address) {
  auto after = dram_.upper_bound(address);
  const auto at = std::prev(after);
  if (at->first != address) dram_.emplace_hint(after, address, at->second);
}

void RaceDetector::Check(const Access& access, bool undefined, const Core& core,
                         uint32_t me) {
  access.ForEachRun([&](int64_t at, uint64_t n) {
    if (access.space != Space::kDram) {
      const bool sram = access.space == Space::kSram;
      std::vector<Cell>& cells = sram ? sram_ : accumulators_;
      for (uint64_t i = 0; i < n; ++i) {
        Touch(&cells[at + i], access, undefined, me, [&] {
          return (sram ? "SRAM byte " : "accumulator entry ") +
                 std::to_string(at + i);
        });
      }
      return;
    }
    const Region& region = core.regions[access.region];
    const uint64_t first = region.base + static_cast<uint64_t>(at);
    // A command that leaves its region touches nothing and faults.
    if (first + n < first || static_cast<uint64_t>(at) + n > region.size) {
      return;
    }
    SplitAt(first);
    SplitAt(first + n);
    for (auto it = dram_.find(first);
         it != dram_.end() && it->first < first + n; ++it) {
      Touch(&it->second, access, undefined, me, [&] {
        return "byte " + std::to_string(it->first - region.base) +
               " of region " + std::to_string(access.region);
      });
    }
    // Equal neighbours become one range again.
    for (auto it = dram_.find(first);
         it != dram_.end() && it->first <= first + n;) {
      if (it != dram_.begin() && std::prev(it)->second == it->second) {
        it = dram_.erase(it);
      } else {
        ++it;
      }
    }
  });
}

}  // namespace heddle::model
