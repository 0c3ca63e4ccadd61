// SPDX-License-Identifier: Apache-2.0
// vrun over strips of groups: every micro-instruction runs on many groups
// before the next one is looked at. That is the order of ISA.md as far as one
// group is concerned, so it is right when no group reads or overwrites what
// another one stores; other commands, and those with indices, are left to the
// reference implementation.
#include <algorithm>
#include <vector>

#include "simulator/model/access.h"
#include "simulator/model/engines.h"
#include "simulator/model/fast.h"
#include "simulator/model/legal.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

using isa::ElementType;
using isa::Operand;

constexpr uint32_t kLanes = isa::kVectorLanes;
constexpr uint32_t kStrip = 32;  // groups
constexpr uint32_t kStripLanes = kStrip * kLanes;

using StripValue = std::vector<uint32_t>;  // kStripLanes

struct Range {
  int64_t low, high;
};

Range Extent(const isa::Vrun& c, const isa::Stream& s, bool over_r,
             bool by_index) {
  Access a;
  a.base = s.base;
  a.bytes = ElementBytes(s.type);
  a.Along(c.lanes, s.lane_stride)
      .Along(c.n_o1, s.o1_stride)
      .Along(c.n_o2, s.o2_stride)
      .Along(c.n_o3, s.o3_stride);
  if (over_r) {
    a.Along(c.n_r1, s.r1_stride)
        .Along(c.n_r2, s.r2_stride)
        .Along(c.n_r3, s.r3_stride);
  }
  if (c.pick_a && by_index) a.Along(c.index_bound, c.index_stride);
  return {a.Lowest(), a.Highest()};
}

// Whether different groups never store to the same byte.
bool GroupsDistinct(const isa::Vrun& c, const isa::Stream& d, bool over_r) {
  struct Dim {
    int64_t stride, n;
  };
  std::vector<Dim> dims;
  auto add = [&](int64_t stride, uint32_t n) {
    if (n > 1) dims.push_back({stride < 0 ? -stride : stride, n});
  };
  add(d.lane_stride, c.lanes);
  add(d.o1_stride, c.n_o1);
  add(d.o2_stride, c.n_o2);
  add(d.o3_stride, c.n_o3);
  // A group may store to one place again and again.
  if (over_r && d.r1_stride != 0) add(d.r1_stride, c.n_r1);
  if (over_r && d.r2_stride != 0) add(d.r2_stride, c.n_r2);
  if (over_r && d.r3_stride != 0) add(d.r3_stride, c.n_r3);
  std::sort(dims.begin(), dims.end(),
            [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  int64_t covered = ElementBytes(d.type);
  for (const Dim& dim : dims) {
    if (dim.stride < covered) return false;
    covered += dim.stride * (dim.n - 1);
  }
  return true;
}

bool SamePlaces(const isa::Stream& a, const isa::Stream& b) {
  return a.base == b.base && ElementBytes(a.type) == ElementBytes(b.type) &&
         a.lane_stride == b.lane_stride && a.r1_stride == b.r1_stride &&
         a.r2_stride == b.r2_stride && a.r3_stride == b.r3_stride &&
         a.o1_stride == b.o1_stride && a.o2_stride == b.o2_stride &&
         a.o3_stride == b.o3_stride;
}

bool GroupsIndependent(const isa::Vrun& c) {
  if (c.gather_a || c.scatter_d) return false;
  if (c.store == isa::StoreMode::kNone) return true;
  const bool over_r = c.store == isa::StoreMode::kBody;
  const isa::Stream d = c.GetD();
  if (!GroupsDistinct(c, d, over_r)) return false;
  const Range out = Extent(c, d, over_r, false);
  const struct {
    bool enabled, picked;
    isa::Stream s;
  } inputs[3] = {{c.enable_a, c.pick_a, c.GetA()},
                 {c.enable_b, false, c.GetB()},
                 {c.enable_c, false, c.GetC()}};
  for (const auto& in : inputs) {
    if (!in.enabled) continue;
    const Range range = Extent(c, in.s, true, in.picked);
    if (range.high < out.low || out.high < range.low) continue;
    // In place: the element of a group and r indices is its own, for all that
    // are stored (not an epilogue's, which stays where r is 0).
    if (over_r && !in.picked && SamePlaces(in.s, d)) continue;
    return false;
  }
  // The microprogram is read once, before anything is stored.
  return true;
}

class StripRun {
 public:
  StripRun(const isa::Vrun& c, Core* core)
      : c_(c), core_(core), kernels_(BestKernels()) {
    streams_[0].s = c.GetA();
    streams_[1].s = c.GetB();
    streams_[2].s = c.GetC();
    d_ = c.GetD();
    for (Input& in : streams_) in.value.resize(kStripLanes);
    registers_.assign(isa::kVectorRegisters, StripValue(kStripLanes));
    out_.resize(kStripLanes);
    lane_.resize(kStripLanes);
    index_r_.resize(kStripLanes);
    valid_.resize(kStripLanes);
    temporary_.resize(kStripLanes);
    zero_.resize(kStripLanes);
  }

  Fault Run() {
    const Fault fault = Fetch();
    if (!fault.ok()) return fault;
    const uint64_t chunks = CeilDiv(c_.lanes, kLanes);
    const uint64_t groups = chunks * c_.n_o1 * c_.n_o2 * c_.n_o3;
    for (uint64_t first = 0; first < groups; first += kStrip) {
      groups_ =
          static_cast<uint32_t>(std::min<uint64_t>(kStrip, groups - first));
      for (uint32_t g = 0; g < groups_; ++g) {
        uint64_t i = first + g;
        Group& group = group_[g];
        group.e = static_cast<int64_t>(i % chunks) * kLanes;
        i /= chunks;
        group.o1 = static_cast<int64_t>(i % c_.n_o1);
        i /= c_.n_o1;
        group.o2 = static_cast<int64_t>(i % c_.n_o2);
        group.o3 = static_cast<int64_t>(i / c_.n_o2);
      }
      Strip();
      if (!fault_.ok()) return fault_;
    }
    return {};
  }

 private:
  struct Group {
    int64_t e, o1, o2, o3;
  };
  struct Input {
    isa::Stream s;
    StripValue value;
    bool fresh = false;  // value is that of the current indices
  };
  struct Instruction {
    isa::MicroOp op;
    const StripValue* x[3];
    int stream[3];  // index of the stream to refresh, or -1
    StripValue* d;
    bool horizontal;
  };

  Fault Fetch() {
    const uint32_t n = c_.prologue + c_.body + c_.epilogue;
    constants_.reserve(n + 4);
    for (uint32_t v : {c_.arg0, c_.arg1, c_.arg2, c_.arg3}) {
      constants_.emplace_back(kStripLanes, v);
    }
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t word = core_->Get<uint64_t>(
          uint64_t{c_.prog_addr} * isa::kWordBytes + uint64_t{8} * i);
      if (BrokenRule(c_, word) != nullptr) {
        return {isa::Error::kIllegalProgram, 0, i};
      }
      const isa::MicroInstruction m = *isa::MicroInstruction::Decode(word);
      const isa::MicroOpInfo& info =
          *isa::FindMicroOp(static_cast<uint32_t>(m.op));
      Instruction in = {m.op,
                        {&zero_, &zero_, &zero_},
                        {-1, -1, -1},
                        nullptr,
                        m.op >= isa::MicroOp::kHsum};
      const Operand names[3] = {m.a, m.b, m.c};
      bool immediate = false;
      for (int k = 0; k + 1 < info.num_operands; ++k) {
        if (names[k] == Operand::kImm && !immediate) {
          immediate = true;
          constants_.emplace_back(kStripLanes, m.imm);
        }
        in.x[k] = Place(names[k], &in.stream[k]);
      }
      in.d = m.d == isa::Destination::kOut
                 ? &out_
                 : &registers_[static_cast<uint32_t>(m.d)];
      program_.push_back(in);
    }
    return {};
  }

  const StripValue* Place(Operand o, int* stream) {
    switch (o) {
      case Operand::kStreamA:
      case Operand::kStreamB:
      case Operand::kStreamC:
        *stream = static_cast<int>(o) - static_cast<int>(Operand::kStreamA);
        return &streams_[*stream].value;
      case Operand::kImm:
        return &constants_.back();
      case Operand::kArg0:
      case Operand::kArg1:
      case Operand::kArg2:
      case Operand::kArg3:
        return &constants_[static_cast<uint32_t>(o) -
                           static_cast<uint32_t>(Operand::kArg0)];
      case Operand::kLane:
        return &lane_;
      case Operand::kIndexR:
        uses_index_ = true;
        return &index_r_;
      case Operand::kValid:
        uses_valid_ = true;
        return &valid_;
      default:
        uses_register_[static_cast<uint32_t>(o)] = true;
        return &registers_[static_cast<uint32_t>(o)];
    }
  }

  void Strip() {
    for (uint32_t r = 0; r < isa::kVectorRegisters; ++r) {
      if (!uses_register_[r]) continue;
      std::fill(registers_[r].begin(), registers_[r].end(), 0);
    }
    std::fill(out_.begin(), out_.end(), 0);
    for (uint32_t i = 0; i < groups_ * kLanes; ++i) {
      lane_[i] = static_cast<uint32_t>(group_[i / kLanes].e) + i % kLanes;
    }
    r1_ = r2_ = r3_ = 0;
    NewIndices(true);
    Section(0, c_.prologue);
    for (r3_ = 0; r3_ < c_.n_r3; ++r3_) {
      for (r2_ = 0; r2_ < c_.n_r2; ++r2_) {
        for (r1_ = 0; r1_ < c_.n_r1; ++r1_) {
          NewIndices(r1_ == 0 || r1_ + 1 == c_.n_r1);
          Section(c_.prologue, c_.body);
          if (c_.store == isa::StoreMode::kBody) Store();
        }
      }
    }
    r1_ = r2_ = r3_ = 0;
    NewIndices(true);
    Section(c_.prologue + c_.body, c_.epilogue);
    if (c_.store == isa::StoreMode::kEpilogue) Store();
  }

  // Lanes of group g that are valid: the first ones.
  uint32_t ValidLanes(uint32_t g) const {
    int64_t n = std::min<int64_t>(kLanes, c_.lanes - group_[g].e);
    if (c_.tail != 0 && r1_ + 1 == c_.n_r1) n = std::min<int64_t>(n, c_.tail);
    return static_cast<uint32_t>(n);
  }

  void NewIndices(bool valid_changes) {
    for (Input& in : streams_) in.fresh = false;
    if (uses_index_) {
      std::fill(index_r_.begin(), index_r_.end(), static_cast<uint32_t>(r1_));
    }
    if (!valid_changes || !uses_valid_) return;
    for (uint32_t g = 0; g < groups_; ++g) {
      const uint32_t n = ValidLanes(g);
      for (uint32_t l = 0; l < kLanes; ++l) {
        valid_[g * kLanes + l] = l < n ? ~0u : 0;
      }
    }
  }

  void Section(uint32_t first, uint32_t n) {
    const size_t lanes = size_t{groups_} * kLanes;
    for (uint32_t i = first; i < first + n; ++i) {
      const Instruction& in = program_[i];
      for (int stream : in.stream) {
        if (stream >= 0) Refresh(&streams_[stream]);
      }
      const uint32_t* a = in.x[0]->data();
      const uint32_t* b = in.x[1]->data();
      const uint32_t* c = in.x[2]->data();
      uint32_t* d = in.d->data();
      if (in.op == isa::MicroOp::kPick) {
        Pick(a, d);
      } else if (in.horizontal) {
        for (uint32_t g = 0; g < groups_; ++g) {
          Lanes x;
          std::copy_n(a + g * kLanes, kLanes, x.begin());
          const Lanes y = VectorOp(in.op, x, x, x);
          std::copy_n(y.begin(), kLanes, d + g * kLanes);
        }
      } else if (!kernels_.lane_op(in.op, a, b, c, d, lanes)) {
        for (size_t l = 0; l < lanes; ++l)
          d[l] = LaneOp(in.op, a[l], b[l], c[l]);
      }
    }
  }

  int64_t AddressOf(const isa::Stream& s, const Group& g) const {
    return s.base + g.e * s.lane_stride + r1_ * s.r1_stride +
           r2_ * s.r2_stride + r3_ * s.r3_stride + g.o1 * s.o1_stride +
           g.o2 * s.o2_stride + g.o3 * s.o3_stride;
  }

  void Refresh(Input* in) {
    if (in->fresh) return;
    in->fresh = true;
    const isa::Stream& s = in->s;
    const bool dense = s.lane_stride == int32_t(ElementBytes(s.type));
    for (uint32_t g = 0; g < groups_; ++g) {
      const uint32_t n = ValidLanes(g);
      const uint8_t* from = core_->sram.data() + AddressOf(s, group_[g]);
      uint32_t* to = in->value.data() + g * kLanes;
      if (n < kLanes) std::fill(to, to + kLanes, 0);
      if (dense && ElementBytes(s.type) == 4) {
        std::memcpy(to, from, n * 4);
      } else if (dense && s.type == ElementType::kU8) {
        for (uint32_t l = 0; l < n; ++l) to[l] = from[l];
      } else if (dense && s.type == ElementType::kS8) {
        for (uint32_t l = 0; l < n; ++l) {
          to[l] = static_cast<uint32_t>(int32_t{static_cast<int8_t>(from[l])});
        }
      } else if (s.lane_stride == 0) {
        std::fill_n(to, n, LoadElement(s.type, from));
      } else {
        for (uint32_t l = 0; l < n; ++l, from += s.lane_stride) {
          to[l] = LoadElement(s.type, from);
        }
      }
    }
  }

  // Of several bad indices that of the earliest group counts, as if groups came
  // one after another; nobody looks at what a group computes behind a fault.
  void Pick(const uint32_t* index, uint32_t* to) {
    const isa::Stream& s = streams_[0].s;
    for (uint32_t g = 0; g < groups_; ++g, index += kLanes, to += kLanes) {
      const uint32_t n = ValidLanes(g);
      int64_t from = AddressOf(s, group_[g]);
      for (uint32_t l = 0; l < kLanes; ++l, from += s.lane_stride) {
        const uint32_t i = index[l];
        const bool good = l < n && i < c_.index_bound && i >> 31 == 0;
        const int64_t at = from + int64_t{i} * c_.index_stride;
        to[l] = good ? LoadElement(s.type, core_->sram.data() + at) : 0;
        if (good || l >= n || (!fault_.ok() && fault_group_ <= g)) continue;
        fault_ = {isa::Error::kIndexBounds, 0, i};
        fault_group_ = g;
      }
    }
  }

  void Store() {
    for (Input& in : streams_) in.fresh = false;
    const bool dense = d_.lane_stride == int32_t(ElementBytes(d_.type));
    for (uint32_t g = 0; g < groups_; ++g) {
      const uint32_t n = c_.store_one ? 1 : ValidLanes(g);
      uint8_t* to = core_->sram.data() + AddressOf(d_, group_[g]);
      const uint32_t* from = out_.data() + g * kLanes;
      if (dense && ElementBytes(d_.type) == 4) {
        std::memcpy(to, from, n * 4);
        continue;
      }
      for (uint32_t l = 0; l < n; ++l, to += d_.lane_stride) {
        StoreElement(d_.type, from[l], to);
      }
    }
  }

  const isa::Vrun& c_;
  Core* core_;
  const Kernels& kernels_;
  Input streams_[3];
  isa::Stream d_;
  std::vector<StripValue> registers_, constants_;
  StripValue out_, lane_, index_r_, valid_, temporary_, zero_;
  std::vector<Instruction> program_;
  Group group_[kStrip] = {};
  uint32_t groups_ = 0;
  bool uses_index_ = false, uses_valid_ = false;
  bool uses_register_[isa::kVectorRegisters] = {};
  int64_t r1_ = 0, r2_ = 0, r3_ = 0;
  Fault fault_;
  uint32_t fault_group_ = 0;
};

}  // namespace

Fault FastVrun(const isa::Vrun& c, Core* core) {
  // A store over the microprogram would change nothing, but keep it simple.
  if (!GroupsIndependent(c)) return RunVrun(c, core);
  return StripRun(c, core).Run();
}

}  // namespace heddle::model
