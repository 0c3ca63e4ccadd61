// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/resample.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "compiler/schedule/axis_runs.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kWord = 4;
// Share of SRAM for rows whose columns are resampled already.
constexpr uint64_t kShare = 8;
constexpr int64_t kStrip = 8;  // groups that the vector engine interleaves

// The last element that element i of the result is made of.
int64_t HighOf(const ResampledAxis& axis, int64_t i) {
  switch (axis.kind) {
    case ResampledAxis::kTake:
      return axis.low[i];
    case ResampledAxis::kBlend:
      return std::min(axis.low[i] + 1, axis.from - 1);
    default:
      return axis.low[i] + axis.taps - 1;
  }
}

// Elements start + i*stride of an axis that are made of elements low + i*step
// and high + i*step with one weight.
struct BlendRun {
  int64_t start = 0, low = 0, high = 0;
  int64_t count = 1, stride = 1, step = 0;
  float weight = 0;
};

// Every `period`-th element, as long as they go on alike.
std::vector<BlendRun> RunsWith(const ResampledAxis& axis, int64_t first,
                               int64_t count, int64_t period) {
  std::vector<BlendRun> runs;
  for (int64_t phase = 0; phase < std::min(period, count); ++phase) {
    for (int64_t i = first + phase; i < first + count;) {
      BlendRun run;
      run.start = i;
      run.low = axis.low[i];
      run.high = HighOf(axis, i);
      run.weight = axis.weight[i];
      run.stride = period;
      for (int64_t k = i + period; k < first + count; k += period) {
        const int64_t step = axis.low[k] - axis.low[k - period];
        if (model::Bits(axis.weight[k]) != model::Bits(run.weight) ||
            HighOf(axis, k) - HighOf(axis, k - period) != step ||
            (run.count > 1 && step != run.step)) {
          break;
        }
        run.step = step;
        ++run.count;
      }
      i += run.count * period;
      runs.push_back(run);
    }
  }
  return runs;
}

std::vector<BlendRun> BlendRunsOf(const ResampledAxis& rows, int64_t first,
                                  int64_t count) {
  constexpr int64_t kMaxPeriod = 16;
  std::vector<BlendRun> best = RunsWith(rows, first, count, 1);
  for (int64_t period = 2; period <= std::min(kMaxPeriod, count); ++period) {
    std::vector<BlendRun> runs = RunsWith(rows, first, count, period);
    if (runs.size() < best.size()) best = std::move(runs);
  }
  return best;
}

// The element at index B.
Microprogram TakeProgram() {
  ProgramBuilder b;
  b.Out(b.Op(isa::MicroOp::kPick, b.B()));
  return *b.Finish();
}

// Between the element at index B and its neighbour, by the weight C; argument 0
// is the last index. The body goes over rows of the same columns.
Microprogram BlendColumnsProgram() {
  ProgramBuilder b;
  b.In(ProgramBuilder::kPrologue);
  const Term low = b.Op(isa::MicroOp::kMov, b.B());
  const Term high = b.IMin(b.IAdd(low, b.ImmBits(1)), b.Arg(0));
  const Term weight = b.Op(isa::MicroOp::kMov, b.C());
  const Term rest = b.Sub(b.Imm(1), weight);
  b.In(ProgramBuilder::kBody);
  const Term first = b.Mul(b.Op(isa::MicroOp::kPick, low), rest);
  b.Out(b.Fma(b.Op(isa::MicroOp::kPick, high), weight, first));
  return *b.Finish();
}

// The chain of a filter whose last tap has one weight, argument 0: A by the
// weights B, and the last one, C. An instruction less than vmac, which moves
// the sum to where it is stored.
Microprogram FilterProgram() {
  ProgramBuilder b;
  const Term sum = b.Variable();
  b.Assign(sum, b.Fma(b.A(), b.B(), sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(b.Fma(b.C(), b.Arg(0), sum));
  return *b.Finish();
}

// Between A and B; argument 0 is the weight, argument 1 what it lacks of
// one.
Microprogram BlendProgram() {
  ProgramBuilder b;
  b.Out(b.Fma(b.B(), b.Arg(0), b.Mul(b.A(), b.Arg(1))));
  return *b.Finish();
}

// Rows of planes in SRAM.
struct Planes {
  uint32_t base = 0;
  int64_t row0 = 0, pitch = 0, plane = 0, xstep = 0;

  isa::Stream Stream(isa::ElementType type, int64_t row) const {
    isa::Stream s;
    s.type = type;
    s.base = base + static_cast<uint32_t>((row - row0) * pitch);
    return s;
  }
};

class ResampleOp : public ClonableOp<ResampleOp> {
 public:
  ResampleOp(DataType type, ResampledAxis rows, ResampledAxis columns,
             int64_t planes, bool flat, uint64_t sram_bytes, int from, int to)
      : type_(MoveType(type)),
        rows_(std::move(rows)),
        columns_(std::move(columns)),
        identity_{rows_.is_identity(), columns_.is_identity()},
        kind_(identity_[0] ? columns_.kind : rows_.kind),
        flat_(flat) {
    engine = "vector";
    output = to;
    OpInput in;
    in.value = from;
    if (flat_) {
      tileable = true;
      in.rows.kind = AxisNeed::kSame;
    } else {
      tileable = channels_tileable = true;
      channel_step = 1;
      in.channels.kind = AxisNeed::kSame;
      in.rows = RowNeed();
    }
    inputs = {in};
    if (kind_ != ResampledAxis::kTake && !identity_[0] && !identity_[1]) {
      const auto all =
          static_cast<uint64_t>(planes * rows_.from * columns_.to() * kWord);
      temporary_bytes = std::min<uint64_t>(sram_bytes / kShare, all);
      temporary_bytes = (temporary_bytes + 15) / 16 * 16;
    }
    if (kind_ == ResampledAxis::kFilter) {
      PlaceWeights();
    } else if (!identity_[1]) {
      if (kind_ == ResampledAxis::kBlend) FindColumnRuns();
      if (column_blends_.empty()) PlaceIndices();
    }
  }

  std::vector<Microprogram> Programs() const override {
    if (kind_ == ResampledAxis::kFilter) return {FilterProgram()};
    if (kind_ == ResampledAxis::kTake) {
      return {identity_[1] ? CopyProgram() : TakeProgram()};
    }
    std::vector<Microprogram> programs;
    const bool runs = !column_blends_.empty();
    if (!identity_[1] && !runs) programs.push_back(BlendColumnsProgram());
    if (!identity_[0] || runs) programs.push_back(BlendProgram());
    return programs;
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    ForCountedTiles(flat_ ? Unfolded(tile) : tile, [&](const Tile& part) {
      if (kind_ == ResampledAxis::kTake) {
        Take(emitter, part);
      } else if (identity_[0]) {
        Columns(emitter, part.constants, Source(part), part.row0, part.rows,
                part.channels, Result(part));
      } else if (identity_[1]) {
        Rows(emitter, part.constants, Source(part), part.row0, part.rows,
             part.channels, Result(part));
      } else {
        Both(emitter, part);
      }
    });
  }

 private:
  // So many rows around the place in proportion as the indices reach.
  AxisNeed RowNeed() const {
    AxisNeed need;
    need.kind = AxisNeed::kWindow;
    need.stride = rows_.from;
    need.divide = rows_.to();
    int64_t before = 0, behind = 0;
    for (int64_t y = 0; y < rows_.to(); ++y) {
      before = std::max(before, y * need.stride - rows_.low[y] * need.divide);
      behind =
          std::max(behind, HighOf(rows_, y) * need.divide - y * need.stride);
    }
    need.pad = before;
    need.extent = before + behind + 1;
    return need;
  }

  // Columns in few runs (of a scale of 2, those between) need no indices, and a
  // third of the instructions.
  void FindColumnRuns() {
    constexpr int64_t kPicked = 6, kRun = 2, kLanes = isa::kVectorLanes;
    const auto vectors = [](int64_t n) { return (n + kLanes - 1) / kLanes; };
    std::vector<BlendRun> runs = BlendRunsOf(columns_, 0, columns_.to());
    int64_t cost = 0;
    for (const BlendRun& run : runs) cost += kRun * vectors(run.count);
    if (cost < kPicked * vectors(columns_.to())) {
      column_blends_ = std::move(runs);
    }
  }

  // Indices of columns, then their weights.
  void PlaceIndices() {
    const auto table = static_cast<size_t>(columns_.to() * kWord);
    const bool blends = kind_ == ResampledAxis::kBlend;
    weights_ = static_cast<uint32_t>((table + 15) / 16 * 16);
    std::vector<uint8_t> bytes(blends ? 2 * weights_ : weights_);
    for (int64_t i = 0; i < columns_.to(); ++i) {
      const auto low = static_cast<int32_t>(columns_.low[i]);
      std::memcpy(&bytes[i * kWord], &low, kWord);
    }
    if (blends) std::memcpy(&bytes[weights_], columns_.weight.data(), table);
    SetConstants(std::move(bytes));
  }

  // Weights of columns, [tap][place in the run] of each run, one after another;
  // then those of rows, [row][tap].
  void PlaceWeights() {
    std::vector<float> all;
    if (!identity_[1]) {
      column_runs_ = RunsOf(columns_.low);
      for (const AxisRun& run : column_runs_) {
        for (int64_t r = 0; r < run.repeat; ++r) {
          for (int64_t t = 0; t < columns_.taps; ++t) {
            for (int64_t i = 0; i < run.count; ++i) {
              const int64_t x = run.start + i * run.stride + r;
              all.push_back(columns_.weight[x * columns_.taps + t]);
            }
          }
        }
      }
    }
    weights_ = static_cast<uint32_t>(all.size() * kWord);
    if (!identity_[0]) {
      all.insert(all.end(), rows_.weight.begin(), rows_.weight.end());
    }
    std::vector<uint8_t> bytes(all.size() * kWord);
    std::memcpy(bytes.data(), all.data(), bytes.size());
    SetConstants(std::move(bytes));
  }

  // Rows of the tile, which are whole planes, as channels.
  Tile Unfolded(const Tile& tile) const {
    Tile planes = tile;
    planes.row0 = planes.channel0 = 0;
    planes.rows = rows_.to();
    planes.columns = columns_.to();
    planes.channels = tile.rows;
    const auto unfold = [&](TileView* v, int64_t width) {
      v->base = RowBase(*v, tile.row0);
      v->row0 = 0;
      v->plane = v->pitch;
      v->pitch = static_cast<uint32_t>(width * v->xstep);
    };
    unfold(&planes.inputs[0], columns_.from);
    unfold(&planes.output, columns_.to());
    return planes;
  }

  static Planes PlanesOf(const TileView& v, int64_t channel) {
    Planes p;
    p.base = AddressOf(v, channel, v.row0, 0);
    p.row0 = v.row0;
    p.pitch = v.pitch;
    p.plane = v.plane;
    p.xstep = v.xstep;
    return p;
  }
  static Planes Source(const Tile& tile) {
    return PlanesOf(tile.inputs[0], tile.channel0);
  }
  static Planes Result(const Tile& tile) {
    return PlanesOf(tile.output, tile.channel0);
  }

  isa::Stream Table(uint32_t base, isa::ElementType type) const {
    isa::Stream s;
    s.base = base;
    s.type = type;
    s.lane_stride = kWord;
    return s;
  }

  void Take(Emitter* emitter, const Tile& tile) const {
    const Planes from = Source(tile), to = Result(tile);
    const std::vector<int64_t> low(rows_.low.begin() + tile.row0,
                                   rows_.low.begin() + tile.row0 + tile.rows);
    for (const AxisRun& rows : RunsOf(low)) {
      isa::Vrun run =
          emitter->Run(identity_[1] ? CopyProgram() : TakeProgram());
      run.store = isa::StoreMode::kBody;
      run.lanes = static_cast<uint32_t>(columns_.to());
      run.n_o1 = static_cast<uint32_t>(rows.repeat);
      run.n_o2 = static_cast<uint32_t>(rows.count);
      run.n_o3 = static_cast<uint32_t>(tile.channels);
      isa::Stream a = from.Stream(type_, rows.from);
      a.o2_stride = static_cast<int32_t>(rows.step * from.pitch);
      a.o3_stride = static_cast<int32_t>(from.plane);
      run.enable_a = true;
      if (identity_[1]) {
        a.lane_stride = static_cast<int32_t>(from.xstep);
      } else {
        run.pick_a = run.enable_b = true;
        run.index_stride = static_cast<uint32_t>(from.xstep);
        run.index_bound = static_cast<uint32_t>(columns_.from);
        run.SetB(Table(tile.constants, isa::ElementType::kS32));
      }
      run.SetA(a);
      isa::Stream d = to.Stream(type_, tile.row0 + rows.start);
      d.lane_stride = static_cast<int32_t>(to.xstep);
      d.o1_stride = static_cast<int32_t>(to.pitch);
      d.o2_stride = static_cast<int32_t>(rows.stride * to.pitch);
      d.o3_stride = static_cast<int32_t>(to.plane);
      run.SetD(d);
      emitter->Append(run);
    }
  }

  // Of rows [row0, row0 + rows) of both.
  void Columns(Emitter* emitter, uint32_t constants, const Planes& from,
               int64_t row0, int64_t rows, int64_t planes,
               const Planes& to) const {
    if (!column_blends_.empty()) {
      BlendColumnRuns(emitter, from, row0, rows, planes, to);
    } else if (kind_ == ResampledAxis::kBlend) {
      BlendColumns(emitter, constants, from, row0, rows, planes, to);
    } else {
      FilterColumns(emitter, constants, from, row0, rows, planes, to);
    }
  }

  // Rows [row0, row0 + rows) of the result.
  void Rows(Emitter* emitter, uint32_t constants, const Planes& from,
            int64_t row0, int64_t rows, int64_t planes,
            const Planes& to) const {
    if (kind_ == ResampledAxis::kBlend) {
      BlendRows(emitter, from, row0, rows, planes, to);
    } else {
      FilterRows(emitter, constants + weights_, from, row0, rows, planes, to);
    }
  }

  // The loops of a filter: `sum` has the lanes, the loops outside and the
  // streams with their steps from tap to tap. `outer` is the loop over what
  // repeats the places of the operand with other weights, `last` the weight of
  // the last tap for each time, empty if it has none.
  static void EmitFilter(Emitter* emitter, isa::Vmac sum,
                         const std::vector<float>& last) {
    // What a command of its own costs for each time, in vectors.
    constexpr int64_t kStart = 40;
    const bool same = std::all_of(last.begin(), last.end(), [&](float w) {
      return model::Bits(w) == model::Bits(last[0]);
    });
    const int64_t vectors = (sum.lanes + isa::kVectorLanes - 1) /
                            isa::kVectorLanes * int64_t{sum.n_o1} * sum.n_o2;
    const int64_t commands = same ? 1 : sum.n_o3;
    if (sum.n_r1 < 2 || last.empty() ||
        vectors * sum.n_o3 < (commands - 1) * kStart) {
      emitter->Append(sum);
      return;
    }
    isa::Stream a = sum.GetA(), b = sum.GetB(), d = sum.GetD();
    for (int64_t k = 0; k < commands; ++k) {
      isa::Vrun run = emitter->Run(FilterProgram());
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = sum.lanes;
      run.n_r1 = sum.n_r1 - 1;
      run.n_o1 = sum.n_o1;
      run.n_o2 = sum.n_o2;
      run.n_o3 = same ? sum.n_o3 : 1;
      run.arg0 = model::Bits(last[k]);
      run.enable_a = run.enable_b = run.enable_c = true;
      isa::Stream c = a;
      c.base += static_cast<uint32_t>(int64_t{run.n_r1} * a.r1_stride);
      run.SetA(a);
      run.SetB(b);
      run.SetC(c);
      run.SetD(d);
      emitter->Append(run);
      for (isa::Stream* s : {&a, &b, &d}) {
        s->base += static_cast<uint32_t>(s->o3_stride);
      }
    }
  }

  // The last tap's weight of elements first + i*stride + r of an axis, by r, if
  // it is the same for all i; else nothing.
  static std::vector<float> LastWeights(const ResampledAxis& axis,
                                        int64_t first, const AxisRun& run) {
    std::vector<float> last;
    for (int64_t r = 0; r < run.repeat; ++r) {
      const auto at = [&](int64_t i) {
        const int64_t x = first + i * run.stride + r;
        return axis.weight[(x + 1) * axis.taps - 1];
      };
      last.push_back(at(0));
      for (int64_t i = 1; i < run.count; ++i) {
        if (model::Bits(at(i)) != model::Bits(at(0))) return {};
      }
    }
    return last;
  }

  // Lanes are the columns of a run; of one that stays at its place, those that
  // repeat it.
  void FilterColumns(Emitter* emitter, uint32_t weights, const Planes& from,
                     int64_t row0, int64_t rows, int64_t planes,
                     const Planes& to) const {
    for (const AxisRun& r : column_runs_) {
      isa::Vmac mac;
      mac.n_r1 = static_cast<uint32_t>(columns_.taps);
      mac.n_o1 = static_cast<uint32_t>(rows);
      mac.n_o2 = static_cast<uint32_t>(planes);
      isa::Stream a = from.Stream(type_, row0), b, d = to.Stream(type_, row0);
      a.base += static_cast<uint32_t>(r.from * from.xstep);
      a.r1_stride = static_cast<int32_t>(from.xstep);
      a.o1_stride = static_cast<int32_t>(from.pitch);
      a.o2_stride = static_cast<int32_t>(from.plane);
      b.type = type_;
      b.base = weights;
      d.base += static_cast<uint32_t>(r.start * to.xstep);
      d.o1_stride = static_cast<int32_t>(to.pitch);
      d.o2_stride = static_cast<int32_t>(to.plane);
      const int64_t set = columns_.taps * r.count * kWord;
      std::vector<float> last = LastWeights(columns_, r.start, r);
      if (r.count == 1) {
        mac.lanes = static_cast<uint32_t>(r.repeat);
        b.lane_stride = static_cast<int32_t>(set);
        b.r1_stride = kWord;
        d.lane_stride = static_cast<int32_t>(to.xstep);
        const float first = last[0];
        const bool same = std::all_of(last.begin(), last.end(), [&](float w) {
          return model::Bits(w) == model::Bits(first);
        });
        last.assign(same ? 1 : 0, first);
      } else {
        mac.lanes = static_cast<uint32_t>(r.count);
        mac.n_o3 = static_cast<uint32_t>(r.repeat);
        a.lane_stride = static_cast<int32_t>(r.step * from.xstep);
        b.lane_stride = kWord;
        b.r1_stride = static_cast<int32_t>(r.count * kWord);
        b.o3_stride = static_cast<int32_t>(set);
        d.lane_stride = static_cast<int32_t>(r.stride * to.xstep);
        d.o3_stride = static_cast<int32_t>(to.xstep);
      }
      weights += static_cast<uint32_t>(r.repeat * set);
      mac.SetA(a);
      mac.SetB(b);
      mac.SetD(d);
      EmitFilter(emitter, mac, last);
    }
  }

  void FilterRows(Emitter* emitter, uint32_t weights, const Planes& from,
                  int64_t row0, int64_t rows, int64_t planes,
                  const Planes& to) const {
    const auto low = rows_.low.begin() + row0;
    for (const AxisRun& r : RunsOf({low, low + rows})) {
      const int64_t first = row0 + r.start, set = rows_.taps * kWord;
      isa::Vmac mac;
      mac.lanes = static_cast<uint32_t>(columns_.to());
      mac.n_r1 = static_cast<uint32_t>(rows_.taps);
      mac.n_o1 = static_cast<uint32_t>(r.count);
      mac.n_o2 = static_cast<uint32_t>(planes);
      mac.n_o3 = static_cast<uint32_t>(r.repeat);
      isa::Stream a = from.Stream(type_, r.from), b,
                  d = to.Stream(type_, first);
      a.lane_stride = static_cast<int32_t>(from.xstep);
      a.r1_stride = static_cast<int32_t>(from.pitch);
      a.o1_stride = static_cast<int32_t>(r.step * from.pitch);
      a.o2_stride = static_cast<int32_t>(from.plane);
      b.type = type_;
      b.base = weights + static_cast<uint32_t>(first * set);
      b.r1_stride = kWord;
      b.o1_stride = static_cast<int32_t>(r.stride * set);
      b.o3_stride = static_cast<int32_t>(set);
      d.lane_stride = static_cast<int32_t>(to.xstep);
      d.o1_stride = static_cast<int32_t>(r.stride * to.pitch);
      d.o2_stride = static_cast<int32_t>(to.plane);
      d.o3_stride = static_cast<int32_t>(to.pitch);
      mac.SetA(a);
      mac.SetB(b);
      mac.SetD(d);
      EmitFilter(emitter, mac, LastWeights(rows_, first, r));
    }
  }

  void BlendColumns(Emitter* emitter, uint32_t constants, const Planes& from,
                    int64_t row0, int64_t rows, int64_t planes,
                    const Planes& to) const {
    isa::Vrun run = emitter->Run(BlendColumnsProgram());
    run.store = isa::StoreMode::kBody;
    run.lanes = static_cast<uint32_t>(columns_.to());
    run.pick_a = run.enable_a = run.enable_b = run.enable_c = true;
    run.index_stride = static_cast<uint32_t>(from.xstep);
    run.index_bound = static_cast<uint32_t>(columns_.from);
    run.arg0 = static_cast<uint32_t>(columns_.from - 1);
    run.SetB(Table(constants, isa::ElementType::kS32));
    run.SetC(Table(constants + weights_, isa::ElementType::kF32));
    isa::Stream a = from.Stream(type_, row0), d = to.Stream(type_, row0);
    d.lane_stride = static_cast<int32_t>(to.xstep);
    // What a group goes over finds indices and weights in registers; a strip
    // wants eight groups.
    const int64_t chunks =
        (columns_.to() + isa::kVectorLanes - 1) / isa::kVectorLanes;
    if (chunks >= std::min(kStrip, rows)) {
      run.n_r1 = static_cast<uint32_t>(rows);
      run.n_r2 = static_cast<uint32_t>(planes);
      a.r1_stride = static_cast<int32_t>(from.pitch);
      a.r2_stride = static_cast<int32_t>(from.plane);
      d.r1_stride = static_cast<int32_t>(to.pitch);
      d.r2_stride = static_cast<int32_t>(to.plane);
    } else {
      run.n_o1 = static_cast<uint32_t>(rows);
      run.n_r1 = static_cast<uint32_t>(planes);
      a.o1_stride = static_cast<int32_t>(from.pitch);
      a.r1_stride = static_cast<int32_t>(from.plane);
      d.o1_stride = static_cast<int32_t>(to.pitch);
      d.r1_stride = static_cast<int32_t>(to.plane);
    }
    run.SetA(a);
    run.SetD(d);
    emitter->Append(run);
  }

  void BlendColumnRuns(Emitter* emitter, const Planes& from, int64_t row0,
                       int64_t rows, int64_t planes, const Planes& to) const {
    for (const BlendRun& r : column_blends_) {
      isa::Vrun run = emitter->Run(BlendProgram());
      run.store = isa::StoreMode::kBody;
      run.arg0 = model::Bits(r.weight);
      run.arg1 = model::Bits(1.0f - r.weight);
      run.lanes = static_cast<uint32_t>(r.count);
      run.n_o1 = static_cast<uint32_t>(rows);
      run.n_o2 = static_cast<uint32_t>(planes);
      run.enable_a = run.enable_b = true;
      const auto stream = [&](const Planes& p, int64_t column, int64_t step) {
        isa::Stream s = p.Stream(type_, row0);
        s.base += static_cast<uint32_t>(column * p.xstep);
        s.lane_stride = static_cast<int32_t>(step * p.xstep);
        s.o1_stride = static_cast<int32_t>(p.pitch);
        s.o2_stride = static_cast<int32_t>(p.plane);
        return s;
      };
      run.SetA(stream(from, r.low, r.step));
      run.SetB(stream(from, r.high, r.step));
      run.SetD(stream(to, r.start, r.stride));
      emitter->Append(run);
    }
  }

  void BlendRows(Emitter* emitter, const Planes& from, int64_t row0,
                 int64_t rows, int64_t planes, const Planes& to) const {
    for (const BlendRun& r : BlendRunsOf(rows_, row0, rows)) {
      isa::Vrun run = emitter->Run(BlendProgram());
      run.store = isa::StoreMode::kBody;
      run.arg0 = model::Bits(r.weight);
      run.arg1 = model::Bits(1.0f - r.weight);
      run.lanes = static_cast<uint32_t>(columns_.to());
      run.n_o1 = static_cast<uint32_t>(r.count);
      run.n_o2 = static_cast<uint32_t>(planes);
      run.enable_a = run.enable_b = true;
      const auto source = [&](int64_t row) {
        isa::Stream s = from.Stream(type_, row);
        s.lane_stride = static_cast<int32_t>(from.xstep);
        s.o1_stride = static_cast<int32_t>(r.step * from.pitch);
        s.o2_stride = static_cast<int32_t>(from.plane);
        return s;
      };
      run.SetA(source(r.low));
      run.SetB(source(r.high));
      isa::Stream d = to.Stream(type_, r.start);
      d.lane_stride = static_cast<int32_t>(to.xstep);
      d.o1_stride = static_cast<int32_t>(r.stride * to.pitch);
      d.o2_stride = static_cast<int32_t>(to.plane);
      run.SetD(d);
      emitter->Append(run);
    }
  }

  // In blocks whose rows between the two steps fit the temporary bytes.
  void Both(Emitter* emitter, const Tile& tile) const {
    const int64_t pitch = columns_.to() * kWord;
    const auto room = static_cast<int64_t>(temporary_bytes) / pitch;
    const auto needed = [&](int64_t row, int64_t rows) {
      int64_t least = rows_.from, most = 0;
      for (int64_t y = row; y < row + rows; ++y) {
        least = std::min(least, rows_.low[y]);
        most = std::max(most, HighOf(rows_, y));
      }
      return Slice{least, most - least + 1};
    };
    for (int64_t row = tile.row0; row < tile.row0 + tile.rows;) {
      int64_t rows = tile.row0 + tile.rows - row;
      while (rows > 1 && needed(row, rows).count > room) rows = (rows + 1) / 2;
      const Slice between = needed(row, rows);
      const int64_t most = std::max<int64_t>(1, room / between.count);
      for (int64_t c = 0; c < tile.channels; c += most) {
        const int64_t planes = std::min(most, tile.channels - c);
        Planes from = Source(tile), to = Result(tile);
        from.base += static_cast<uint32_t>(c * from.plane);
        to.base += static_cast<uint32_t>(c * to.plane);
        Planes middle;
        middle.base = tile.temporary;
        middle.row0 = between.first;
        middle.pitch = pitch;
        middle.plane = between.count * pitch;
        middle.xstep = kWord;
        Columns(emitter, tile.constants, from, between.first, between.count,
                planes, middle);
        Rows(emitter, tile.constants, middle, row, rows, planes, to);
      }
      row += rows;
    }
  }

  isa::ElementType type_;
  ResampledAxis rows_, columns_;
  bool identity_[2];  // rows, columns
  ResampledAxis::Kind kind_;
  bool flat_;                            // values are rows of whole planes
  std::vector<AxisRun> column_runs_;     // kFilter
  std::vector<BlendRun> column_blends_;  // kBlend; empty: columns are picked
  // Where weights lie in the constants, those of columns behind their indices,
  // those of rows that are filtered behind those of columns.
  uint32_t weights_ = 0;
};

}  // namespace

bool ResampledAxis::is_identity() const {
  if (to() != from || kind != kTake) return false;
  for (int64_t i = 0; i < from; ++i) {
    if (low[i] != i) return false;
  }
  return true;
}

ResampledAxis IdentityAxis(int64_t size) {
  ResampledAxis axis;
  axis.from = size;
  axis.low.resize(static_cast<size_t>(size));
  std::iota(axis.low.begin(), axis.low.end(), int64_t{0});
  return axis;
}

bool CanResample(const ResampledAxis& rows, const ResampledAxis& columns,
                 int64_t element_bytes, uint64_t sram_bytes) {
  // Rows between the steps; two buffers of them on either side; weights.
  int64_t height = 1, tables = 2 * columns.to() * kWord;
  for (const ResampledAxis* axis : {&rows, &columns}) {
    if (axis->to() == 0) return false;
    for (int64_t i = 0; i < axis->to(); ++i) {
      if (axis->low[i] < 0 || HighOf(*axis, i) >= axis->from) return false;
    }
    tables += static_cast<int64_t>(axis->weight.size()) * kWord;
  }
  for (int64_t i = 0; i < rows.to(); ++i) {
    height = std::max(height, HighOf(rows, i) - rows.low[i] + 1);
  }
  const auto sram = static_cast<int64_t>(sram_bytes);
  const int64_t width = std::max(columns.from, columns.to());
  return height * columns.to() * kWord <=
             sram / static_cast<int64_t>(kShare) - 16 &&
         2 * (height + 2) * width * element_bytes + tables <= sram / 2;
}

void AddResample(Lowering* l, const Node& node, int value, ResampledAxis rows,
                 ResampledAxis columns, int result) {
  const DeviceGraph& device = l->device();
  const int64_t planes =
      ElementCount(device.values[value].shape) / (rows.from * columns.from);
  const DataType type = device.StorageOf(result).type;
  // Planes that fit are not cut: columns of rows that two parts need would be
  // computed twice.
  const int64_t in = rows.from * columns.from, out = rows.to() * columns.to();
  const uint64_t sram = l->config().sram_bytes;
  const bool flat =
      2 * static_cast<uint64_t>(in + out) * ElementBytes(type) <= sram / 2;
  const int from =
      l->Reshaped(value, flat ? Shape{planes, in}
                              : Shape{1, planes, rows.from, columns.from});
  const int to =
      l->Reshaped(result, flat ? Shape{planes, out}
                               : Shape{1, planes, rows.to(), columns.to()});
  l->Add(std::make_unique<ResampleOp>(type, std::move(rows), std::move(columns),
                                      planes, flat, sram, from, to),
         node);
}

}  // namespace heddle::compiler
