// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/timeline.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "simulator/timing/calibration.h"
#include "simulator/timing/command_cost.h"

namespace heddle::timing {
namespace {

constexpr int kLoad = static_cast<int>(isa::Engine::kLoad) - 1;
constexpr int kStore = static_cast<int>(isa::Engine::kStore) - 1;
constexpr int kMatrix = static_cast<int>(isa::Engine::kMatrix) - 1;
constexpr int kVector = static_cast<int>(isa::Engine::kVector) - 1;
// Reasons of stalls (descriptors.toml, trace_entry).
constexpr int kWeights = 0, kOutput = 2;
constexpr int kMemory = 0, kTransferSram = 1;
constexpr int kVectorSram = 0;
constexpr uint64_t kNever = UINT64_MAX;
constexpr size_t kTable = 8;  // commands that an engine has accepted
constexpr uint64_t kBufferBeats = 64, kBurstBeats = 16;  // of the fetch
constexpr uint64_t kOne = 1 << 16;                       // a cycle of work
// Beats that the load engine asks for ahead: what a fetch finds in front of it
// at device memory when these are not limited by anything else.
constexpr uint64_t kLoadBeats = 256;

struct Unit {
  uint32_t semaphore = 0;
  uint32_t count = 0;
  bool at_read = false;  // a signal: at input_read
};

}  // namespace

// What the simulation needs of a command.
struct TimedWork {
  isa::Opcode opcode = isa::Opcode::kNop;
  int engine = -1;
  bool sync = false;
  CommandCost cost;
  uint64_t words = 0;
  Unit waits[2], signals[2];  // count 0: absent
};

namespace {

using Work = TimedWork;

class Simulation {
 public:
  Simulation(std::vector<Work> work, const isa::Config& config,
             const Calibration& calibration, Timeline* timeline)
      : work_(std::move(work)),
        calibration_(calibration),
        timeline_(*timeline),
        banks_(config.sram_banks),
        latency_(config.dram_latency_cycles) {
    for (const Work& w : work_) {
      if (w.engine >= 0) ++left_[w.engine];
      for (const Unit& u : w.signals) {
        if (u.count > 0) signaller_[u.semaphore] = w.engine;
      }
    }
    taken_.fill(0);
  }

  absl::Status Run() {
    Fetch();
    while (true) {
      bool again = true;
      while (again) {
        again = Reach();
        again = Transfer() || again;
        again = Accept() || again;
        again = Dispatch() || again;
      }
      const uint64_t next = NextEvent();
      if (next == kNever) break;
      Account(next - now_);
      Advance(next - now_);
      now_ = next;
    }
    Account(calibration_.finish);
    timeline_.cycles = now_ + calibration_.finish;
    if (next_ == work_.size()) {
      for (TimedCommand& c : timeline_.commands) {
        if (c.opcode == isa::Opcode::kEnd) c.start = c.end = timeline_.cycles;
      }
      return absl::OkStatus();
    }
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
  struct Point {
    uint64_t time;
    size_t command;
  };
  struct Engine {
    std::deque<size_t> queue;
    uint64_t free = 0;              // takes the next command from here on
    std::deque<Point> reads, ends;  // points of commands, in order
    size_t accepted = 0;            // and not at their end
    uint64_t last_end = 0;          // that is known
    uint64_t ended = 0;             // of the last one that is over
    // Transfers: the one that waits for its turn, and the one under way.
    bool prepared = false, moving = false;
    uint64_t ready = 0;  // when `prepared` may start
    size_t waiting = 0, current = 0;
    uint64_t work = 0;    // of the current one, in 1 / kOne cycles
    uint64_t lost = 0;    // and what it waits at SRAM
    uint64_t behind = 0;  // vector: what follows its read point
    bool read = false;    // which has been reached
    // Matrix: the pixels of the command before end, those of its last pass;
    // starts of the last two.
    uint64_t pixels_end = 0, last = 0, begun = 0, begun_before = 0;
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
            [](const Engine& e) { return e.accepted == 0 && e.queue.empty(); });
        if (drains && !idle) break;
        timed.dispatched = timed.start = timed.end = now_;
      }
      ++next_;
      Fetch();
      any = true;
    }
    return any;
  }

  // The front end begins to take the beats of the next command. They come in
  // bursts, each asked for when the buffer has a place for it.
  void Fetch() {
    if (next_ == work_.size()) return;
    const Work& w = work_[next_];
    uint64_t time = now_;
    for (uint64_t left = w.words / 4; left > 0; --left, ++beat_) {
      if (beat_ % kBurstBeats == 0) {
        if (beat_ == 0) {
          burst_ = calibration_.fetch_first;
        } else if (beat_ >= kBufferBeats) {
          // The place of the last beat of the burst.
          const uint64_t room =
              taken_[(beat_ + kBurstBeats - 1) % kBufferBeats];
          burst_ = std::max(burst_ + kBurstBeats,
                            room + calibration_.fetch_again + InFront());
        } else {
          burst_ += kBurstBeats;
        }
      }
      time = std::max(time + 1, burst_ + beat_ % kBurstBeats);
      taken_[beat_ % kBufferBeats] = time;
    }
    ready_ = time + calibration_.dispatch +
             (w.opcode == isa::Opcode::kConv ? calibration_.dispatch_conv : 0);
  }

  // Cycles that the memory needs for what the load engine has asked for.
  uint64_t InFront() const {
    const uint64_t waiting =
        kLoadBeats - std::min<uint64_t>(kLoadBeats, latency_);
    return Demand(kLoad) > kOne / 2 ? waiting : 0;
  }

  // The engines take the first commands of their queues.
  bool Accept() {
    bool any = false;
    for (int i = 0; i < kTimedEngines; ++i) {
      Engine& e = engines_[i];
      while (!e.queue.empty() && CanAccept(i) && WaitsFor(i) < 0) {
        const size_t index = e.queue.front();
        e.queue.pop_front();
        for (const Unit& u : work_[index].waits) {
          semaphores_[u.semaphore] -= u.count;
        }
        Begin(i, index);
        any = true;
      }
    }
    return any;
  }

  bool CanAccept(int engine) const {
    const Engine& e = engines_[engine];
    return now_ >= e.free &&
           now_ > timeline_.commands[e.queue.front()].dispatched &&
           e.accepted < kTable && !e.prepared;
  }

  void Begin(int engine, size_t index) {
    Engine& e = engines_[engine];
    const Work& w = work_[index];
    ++e.accepted;
    TimedCommand& timed = timeline_.commands[index];
    timed.taken = timed.start = now_;
    switch (engine) {
      case kLoad:
      case kStore:
        e.prepared = true;
        e.waiting = index;
        e.ready = now_ + w.cost.start;
        e.free = now_ + 1;
        break;
      case kMatrix: {
        if (w.sync) {
          Schedule(engine, index, std::max(now_ + 1, e.pixels_end), now_ + 1);
          break;
        }
        uint64_t begin = now_ + w.cost.start;
        if (e.pixels_end > 0) {
          begin = std::max({begin, e.pixels_end + calibration_.conv_gap,
                            e.pixels_end - e.last + w.cost.lead});
        }
        timed.stalls[kWeights] =
            w.cost.weights_wait +
            std::min(w.cost.lead, begin - std::max(now_, e.pixels_end));
        timed.stalls[kOutput] = w.cost.output_wait;
        e.last = std::min(w.cost.last, w.cost.cycles);
        e.free = std::max(now_ + calibration_.conv_start / 2, e.begun_before);
        e.begun_before = std::exchange(e.begun, begin);
        e.pixels_end = begin + w.cost.cycles;
        pixels_.push_back({begin, e.pixels_end, index});
        Schedule(engine, index, e.pixels_end, e.pixels_end + w.cost.tail);
        break;
      }
      default:
        if (w.sync) {
          e.free = now_ + 1;
          Schedule(engine, index, now_ + 1, now_ + 1);
          break;
        }
        e.free = kNever;
        e.moving = true;
        e.current = index;
        e.work = w.cost.read * kOne;
        e.behind = (w.cost.cycles - w.cost.read) * kOne;
        e.lost = 0;
        e.read = false;
    }
  }

  // A command will reach its points; not before those in front of it.
  void Schedule(int engine, size_t index, uint64_t read, uint64_t end) {
    Read(engine, index, read);
    End(engine, index, std::max(read, end));
  }
  void Read(int engine, size_t index, uint64_t time) {
    Engine& e = engines_[engine];
    if (!e.reads.empty()) time = std::max(time, e.reads.back().time);
    e.reads.push_back({time, index});
  }
  void End(int engine, size_t index, uint64_t time) {
    Engine& e = engines_[engine];
    e.last_end = std::max(time, e.last_end);
    e.ends.push_back({e.last_end, index});
  }

  // Transfers begin and are over.
  bool Transfer() {
    bool any = false;
    while (!pixels_.empty() && pixels_.front().end <= now_) {
      pixels_.pop_front();
    }
    Engine& vector = engines_[kVector];
    while (vector.moving && vector.work == 0) {
      any = true;
      if (!vector.read) {
        vector.read = true;
        Read(kVector, vector.current, now_);
        vector.work = vector.behind;
        continue;
      }
      vector.moving = false;
      timeline_.commands[vector.current].stalls[kVectorSram] =
          vector.lost / kOne;
      vector.free = now_ + 1;
      End(kVector, vector.current, now_);
    }
    for (int i : {kLoad, kStore}) {
      Engine& e = engines_[i];
      if (e.moving && e.work == 0) {
        e.moving = false;
        timeline_.commands[e.current].stalls[kTransferSram] = e.lost / kOne;
        const Work& w = work_[e.current];
        Schedule(i, e.current, i == kLoad ? now_ + w.cost.tail : now_,
                 now_ + w.cost.tail);
        any = true;
      }
      if (e.prepared && !e.moving && now_ >= e.ready) {
        e.prepared = false;
        any = true;
        const Work& w = work_[e.waiting];
        if (w.cost.cycles == 0) {
          Schedule(i, e.waiting, now_ + 1, now_ + 1);
          continue;
        }
        e.moving = true;
        e.current = e.waiting;
        e.work = w.cost.cycles * kOne;
        e.lost = 0;
      }
    }
    return any;
  }

  // Of a command that is over. Of a transfer: what neither beats nor words nor
  // waits at SRAM account for, device memory does.
  static void CountStalls(const CommandCost& cost, TimedCommand* timed) {
    uint64_t left = timed->end - timed->start;
    if (cost.beats > 0) {
      const uint64_t used = std::max(cost.beats, cost.moves) + cost.start +
                            timed->stalls[kTransferSram];
      timed->stalls[kMemory] = std::max(used, left) - used;
    }
    // What stalled behind the command before is that one's.
    for (uint64_t& stall : timed->stalls) {
      stall = std::min(stall, left);
      left -= stall;
    }
  }

  // Commands reach their points; what waits for them can go on a cycle later.
  bool Reach() {
    bool any = false;
    for (Engine& e : engines_) {
      while (!e.reads.empty() && e.reads.front().time < now_) {
        Signal(e.reads.front().command, true);
        e.reads.pop_front();
        any = true;
      }
      while (!e.ends.empty() && e.ends.front().time < now_) {
        const Point point = e.ends.front();
        e.ends.pop_front();
        Signal(point.command, false);
        TimedCommand& timed = timeline_.commands[point.command];
        timed.end = point.time;
        // An engine shows what it works on for one command at a time.
        timed.start = std::max(timed.start, e.ended);
        e.ended = point.time;
        CountStalls(work_[point.command].cost, &timed);
        --e.accepted;
        --left_[&e - engines_.data()];
        any = true;
      }
    }
    return any;
  }

  void Signal(size_t command, bool at_read) {
    for (const Unit& u : work_[command].signals) {
      if (u.at_read == at_read) semaphores_[u.semaphore] += u.count;
    }
  }

  // The semaphore that the first command of the queue waits for, or -1.
  int WaitsFor(int engine) const {
    for (const Unit& u : work_[engines_[engine].queue.front()].waits) {
      if (semaphores_[u.semaphore] < u.count)
        return static_cast<int>(u.semaphore);
    }
    return -1;
  }

  // The part of the bus that a transfer wants, of kOne.
  uint64_t Demand(int engine) const {
    const Engine& e = engines_[engine];
    if (!e.moving) return 0;
    const CommandCost& cost = work_[e.current].cost;
    return std::min(kOne, cost.beats * kOne / cost.cycles);
  }
  // The matrix command whose pixels are worked on, or nullptr.
  const CommandCost* Pixels() const {
    if (pixels_.empty() || pixels_.front().begin > now_) return nullptr;
    return &work_[pixels_.front().command].cost;
  }
  // How much of its work an engine does in a cycle, of kOne.
  uint64_t Rate(int engine) const {
    if (engine == kVector) return VectorRate();
    const uint64_t mine = Demand(engine);
    const uint64_t other = Demand(engine == kLoad ? kStore : kLoad);
    uint64_t rate = kOne;
    if (mine + other > kOne) {
      const uint64_t share = std::max(kOne / 2, kOne - other);
      if (mine > share) rate = share * kOne / mine;
    }
    return std::min(rate, SramRate(engine));
  }
  // As far as words of SRAM are free for a transfer.
  uint64_t SramRate(int engine) const {
    const Engine& e = engines_[engine];
    if (!e.moving) return kOne;
    const CommandCost& cost = work_[e.current].cost;
    // Cycles that a word takes, of kOne.
    uint64_t word = kOne;
    const Engine& vector = engines_[kVector];
    if (vector.moving) {
      const CommandCost& other = work_[vector.current].cost;
      // The first line in four cycles costs as much as all others.
      const uint64_t lines = other.lines * VectorRate() / other.cycles;
      word += (std::min(kOne, 4 * lines) + lines) / 2 *
              (engine == kLoad ? calibration_.vector_load
                               : calibration_.vector_store) /
              64;
    }
    if (const CommandCost* pixels = Pixels()) {
      const uint64_t weights =
          std::min(2 * kOne, pixels->weights * kOne / pixels->cycles);
      word += weights / 2 * calibration_.weights_load / 64;
      const uint64_t strided = pixels->strided * kOne / pixels->cycles;
      word += strided * calibration_.stride_load / 64;
    }
    const uint64_t needed = cost.moves * word / cost.cycles;
    return needed <= kOne ? kOne : kOne * kOne / needed;
  }
  // As far as lines of SRAM are free.
  uint64_t VectorRate() const {
    const CommandCost* pixels = Pixels();
    if (pixels == nullptr) return kOne;
    const CommandCost& cost = work_[engines_[kVector].current].cost;
    const uint64_t words = pixels->words * kOne / pixels->cycles;
    const uint64_t line =
        kOne + words * 4 / banks_ * calibration_.matrix_vector / 64;
    const uint64_t needed = cost.lines * line / cost.cycles;
    return needed <= kOne ? kOne : kOne * kOne / needed;
  }

  // When something changes next; kNever if nothing will.
  uint64_t NextEvent() const {
    uint64_t next = kNever;
    const auto at = [&](uint64_t time) {
      if (time > now_) next = std::min(next, time);
    };
    for (int i = 0; i < kTimedEngines; ++i) {
      const Engine& e = engines_[i];
      if (!e.reads.empty()) at(e.reads.front().time + 1);
      if (!e.ends.empty()) at(e.ends.front().time + 1);
      if (e.prepared && !e.moving) at(e.ready);
      if (e.moving) {
        const uint64_t rate = Rate(i);
        at(now_ + (e.work + rate - 1) / rate);
      }
      if (!e.queue.empty() && e.free != kNever) {
        at(std::max(e.free,
                    timeline_.commands[e.queue.front()].dispatched + 1));
      }
    }
    if (next_ < work_.size()) at(ready_);
    if (!pixels_.empty()) {
      at(pixels_.front().begin);
      at(pixels_.front().end);
    }
    return next;
  }

  void Account(uint64_t step) {
    const uint64_t bus =
        std::min(kOne, Demand(kLoad) * Rate(kLoad) / kOne +
                           Demand(kStore) * Rate(kStore) / kOne);
    bus_ += bus * step;
    timeline_.bus_busy = bus_ / kOne;
    for (int i = 0; i < kTimedEngines; ++i) {
      const Engine& e = engines_[i];
      EngineTime& t = timeline_.engines[i];
      if (e.accepted > 0) {
        t.busy += step;
      } else if (left_[i] == 0) {
        t.finished += step;
      } else if (e.queue.empty()) {
        t.wait_for_commands += step;
      } else {
        const int semaphore = WaitsFor(i);
        const int from = semaphore < 0 ? -1 : signaller_[semaphore];
        (from >= 0 ? t.wait_for[from] : t.wait_for_commands) += step;
      }
    }
  }

  void Advance(uint64_t step) {
    const uint64_t rates[] = {Rate(kLoad), Rate(kStore), 0, Rate(kVector)};
    for (int i : {kLoad, kStore, kVector}) {
      Engine& e = engines_[i];
      if (!e.moving) continue;
      e.work -= std::min(e.work, step * rates[i]);
      // Of two reasons the narrower one.
      if (i == kVector || SramRate(i) == rates[i]) {
        e.lost += step * (kOne - rates[i]);
      }
    }
  }

  const std::vector<Work> work_;
  const Calibration& calibration_;
  Timeline& timeline_;
  std::array<Engine, kTimedEngines> engines_;
  std::array<uint64_t, kTimedEngines> left_{};
  std::array<uint64_t, isa::kSemaphores> semaphores_{};
  std::array<int, isa::kSemaphores> signaller_{};
  size_t next_ = 0;     // command that the front end looks at
  uint64_t ready_ = 0;  // when it can be dispatched
  uint64_t beat_ = 0;   // of the stream, the next
  uint64_t burst_ = 0;  // when the first beat of its burst is there
  std::array<uint64_t, kBufferBeats> taken_;
  uint64_t bus_ = 0;
  // The matrix engine's commands from their first to their last pixel.
  struct Pixel {
    uint64_t begin, end;
    size_t command;
  };
  std::deque<Pixel> pixels_;
  const uint64_t banks_, latency_;
  uint64_t now_ = 0;
};

// Finds the bytes of microprograms: what region 0 holds and loads have brought.
class Programs {
 public:
  explicit Programs(const std::vector<KnownBytes>& known) : known_(known) {}

  void Loaded(const isa::Load& c) {
    const uint64_t bytes = uint64_t{c.n0} << c.elem_log2;
    const bool plain =
        c.region == 0 && c.n1 == 1 && c.n2 == 1 && c.n3 == 1 &&
        (c.n0 == 1 || (c.s0 == c.t0 && c.s0 == 1u << c.elem_log2));
    if (!plain) return;
    for (const KnownBytes& k : known_) {
      if (c.dram_offset < k.offset ||
          c.dram_offset + bytes > k.offset + k.bytes.size()) {
        continue;
      }
      // What lay there is gone, so places do not overlap.
      auto end = places_.lower_bound(c.sram_addr + bytes);
      auto begin = end;
      while (begin != places_.begin()) {
        const auto& [sram, place] = *std::prev(begin);
        if (sram + place.bytes <= c.sram_addr) break;
        --begin;
      }
      places_.erase(begin, end);
      places_[c.sram_addr] = {bytes, &k.bytes[c.dram_offset - k.offset]};
      return;
    }
  }
  // The micro-instructions of a command; nullptr if they are not known.
  const uint64_t* Of(const isa::Vrun& c) {
    const uint64_t at = uint64_t{c.prog_addr} * isa::kWordBytes;
    const uint64_t bytes = 8 * (c.prologue + c.body + c.epilogue);
    const auto next = places_.upper_bound(at);
    if (next == places_.begin()) return nullptr;
    const auto& [sram, place] = *std::prev(next);
    if (at + bytes > sram + place.bytes) return nullptr;
    code_.resize(bytes / 8);
    std::memcpy(code_.data(), place.data + (at - sram), bytes);
    return code_.data();
  }

 private:
  struct Place {
    uint64_t bytes;
    const uint8_t* data;
  };
  const std::vector<KnownBytes>& known_;
  std::map<uint64_t, Place> places_;  // by their address in SRAM
  std::vector<uint64_t> code_;
};

Work WorkOf(const isa::Command& command, const isa::Config& config,
            const Calibration& calibration, const uint64_t* program,
            VectorCosts* vector) {
  Work w;
  w.engine = std::visit(
      [](const auto& c) {
        return static_cast<int>(std::decay_t<decltype(c)>::kEngine) - 1;
      },
      command);
  w.words = isa::WordsOf(command);
  w.cost = CostOfCommand(command, config, calibration, program, vector);
  const isa::Header& h = std::visit(
      [](const auto& c) -> const isa::Header& { return c.header; }, command);
  w.opcode = static_cast<isa::Opcode>(h.opcode);
  w.sync = w.opcode == isa::Opcode::kSyncLoad ||
           w.opcode == isa::Opcode::kSyncStore ||
           w.opcode == isa::Opcode::kSyncMatrix ||
           w.opcode == isa::Opcode::kSyncVector;
  const auto at_read = [](isa::SignalPoint point) {
    return point == isa::SignalPoint::kInputRead;
  };
  if (h.wait0_enable) w.waits[0] = {h.wait0_sem, h.wait0_count, false};
  if (h.wait1_enable) w.waits[1] = {h.wait1_sem, h.wait1_count, false};
  if (h.signal0_enable) {
    w.signals[0] = {h.signal0_sem, h.signal0_count, at_read(h.signal0_point)};
  }
  if (h.signal1_enable) {
    w.signals[1] = {h.signal1_sem, h.signal1_count, at_read(h.signal1_point)};
  }
  return w;
}

}  // namespace

absl::StatusOr<Timeline> SimulateTimeline(
    const std::vector<uint32_t>& words, const isa::Config& config,
    const std::vector<KnownBytes>& constants) {
  return SimulateTimeline(words, config, CalibrationOf(config), constants);
}

absl::StatusOr<Timeline> SimulateTimeline(
    const std::vector<uint32_t>& words, const isa::Config& config,
    const Calibration& calibration, const std::vector<KnownBytes>& constants) {
  Programs programs(constants);
  TimelineBuilder builder(config, calibration);
  for (size_t at = 0; at < words.size();) {
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("offset ", at * 4, ": ", command.status().message()));
    }
    if (const auto* load = std::get_if<isa::Load>(&*command)) {
      programs.Loaded(*load);
    }
    const auto* run = std::get_if<isa::Vrun>(&*command);
    builder.Add(static_cast<uint32_t>(at * 4), *command,
                run == nullptr ? nullptr : programs.Of(*run));
    at += isa::WordsOf(*command);
  }
  return builder.Finish();
}

TimelineBuilder::TimelineBuilder(const isa::Config& config,
                                 const Calibration& calibration)
    : config_(config), calibration_(calibration), vector_(calibration) {}
TimelineBuilder::~TimelineBuilder() = default;

void TimelineBuilder::Add(uint32_t offset, const isa::Command& command,
                          const uint64_t* program) {
  work_.push_back(WorkOf(command, config_, calibration_, program, &vector_));
  TimedCommand timed;
  timed.offset = offset;
  timed.tag = std::visit([](const auto& c) { return c.header.tag; }, command);
  timed.opcode = work_.back().opcode;
  timed.engine = work_.back().engine;
  timed.bytes = DramBytesOf(command);
  timeline_.commands.push_back(timed);
  if (timed.engine < 0) return;
  EngineTime& engine = timeline_.engines[timed.engine];
  ++engine.commands;
  engine.bytes += timed.bytes;
}

absl::StatusOr<Timeline> TimelineBuilder::Finish() {
  const absl::Status run =
      Simulation(std::move(work_), config_, calibration_, &timeline_).Run();
  if (!run.ok()) return run;
  return std::move(timeline_);
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

}  // namespace heddle::timing
