// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/loops.h"

#include <algorithm>

namespace heddle::compiler {
namespace {

constexpr int64_t kMaxCount = 65535;
// Loop dimensions of vrun: lanes, r1..r3, o1..o3.
constexpr size_t kLoopDims = 7;

struct Dim {
  int64_t n;
  std::vector<int64_t> strides;  // operands, then result
};

// Writes dimension `slot` (0 = lanes, then r1, r2, r3, o1, o2, o3).
void SetDim(isa::Vrun* run, size_t slot, int64_t n,
            const std::vector<int64_t>& strides) {
  uint32_t* const counts[] = {&run->lanes, &run->n_r1, &run->n_r2, &run->n_r3,
                              &run->n_o1,  &run->n_o2, &run->n_o3};
  *counts[slot] = n;
  auto set = [&](isa::Stream s, size_t operand) {
    int32_t* const fields[] = {&s.lane_stride, &s.r1_stride, &s.r2_stride,
                               &s.r3_stride,   &s.o1_stride, &s.o2_stride,
                               &s.o3_stride};
    *fields[slot] = strides[operand];
    return s;
  };
  const size_t operands = strides.size() - 1;
  if (operands > 0) run->SetA(set(run->GetA(), 0));
  if (operands > 1) run->SetB(set(run->GetB(), 1));
  if (operands > 2) run->SetC(set(run->GetC(), 2));
  run->SetD(set(run->GetD(), operands));
}

void Emit(Emitter* emitter, const isa::Vrun& prototype, std::vector<Dim> dims,
          std::vector<LoopOperand> all) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool too_long = dims[i].n > kMaxCount;
    const bool too_many = dims.size() > kLoopDims && i + 1 == dims.size();
    if (!too_long && !too_many) continue;
    const int64_t step = too_long ? kMaxCount : 1;
    for (int64_t done = 0; done < dims[i].n; done += step) {
      std::vector<Dim> part = dims;
      std::vector<LoopOperand> moved = all;
      for (size_t k = 0; k < all.size(); ++k) {
        moved[k].base += done * dims[i].strides[k];
      }
      part[i].n = std::min(step, dims[i].n - done);
      if (part[i].n == 1) part.erase(part.begin() + i);
      Emit(emitter, prototype, part, moved);
    }
    return;
  }
  isa::Vrun run = prototype;
  run.store = isa::StoreMode::kBody;
  const size_t operands = all.size() - 1;
  auto stream = [&](size_t k) {
    isa::Stream s;
    s.base = all[k].base;
    s.type = all[k].type;
    return s;
  };
  if (operands > 0) run.SetA(stream(0));
  if (operands > 1) run.SetB(stream(1));
  if (operands > 2) run.SetC(stream(2));
  run.SetD(stream(operands));
  // Without reductions all loop dimensions are alike; the outer ones come
  // first.
  static constexpr size_t kSlots[] = {0, 4, 5, 6, 1, 2, 3};
  for (size_t i = 0; i < dims.size(); ++i) {
    SetDim(&run, kSlots[i], dims[i].n, dims[i].strides);
  }
  emitter->Append(run);
}

}  // namespace

isa::ElementType VectorType(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return isa::ElementType::kS8;
    case DataType::kInt16:
      return isa::ElementType::kS16;
    case DataType::kUint16:
      return isa::ElementType::kU16;
    case DataType::kUint32:  // programs know that it has no sign
    case DataType::kInt32:
      return isa::ElementType::kS32;
    case DataType::kFloat16:
      return isa::ElementType::kF16;
    case DataType::kBfloat16:
      return isa::ElementType::kBf16;
    case DataType::kFloat:
      return isa::ElementType::kF32;
    default:
      return isa::ElementType::kU8;
  }
}

isa::ElementType MoveType(DataType type) {
  return ElementBytes(type) == 2 ? isa::ElementType::kS16 : VectorType(type);
}

void EmitLoop(Emitter* emitter, const isa::Vrun& run,
              const std::vector<int64_t>& counts,
              const std::vector<LoopOperand>& operands,
              const LoopOperand& result) {
  std::vector<LoopOperand> all = operands;
  all.push_back(result);
  std::vector<Dim> dims;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 1) continue;
    Dim d{counts[i], {}};
    for (const LoopOperand& o : all) d.strides.push_back(o.strides[i]);
    bool merged = false;
    if (!dims.empty()) {
      Dim& inner = dims.back();
      merged = true;
      for (size_t k = 0; k < all.size(); ++k) {
        merged &= inner.n * inner.strides[k] == d.strides[k];
      }
      if (merged) inner.n *= d.n;
    }
    if (!merged) dims.push_back(d);
  }
  // Lanes: the innermost dimension unless it is short and another is longer.
  if (dims.size() > 1 && dims[0].n < isa::kVectorLanes) {
    const auto longest = std::max_element(
        dims.begin(), dims.end(), [](const Dim& a, const Dim& b) {
          return std::min<int64_t>(a.n, isa::kVectorLanes) <
                 std::min<int64_t>(b.n, isa::kVectorLanes);
        });
    std::rotate(dims.begin(), longest, longest + 1);
  }
  Emit(emitter, run, dims, all);
}

void EmitCopy(Emitter* emitter, DataType type, const Slice& rows,
              const Slice& columns, const Slice& channels, const TileView& from,
              const TileView& to) {
  auto operand = [&](const TileView& v) {
    LoopOperand o;
    o.base = AddressOf(v, channels.first, rows.first, columns.first);
    o.type = MoveType(type);
    o.strides = {v.xstep, v.pitch, v.plane};
    return o;
  };
  isa::Vrun run = emitter->Run(CopyProgram());
  run.enable_a = true;
  EmitLoop(emitter, run, {columns.count, rows.count, channels.count},
           {operand(from)}, operand(to));
}

}  // namespace heddle::compiler
