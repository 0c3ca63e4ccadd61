// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/matmul_op.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

bool InOrder(const std::vector<int64_t>& planes) {
  for (size_t i = 0; i < planes.size(); ++i) {
    if (planes[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}
bool AllFirst(const std::vector<int64_t>& planes) {
  return std::all_of(planes.begin(), planes.end(),
                     [](int64_t p) { return p == 0; });
}

class MatMulOp : public ClonableOp<MatMulOp> {
 public:
  MatMulOp(DeviceGraph* graph, const MatMulSpec& spec, const MatMulCut& cut,
           const MatMulOperands& o, const MacClamp& clamp, int to)
      : spec_(spec),
        cut_(cut),
        clamp_(clamp),
        constant_(o.b < 0),
        data_(o.data),
        es_(ElementBytes(spec.type)),
        out_type_(VectorType(graph->StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = true;
    macs = graph->values[to].extent.n * spec.a_plane.size() * spec.m * spec.n *
           spec.k;
    inputs.push_back(
        InputOf(o.a, spec.trans_a ? AxisNeed::kWhole : AxisNeed::kSame));
    if (spec.trans_a) {
      inputs[0].turned = true;
      inputs[0].columns.kind = AxisNeed::kSame;
    }
    if (!constant_) {
      b_ = inputs.size();
      inputs.push_back(InputOf(o.b, AxisNeed::kWhole));
    }
    // Planes that each operand has in the result's order, or once for all.
    const bool same_a = InOrder(spec.a_plane),
               same_b = !constant_ && InOrder(spec.b_plane);
    channels_tileable = (same_a || AllFirst(spec.a_plane)) &&
                        (same_b || AllFirst(spec.b_plane));
    channel_step = 1;
    if (channels_tileable && same_a) {
      inputs[0].channels.kind = AxisNeed::kSame;
    }
    if (channels_tileable && same_b) {
      inputs[b_].channels.kind = AxisNeed::kSame;
    }
    if (cut.pieces.size() > 1) {
      for (const MatMulPiece& p : cut.pieces) {
        const Slice k{p.k0, p.k1 - p.k0}, n{p.n0, p.n1 - p.n0};
        group_columns.push_back(n);
        (spec.trans_a ? inputs[0].row_slices : inputs[0].column_slices)
            .push_back(k);
        if (constant_) continue;
        inputs[b_].row_slices.push_back(spec.trans_b ? n : k);
        inputs[b_].column_slices.push_back(spec.trans_b ? k : n);
      }
    }
    if (o.initial >= 0) {
      initial_ = static_cast<int>(inputs.size());
      initial_extent_ = graph->values[o.initial].extent;
      initial_type_ = VectorType(graph->StorageOf(o.initial).type);
      inputs.push_back(InputOf(o.initial, initial_extent_.h > 1
                                              ? AxisNeed::kSame
                                              : AxisNeed::kWhole));
      if (initial_extent_.w > 1) inputs.back().columns.kind = AxisNeed::kSame;
    }
    groups.assign(cut.pieces.size(), ConstantGroup());
    if (!constant_) return;
    for (size_t i = 0; i < cut.pieces.size(); ++i) {
      const MatMulPiece& p = cut.pieces[i];
      groups[i].bytes =
          AlignToRegion((p.k1 - p.k0) * (p.n1 - p.n0) * int64_t{es_});
    }
  }

  void Pack(size_t group, uint8_t* to) const override {
    if (!constant_) return;
    const MatMulPiece& p = cut_.pieces[group];
    const int64_t columns = p.n1 - p.n0;
    for (int64_t k = p.k0; k < p.k1; ++k) {
      if (!spec_.trans_b) {
        std::memcpy(to, data_->bytes.data() + (k * spec_.n + p.n0) * es_,
                    columns * es_);
        to += columns * es_;
        continue;
      }
      for (int64_t n = p.n0; n < p.n1; ++n, to += es_) {
        std::memcpy(to, data_->bytes.data() + (n * spec_.k + k) * es_, es_);
      }
    }
  }

  std::string ConstantKey(size_t group) const override {
    if (!constant_) return "";
    const MatMulPiece& p = cut_.pieces[group];
    return absl::StrCat("matmul ", reinterpret_cast<uintptr_t>(data_), " ",
                        spec_.trans_b, " ", spec_.n, " ", p.k0, " ", p.k1, " ",
                        p.n0, " ", p.n1);
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const MatMulPiece& p = cut_.pieces[tile.group];
    const TileView& a = tile.inputs[0];
    const TileView& out = tile.output;
    MacLoop loop;
    loop.a_type = loop.b_type = VectorType(spec_.type);
    loop.d_type = out_type_;
    MacDim rows, columns, planes;
    rows.n = tile.rows;
    columns.n = p.n1 - p.n0;
    loop.r[0].n = p.k1 - p.k0;
    int64_t k_step = a.xstep;
    rows.a = a.pitch;
    if (spec_.trans_a) std::swap(k_step, rows.a);
    loop.r[0].a = k_step;
    // The element [tile.row0, k0] of plane 0.
    const int64_t a_row = spec_.trans_a ? p.k0 : tile.row0;
    const int64_t a_column = spec_.trans_a ? tile.row0 : p.k0;
    const int64_t a_base = a.base + (a_row - a.row0) * int64_t{a.pitch} +
                           a_column * int64_t{a.xstep};
    int64_t b_base = tile.constants, b_plane = 0;
    loop.r[0].b = columns.n * es_;
    columns.b = es_;
    if (!constant_) {
      const TileView& b = tile.inputs[b_];
      loop.r[0].b = spec_.trans_b ? b.xstep : b.pitch;
      columns.b = spec_.trans_b ? b.pitch : b.xstep;
      const int64_t row = spec_.trans_b ? p.n0 : p.k0;
      const int64_t column = spec_.trans_b ? p.k0 : p.n0;
      b_base = b.base + (row - b.row0) * int64_t{b.pitch} +
               column * int64_t{b.xstep};
      b_plane = b.plane;
    }
    const int64_t d_base = out.base +
                           (tile.row0 - out.row0) * int64_t{out.pitch} +
                           p.n0 * int64_t{out.xstep};
    rows.d = out.pitch;
    columns.d = out.xstep;
    int64_t c_base = 0;
    if (p.k0 > 0) {
      loop.initial = true;
      loop.c_type = out_type_;
      c_base = d_base;
      rows.c = rows.d;
      columns.c = columns.d;
    } else if (initial_ >= 0) {
      const TileView& c = tile.inputs[initial_];
      loop.initial = true;
      loop.c_type = initial_type_;
      rows.c = initial_extent_.h > 1 ? c.pitch : 0;
      columns.c = initial_extent_.w > 1 ? c.xstep : 0;
      c_base = c.base;
      if (rows.c != 0) c_base += (tile.row0 - c.row0) * rows.c;
      c_base += p.n0 * columns.c;
    }
    if (p.k1 == spec_.k) loop.clamp = clamp_;
    // Runs of planes at constant distances.
    const std::vector<int64_t>& pa = spec_.a_plane;
    const std::vector<int64_t>& pb = spec_.b_plane;
    const auto last = static_cast<size_t>(tile.channel0 + tile.channels);
    for (auto i = static_cast<size_t>(tile.channel0); i < last;) {
      size_t end = i + 1;
      const int64_t da = end < last ? pa[end] - pa[i] : 0;
      const int64_t db = end < last ? pb[end] - pb[i] : 0;
      while (end < last && pa[end] - pa[end - 1] == da &&
             pb[end] - pb[end - 1] == db) {
        ++end;
      }
      planes.n = static_cast<int64_t>(end - i);
      planes.a = da * a.plane;
      planes.b = db * b_plane;
      planes.d = out.plane;
      planes.c = p.k0 > 0 ? planes.d : 0;
      loop.a = a_base + pa[i] * int64_t{a.plane};
      loop.b = b_base + pb[i] * b_plane;
      loop.d = d_base + static_cast<int64_t>(i) * out.plane;
      loop.c = p.k0 > 0 ? loop.d : c_base;
      loop.dims = {columns, rows, planes};
      EmitMac(emitter, loop);
      i = end;
    }
  }

 private:
  static OpInput InputOf(int value, AxisNeed::Kind kind) {
    OpInput in;
    in.value = value;
    in.rows.kind = kind;
    return in;
  }

  MatMulSpec spec_;
  MatMulCut cut_;
  MacClamp clamp_;
  bool constant_;
  const TensorData* data_;  // of the graph, which is there throughout
  int64_t es_;
  isa::ElementType out_type_;
  size_t b_ = 0;
  int initial_ = -1;
  Extent initial_extent_;
  isa::ElementType initial_type_ = isa::ElementType::kF32;
};

}  // namespace

MatMulCut CutMatMul(const MatMulSpec& spec, bool constant_b, int64_t a_planes,
                    int64_t b_planes, const isa::Config& config) {
  constexpr int64_t kLanes = isa::kVectorLanes;
  const int64_t es = ElementBytes(spec.type);
  const int64_t budget = GroupBudget(config);
  const int64_t large = config.sram_bytes / 4;
  int64_t k = spec.k, n = spec.n;
  // What a tile needs of a at least: one row, or some columns with trans_a.
  const int64_t a_unit =
      a_planes * es * (spec.trans_a ? std::min(spec.m, kLanes) : 1);
  if (a_unit * spec.k > (spec.trans_a ? large : large / 2)) {
    k = std::clamp<int64_t>(budget / a_unit, 1, k);
  }
  // Pieces of b: long in k, as long as lanes stay full.
  const int64_t b_unit = constant_b ? es : b_planes * es;
  if (b_unit * k * n > (constant_b ? budget : large)) {
    n = std::min(n, std::max(kLanes, budget / (k * b_unit)));
    if (n < spec.n) n -= n % kLanes;
    k = std::clamp<int64_t>(budget / (n * b_unit), 1, k);
    if (k == 1) n = std::clamp<int64_t>(budget / b_unit, 1, n);
  }
  MatMulCut cut;
  for (int64_t n0 = 0; n0 < spec.n; n0 += n) {
    for (int64_t k0 = 0; k0 < spec.k; k0 += k) {
      cut.pieces.push_back(
          {k0, std::min(spec.k, k0 + k), n0, std::min(spec.n, n0 + n)});
    }
  }
  cut.split = k < spec.k || k > kMaxLoop;
  return cut;
}

std::unique_ptr<DeviceOp> MakeMatMulOp(DeviceGraph* graph,
                                       const MatMulSpec& spec,
                                       const MatMulCut& cut,
                                       const MatMulOperands& operands,
                                       const MacClamp& clamp, int to) {
  return std::make_unique<MatMulOp>(graph, spec, cut, operands, clamp, to);
}

}  // namespace heddle::compiler
