// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/timeline.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/stream/access.h"
#include "compiler/stream/estimate.h"

namespace heddle::compiler {
namespace {

constexpr int kLoadEngine = static_cast<int>(isa::Engine::kLoad) - 1;
constexpr int kStoreEngine = static_cast<int>(isa::Engine::kStore) - 1;
constexpr uint64_t kWordsPerCycle = 4;  // of the front end
// Between two loads of which the second did not have to wait (measured).
constexpr uint64_t kLoadGap = 16;

struct Unit {
  uint32_t semaphore = 0;
  uint32_t count = 0;
};

// What the simulation needs of a command.
struct Work {
  isa::Opcode opcode = isa::Opcode::kNop;
  int engine = -1;
  uint64_t fixed = 0;     // cycles before the transfer
  uint64_t transfer = 0;  // cycles of the transfer with the bus alone
  uint64_t words = 0;
  Unit waits[2], signals[2];  // count 0: absent
};

Work WorkOf(const isa::Command& command, const isa::Config& config) {
  Work w;
  w.engine = static_cast<int>(EngineOf(command)) - 1;
  w.words = isa::WordsOf(command);
  const uint64_t cycles = EstimateCycles(command, config);
  const uint64_t bytes = DramBytesOf(command);
  w.transfer = std::min(cycles, (bytes + config.dram_bytes_per_cycle - 1) /
                                    config.dram_bytes_per_cycle);
  w.fixed = cycles - w.transfer;
  const isa::Header& h = std::visit(
      [](const auto& c) -> const isa::Header& { return c.header; }, command);
  w.opcode = static_cast<isa::Opcode>(h.opcode);
  if (h.wait0_enable) w.waits[0] = {h.wait0_sem, h.wait0_count};
  if (h.wait1_enable) w.waits[1] = {h.wait1_sem, h.wait1_count};
  if (h.signal0_enable) w.signals[0] = {h.signal0_sem, h.signal0_count};
  if (h.signal1_enable) w.signals[1] = {h.signal1_sem, h.signal1_count};
  return w;
}

class Simulation {
 public:
  Simulation(std::vector<Work> work, Timeline* timeline)
      : work_(std::move(work)), timeline_(*timeline) {
    for (const Work& w : work_) {
      if (w.engine >= 0) ++left_[w.engine];
      for (const Unit& u : w.signals) {
        if (u.count > 0) signaller_[u.semaphore] = w.engine;
      }
    }
  }

  absl::Status Run() {
    Fetch();
    while (true) {
      bool again = true;
      while (again) {
        again = Dispatch();
        again = StartAll() || again;
      }
      const uint64_t step = NextEvent();
      if (step == 0) break;
      Account(step);
      now_ += step;
      Advance(step);
    }
    timeline_.cycles = now_;
    if (next_ == work_.size()) return absl::OkStatus();
    // Whoever waits longest is the oldest command that has not ended.
    size_t oldest = next_;
    for (const Engine& e : engines_) {
      if (!e.queue.empty()) oldest = std::min(oldest, e.queue.front());
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the command at offset ",
                     timeline_.commands[oldest].offset, " can never start"));
  }

 private:
  struct Engine {
    std::deque<size_t> queue;
    bool busy = false;
    // The first of the queue has had its waits satisfied since `since`.
    bool ready = false;
    uint64_t since = 0;
    size_t current = 0;
    uint64_t fixed = 0;
    uint64_t half_transfer = 0;  // half cycles of the bus
  };

  // Front end: everything that can go into a queue now. True if anything went.
  bool Dispatch() {
    bool any = false;
    while (next_ < work_.size() && now_ >= ready_) {
      const Work& w = work_[next_];
      TimedCommand& timed = timeline_.commands[next_];
      if (w.engine >= 0) {
        Engine& e = engines_[w.engine];
        if (e.queue.size() >= isa::kQueueDepth) break;
        e.queue.push_back(next_);
        timed.dispatched = now_;
      } else {
        const bool drains =
            w.opcode == isa::Opcode::kBarrier || w.opcode == isa::Opcode::kEnd;
        const bool idle = std::all_of(
            engines_.begin(), engines_.end(),
            [](const Engine& e) { return !e.busy && e.queue.empty(); });
        if (drains && !idle) break;
        timed.dispatched = timed.start = timed.end = now_;
      }
      ++next_;
      Fetch();
      any = true;
    }
    return any;
  }

  // The front end begins to take the words of the next command.
  void Fetch() {
    if (next_ == work_.size()) return;
    ready_ = now_ + (work_[next_].words + kWordsPerCycle - 1) / kWordsPerCycle;
  }

  bool StartAll() {
    bool any = false;
    for (int i = 0; i < kTimedEngines; ++i) {
      Engine& e = engines_[i];
      while (!e.busy && !e.queue.empty() && WaitsFor(i) < 0) {
        e.current = e.queue.front();
        e.queue.pop_front();
        const Work& w = work_[e.current];
        for (const Unit& u : w.waits) semaphores_[u.semaphore] -= u.count;
        e.busy = true;
        e.fixed = w.fixed;
        // Requests of the next load are under way while the one before ends.
        if (i == kLoadEngine && e.ready && w.transfer > 0) {
          const uint64_t floor = std::min(e.fixed, kLoadGap);
          e.fixed -= std::min(e.fixed - floor, now_ - e.since);
        }
        e.ready = false;
        e.half_transfer = 2 * w.transfer;
        timeline_.commands[e.current].start = now_;
        any = true;
        if (e.fixed + e.half_transfer == 0) End(i);
      }
      if (!e.ready && !e.queue.empty() && WaitsFor(i) < 0) {
        e.ready = true;
        e.since = now_;
      }
    }
    return any;
  }

  // The semaphore that the first command of the queue waits for, or -1.
  int WaitsFor(int engine) const {
    for (const Unit& u : work_[engines_[engine].queue.front()].waits) {
      if (semaphores_[u.semaphore] < u.count)
        return static_cast<int>(u.semaphore);
    }
    return -1;
  }

  void End(int engine) {
    Engine& e = engines_[engine];
    e.busy = false;
    --left_[engine];
    const Work& w = work_[e.current];
    for (const Unit& u : w.signals) semaphores_[u.semaphore] += u.count;
    timeline_.commands[e.current].end = now_;
  }

  bool Transfers(int engine) const {
    const Engine& e = engines_[engine];
    return e.busy && e.fixed == 0 && e.half_transfer > 0;
  }
  // Half cycles of the bus that a transfer gets per cycle.
  uint64_t Rate() const {
    return Transfers(kLoadEngine) && Transfers(kStoreEngine) ? 1 : 2;
  }

  // Cycles until something changes; 0 if nothing will.
  uint64_t NextEvent() const {
    uint64_t step = UINT64_MAX;
    for (const Engine& e : engines_) {
      if (!e.busy) continue;
      step =
          std::min(step, e.fixed > 0 ? e.fixed
                                     : (e.half_transfer + Rate() - 1) / Rate());
    }
    if (next_ < work_.size() && ready_ > now_) {
      step = std::min(step, ready_ - now_);
    }
    return step == UINT64_MAX ? 0 : step;
  }

  void Account(uint64_t step) {
    if (Transfers(kLoadEngine) || Transfers(kStoreEngine)) {
      timeline_.bus_busy += step;
    }
    for (int i = 0; i < kTimedEngines; ++i) {
      const Engine& e = engines_[i];
      EngineTime& t = timeline_.engines[i];
      if (e.busy) {
        t.busy += step;
      } else if (left_[i] == 0) {
        t.finished += step;
      } else if (e.queue.empty()) {
        t.wait_for_commands += step;
      } else {
        const int from = signaller_[WaitsFor(i)];
        (from >= 0 ? t.wait_for[from] : t.wait_for_commands) += step;
      }
    }
  }

  void Advance(uint64_t step) {
    const uint64_t rate = Rate();
    for (int i = 0; i < kTimedEngines; ++i) {
      Engine& e = engines_[i];
      if (!e.busy) continue;
      if (e.fixed > 0) {
        e.fixed -= step;
      } else {
        e.half_transfer -= std::min(e.half_transfer, step * rate);
      }
      if (e.fixed == 0 && e.half_transfer == 0) End(i);
    }
  }

  const std::vector<Work> work_;
  Timeline& timeline_;
  std::array<Engine, kTimedEngines> engines_;
  std::array<uint64_t, kTimedEngines> left_{};
  std::array<uint64_t, isa::kSemaphores> semaphores_{};
  std::array<int, isa::kSemaphores> signaller_{};
  size_t next_ = 0;     // command that the front end looks at
  uint64_t ready_ = 0;  // when it has the words of that command
  uint64_t now_ = 0;
};

}  // namespace

absl::StatusOr<Timeline> SimulateTimeline(const std::vector<uint32_t>& words,
                                          const isa::Config& config) {
  Timeline timeline;
  std::vector<Work> work;
  for (size_t at = 0; at < words.size();) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("offset ", at * 4, ": ", command.status().message()));
    }
    work.push_back(WorkOf(*command, config));
    TimedCommand timed;
    timed.offset = static_cast<uint32_t>(at * 4);
    timed.tag =
        std::visit([](const auto& c) { return c.header.tag; }, *command);
    timed.opcode = work.back().opcode;
    timed.engine = work.back().engine;
    timed.bytes = DramBytesOf(*command);
    timeline.commands.push_back(timed);
    if (timed.engine >= 0) {
      EngineTime& engine = timeline.engines[timed.engine];
      ++engine.commands;
      engine.bytes += timed.bytes;
    }
    at += work.back().words;
  }
  RETURN_IF_ERROR(Simulation(std::move(work), &timeline).Run());
  return timeline;
}

const char* EngineName(int engine) {
  static constexpr const char* kNames[] = {"load", "store", "matrix", "vector"};
  return engine >= 0 && engine < kTimedEngines ? kNames[engine] : "front end";
}

std::vector<LayerTime> AttributeToLayers(const Timeline& timeline,
                                         size_t layers) {
  std::vector<LayerTime> times(layers);
  for (const TimedCommand& c : timeline.commands) {
    if (c.engine < 0 || c.tag >= layers) continue;
    LayerTime& t = times[c.tag];
    if (t.commands++ == 0) {
      t.first = c.start;
    } else {
      t.first = std::min(t.first, c.start);
    }
    t.last = std::max(t.last, c.end);
    t.busy[c.engine] += c.end - c.start;
    t.bytes += c.bytes;
  }
  uint64_t reached = 0;
  for (LayerTime& t : times) {
    if (t.last > reached) {
      t.cycles = t.last - reached;
      reached = t.last;
    }
  }
  // The front end reaches `end` after the last command.
  if (layers > 0) times.back().cycles += timeline.cycles - reached;
  return times;
}

}  // namespace heddle::compiler
