// SPDX-License-Identifier: Apache-2.0
// What StreamBuilder derives: dependencies between all pairs of engines, no
// redundant waits, sync commands, barriers before a semaphore can overflow; and
// random sequences under an adversarial scheduler.
#include "compiler/stream/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/stream/access.h"

namespace heddle::compiler {
namespace {

constexpr int kEngines = 5;  // by value of isa::Engine

// One command per engine that reads and writes SRAM ranges of 64 bytes.
isa::Command LoadTo(uint32_t sram, uint32_t dram = 0, uint32_t region = 0) {
  isa::Load c;
  c.region = region;
  c.dram_offset = dram;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = 4;
  c.s0 = c.t0 = 16;
  return c;
}
isa::Command StoreFrom(uint32_t sram, uint32_t dram = 0, uint32_t region = 1) {
  isa::Store c;
  c.region = region;
  c.dram_offset = dram;
  c.sram_addr = sram;
  c.elem_log2 = 4;
  c.n0 = 4;
  c.s0 = c.t0 = 16;
  return c;
}
isa::Command VectorCopy(uint32_t from, uint32_t to) {
  isa::Vmac c;  // has no microprogram
  c.lanes = 16;
  isa::Stream a;
  a.base = from;
  a.type = isa::ElementType::kF32;
  a.lane_stride = 4;
  isa::Stream d = a;
  d.base = to;
  c.SetA(a);
  c.SetB(a);
  c.SetD(d);
  return c;
}
// Mode maxpool needs neither weights nor parameters.
isa::Command MatrixCopy(uint32_t from, uint32_t to) {
  isa::Conv c;
  c.mode = isa::MatrixMode::kMaxpool;
  c.in_addr = from / 16;
  c.out_addr = to / 16;
  c.iw = c.ow = 4;
  c.ci = c.co = 16;
  c.in_pitch = c.out_pitch = 4;
  c.in_plane = c.out_plane = 4;
  return c;
}

struct Decoded {
  std::vector<isa::Command> commands;
  std::vector<uint32_t> offsets;
};

Decoded Decode(const EncodedStream& stream) {
  Decoded out;
  for (size_t at = 0; at < stream.words.size();) {
    auto command = isa::DecodeAny(&stream.words[at], stream.words.size() - at);
    EXPECT_TRUE(command.ok()) << command.status();
    if (!command.ok()) break;
    out.offsets.push_back(at * 4);
    at += std::visit([](const auto& c) { return c.kWords; }, *command);
    out.commands.push_back(*std::move(command));
  }
  return out;
}

const isa::Header& HeaderOf(const isa::Command& c) {
  return std::visit(
      [](const auto& x) -> const isa::Header& { return x.header; }, c);
}

struct Unit {
  uint32_t sem, count, point;
};
std::vector<Unit> Waits(const isa::Command& c) {
  const isa::Header& h = HeaderOf(c);
  std::vector<Unit> out;
  if (h.wait0_enable) out.push_back({h.wait0_sem, h.wait0_count, 0});
  if (h.wait1_enable) out.push_back({h.wait1_sem, h.wait1_count, 0});
  return out;
}
std::vector<Unit> Signals(const isa::Command& c) {
  const isa::Header& h = HeaderOf(c);
  std::vector<Unit> out;
  if (h.signal0_enable) {
    out.push_back({h.signal0_sem, h.signal0_count,
                   static_cast<uint32_t>(h.signal0_point)});
  }
  if (h.signal1_enable) {
    out.push_back({h.signal1_sem, h.signal1_count,
                   static_cast<uint32_t>(h.signal1_point)});
  }
  return out;
}

EncodedStream Build(const std::vector<isa::Command>& commands) {
  StreamBuilder builder(isa::kH256);
  for (const isa::Command& c : commands) builder.Append(c, 7);
  auto stream = builder.Finish();
  EXPECT_TRUE(stream.ok()) << stream.status();
  return stream.ok() ? *stream : EncodedStream();
}

// Events of a command, in this order.
enum Event { kStart, kInputRead, kOutputVisible };

// Runs a stream under a random legal schedule. Every command starts when its
// turn in its queue has come and its waits are satisfied, and reaches its
// points as late and as independently of other engines as ISA.md permits.
// Without `bounded`, queues are endless: "any order the rule permits".
class Scheduler {
 public:
  Scheduler(const Decoded& stream, bool bounded, uint64_t seed)
      : stream_(stream), bounded_(bounded), random_(seed) {
    const size_t n = stream.commands.size();
    for (auto& times : time_) times.assign(n, -1);
    // An engine that is always last, to drive semaphores up.
    lazy_ = 1 + seed % 4;
    eager_ = 1 + seed / 4 % 4;
  }

  // "" or what went wrong.
  std::string Run() {
    while (true) {
      std::vector<std::pair<int, int>> choices;  // engine, event
      Collect(&choices);
      if (choices.empty()) break;
      std::vector<std::pair<int, int>> picked;
      for (auto c : choices) {
        if (c.first == eager_ && c.second == kStart) picked.push_back(c);
      }
      if (picked.empty()) {
        for (auto c : choices) {
          if (c.first != lazy_) picked.push_back(c);
        }
      }
      if (picked.empty() || random_() % 8 == 0) picked = choices;
      const auto [engine, event] = picked[random_() % picked.size()];
      if (std::string s = Do(engine, event); !s.empty()) return s;
    }
    return next_ == stream_.commands.size() && Idle() ? "" : "deadlock";
  }

  // Time of an event of a command.
  int64_t time(int event, size_t command) const {
    return time_[event][command];
  }

 private:
  bool Idle() const {
    for (int e = 1; e < kEngines; ++e) {
      if (visible_[e] != queue_[e].size()) return false;
    }
    return true;
  }

  void Collect(std::vector<std::pair<int, int>>* out) {
    if (next_ < stream_.commands.size()) {
      const isa::Command& c = stream_.commands[next_];
      const int engine = static_cast<int>(EngineOf(c));
      if (engine == 0) {
        if (Idle()) out->push_back({0, kStart});
      } else if (!bounded_ ||
                 queue_[engine].size() - started_[engine] < isa::kQueueDepth) {
        out->push_back({0, kStart});
      }
    }
    for (int e = 1; e < kEngines; ++e) {
      if (started_[e] < queue_[e].size()) {
        // The vector and DMA engines may overlap commands; reads of a command
        // precede writes of later ones, which the points' order covers.
        bool ready = true;
        for (const Unit& w : Waits(stream_.commands[queue_[e][started_[e]]])) {
          ready = ready && semaphores_[w.sem] >= w.count;
        }
        if (ready && started_[e] - visible_[e] < 3) out->push_back({e, kStart});
      }
      if (read_[e] < started_[e]) out->push_back({e, kInputRead});
      if (visible_[e] < read_[e]) out->push_back({e, kOutputVisible});
    }
  }

  std::string Do(int engine, int event) {
    if (engine == 0) {
      const int to = static_cast<int>(EngineOf(stream_.commands[next_]));
      if (to != 0) queue_[to].push_back(next_);
      ++next_;
      return "";
    }
    size_t* counter = event == kStart       ? &started_[engine]
                      : event == kInputRead ? &read_[engine]
                                            : &visible_[engine];
    const size_t command = queue_[engine][(*counter)++];
    time_[event][command] = ++now_;
    if (event == kStart) {
      for (const Unit& w : Waits(stream_.commands[command])) {
        semaphores_[w.sem] -= w.count;
      }
      return "";
    }
    for (const Unit& s : Signals(stream_.commands[command])) {
      if (s.point != static_cast<uint32_t>(event - kInputRead)) continue;
      semaphores_[s.sem] += s.count;
      if (semaphores_[s.sem] > isa::kSemaphoreMax) {
        return "semaphore " + std::to_string(s.sem) + " overflows";
      }
    }
    return "";
  }

  const Decoded& stream_;
  const bool bounded_;
  std::mt19937_64 random_;
  int lazy_, eager_;
  size_t next_ = 0;
  std::array<std::vector<size_t>, kEngines> queue_;
  std::array<size_t, kEngines> started_{}, read_{}, visible_{};
  std::array<uint32_t, isa::kSemaphores> semaphores_{};
  std::array<std::vector<int64_t>, 3> time_;
  int64_t now_ = 0;
};

// Every conflicting pair of commands happened in the order of the rule.
std::string CheckOrder(const Decoded& stream, const Scheduler& run) {
  std::vector<std::vector<Access>> accesses;
  for (const isa::Command& c : stream.commands) {
    accesses.push_back(AccessesOf(c, isa::kH256));
  }
  for (size_t b = 0; b < stream.commands.size(); ++b) {
    const isa::Engine eb = EngineOf(stream.commands[b]);
    for (size_t a = 0; a < b; ++a) {
      const isa::Engine ea = EngineOf(stream.commands[a]);
      for (const Access& x : accesses[a]) {
        for (const Access& y : accesses[b]) {
          if (x.space != y.space || x.end <= y.begin || y.end <= x.begin)
            continue;
          if (!x.write && !y.write) continue;
          // The engine's own order suffices for writes, and for the vector
          // engine's reads.
          if (ea == eb && (y.write || ea == isa::Engine::kVector)) continue;
          const int64_t done =
              run.time(x.write ? kOutputVisible : kInputRead, a);
          if (done < 0 || done > run.time(kStart, b)) {
            return "commands " + std::to_string(a) + " and " +
                   std::to_string(b) + " are not ordered";
          }
        }
      }
    }
  }
  return "";
}

std::string CheckSchedules(const EncodedStream& stream, int schedules,
                           uint64_t seed) {
  const Decoded decoded = Decode(stream);
  for (int i = 0; i < schedules; ++i) {
    Scheduler run(decoded, /*bounded=*/i % 2 == 0, seed * 1000 + i);
    std::string what = run.Run();
    if (what.empty()) what = CheckOrder(decoded, run);
    if (!what.empty()) return what + ", schedule " + std::to_string(i);
  }
  return "";
}

int CountWaits(const EncodedStream& stream) {
  int n = 0;
  for (const isa::Command& c : Decode(stream).commands) n += Waits(c).size();
  return n;
}

template <typename T>
int CountOf(const EncodedStream& stream) {
  int n = 0;
  for (const isa::Command& c : Decode(stream).commands) {
    n += std::holds_alternative<T>(c);
  }
  return n;
}

// A command of `engine` that reads [from, +64) and writes [to, +64); load and
// store do only one of both.
isa::Command CommandOf(isa::Engine engine, uint32_t from, uint32_t to) {
  switch (engine) {
    case isa::Engine::kLoad:
      return LoadTo(to);
    case isa::Engine::kStore:
      return StoreFrom(from);
    case isa::Engine::kMatrix:
      return MatrixCopy(from, to);
    default:
      return VectorCopy(from, to);
  }
}

constexpr isa::Engine kAll[] = {isa::Engine::kLoad, isa::Engine::kStore,
                                isa::Engine::kMatrix, isa::Engine::kVector};

TEST(Stream, ReadAfterWrite) {
  for (isa::Engine writer : kAll) {
    if (writer == isa::Engine::kStore) continue;  // writes no SRAM
    for (isa::Engine reader : kAll) {
      if (reader == isa::Engine::kLoad) continue;  // reads no SRAM
      const EncodedStream s = Build({CommandOf(writer, 0x1000, 0x2000),
                                     CommandOf(reader, 0x2000, 0x3000)});
      const auto commands = Decode(s).commands;
      const bool free =
          writer == isa::Engine::kVector && reader == isa::Engine::kVector;
      ASSERT_EQ(Waits(commands[1]).size(), free ? 0u : 1u)
          << static_cast<int>(writer) << static_cast<int>(reader);
      if (free) continue;
      ASSERT_EQ(Signals(commands[0]).size(), 1u);
      EXPECT_EQ(Signals(commands[0])[0].point, 1u);
      EXPECT_EQ(Signals(commands[0])[0].sem, Waits(commands[1])[0].sem);
    }
  }
}

TEST(Stream, WriteAfterRead) {
  for (isa::Engine reader : kAll) {
    if (reader == isa::Engine::kLoad) continue;
    for (isa::Engine writer : kAll) {
      if (writer == isa::Engine::kStore) continue;
      const EncodedStream s = Build({CommandOf(reader, 0x2000, 0x3000),
                                     CommandOf(writer, 0x1000, 0x2000)});
      const auto commands = Decode(s).commands;
      ASSERT_EQ(Waits(commands[1]).size(), reader == writer ? 0u : 1u);
      if (reader == writer) continue;
      EXPECT_EQ(Signals(commands[0])[0].point, 0u);
    }
  }
}

TEST(Stream, WriteAfterWrite) {
  for (isa::Engine first : kAll) {
    if (first == isa::Engine::kStore) continue;
    for (isa::Engine second : kAll) {
      if (second == isa::Engine::kStore) continue;
      const EncodedStream s = Build({CommandOf(first, 0x1000, 0x2000),
                                     CommandOf(second, 0x4000, 0x2000)});
      const auto commands = Decode(s).commands;
      ASSERT_EQ(Waits(commands[1]).size(), first == second ? 0u : 1u);
      if (first == second) continue;
      EXPECT_EQ(Signals(commands[0])[0].point, 1u);
    }
  }
}

TEST(Stream, DeviceMemoryIsASpaceOfItsOwnPerRegion) {
  EXPECT_EQ(
      CountWaits(Build({StoreFrom(0x100, 0x40, 1), LoadTo(0x900, 0x40, 1)})),
      1);
  EXPECT_EQ(
      CountWaits(Build({StoreFrom(0x100, 0x40, 1), LoadTo(0x900, 0x80, 1)})),
      0);
  EXPECT_EQ(
      CountWaits(Build({StoreFrom(0x100, 0x40, 1), LoadTo(0x900, 0x40, 2)})),
      0);
}

TEST(Stream, NoWaitForWhatIsKnown) {
  // The second reader of the same data, by its engine's first wait.
  EXPECT_EQ(CountWaits(Build({LoadTo(0x1000), MatrixCopy(0x1000, 0x2000),
                              MatrixCopy(0x1000, 0x3000)})),
            1);
  // Through another engine: store waits for vector, which waited for the load.
  EXPECT_EQ(CountWaits(Build({LoadTo(0x1000), VectorCopy(0x1000, 0x2000),
                              StoreFrom(0x2000), StoreFrom(0x1000, 0x100)})),
            2);
  // An older command of an engine whose younger one is waited for.
  EXPECT_EQ(CountWaits(Build({LoadTo(0x1000), LoadTo(0x2000),
                              VectorCopy(0x2000, 0x3000),
                              VectorCopy(0x1000, 0x4000)})),
            1);
  // One wait that brings the other along: matrix needs the load and the vector
  // command that already waited for it.
  isa::Conv both = std::get<isa::Conv>(MatrixCopy(0x1000, 0x3000));
  both.ih = both.kh = 2;
  both.in_pitch = (0x2000 - 0x1000) / 16;
  EXPECT_EQ(
      CountWaits(Build({LoadTo(0x1000), VectorCopy(0x1000, 0x2000), both})), 2);
}

TEST(Stream, MoreThanTwoWaitsAndSignals) {
  // One vector result that three engines read.
  const EncodedStream fan_out =
      Build({LoadTo(0x1000), VectorCopy(0x1000, 0x2000), StoreFrom(0x2000),
             MatrixCopy(0x2000, 0x3000), LoadTo(0x1000)});
  EXPECT_EQ(CountOf<isa::SyncVector>(fan_out), 1);
  EXPECT_EQ(CheckSchedules(fan_out, 50, 1), "");
  // A conv over what three engines wrote last, each unknown to the others.
  isa::Conv all = std::get<isa::Conv>(MatrixCopy(0x1000, 0x8000));
  all.ih = all.kh = 3;
  all.in_pitch = 0x1000 / 16;
  const EncodedStream fan_in =
      Build({LoadTo(0x1000), VectorCopy(0x6000, 0x2000),
             MatrixCopy(0x6000, 0x3000), StoreFrom(0x8000), all});
  EXPECT_EQ(CountOf<isa::SyncMatrix>(fan_in), 1);
  EXPECT_EQ(CheckSchedules(fan_in, 50, 2), "");
}

TEST(Stream, OffsetsAndTags) {
  const EncodedStream s =
      Build({LoadTo(0x1000), VectorCopy(0x1000, 0x2000), StoreFrom(0x2000),
             MatrixCopy(0x2000, 0x3000), LoadTo(0x1000)});
  const Decoded d = Decode(s);
  ASSERT_EQ(s.offsets.size(), 5u);
  EXPECT_EQ(s.commands, d.commands.size());
  for (uint32_t offset : s.offsets) {
    EXPECT_EQ(std::count(d.offsets.begin(), d.offsets.end(), offset), 1);
  }
  for (size_t i = 0; i + 1 < d.commands.size(); ++i) {
    EXPECT_EQ(HeaderOf(d.commands[i]).tag, 7u);
  }
  EXPECT_TRUE(std::holds_alternative<isa::End>(d.commands.back()));
}

TEST(Stream, UnitsOutstandingInProgramOrderGetABarrier) {
  // Loads whose results are all used at the end, in the order of loading.
  for (int n : {100, 255, 256, 300, 700}) {
    std::vector<isa::Command> commands;
    for (int i = 0; i < n; ++i) commands.push_back(LoadTo(0x1000 + 64 * i));
    for (int i = 0; i < n; ++i) {
      commands.push_back(VectorCopy(0x1000 + 64 * i, 0x40000));
    }
    const EncodedStream s = Build(commands);
    EXPECT_EQ(CountOf<isa::Barrier>(s) > 0, n > 255) << n;
    EXPECT_EQ(CheckSchedules(s, 20, n), "") << n;
  }
}

TEST(Stream, GiversThatNeverHearOfTheTakerGetABarrier) {
  // Each load is used at once, so that in program order nothing accumulates;
  // but the load engine could run ahead of the vector engine without end.
  for (int n : {255, 256, 600}) {
    std::vector<isa::Command> commands;
    for (int i = 0; i < n; ++i) {
      commands.push_back(LoadTo(0x1000 + 64 * i));
      commands.push_back(VectorCopy(0x1000 + 64 * i, 0x40000));
    }
    const EncodedStream s = Build(commands);
    EXPECT_EQ(CountOf<isa::Barrier>(s) > 0, n > 255) << n;
    EXPECT_EQ(CheckSchedules(s, 20, n), "") << n;
  }
}

TEST(Stream, ACommandThatIsNotLegalIsAnError) {
  isa::Load c = std::get<isa::Load>(LoadTo(0));
  c.n0 = 0;
  StreamBuilder builder(isa::kH256);
  builder.Append(c, 0);
  EXPECT_EQ(builder.Finish().status().code(), absl::StatusCode::kInternal);
}

TEST(Stream, RandomSequencesUnderAdversarialSchedules) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    // Few places make many conflicts, many places long runs ahead.
    const uint32_t places = 2 + random() % (seed % 5 == 0 ? 4000 : 12);
    const int length = seed % 10 == 0 ? 1500 : 150;
    auto place = [&] { return static_cast<uint32_t>(random() % places * 64); };
    auto partial = [&] {
      return place() + static_cast<uint32_t>(random() % 3 * 16);
    };
    std::vector<isa::Command> commands;
    const uint32_t bias = random() % 5;
    for (int i = 0; i < length; ++i) {
      switch (random() % 3 == 0 ? bias : random() % 5) {
        case 0:
          commands.push_back(LoadTo(partial(), place(), 1 + random() % 2));
          break;
        case 1:
          commands.push_back(StoreFrom(partial(), place(), 1 + random() % 2));
          break;
        case 2:
          commands.push_back(MatrixCopy(partial(), partial()));
          break;
        default:
          commands.push_back(VectorCopy(partial(), partial()));
          break;
      }
    }
    const EncodedStream s = Build(commands);
    ASSERT_EQ(CheckSchedules(s, length > 1000 ? 4 : 24, seed), "")
        << "seed " << seed;
  }
}

TEST(Stream, MoreThanTheDriverTakesIsRefused) {
  StreamBuilder builder(isa::kH256, 2);
  const size_t most = 2 * isa::kStreamBytesMax / (isa::Load::kWords * 4) + 2;
  for (size_t i = 0; i < most && !builder.too_long(); ++i) {
    builder.Append(LoadTo(0x1000), 0);
  }
  EXPECT_TRUE(builder.too_long());
  EXPECT_LT(builder.size(), most);
  EXPECT_EQ(RejectionOf(builder.Finish().status()),
            Rejection::kUnsupportedShape);
}

// The checker itself: without waits it must find disorder.
TEST(Stream, TheCheckerFindsMissingWaits) {
  EncodedStream s = Build({LoadTo(0x1000), VectorCopy(0x1000, 0x2000),
                           StoreFrom(0x2000), MatrixCopy(0x2000, 0x1000)});
  Decoded d = Decode(s);
  for (isa::Command& c : d.commands) {
    std::visit(
        [](auto& x) {
          x.header = isa::Header::For(x.header.opcode, x.header.words);
        },
        c);
  }
  int found = 0;
  for (int i = 0; i < 50; ++i) {
    Scheduler run(d, true, i);
    EXPECT_EQ(run.Run(), "");
    found += !CheckOrder(d, run).empty();
  }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace heddle::compiler
