// SPDX-License-Identifier: Apache-2.0
// Commands are made without waits and signals; then every pair that conflicts
// and is not ordered by its engine's own rules gets an edge: a semaphore from
// the older command's engine to the newer one's, or now and then a barrier.
#include "simulator/model/random_stream.h"

#include <algorithm>
#include <numeric>

#include "simulator/model/access.h"
#include "simulator/model/random_command.h"

namespace heddle::model {
namespace {

constexpr uint32_t kEngines = isa::kNumEngineValues;

// Granules of 16 bytes of SRAM, of every region, and accumulator entries.
struct Footprint {
  std::vector<uint64_t> read, write;

  static bool Meet(const std::vector<uint64_t>& a,
                   const std::vector<uint64_t>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if ((a[i] & b[i]) != 0) return true;
    }
    return false;
  }
};

class Builder {
 public:
  explicit Builder(const RandomStreamOptions& options)
      : options_(options),
        generator_(options.config, options.region_bytes, options.seed) {}

  RandomStream Build() {
    const uint64_t size = options_.region_bytes;
    const uint64_t aligned = CeilDivAlign(size);
    stream_.regions[0] = {0, size, false};
    stream_.regions[1] = {aligned, size, true};
    stream_.regions[2] = {2 * aligned, options_.config.sram_bytes, false};
    stream_.dram = generator_.Data(2 * aligned);
    const std::vector<uint8_t> sram = generator_.InitialSram();
    stream_.dram.insert(stream_.dram.end(), sram.begin(), sram.end());
    LoadEverything();
    std::vector<size_t> kinds = Kinds();
    for (int i = 0; i < options_.commands && !kinds.empty(); ++i) {
      if (i % kinds.size() == 0) {
        for (size_t k = kinds.size(); k > 1; --k) {
          std::swap(kinds[k - 1],
                    kinds[generator_.Below(static_cast<uint32_t>(k))]);
        }
      }
      RandomCommand c = generator_.Make(kinds[i % kinds.size()]);
      ++stream_.quota[c.kind];
      HoldFirst(c.command);
      Append(c.command);
    }
    commands_.push_back(isa::End());
    for (const isa::Command& c : commands_) isa::Append(c, &stream_.words);
    return std::move(stream_);
  }

 private:
  struct Issued {
    uint32_t engine;
    Footprint footprint;
  };

  static uint64_t CeilDivAlign(uint64_t v) {
    return (v + isa::kRegionAlign - 1) / isa::kRegionAlign * isa::kRegionAlign;
  }

  std::vector<size_t> Kinds() {
    std::vector<size_t> kinds;
    for (size_t k = 0; k < CommandGenerator::kinds(); ++k) {
      const std::string name = generator_.Make(k).kind;
      bool take = options_.kinds.empty();
      for (const std::string& p : options_.kinds) {
        take = take || name.compare(0, p.size(), p) == 0;
      }
      if (take) kinds.push_back(k);
    }
    return kinds;
  }

  // A command that goes on with accumulators needs one that held them.
  void HoldFirst(const isa::Command& command) {
    const isa::Conv* conv = std::get_if<isa::Conv>(&command);
    if (conv == nullptr) return;
    const uint64_t entries =
        uint64_t{(conv->co + options_.config.lanes_out - 1) /
                 options_.config.lanes_out} *
        conv->out_rows * conv->ow;
    if (conv->acc_continue && entries > held_) {
      isa::Conv hold = *conv;
      hold.acc_continue = false;
      hold.acc_hold = true;
      Append(hold);
    }
    held_ = conv->acc_hold ? entries : 0;
  }

  void LoadEverything() {
    isa::Load load;
    load.region = 2;
    load.elem_log2 = 4;
    load.n0 = 256;
    load.s0 = load.t0 = 16;
    load.n1 = options_.config.sram_bytes / (256 * 16);
    load.s1 = load.t1 = 256 * 16;
    Append(load);
  }

  Footprint FootprintOf(const isa::Command& command) const {
    const isa::Config& config = options_.config;
    const uint64_t sram = config.sram_bytes / 16;
    const uint64_t region = CeilDivAlign(std::max<uint64_t>(
                                options_.region_bytes, config.sram_bytes)) /
                            16;
    const uint64_t granules = sram + 3 * region + config.acc_pixels;
    Footprint f;
    f.read.resize(granules / 64 + 1);
    f.write.resize(granules / 64 + 1);
    ForEachAccess(config, command, nullptr, [&](const Access& a) {
      std::vector<uint64_t>* bits = a.write ? &f.write : &f.read;
      a.ForEachRun([&](int64_t at, uint64_t n) {
        uint64_t first = static_cast<uint64_t>(at);
        uint64_t last = first + n - 1;
        if (a.space == Space::kAccumulators) {
          first += sram + 3 * region;
          last += sram + 3 * region;
        } else {
          first /= 16;
          last /= 16;
          if (a.space == Space::kDram) {
            first += sram + a.region * region;
            last += sram + a.region * region;
          }
        }
        for (uint64_t g = first; g <= last; ++g) {
          (*bits)[g / 64] |= uint64_t{1} << (g % 64);
        }
      });
    });
    return f;
  }

  static isa::Header& HeaderOf(isa::Command* command) {
    return std::visit([](auto& c) -> isa::Header& { return c.header; },
                      *command);
  }

  void Append(isa::Command command) {
    const uint32_t engine = static_cast<uint32_t>(
        std::visit([](const auto& c) { return c.kEngine; }, command));
    Footprint f = FootprintOf(command);
    // No order of the engines may bring a semaphore near its maximum.
    if (*std::max_element(given_, given_ + isa::kSemaphores) > 200) Barrier();
    // What this engine must wait for: 0 nothing, 1 reads, 2 everything.
    int need[kEngines] = {};
    for (size_t i = 0; i < issued_.size(); ++i) {
      const Issued& old = issued_[i];
      const uint32_t p = old.engine;
      const bool raw = Footprint::Meet(old.footprint.write, f.read);
      const bool waw = Footprint::Meet(old.footprint.write, f.write);
      const bool war = Footprint::Meet(old.footprint.read, f.write);
      if (p == engine) {
        const bool vector = p == static_cast<uint32_t>(isa::Engine::kVector);
        if (raw && !vector && i >= seen_[engine][p]) need[p] = 2;
        continue;
      }
      if ((raw || waw) && i >= seen_[engine][p]) need[p] = 2;
      if (war && i >= read_[engine][p]) need[p] = std::max(need[p], 1);
    }
    if (*std::max_element(need, need + kEngines) > 0 && generator_.OneIn(12)) {
      Barrier();
      std::fill(need, need + kEngines, 0);
    }
    int waits = 0;
    isa::Header& header = HeaderOf(&command);
    for (uint32_t p = 0; p < kEngines; ++p) {
      if (need[p] == 0) continue;
      const bool everything = need[p] == 2 || generator_.OneIn(3);
      const uint32_t count = generator_.Between(1, 3);
      const uint32_t sem = Semaphore(p, engine, everything);
      given_[sem] += count;
      Signal(p, sem, count,
             everything ? isa::SignalPoint::kOutputVisible
                        : isa::SignalPoint::kInputRead);
      Wait(engine, sem, count, &header, &waits);
      read_[engine][p] = issued_.size();
      if (everything) seen_[engine][p] = issued_.size();
    }
    header.tag = static_cast<uint32_t>(commands_.size());
    last_of_[engine] = static_cast<int>(commands_.size());
    commands_.push_back(command);
    issued_.push_back({engine, std::move(f)});
  }

  // One semaphore for each pair of engines and point; the self-loops of load,
  // store and matrix engine share the point output_visible.
  static uint32_t Semaphore(uint32_t from, uint32_t to, bool everything) {
    const uint32_t pair = (from - 1) * 4 + (to - 1);  // 0 .. 15
    return everything || from == to ? pair : 16 + pair;
  }

  // The last command of the engine gives the signal if it has room, since all
  // commands of the engine before it have reached the point by then.
  void Signal(uint32_t engine, uint32_t sem, uint32_t count,
              isa::SignalPoint point) {
    const int last = last_of_[engine];
    if (last >= 0 && last >= after_barrier_ && !generator_.OneIn(4)) {
      isa::Header& h = HeaderOf(&commands_[last]);
      if (!h.signal0_enable) {
        h.signal0_enable = true;
        h.signal0_sem = sem;
        h.signal0_count = count;
        h.signal0_point = point;
        return;
      }
      if (!h.signal1_enable && h.signal0_sem != sem) {
        h.signal1_enable = true;
        h.signal1_sem = sem;
        h.signal1_count = count;
        h.signal1_point = point;
        return;
      }
    }
    isa::Command sync = Sync(engine);
    isa::Header& h = HeaderOf(&sync);
    h.signal0_enable = true;
    h.signal0_sem = sem;
    h.signal0_count = count;
    h.signal0_point = point;
    last_of_[engine] = static_cast<int>(commands_.size());
    commands_.push_back(sync);
  }

  void Wait(uint32_t engine, uint32_t sem, uint32_t count, isa::Header* header,
            int* waits) {
    isa::Command sync = Sync(engine);
    const bool own = *waits == 2 || generator_.OneIn(5);
    isa::Header* h = own ? &HeaderOf(&sync) : header;
    if (!own && (*waits)++ == 1) {
      h->wait1_enable = true;
      h->wait1_sem = sem;
      h->wait1_count = count;
    } else {
      h->wait0_enable = true;
      h->wait0_sem = sem;
      h->wait0_count = count;
    }
    if (!own) return;
    last_of_[engine] = static_cast<int>(commands_.size());
    commands_.push_back(sync);
  }

  static isa::Command Sync(uint32_t engine) {
    switch (static_cast<isa::Engine>(engine)) {
      case isa::Engine::kLoad:
        return isa::SyncLoad();
      case isa::Engine::kStore:
        return isa::SyncStore();
      case isa::Engine::kMatrix:
        return isa::SyncMatrix();
      default:
        return isa::SyncVector();
    }
  }

  void Barrier() {
    commands_.push_back(isa::Barrier());
    after_barrier_ = static_cast<int>(commands_.size());
    issued_.clear();
    std::fill(std::begin(given_), std::end(given_), 0);
    for (auto& row : seen_) std::fill(std::begin(row), std::end(row), 0);
    for (auto& row : read_) std::fill(std::begin(row), std::end(row), 0);
  }

  RandomStreamOptions options_;
  CommandGenerator generator_;
  RandomStream stream_;
  std::vector<isa::Command> commands_;
  std::vector<Issued> issued_;  // since the last barrier
  // Commands of the second engine before this number are ordered before the
  // next command of the first: with all they wrote, or their reads only.
  size_t seen_[kEngines][kEngines] = {};
  size_t read_[kEngines][kEngines] = {};
  uint32_t given_[isa::kSemaphores] = {};  // units since the last barrier
  int last_of_[kEngines] = {-1, -1, -1, -1, -1};
  int after_barrier_ = 0;
  uint64_t held_ = 0;  // accumulator entries with defined values
};

}  // namespace

RandomStream MakeRandomStream(const RandomStreamOptions& options) {
  return Builder(options).Build();
}

}  // namespace heddle::model
