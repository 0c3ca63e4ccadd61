// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax, some rows at a time:
//
//   vector   top - (largest code of the row)
//   vector   each code plus that: its index in the table of exponentials
//   matrix   the four bytes of the table's floats, a table of 256 bytes each
//   vector   the bytes beside each other: the exponentials; their sums in order
//   vector   exponential * N / sum, rounded
//
// but for the first, lanes are rows. The quotient is that of a division, from
// the reciprocal of the row's sum: with r = f32(1 / S), q = f32(a * r) and
// twice q = fma(fma(-q, S, a), r, q), the first of which leaves an error of
// less than one unit in the last place, so that the second rounds correctly
// (Markstein 1990). Where the table shows that no code needs the second, there
// is one. No step can underflow where the quotient is not far below one half,
// because a sum is at least the exponential of the largest code, about FLT_MAX
// / (148 * D).
//
// Indices and bytes are made for some keys at a time: while the matrix engine
// looks up the bytes of these, the vector engine makes the indices of the next.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/lowering/qsoftmax_passes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/ops/softmax_table.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

constexpr int64_t kWord = 4;  // bytes of a number
constexpr int kBytes = 4;     // of an exponential, each with its own table
constexpr uint32_t kEntries = 256;  // of a table
constexpr uint32_t kLine = 64;  // bytes that the vector engine moves at a time
// Rows at a time: more bring nothing, and the lines of their codes would not
// stay in the line buffer of the vector engine.
constexpr int64_t kMaxRows = 64;
// Elements whose indices and bytes are kept at a time, at most.
constexpr int64_t kElements = 6144;

int64_t Align(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// How codes lie in a tile: row i at i * lane; key k of it at
// k / 16 * block + k % 16 * key.
struct Codes {
  uint32_t base = 0;
  int64_t lane = 0, key = 0, block = 0;
};
// Keys [first, first + inner * outer) as a loop over blocks.
struct Keys {
  int64_t first, inner, outer;
};

// out = arg2 - max(a over the row), from arg3 on. `in_lanes`: a row's keys are
// the lanes; `masked`: lanes that are not valid, which read 0, could win.
Microprogram DistanceProgram(bool in_lanes, bool masked) {
  Microprogram p;
  p.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kArg3)};
  if (masked) {
    p.body = {
        Micro(MicroOp::kImax, Destination::kV1, Source::kV0, Source::kStreamA),
        Micro(MicroOp::kSel, Destination::kV0, Source::kValid, Source::kV1,
              Source::kV0)};
  } else {
    p.body = {
        Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kStreamA)};
  }
  if (in_lanes) {
    p.epilogue = {Micro(MicroOp::kHimax, Destination::kV0, Source::kV0)};
  }
  p.epilogue.push_back(
      Micro(MicroOp::kIsub, Destination::kOut, Source::kArg2, Source::kV0));
  return p;
}

Microprogram IndexProgram() {
  Microprogram p;
  p.body = {Micro(MicroOp::kIadd, Destination::kOut, Source::kStreamA,
                  Source::kStreamB)};
  return p;
}

Microprogram ZeroProgram() {
  Microprogram p;
  p.body = {Micro(MicroOp::kMov, Destination::kOut, Source::kImm)};
  return p;
}

// out = -(sum of a)
Microprogram NegativeSumProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kStreamA)};
  p.epilogue = {
      Micro(MicroOp::kFsub, Destination::kOut, Source::kImm, Source::kV0)};
  return p;
}

// out = -1 / a
Microprogram ReciprocalProgram() {
  Microprogram p;
  p.body = {Micro(MicroOp::kFdiv, Destination::kOut, Source::kImm,
                  Source::kStreamA, Source::kV0, FloatBits(-1.0f))};
  return p;
}

// How the quotient is made.
enum class Quotient { kOneCorrection, kTwoCorrections, kDivision };

// out = rne(f32(f32(a * arg0) / -b)) + arg1, c = -1 / b.
Microprogram ScaleProgram(Quotient quotient) {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kFmul, Destination::kV0, Source::kStreamA, Source::kArg0)};
  if (quotient == Quotient::kDivision) {
    p.body.push_back(Micro(MicroOp::kFsub, Destination::kV1, Source::kImm,
                           Source::kStreamB));
    p.body.push_back(
        Micro(MicroOp::kFdiv, Destination::kV1, Source::kV0, Source::kV1));
  } else {
    p.body.push_back(
        Micro(MicroOp::kFmul, Destination::kV1, Source::kV0, Source::kStreamC));
    for (int i = 0; i < (quotient == Quotient::kOneCorrection ? 1 : 2); ++i) {
      p.body.push_back(Micro(MicroOp::kFfma, Destination::kV2, Source::kV1,
                             Source::kStreamB, Source::kV0));
      p.body.push_back(Micro(MicroOp::kFfma, Destination::kV1, Source::kV2,
                             Source::kStreamC, Source::kV1));
    }
  }
  p.body.push_back(Micro(MicroOp::kF2i, Destination::kV1, Source::kV1));
  p.body.push_back(
      Micro(MicroOp::kIadd, Destination::kOut, Source::kV1, Source::kArg1));
  return p;
}

// One correction gives q = a / S * (1 + 2^-46) rounded. That is another float
// than a / S rounded only where a / S is as close to the middle m of two
// floats, and rounds to another integer only if one of the two is k + 1/2. So
// for each a and k few sums are left to look at.
Quotient QuotientFor(const std::vector<float>& table, float n) {
  const float largest = *std::max_element(table.begin(), table.end());
  if (!std::isfinite(largest * n)) return Quotient::kDivision;
  for (float e : table) {
    const float a = model::FMul(e, n);
    for (int k = 0; k < 256; ++k) {
      const float half = static_cast<float>(k) + 0.5f;
      for (float to : {0.0f, 512.0f}) {
        const double m = (double{half} + std::nextafter(half, to)) / 2;
        const auto near = static_cast<float>(a / m);
        for (float sum : {std::nextafter(near, 0.0f), near,
                          std::nextafter(near, 2 * near)}) {
          // (a product of 25 and 24 bits: exact)
          if (sum < largest ||
              std::abs(double{a} - m * sum) > std::ldexp(double{a}, -44)) {
            continue;
          }
          const float r = model::FDiv(1, sum);
          const float q = model::FMul(a, r);
          const float better = model::Fma(model::Fma(-q, sum, a), r, q);
          if (model::Rne(better) != model::Rne(model::FDiv(a, sum))) {
            return Quotient::kTwoCorrections;
          }
        }
      }
    }
  }
  return Quotient::kOneCorrection;
}

class QSoftmax : public ClonableOp<QSoftmax> {
 public:
  // `from` is [1, 1, rows, d], or a stack in rows, or [outer, d, 1, inner] with
  // `planes`.
  QSoftmax(Lowering* l, DataType type, bool planes, int64_t d, float xs,
           float n, int32_t yz, int from, int to)
      : type_(type == DataType::kInt8 ? isa::ElementType::kS8
                                      : isa::ElementType::kU8),
        lowest_(QuantizedMin(type)),
        top_(QuantizedMax(type) - QuantizedMin(type)),
        planes_(planes),
        blocked_(l->device().StorageOf(from).layout == Layout::kBlocked),
        d_(d),
        n_(n),
        yz_(yz),
        map_(false, kCodeBlock, l->config().sram_bytes) {
    engine = "vector";
    output = to;
    tileable = true;
    columns_tileable = planes;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    if (planes) in.columns.kind = AxisNeed::kSame;
    inputs = {in};
    const Extent& e = l->device().values[to].extent;
    const std::vector<float> table = SoftmaxTable(d, xs);
    distance_ = DistanceProgram(
        !planes, !planes && type == DataType::kInt8 && d % kCodeBlock != 0);
    scale_ = ScaleProgram(QuotientFor(table, n));
    std::vector<uint8_t> blob = map_.constants();
    for (int byte = 0; byte < kBytes; ++byte) {
      for (float value : table) {
        blob.push_back(static_cast<uint8_t>(FloatBits(value) >> (8 * byte)));
      }
    }
    SetConstants(std::move(blob));
    // As many rows as fit the budget, whole vectors of them if it is more than
    // one.
    const int64_t budget = l->config().sram_bytes / 16 * 5;
    const int64_t elements = std::min(kElements, budget / (4 * (2 + kBytes)));
    rows_ = std::min(planes ? e.w : e.h, kMaxRows);
    const auto fits = [&] {
      keys_ = std::clamp<int64_t>(elements / rows_ / kCodeBlock * kCodeBlock,
                                  kCodeBlock, Align(d_));
      // Parts of nearly equal size.
      const int64_t parts = (d_ + keys_ - 1) / keys_;
      keys_ = Align((d_ + parts - 1) / parts);
      temporary_bytes = TemporaryBytes();
      return static_cast<int64_t>(temporary_bytes) <= budget;
    };
    while (!fits() && rows_ > 1) {
      rows_ = rows_ > isa::kVectorLanes
                  ? (rows_ - 1) / isa::kVectorLanes * isa::kVectorLanes
                  : rows_ - 1;
    }
  }

  std::vector<Microprogram> Programs() const override {
    return {distance_,     IndexProgram(),       ZeroProgram(),
            CopyProgram(), NegativeSumProgram(), ReciprocalProgram(),
            scale_};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t rows = planes_ ? tile.columns : tile.rows;
    // Parts of nearly equal size in whole vectors.
    const int64_t parts = (rows + rows_ - 1) / rows_;
    const int64_t unit = rows_ < isa::kVectorLanes ? 1 : isa::kVectorLanes;
    const int64_t units = (rows + unit - 1) / unit;
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t first = units * i / parts * unit;
      const int64_t end = std::min(rows, units * (i + 1) / parts * unit);
      EmitRows(emitter, tile, first, end - first);
    }
  }

 private:
  // Some keys of some rows.
  struct Part {
    int64_t row, rows, key, keys;
    int set;  // of the indices
  };

  int64_t IndexBytes() const { return Align(rows_ * keys_); }
  int64_t TemporaryBytes() const {
    return 3 * Align(rows_ * kWord) + (2 + kBytes) * IndexBytes() +
           Align(rows_ * d_ * kWord) + kLine;
  }

  // Where the temporaries are.
  uint32_t Distances(const Tile& tile) const { return tile.temporary; }
  uint32_t Sums(const Tile& tile) const {
    return Distances(tile) + Align(rows_ * kWord);
  }
  uint32_t Reciprocals(const Tile& tile) const {
    return Sums(tile) + Align(rows_ * kWord);
  }
  uint32_t Indices(const Tile& tile, int set) const {
    return Reciprocals(tile) + Align(rows_ * kWord) + set * IndexBytes();
  }
  uint32_t Bytes(const Tile& tile, int byte) const {
    return Indices(tile, 2 + byte);
  }
  // At the beginning of a line, so that 16 of them are one.
  uint32_t Exponentials(const Tile& tile) const {
    return (Bytes(tile, kBytes) + kLine - 1) / kLine * kLine;
  }

  void EmitRows(Emitter* emitter, const Tile& tile, int64_t row,
                int64_t rows) const {
    const int64_t parts = (d_ + keys_ - 1) / keys_;
    const auto part = [&](int64_t i) {
      return Part{row, rows, i * keys_, std::min(keys_, d_ - i * keys_),
                  static_cast<int>(i % 2)};
    };
    EmitDistances(emitter, tile, row, rows);
    EmitIndices(emitter, tile, part(0));
    for (int64_t i = 0; i < parts; ++i) {
      for (int byte = 0; byte < kBytes; ++byte) {
        EmitTable(emitter, tile, part(i), byte);
      }
      if (i + 1 < parts) EmitIndices(emitter, tile, part(i + 1));
      for (int byte = 0; byte < kBytes; ++byte) {
        EmitByte(emitter, tile, part(i), byte);
      }
    }
    EmitResult(emitter, tile, row, rows);
  }

  Codes CodesOf(const TileView& v, const Tile& tile, int64_t first) const {
    Codes c;
    c.lane = planes_ ? v.xstep : v.pitch;
    c.key = planes_ ? v.plane : v.xstep;
    c.block = kCodeBlock * c.key;
    if (blocked_) {
      c.key = 1;
      c.block = v.plane;
    }
    c.base =
        AddressOf(v, 0, tile.row0, planes_ ? tile.column0 : 0) + first * c.lane;
    return c;
  }
  // From key `first`, which begins a block, on.
  std::vector<Keys> Loops(int64_t first, int64_t count) const {
    if (!blocked_) return {{first, count, 1}};
    std::vector<Keys> keys;
    const int64_t full = count / kCodeBlock, rest = count % kCodeBlock;
    if (full > 0) keys.push_back({first, kCodeBlock, full});
    if (rest > 0) keys.push_back({first + full * kCodeBlock, rest, 1});
    return keys;
  }

  // One number per row.
  static isa::Stream PerRow(uint32_t base, isa::ElementType type) {
    isa::Stream s;
    s.base = base;
    s.type = type;
    s.lane_stride = kWord;
    return s;
  }

  // Codes, and what lies key by key from `base` on: loops over keys are o1 and
  // o2.
  isa::Stream CodeStream(const Codes& c, const Keys& k) const {
    isa::Stream s;
    s.base = c.base + k.first / kCodeBlock * c.block;
    s.type = type_;
    s.lane_stride = static_cast<int32_t>(c.lane);
    s.o1_stride = static_cast<int32_t>(c.key);
    s.o2_stride = static_cast<int32_t>(c.block);
    return s;
  }
  static isa::Stream KeyStream(uint32_t base, isa::ElementType type,
                               int64_t element, int64_t rows) {
    isa::Stream s;
    s.base = base;
    s.type = type;
    s.lane_stride = static_cast<int32_t>(element);
    s.o1_stride = static_cast<int32_t>(rows * element);
    s.o2_stride = static_cast<int32_t>(kCodeBlock * rows * element);
    return s;
  }

  void EmitDistances(Emitter* emitter, const Tile& tile, int64_t row,
                     int64_t rows) const {
    const Codes codes = CodesOf(tile.inputs[0], tile, row);
    isa::Vrun run = emitter->Run(distance_);
    run.arg2 = static_cast<uint32_t>(top_);
    run.arg3 = static_cast<uint32_t>(lowest_);
    run.store = isa::StoreMode::kEpilogue;
    run.enable_a = true;
    isa::Stream a, d = PerRow(Distances(tile), isa::ElementType::kS32);
    a.base = codes.base;
    a.type = type_;
    if (planes_) {
      run.lanes = rows;
      run.n_r1 = d_;
      a.lane_stride = static_cast<int32_t>(codes.lane);
      a.r1_stride = static_cast<int32_t>(codes.key);
    } else {
      run.lanes = std::min(d_, kCodeBlock);
      run.n_r1 = CodeBlocks(d_);
      run.tail = d_ > kCodeBlock ? d_ % kCodeBlock : 0;
      run.n_o1 = rows;
      run.store_one = true;
      a.lane_stride = static_cast<int32_t>(codes.key);
      a.r1_stride = static_cast<int32_t>(codes.block);
      a.o1_stride = static_cast<int32_t>(codes.lane);
      std::swap(d.lane_stride, d.o1_stride);
    }
    run.SetA(a);
    run.SetD(d);
    emitter->Append(run);
  }

  void EmitIndices(Emitter* emitter, const Tile& tile, const Part& p) const {
    const Codes codes = CodesOf(tile.inputs[0], tile, p.row);
    const uint32_t indices = Indices(tile, p.set);
    for (const Keys& k : Loops(p.key, p.keys)) {
      isa::Vrun run = emitter->Run(IndexProgram());
      run.store = isa::StoreMode::kBody;
      run.lanes = p.rows;
      run.n_o1 = k.inner;
      run.n_o2 = k.outer;
      run.enable_a = run.enable_b = true;
      run.SetA(CodeStream(codes, k));
      run.SetB(PerRow(Distances(tile), isa::ElementType::kS32));
      run.SetD(
          KeyStream(static_cast<uint32_t>(indices + (k.first - p.key) * p.rows),
                    isa::ElementType::kU8, 1, p.rows));
      emitter->Append(run);
    }
    // The matrix engine reads whole words.
    const int64_t bytes = p.rows * p.keys;
    if (bytes % kCodeBlock == 0) return;
    isa::Vrun run = emitter->Run(ZeroProgram());
    run.store = isa::StoreMode::kBody;
    run.lanes = kCodeBlock - bytes % kCodeBlock;
    isa::Stream rest;
    rest.base = indices + bytes;
    rest.type = isa::ElementType::kU8;
    rest.lane_stride = 1;
    run.SetD(rest);
    emitter->Append(run);
  }

  void EmitTable(Emitter* emitter, const Tile& tile, const Part& p,
                 int byte) const {
    const uint32_t tables =
        tile.constants + static_cast<uint32_t>(map_.constants().size());
    const int64_t words = Align(p.rows * p.keys) / kCodeBlock;
    map_.Emit(emitter, {tile.constants, true, tables + kEntries * byte},
              {Indices(tile, p.set), 0, 0}, {Bytes(tile, byte), 0, 0},
              kCodeBlock, 1, words);
  }

  void EmitByte(Emitter* emitter, const Tile& tile, const Part& p,
                int byte) const {
    LoopOperand from, to;
    from.type = to.type = isa::ElementType::kU8;
    from.base = Bytes(tile, byte);
    from.strides = {1};
    to.base = Exponentials(tile) + p.key * p.rows * kWord + byte;
    to.strides = {kWord};
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    EmitLoop(emitter, run, {p.rows * p.keys}, {from}, to);
  }

  void EmitResult(Emitter* emitter, const Tile& tile, int64_t row,
                  int64_t rows) const {
    const isa::Stream sums = PerRow(Sums(tile), isa::ElementType::kF32);
    const isa::Stream reciprocals =
        PerRow(Reciprocals(tile), isa::ElementType::kF32);
    isa::Vrun sum = emitter->Run(NegativeSumProgram());
    sum.store = isa::StoreMode::kEpilogue;
    sum.lanes = rows;
    sum.n_r1 = d_;
    sum.enable_a = true;
    isa::Stream exponentials =
        PerRow(Exponentials(tile), isa::ElementType::kF32);
    exponentials.r1_stride = static_cast<int32_t>(rows * kWord);
    sum.SetA(exponentials);
    sum.SetD(sums);
    emitter->Append(sum);
    isa::Vrun reciprocal = emitter->Run(ReciprocalProgram());
    reciprocal.store = isa::StoreMode::kBody;
    reciprocal.lanes = rows;
    reciprocal.enable_a = true;
    reciprocal.SetA(sums);
    reciprocal.SetD(reciprocals);
    emitter->Append(reciprocal);
    const Codes codes = CodesOf(tile.output, tile, row);
    for (const Keys& k : Loops(0, d_)) {
      isa::Vrun run = emitter->Run(scale_);
      run.arg0 = FloatBits(n_);
      run.arg1 = static_cast<uint32_t>(yz_);
      run.store = isa::StoreMode::kBody;
      run.lanes = rows;
      run.n_o1 = k.inner;
      run.n_o2 = k.outer;
      run.enable_a = run.enable_b = run.enable_c = true;
      run.SetA(KeyStream(
          static_cast<uint32_t>(Exponentials(tile) + k.first * rows * kWord),
          isa::ElementType::kF32, kWord, rows));
      run.SetB(sums);
      run.SetC(reciprocals);
      run.SetD(CodeStream(codes, k));
      emitter->Append(run);
    }
  }

  isa::ElementType type_;
  int32_t lowest_, top_;
  bool planes_, blocked_;
  int64_t d_;
  float n_;
  int32_t yz_;
  int64_t rows_ = 1, keys_ = 1;  // at a time
  CodeMap map_;
  Microprogram distance_, scale_;
};

absl::Status LowerQSoftmax(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4}));
  const model::ScopedFpEnvironment environment;
  const TensorId out = node.outputs[0];
  const Tensor t = l->tensor(out);
  const SoftmaxShape s = ResolveSoftmaxRows(
      t.shape, node.IntAttribute("axis", -1), node.IntAttribute("opset", 13));
  const bool planes = s.inner > 1;
  const float n = std::floor(model::FDiv(1.0f, ScaleOf(*l, node, 3)));
  // Of one row: codes, indices, one byte of the exponentials, exponentials.
  constexpr int64_t kKeyBytes = 2 + 1 + 1 + kWord;
  if (s.d * kKeyBytes > static_cast<int64_t>(l->config().sram_bytes / 8)) {
    return LowerQSoftmaxInPasses(l, node, s, n);
  }
  const auto add = [&](int from, int to) {
    l->Add(
        std::make_unique<QSoftmax>(l, t.type, planes, s.d, ScaleOf(*l, node, 1),
                                   n, ZeroOf(*l, node, 4), from, to),
        node);
  };
  const StackInRows* stack = l->FindRows(node.inputs[0]);
  if (stack != nullptr && stack->own && !planes) {
    const int from = stack->value;
    const Extent e = l->device().values[from].extent;
    if (e.c == s.d) {
      add(from, l->NewRows(out, e.n, e.h, e.c));
      return absl::OkStatus();
    }
  }
  const Shape view =
      planes ? Shape{s.outer, s.d, 1, s.inner} : Shape{1, 1, s.outer, s.d};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), view);
  const int to = l->NewTemporary(t.name, t.type, view, Layout::kDense);
  add(from, to);
  l->Bind(out, l->Reshaped(to, t.shape));
  return absl::OkStatus();
}

const LoweringRegistration kSoftmax("com.microsoft", "QLinearSoftmax",
                                    LowerQSoftmax);

}  // namespace
}  // namespace heddle::compiler
