// SPDX-License-Identifier: Apache-2.0
// Commands are made without waits and signals; then every pair that conflicts
// and is not ordered by its engine's own rules gets an edge: a semaphore from
// the older command's engine to the newer one's, or now and then a barrier.
#include "simulator/model/random_stream.h"

#include <algorithm>
#include <numeric>

#include "simulator/model/access.h"
#include "simulator/model/byte_set.h"
#include "simulator/model/random_command.h"

namespace heddle::model {
namespace {

constexpr uint32_t kEngines = isa::kNumEngineValues;

struct Footprint {
  ByteSet read, write;
};

class Builder {
 public:
  explicit Builder(const RandomStreamOptions& options)
      : options_(options),
        generator_(options.config, options.region_bytes, options.seed),
        numbers_(options.seed) {
    std::iota(std::begin(semaphores_), std::end(semaphores_), 0);
    if (!options.vary) return;
    std::shuffle(std::begin(semaphores_), std::end(semaphores_), numbers_);
    uint32_t regions[isa::kRegions];
    std::iota(std::begin(regions), std::end(regions), 0);
    std::swap(regions[2], regions[isa::kRegions - 1]);
    std::shuffle(std::begin(regions), std::end(regions) - 1, numbers_);
    // Often the first and the last; never one number twice.
    const auto take = [&](int slot, uint32_t number) {
      if (regions[1 - slot] == number) return;
      std::swap(regions[slot],
                *std::find(std::begin(regions), std::end(regions), number));
    };
    if (options.seed % 2 == 0) take(options.seed / 2 % 2, 15);
    if (options.seed % 3 < 2) take(1, options.seed % 3);
    std::copy(regions, regions + 2, region_);
  }

  RandomStream Build() {
    const uint64_t size = options_.region_bytes;
    const uint64_t aligned = CeilDivAlign(size);
    const uint64_t shift = options_.region_shift;
    stream_.regions[region_[0]] = {0, shift + size, false};
    stream_.regions[region_[1]] = {aligned, shift + size, true};
    stream_.regions[2] = {shift + 2 * aligned, options_.config.sram_bytes,
                          false};
    stream_.dram_at = shift;
    stream_.dram = generator_.Data(2 * aligned);
    sram_ = generator_.InitialSram();
    stream_.dram.insert(stream_.dram.end(), sram_.begin(), sram_.end());
    LoadEverything();
    std::vector<size_t> kinds = Kinds();
    for (int i = 0; i < options_.commands && !kinds.empty(); ++i) {
      if (i % kinds.size() == 0) {
        for (size_t k = kinds.size(); k > 1; --k) {
          std::swap(kinds[k - 1],
                    kinds[generator_.Below(static_cast<uint32_t>(k))]);
        }
      }
      if (i > 0 && i * options_.streams / options_.commands !=
                       (i - 1) * options_.streams / options_.commands) {
        EndStream();
      }
      if (options_.vary && generator_.OneIn(30))
        commands_.push_back(isa::Nop());
      std::optional<isa::Command> chosen;
      if (options_.choose) chosen = options_.choose(&generator_, sram_);
      if (!chosen) {
        RandomCommand c = generator_.Make(kinds[i % kinds.size()]);
        ++stream_.kinds[c.kind];
        chosen = c.command;
      }
      HoldFirst(*chosen);
      ProgramFirst(*chosen);
      IndicesFirst(*chosen);
      Append(*chosen);
    }
    EndStream();
    stream_.words = std::move(stream_.following.front());
    stream_.following.erase(stream_.following.begin());
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
      hold.lut = false;
      hold.res_op = isa::ResidualOp::kNone;
      hold.pool = isa::PoolKind::kNone;
      Append(hold);
    }
    held_ = conv->acc_hold ? entries : 0;
  }

  // The end of a stream is a barrier, too.
  void EndStream() {
    commands_.push_back(isa::End());
    std::vector<uint32_t> words;
    for (isa::Command& c : commands_) {
      Number(&c);
      WaitForNothing(&c);
      isa::Append(c, &words);
    }
    stream_.following.push_back(std::move(words));
    commands_.clear();
    Forget();
    std::fill(std::begin(last_of_), std::end(last_of_), -1);
  }

  // The region numbers and offsets of this stream.
  void Number(isa::Command* command) const {
    std::visit(
        [&](auto& c) {
          using C = std::decay_t<decltype(c)>;
          if constexpr (std::is_same_v<C, isa::Load> ||
                        std::is_same_v<C, isa::LoadGather> ||
                        std::is_same_v<C, isa::Store> ||
                        std::is_same_v<C, isa::StoreScatter>) {
            if (c.region >= 2) return;
            c.region = region_[c.region];
            c.dram_offset += static_cast<uint32_t>(options_.region_shift);
          }
        },
        *command);
  }

  // Waits and signals of no units: nothing may come of them.
  void WaitForNothing(isa::Command* command) {
    if (!options_.vary || !generator_.OneIn(10)) return;
    const auto engine =
        std::visit([](const auto& c) { return c.kEngine; }, *command);
    if (engine == isa::Engine::kControl) return;
    isa::Header& h = HeaderOf(command);
    const uint32_t sem = generator_.Below(isa::kSemaphores);
    if (!h.wait0_enable) {
      h.wait0_enable = true;
      h.wait0_sem = sem;
    } else if (!h.wait1_enable && h.wait0_sem != sem) {
      h.wait1_enable = true;
      h.wait1_sem = sem;
    }
    if (!h.signal0_enable) {
      h.signal0_enable = true;
      h.signal0_sem = sem;
    } else if (!h.signal1_enable && h.signal0_sem != sem) {
      h.signal1_enable = true;
      h.signal1_sem = sem;
    }
  }

  // Indices outside the constant area are zeros, written before.
  void IndicesFirst(const isa::Command& command) {
    isa::Fill fill;
    if (const auto* c = std::get_if<isa::LoadGather>(&command)) {
      fill.sram_addr = c->index_addr;
      fill.n0 = c->count;
    } else if (const auto* s = std::get_if<isa::StoreScatter>(&command)) {
      fill.sram_addr = s->index_addr;
      fill.n0 = s->count;
    } else {
      return;
    }
    if (generator_.IsConstant(fill.sram_addr / 16)) return;
    fill.elem_log2 = 2;
    fill.t0 = 4;
    Append(fill);
  }

  // A microprogram outside the constant area, where anything may have been
  // written, is loaded first.
  void ProgramFirst(const isa::Command& command) {
    const isa::Vrun* vrun = std::get_if<isa::Vrun>(&command);
    if (vrun == nullptr || generator_.IsConstant(vrun->prog_addr)) return;
    isa::Load load;
    load.region = 2;
    load.elem_log2 = 4;
    load.sram_addr = load.dram_offset = vrun->prog_addr * 16;
    load.n0 = (vrun->prologue + vrun->body + vrun->epilogue + 1) / 2;
    load.s0 = load.t0 = 16;
    Append(load);
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
    constexpr uint64_t kGranule = ByteSet::kGranule;
    const uint64_t sram = config.sram_bytes;
    const uint64_t region = CeilDivAlign(
        std::max<uint64_t>(options_.region_bytes, config.sram_bytes));
    const uint64_t accumulators = sram + 3 * region;
    const uint64_t granules = accumulators / kGranule + config.acc_pixels;
    Footprint f{ByteSet(granules), ByteSet(granules)};
    // In these modes a lane at or beyond ci has no operand that counts, but its
    // output depends on the input's byte, and the bytes of outputs are
    // compared.
    const auto* conv = std::get_if<isa::Conv>(&command);
    const bool whole =
        conv != nullptr && (conv->mode == isa::MatrixMode::kDepthwise ||
                            conv->mode == isa::MatrixMode::kMaxpool);
    ForEachAccess(config, command, nullptr, [&](Access a) {
      ByteSet* touched = a.write ? &f.write : &f.read;
      if (whole && !a.write && a.space == Space::kSram) {
        a.bytes = std::max<uint64_t>(a.bytes, isa::kWordBytes);
      }
      a.ForEachRun([&](int64_t at, uint64_t n) {
        uint64_t first = static_cast<uint64_t>(at);
        uint64_t last = first + n - 1;
        if (a.space == Space::kAccumulators) {
          first = accumulators + first * kGranule;
          last = accumulators + last * kGranule + kGranule - 1;
        } else if (a.space == Space::kDram) {
          first += sram + a.region * region;
          last += sram + a.region * region;
        }
        touched->Add(first, last);
      });
    });
    f.read.Seal();
    f.write.Seal();
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
      const bool raw = old.footprint.write.Meets(f.read);
      const bool waw = old.footprint.write.Meets(f.write);
      const bool war = old.footprint.read.Meets(f.write);
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
      uint32_t count = generator_.Between(1, 3);
      const uint32_t sem = Semaphore(p, engine, everything);
      // All at once; the next one goes behind a barrier.
      if (options_.vary && given_[sem] == 0 && generator_.OneIn(20)) {
        count = isa::kSemaphoreMax;
      }
      given_[sem] += count;
      Signal(p, sem, count,
             everything ? isa::SignalPoint::kOutputVisible
                        : isa::SignalPoint::kInputRead);
      Wait(engine, sem, count, &header, &waits);
      read_[engine][p] = issued_.size();
      if (everything) seen_[engine][p] = issued_.size();
    }
    header.tag = static_cast<uint32_t>(commands_.size());
    if (options_.vary && generator_.OneIn(8)) header.tag = UINT32_MAX;
    last_of_[engine] = static_cast<int>(commands_.size());
    commands_.push_back(command);
    issued_.push_back({engine, std::move(f)});
  }

  // One semaphore for each pair of engines and point; the self-loops of load,
  // store and matrix engine share the point output_visible.
  uint32_t Semaphore(uint32_t from, uint32_t to, bool everything) const {
    const uint32_t pair = (from - 1) * 4 + (to - 1);  // 0 .. 15
    return semaphores_[everything || from == to ? pair : 16 + pair];
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
    Forget();
  }

  // Everything so far is done.
  void Forget() {
    after_barrier_ = static_cast<int>(commands_.size());
    issued_.clear();
    std::fill(std::begin(given_), std::end(given_), 0);
    for (auto& row : seen_) std::fill(std::begin(row), std::end(row), 0);
    for (auto& row : read_) std::fill(std::begin(row), std::end(row), 0);
  }

  RandomStreamOptions options_;
  CommandGenerator generator_;
  std::mt19937_64 numbers_;
  uint32_t region_[2] = {0, 1};
  uint32_t semaphores_[isa::kSemaphores];
  std::vector<uint8_t> sram_;  // that the stream loads
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
