// SPDX-License-Identifier: Apache-2.0
// Vector engine: vrun one micro-instruction at a time, vmac one element at a
// time.
#include <vector>

#include "simulator/model/engines.h"
#include "simulator/model/legal.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

using isa::Operand;

// Loop counters. `e` is the element along the lane dimension.
struct Indices {
  int64_t e = 0, r1 = 0, r2 = 0, r3 = 0, o1 = 0, o2 = 0, o3 = 0;
};

int64_t AddressOf(const isa::Stream& s, const Indices& i) {
  return s.base + i.e * s.lane_stride + i.r1 * s.r1_stride +
         i.r2 * s.r2_stride + i.r3 * s.r3_stride + i.o1 * s.o1_stride +
         i.o2 * s.o2_stride + i.o3 * s.o3_stride;
}

class Vrun {
 public:
  Vrun(const isa::Vrun& c, Core* core)
      : c_(c),
        core_(core),
        a_(c.GetA()),
        b_(c.GetB()),
        c_stream_(c.GetC()),
        d_(c.GetD()) {}

  Fault Run() {
    const Fault fault = Fetch();
    if (!fault.ok()) return fault;
    const uint32_t chunks = CeilDiv(c_.lanes, isa::kVectorLanes);
    for (uint32_t o3 = 0; o3 < c_.n_o3; ++o3) {
      for (uint32_t o2 = 0; o2 < c_.n_o2; ++o2) {
        for (uint32_t o1 = 0; o1 < c_.n_o1; ++o1) {
          for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
            at_ = {};
            at_.o1 = o1;
            at_.o2 = o2;
            at_.o3 = o3;
            at_.e = int64_t{chunk} * isa::kVectorLanes;
            Group();
            if (!fault_.ok()) return fault_;
          }
        }
      }
    }
    return {};
  }

 private:
  Fault Fetch() {
    const uint32_t n = c_.prologue + c_.body + c_.epilogue;
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t word = core_->Get<uint64_t>(
          uint64_t{c_.prog_addr} * isa::kWordBytes + uint64_t{8} * i);
      if (BrokenRule(c_, word) != nullptr) {
        return {isa::Error::kIllegalProgram, 0, i};
      }
      program_.push_back(*isa::MicroInstruction::Decode(word));
    }
    return {};
  }

  void Group() {
    for (Lanes& r : registers_) r = {};
    out_ = {};
    SetValid();
    Section(0, c_.prologue);
    for (at_.r3 = 0; at_.r3 < c_.n_r3 && fault_.ok(); ++at_.r3) {
      for (at_.r2 = 0; at_.r2 < c_.n_r2 && fault_.ok(); ++at_.r2) {
        for (at_.r1 = 0; at_.r1 < c_.n_r1 && fault_.ok(); ++at_.r1) {
          SetValid();
          Section(c_.prologue, c_.body);
          if (c_.store == isa::StoreMode::kBody) Store();
        }
      }
    }
    at_.r1 = at_.r2 = at_.r3 = 0;
    SetValid();
    Section(c_.prologue + c_.body, c_.epilogue);
    if (c_.store == isa::StoreMode::kEpilogue) Store();
  }

  void SetValid() {
    for (uint32_t l = 0; l < isa::kVectorLanes; ++l) {
      const bool cut = c_.tail != 0 && at_.r1 == int64_t{c_.n_r1} - 1;
      valid_[l] = at_.e + l < c_.lanes && !(cut && l >= c_.tail);
    }
  }

  void Section(uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n && fault_.ok(); ++i) {
      const isa::MicroInstruction& m = program_[i];
      const isa::MicroOpInfo& info =
          *isa::FindMicroOp(static_cast<uint32_t>(m.op));
      // The operands it takes besides the destination, in order.
      Lanes x[3] = {};
      const Operand names[3] = {m.a, m.b, m.c};
      for (int k = 0; k + 1 < info.num_operands; ++k) x[k] = Read(names[k], m);
      const Lanes result = m.op == isa::MicroOp::kPick
                               ? Pick(x[0])
                               : VectorOp(m.op, x[0], x[1], x[2]);
      if (m.d == isa::Destination::kOut) {
        out_ = result;
      } else {
        registers_[static_cast<uint32_t>(m.d)] = result;
      }
    }
  }

  Lanes Read(Operand o, const isa::MicroInstruction& m) {
    Lanes v;
    switch (o) {
      case Operand::kStreamA:
        return ReadStream(a_, c_.gather_a);
      case Operand::kStreamB:
        return ReadStream(b_, false);
      case Operand::kStreamC:
        return ReadStream(c_stream_, false);
      case Operand::kImm:
        v.fill(m.imm);
        return v;
      case Operand::kArg0:
        v.fill(c_.arg0);
        return v;
      case Operand::kArg1:
        v.fill(c_.arg1);
        return v;
      case Operand::kArg2:
        v.fill(c_.arg2);
        return v;
      case Operand::kArg3:
        v.fill(c_.arg3);
        return v;
      case Operand::kLane:
        for (uint32_t l = 0; l < v.size(); ++l) {
          v[l] = static_cast<uint32_t>(at_.e) + l;
        }
        return v;
      case Operand::kIndexR:
        v.fill(static_cast<uint32_t>(at_.r1));
        return v;
      case Operand::kValid:
        for (uint32_t l = 0; l < v.size(); ++l) v[l] = valid_[l] ? ~0u : 0;
        return v;
      default:
        return registers_[static_cast<uint32_t>(o)];
    }
  }

  int64_t LaneAddress(const isa::Stream& s, uint32_t lane) const {
    Indices i = at_;
    i.e += lane;
    return AddressOf(s, i);
  }

  // The byte offset that stream C's index adds.
  int64_t IndexOffset(uint32_t lane) {
    return OffsetOf(core_->Get<int32_t>(LaneAddress(c_stream_, lane)));
  }
  // The byte offset of an index; faults when out of bounds.
  int64_t OffsetOf(int32_t i) {
    if (i < 0 || static_cast<uint32_t>(i) >= c_.index_bound) {
      if (fault_.ok()) {
        fault_ = {isa::Error::kIndexBounds, 0, static_cast<uint32_t>(i)};
      }
      return 0;
    }
    return int64_t{i} * c_.index_stride;
  }

  Lanes Pick(const Lanes& index) {
    Lanes v = {};
    for (uint32_t l = 0; l < v.size(); ++l) {
      if (!valid_[l]) continue;
      const int64_t offset = OffsetOf(static_cast<int32_t>(index[l]));
      if (!fault_.ok()) break;
      v[l] = LoadElement(a_.type,
                         core_->sram.data() + LaneAddress(a_, l) + offset);
    }
    return v;
  }

  Lanes ReadStream(const isa::Stream& s, bool indexed) {
    Lanes v = {};
    for (uint32_t l = 0; l < v.size(); ++l) {
      if (!valid_[l]) continue;
      int64_t at = LaneAddress(s, l);
      if (indexed) at += IndexOffset(l);
      if (!fault_.ok()) break;
      v[l] = LoadElement(s.type, core_->sram.data() + at);
    }
    return v;
  }

  void Store() {
    const uint32_t lanes = c_.store_one ? 1 : isa::kVectorLanes;
    for (uint32_t l = 0; l < lanes && fault_.ok(); ++l) {
      if (!valid_[l]) continue;
      int64_t at = LaneAddress(d_, l);
      if (c_.scatter_d) at += IndexOffset(l);
      if (!fault_.ok()) return;
      StoreElement(d_.type, out_[l], core_->sram.data() + at);
    }
  }

  const isa::Vrun& c_;
  Core* core_;
  isa::Stream a_, b_, c_stream_, d_;
  std::vector<isa::MicroInstruction> program_;
  Indices at_;
  bool valid_[isa::kVectorLanes] = {};
  Lanes registers_[isa::kVectorRegisters] = {};
  Lanes out_ = {};
  Fault fault_;
};

class Vmac {
 public:
  Vmac(const isa::Vmac& c, Core* core)
      : c_(c),
        core_(core),
        a_(c.GetA()),
        b_(c.GetB()),
        c_stream_(c.GetC()),
        d_(c.GetD()) {}

  void Run() {
    Indices i;
    for (i.o3 = 0; i.o3 < c_.n_o3; ++i.o3) {
      for (i.o2 = 0; i.o2 < c_.n_o2; ++i.o2) {
        for (i.o1 = 0; i.o1 < c_.n_o1; ++i.o1) {
          for (i.e = 0; i.e < c_.lanes; ++i.e) Element(i);
        }
      }
    }
    core_->result.macs += uint64_t{c_.lanes} * c_.n_r1 * c_.n_r2 * c_.n_r3 *
                          c_.n_o1 * c_.n_o2 * c_.n_o3;
  }

 private:
  float Read(const isa::Stream& s, const Indices& i) const {
    return FromBits(LoadElement(s.type, core_->sram.data() + AddressOf(s, i)));
  }

  void Element(Indices i) {
    float acc = c_.initial ? Read(c_stream_, i) : 0.0f;
    for (i.r3 = 0; i.r3 < c_.n_r3; ++i.r3) {
      for (i.r2 = 0; i.r2 < c_.n_r2; ++i.r2) {
        for (i.r1 = 0; i.r1 < c_.n_r1; ++i.r1) {
          acc = Fma(Read(a_, i), Read(b_, i), acc);
        }
      }
    }
    if (c_.clamp) acc = FMin(FMax(acc, c_.clamp_min), c_.clamp_max);
    i.r1 = i.r2 = i.r3 = 0;
    StoreElement(d_.type, Bits(acc), core_->sram.data() + AddressOf(d_, i));
  }

  const isa::Vmac& c_;
  Core* core_;
  isa::Stream a_, b_, c_stream_, d_;
};

}  // namespace

Fault RunVrun(const isa::Vrun& c, Core* core) { return Vrun(c, core).Run(); }

Fault RunVmac(const isa::Vmac& c, Core* core) {
  Vmac(c, core).Run();
  return {};
}

}  // namespace heddle::model
