// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/vector_cost.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "simulator/timing/vector_stream.h"

namespace heddle::timing {
namespace {

constexpr int kSlots = 8;          // groups of a strip
constexpr int kRegisters = 17;     // 16 and `out`
constexpr int kOut = 16;           // its number
constexpr int kStoreQueue = 16;    // vectors
constexpr int64_t kBudget = 3072;  // instructions that are followed

// What the sequencer looks at.
struct Item {
  uint32_t reads = 0;  // registers
  int dest = 0;
  uint8_t streams = 0;  // bit per stream
  bool tree = false, divide = false, store = false, pick = false;
  int64_t more_digits = 0;  // of an integer division than of a float's
};

// A command as the sequencer walks it.
struct Loops {
  std::array<std::vector<Item>, 3> sections;
  int64_t r[3] = {1, 1, 1};     // n_r1, n_r2, n_r3
  int64_t o[4] = {1, 1, 1, 1};  // chunks, n_o1, n_o2, n_o3
  int64_t lanes = 1, tail = 0;
  bool strips = false, gated = false, store_one = false;
  int dim = 0;
  bool gather = false, scatter = false, pick = false;
  int64_t index_reach = 0;  // bytes that indices span
};

bool Takes(isa::MicroOp op, int operand) {
  const isa::MicroOpInfo* info = isa::FindMicroOp(static_cast<uint32_t>(op));
  // Operands are d, a, b, c in this order.
  return info != nullptr && operand + 1 < info->num_operands;
}

Item ItemOf(uint64_t code) {
  Item item;
  const auto decoded = isa::MicroInstruction::Decode(code);
  if (!decoded.ok()) return item;
  item.dest = static_cast<int>(decoded->d);
  const isa::Operand operands[3] = {decoded->a, decoded->b, decoded->c};
  for (int i = 0; i < 3; ++i) {
    if (!Takes(decoded->op, i)) continue;
    const auto operand = static_cast<uint32_t>(operands[i]);
    if (operand < 16) item.reads |= 1u << operand;
    if (operands[i] == isa::Operand::kStreamA) item.streams |= 1;
    if (operands[i] == isa::Operand::kStreamB) item.streams |= 2;
    if (operands[i] == isa::Operand::kStreamC) item.streams |= 4;
  }
  switch (decoded->op) {
    case isa::MicroOp::kPick:
      item.pick = true;
      break;
    case isa::MicroOp::kHsum:
    case isa::MicroOp::kHmax:
    case isa::MicroOp::kHmin:
    case isa::MicroOp::kHisum:
    case isa::MicroOp::kHimax:
    case isa::MicroOp::kHimin:
      item.tree = true;
      break;
    case isa::MicroOp::kFdiv:
    case isa::MicroOp::kFsqrt:
      item.divide = true;
      break;
    case isa::MicroOp::kIdiv:
    case isa::MicroOp::kIdivu:
      item.divide = true;
      item.more_digits = 32 - 26;
      break;
    default:
      break;
  }
  return item;
}

int RoundsOf(const Item& item) { return item.tree ? 4 : item.pick ? 2 : 1; }

// A store happens with the last instruction of the section if that writes
// `out`, else with an instruction of its own.
void AddStore(std::vector<Item>* section) {
  if (section->empty() || section->back().dest != kOut) {
    Item own;
    own.reads = 1u << kOut;
    own.dest = kOut;
    section->push_back(own);
  }
  section->back().store = true;
}

// Which groups may run together (rtl/src/hd_vec_setup.sv): no group may touch
// what another one stores.
template <typename T>
void SetMode(const T& c, bool vmac, const isa::Stream streams[4], uint8_t reads,
             bool stores, bool body_stores, bool late, Loops* loops) {
  const int64_t n[7] = {c.lanes, c.n_r1, c.n_r2, c.n_r3,
                        c.n_o1,  c.n_o2, c.n_o3};
  const auto strides = [](const isa::Stream& s) {
    return std::array<int64_t, 7>{s.lane_stride, s.r1_stride, s.r2_stride,
                                  s.r3_stride,   s.o1_stride, s.o2_stride,
                                  s.o3_stride};
  };
  // D's elements are all different.
  const auto d = strides(streams[3]);
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (int i = 0; i < 7; ++i) {
    const bool r = i >= 1 && i <= 3;
    int64_t times = r && !body_stores ? 1 : n[i];
    int64_t step = std::llabs(d[i]);
    if (i == 0 && loops->store_one) {
      times = loops->o[0];
      step *= 16;
    }
    if (times > 1) steps.push_back({step, times});
  }
  std::sort(steps.begin(), steps.end());
  bool distinct = true;
  int64_t span = ElementSize(streams[3].type);
  for (const auto& [step, times] : steps) {
    distinct = distinct && step >= span;
    span += step * (times - 1);
  }
  // Extents.
  int64_t low[4], high[4];
  for (int s = 0; s < 4; ++s) {
    low[s] = streams[s].base;
    high[s] = low[s] + ElementSize(streams[s].type) - 1;
    const auto strides_s = strides(streams[s]);
    for (int i = 0; i < 7; ++i) {
      const bool r = i >= 1 && i <= 3;
      if (r && ((s == 3 && !body_stores) || (s == 2 && vmac))) continue;
      const int64_t term = strides_s[i] * (n[i] - 1);
      (term < 0 ? low[s] : high[s]) += term;
    }
  }
  if (loops->gather || loops->pick) high[0] += loops->index_reach;
  if (loops->scatter) high[3] += loops->index_reach;
  bool clear = true, apart_all = true;
  for (int s = 0; s < 3; ++s) {
    const bool read =
        (reads >> s & 1) || (s == 2 && (loops->gather || loops->scatter));
    if (!read) continue;
    const bool apart = high[s] < low[3] || high[3] < low[s];
    bool same = true;
    const auto mine = strides(streams[s]);
    for (int i = 0; i < 7; ++i) {
      if (n[i] == 1) continue;
      const bool r = i >= 1 && i <= 3;
      if (r && !body_stores ? mine[i] != 0 : mine[i] != d[i]) same = false;
    }
    const bool along =
        same && streams[s].base == streams[3].base &&
        ElementSize(streams[s].type) == ElementSize(streams[3].type) &&
        !(body_stores && late) && !loops->store_one && !(s == 0 && loops->pick);
    clear = clear && (apart || along);
    apart_all = apart_all && apart;
  }
  clear = clear || !stores;
  const bool indexed = loops->gather || loops->scatter;
  loops->strips = vmac || (!indexed && (!stores || distinct) && clear);
  loops->gated =
      !vmac && stores && !loops->strips && (loops->scatter || !apart_all);
  // Along the dimension with the most groups; a vmac's preferably where an
  // operand stays the same.
  int best = 0;
  for (int i = 0; i < 4; ++i) {
    const int few = static_cast<int>(std::min<int64_t>(loops->o[i], kSlots));
    int score = 2 * few;
    if (vmac && i > 0 && few > 1) {
      const auto stays = [&](const isa::Stream& s) {
        return s.lane_stride != 0 && strides(s)[3 + i] == 0;
      };
      if (stays(streams[0]) || stays(streams[1])) score += 5;
    }
    if (score > best) {
      best = score;
      loops->dim = i;
    }
  }
}

// Follows a command; times are cycles from the first step on.
class Engine {
 public:
  Engine(const Loops& loops, const isa::Stream streams[4],
         const Calibration& calibration)
      : loops_(loops), calibration_(calibration) {
    for (int s = 0; s < 4; ++s) {
      const isa::Stream& from = streams[s];
      stride_r_[s] = {from.r1_stride, from.r2_stride, from.r3_stride};
      stride_o_[s] = {16 * int64_t{from.lane_stride}, from.o1_stride,
                      from.o2_stride, from.o3_stride};
      base_[s] = from.base % 64 + (int64_t{1} << 40);
    }
    for (int s = 0; s < 3; ++s) {
      readers_.emplace_back(streams[s].lane_stride, calibration.line_latency,
                            &ports_);
    }
    if (loops.gather) readers_[0].Scatter(loops.index_reach);
    if (loops.pick) readers_[0].Pick(loops.index_reach);
    writer_ = VectorWriter(streams[3].lane_stride,
                           loops.scatter ? loops.index_reach : -1, &ports_);
  }

  VectorTimes Run() {
    // Along `dim` whole strips and one that is not.
    const int64_t along = loops_.o[loops_.dim];
    const int64_t step = loops_.strips ? kSlots : 1;
    const int64_t whole = along / step * step;
    int64_t issues = 0;
    for (const auto& section : loops_.sections) {
      const bool body = &section == &loops_.sections[1];
      for (const Item& item : section) {
        issues += RoundsOf(item) *
                  (body ? loops_.r[0] * loops_.r[1] * loops_.r[2] : 1);
      }
    }
    for (int64_t n : loops_.o) issues *= n;
    // So is the last chunk of lanes, where it has strips of its own.
    const bool ragged = loops_.dim != 0 && loops_.o[0] > 1 &&
                        loops_.lanes % isa::kVectorLanes != 0;
    const int64_t chunks = loops_.o[0], full = chunks - (ragged ? 1 : 0);
    if (issues <= kBudget) {
      Follow(0, along, 0, chunks, kBudget);
    } else {
      for (const auto& [from, to] :
           {std::pair<int64_t, int64_t>{0, whole},
            std::pair<int64_t, int64_t>{whole, along}}) {
        if (from == to) continue;
        Follow(from, to, 0, full, kBudget / 2);
        if (ragged) Follow(from, to, full, chunks, kBudget / 4);
      }
    }
    VectorTimes times;
    const auto skipped = static_cast<int64_t>(std::max(0.0, skipped_));
    times.read = skipped + last_read_;
    times.done = skipped + std::max(now_ + calibration_.lane_latency,
                                    writer_.Flush(now_));
    times.done = std::max(times.done, times.read);
    // Of what was left out as of the rest.
    const auto followed = static_cast<double>(times.done - skipped);
    times.lines = static_cast<uint64_t>(static_cast<double>(ports_.lines()) *
                                        static_cast<double>(times.done) /
                                        std::max(1.0, followed));
    return times;
  }

 private:
  // With what was left out of loops inside.
  double Now() const { return static_cast<double>(now_) + skipped_; }

  // The strips whose place along `dim` is in [from, to), and their chunk of
  // lanes (if these are another dimension) in [chunk, chunks): so many
  // instructions, and the rest at the pace of their second half.
  void Follow(int64_t from, int64_t to, int64_t chunk, int64_t chunks,
              int64_t budget) {
    const int64_t step = loops_.strips ? kSlots : 1;
    int64_t n[4], strips = 1;
    for (int i = 0; i < 4; ++i) {
      n[i] = i == loops_.dim ? (to - from + step - 1) / step
             : i == 0        ? chunks - chunk
                             : loops_.o[i];
      strips *= n[i];
    }
    const int64_t start = issues_;
    double half_time = Now();
    int64_t half = 0, done = 0;
    int64_t index[4] = {0, 0, 0, 0};
    while (done < strips && (issues_ - start < budget || done == half)) {
      int64_t at[4];
      for (int i = 0; i < 4; ++i) {
        at[i] = i == loops_.dim ? from + index[i] * step
                : i == 0        ? chunk + index[i]
                                : index[i];
      }
      Strip(at, static_cast<int>(std::min(step, to - at[loops_.dim])));
      ++done;
      if (issues_ - start < budget / 2) {
        half_time = Now();
        half = done;
      }
      for (int i = 0; i < 4; ++i) {
        if (++index[i] < n[i]) break;
        index[i] = 0;
      }
    }
    if (done < strips) {
      skipped_ += (Now() - half_time) / static_cast<double>(done - half) *
                  static_cast<double>(strips - done);
    }
  }

  void Strip(const int64_t at[4], int slots) {
    for (int s = 0; s < 4; ++s) {
      origin_[s] = base_[s];
      for (int i = 0; i < 4; ++i) origin_[s] += at[i] * stride_o_[s][i];
      slot_step_[s] = stride_o_[s][loops_.dim];
    }
    const int64_t chunk = at[0];
    Section(0, slots, chunk, true);
    const auto& body = loops_.sections[1];
    const int64_t total = loops_.r[0] * loops_.r[1] * loops_.r[2];
    const int64_t issues = std::max<int64_t>(1, body.size() * slots);
    // A long loop is followed for a while.
    const int64_t follow =
        std::min(total, std::max<int64_t>(4, kBudget / 3 / issues));
    int64_t half = 0;
    double half_time = 0;
    int64_t done = 0;
    int64_t r[3] = {0, 0, 0};
    while (done < follow) {
      for (int s = 0; s < 4; ++s) {
        offset_[s] = r[0] * stride_r_[s][0] + r[1] * stride_r_[s][1] +
                     r[2] * stride_r_[s][2];
      }
      Section(1, slots, chunk, r[0] + 1 == loops_.r[0]);
      ++done;
      if (done <= follow / 2) {
        half = done;
        half_time = Now();
      }
      for (int i = 0; i < 3; ++i) {
        if (++r[i] < loops_.r[i]) break;
        r[i] = 0;
      }
    }
    if (done < total) {
      skipped_ += (Now() - half_time) / static_cast<double>(done - half) *
                  static_cast<double>(total - done);
    }
    offset_ = {};
    Section(2, slots, chunk, loops_.r[0] == 1);
  }

  void Section(int number, int slots, int64_t chunk, bool last_r1) {
    const std::vector<Item>& items = loops_.sections[number];
    if (items.empty()) return;
    if (loops_.gated) {
      now_ = std::max(now_, writer_.Flush(now_)) + calibration_.gate;
      for (VectorReader& reader : readers_) reader.Forget(now_);
    }
    int lanes[kSlots];
    for (int slot = 0; slot < slots; ++slot) {
      const int64_t first = 16 * (loops_.dim == 0 ? chunk + slot : chunk);
      int64_t count = std::clamp<int64_t>(loops_.lanes - first, 0, 16);
      if (loops_.tail != 0 && last_r1) count = std::min(count, loops_.tail);
      lanes[slot] = static_cast<int>(count);
    }
    for (const Item& item : items) {
      const int rounds = RoundsOf(item);
      for (int round = 0; round < rounds; ++round) {
        for (int slot = 0; slot < slots; ++slot) {
          Issue(item, round, round + 1 == rounds, slot, lanes[slot]);
        }
      }
    }
  }

  void Issue(const Item& item, int round, bool last, int slot, int lanes) {
    ++issues_;
    auto& ready = ready_[slot];
    int64_t t = std::max(now_ + 1, lanes_free_);
    const uint32_t reads = round == 0  ? item.reads
                           : item.tree ? 1u << item.dest
                                       : 0;
    // The indices of a pick go to no register.
    const uint32_t writes = item.pick && !last ? 0 : 1u << item.dest;
    for (uint32_t left = reads | writes; left != 0; left &= left - 1) {
      t = std::max(t, ready[__builtin_ctz(left)]);
    }
    const uint8_t streams = round == 0 ? item.streams : item.pick ? 1 : 0;
    for (int s = 0; s < 3; ++s) {
      if (!(streams >> s & 1)) continue;
      if (item.pick && s == 0) readers_[0].NotBefore(indexed_[slot]);
      const int64_t address = origin_[s] + slot * slot_step_[s] + offset_[s];
      t = std::max(t, readers_[s].Next(address, lanes));
    }
    const bool store = item.store && last;
    if (store) t = std::max(t, store_left_[stores_ % kStoreQueue] + 1);
    for (int s = 0; s < 3; ++s) {
      if (streams >> s & 1) {
        readers_[s].Pop(t);
        last_read_ = std::max(last_read_, readers_[s].fetched());
      }
    }
    const int64_t busy =
        item.divide ? calibration_.lane_divide + item.more_digits : 0;
    const int64_t result = t + calibration_.lane_latency + busy;
    lanes_free_ = t + 1 + busy;
    if (item.pick && !last) {
      indexed_[slot] = result;
    } else {
      ready[item.dest] = result;
    }
    if (store) {
      const int64_t address = origin_[3] + slot * slot_step_[3] + offset_[3];
      store_left_[stores_ % kStoreQueue] =
          writer_.Put(result, address, loops_.store_one ? 1 : lanes);
      ++stores_;
    }
    now_ = t;
  }

  const Loops& loops_;
  const Calibration& calibration_;
  std::array<std::array<int64_t, 3>, 4> stride_r_;
  std::array<std::array<int64_t, 4>, 4> stride_o_;
  std::array<int64_t, 4> base_, origin_{}, slot_step_{}, offset_{};
  LinePorts ports_;
  std::vector<VectorReader> readers_;
  VectorWriter writer_;
  std::array<std::array<int64_t, kRegisters>, kSlots> ready_{};
  std::array<int64_t, kStoreQueue> store_left_{};
  std::array<int64_t, kSlots> indexed_{};  // the last pick's indices are there
  int64_t stores_ = 0, issues_ = 0;
  int64_t now_ = 0, lanes_free_ = 0, last_read_ = 0;
  double skipped_ = 0;
};

// The command without its place: a base counts modulo a line, and by where it
// lies from the result's.
template <typename T>
std::string KeyOf(T c, const uint64_t* program, size_t length) {
  c.header = isa::Header();
  uint32_t words[T::kWords];
  c.Encode(words);
  const uint32_t bases[4] = {c.GetA().base, c.GetB().base, c.GetC().base,
                             c.GetD().base};
  for (int s = 0; s < 4; ++s) {
    // (the base shares its word with the type)
    words[20 + 8 * s] &= 0xff00003f;
    words[13 + s] = bases[s] - bases[3];  // instead of the arguments
  }
  words[4] = 0;  // address of the program
  std::string key(reinterpret_cast<const char*>(words), sizeof(words));
  if (program != nullptr) {
    key.append(reinterpret_cast<const char*>(program), 8 * length);
  }
  return key;
}

template <typename T>
Loops LoopsOf(const T& c) {
  Loops loops;
  loops.r[0] = c.n_r1;
  loops.r[1] = c.n_r2;
  loops.r[2] = c.n_r3;
  loops.o[0] = (c.lanes + isa::kVectorLanes - 1) / isa::kVectorLanes;
  loops.o[1] = c.n_o1;
  loops.o[2] = c.n_o2;
  loops.o[3] = c.n_o3;
  loops.lanes = c.lanes;
  return loops;
}

struct KnownTimes {
  std::once_flag once;
  VectorTimes times;
};

// Times that are known, of all compilations of the process: schedules that are
// tried, several at once, have most of their commands in common. `key` says
// everything that they follow from. Who needs what another thread is about to
// know waits for it.
template <typename Follow>
VectorTimes Known(const Calibration& calibration, std::string key,
                  Follow follow) {
  constexpr size_t kMost = 1 << 14;
  static auto* mutex = new std::mutex;
  static auto* known =
      new std::unordered_map<std::string, std::shared_ptr<KnownTimes>>;
  key.append(reinterpret_cast<const char*>(&calibration), sizeof(calibration));
  std::shared_ptr<KnownTimes> entry;
  {
    const std::lock_guard<std::mutex> lock(*mutex);
    if (known->size() > kMost) known->clear();
    std::shared_ptr<KnownTimes>& place = (*known)[std::move(key)];
    if (place == nullptr) place = std::make_shared<KnownTimes>();
    entry = place;
  }
  std::call_once(entry->once, [&] { entry->times = follow(); });
  return entry->times;
}

VectorTimes FollowVrun(const Calibration& calibration, const isa::Vrun& c,
                       const uint64_t* program) {
  const auto length = static_cast<int64_t>(c.prologue + c.body + c.epilogue);
  Loops loops = LoopsOf(c);
  loops.tail = c.tail;
  loops.store_one = c.store_one;
  loops.gather = c.gather_a;
  loops.scatter = c.scatter_d;
  loops.pick = c.pick_a;
  loops.index_reach = int64_t{c.index_stride} *
                      std::max<int64_t>(0, int64_t{c.index_bound} - 1);
  const size_t counts[3] = {c.prologue, c.body, c.epilogue};
  size_t at = 0;
  uint8_t reads = 0;
  for (int section = 0; section < 3; ++section) {
    for (size_t i = 0; i < counts[section]; ++i, ++at) {
      Item item;
      item.dest = kOut;
      if (program != nullptr) item = ItemOf(program[at]);
      reads |= item.streams | (item.pick ? 1 : 0);
      loops.sections[section].push_back(item);
    }
  }
  bool late = false;
  for (const Item& item : loops.sections[2])
    late |= item.streams != 0 || item.pick;
  const bool body_stores = c.store == isa::StoreMode::kBody;
  const bool stores = c.store != isa::StoreMode::kNone;
  if (body_stores) AddStore(&loops.sections[1]);
  if (c.store == isa::StoreMode::kEpilogue) AddStore(&loops.sections[2]);
  const isa::Stream streams[4] = {c.GetA(), c.GetB(), c.GetC(), c.GetD()};
  SetMode(c, false, streams, reads, stores, body_stores, late, &loops);
  const int64_t start =
      std::max(calibration.vector_setup, calibration.vector_program + length);
  VectorTimes times = Engine(loops, streams, calibration).Run();
  times.read += start;
  times.done += start + calibration.vector_tail;
  return times;
}

VectorTimes FollowVmac(const Calibration& calibration, const isa::Vmac& c) {
  Loops loops = LoopsOf(c);
  // v0 = c; v0 = fma(a, b, v0); out = clamp(v0)
  if (c.initial) {
    Item load;
    load.streams = 4;
    loops.sections[0].push_back(load);
  }
  Item multiply;
  multiply.reads = 1;
  multiply.streams = 3;
  loops.sections[1].push_back(multiply);
  if (c.clamp) {
    Item maximum;
    maximum.reads = 1;
    loops.sections[2].push_back(maximum);
  }
  Item out;
  out.reads = 1;
  out.dest = kOut;
  loops.sections[2].push_back(out);
  AddStore(&loops.sections[2]);
  const isa::Stream streams[4] = {c.GetA(), c.GetB(), c.GetC(), c.GetD()};
  const uint8_t reads = c.initial ? 7 : 3;
  SetMode(c, true, streams, reads, true, false, false, &loops);
  VectorTimes times = Engine(loops, streams, calibration).Run();
  times.read += calibration.vector_setup;
  times.done += calibration.vector_setup + calibration.vector_tail;
  return times;
}

}  // namespace

VectorTimes VectorCosts::Of(const isa::Vrun& c, const uint64_t* program) {
  const size_t length = c.prologue + c.body + c.epilogue;
  return Known(calibration_, KeyOf(c, program, length),
               [&] { return FollowVrun(calibration_, c, program); });
}

VectorTimes VectorCosts::Of(const isa::Vmac& c) {
  return Known(calibration_, KeyOf(c, nullptr, 0),
               [&] { return FollowVmac(calibration_, c); });
}

}  // namespace heddle::timing
