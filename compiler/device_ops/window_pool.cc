// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/window_pool.h"

#include <algorithm>

#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/mac.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/ops/reduce.h"
#include "compiler/schedule/loops.h"
#include "compiler/schedule/window_need.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using Source = isa::Operand;

// out = f32(sum / count), the sum from +0 in the order of the window. The count
// is argument 0, or with `varies` that of the column (B) times that of the row
// (C).
Microprogram AverageProgram(bool varies) {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kStreamA)};
  if (varies) {
    p.epilogue = {
        Micro(MicroOp::kFmul, Destination::kV1, Source::kStreamB,
              Source::kStreamC),
        Micro(MicroOp::kFdiv, Destination::kOut, Source::kV0, Source::kV1)};
  } else {
    p.epilogue = {
        Micro(MicroOp::kFdiv, Destination::kOut, Source::kV0, Source::kArg0)};
  }
  return p;
}

OpInput WindowInput(int value, const Window& w, uint32_t halo_value) {
  OpInput in;
  in.value = value;
  in.rows = WindowNeed(w, 0);
  in.columns = WindowNeed(w, 1);
  in.channels.kind = AxisNeed::kSame;
  in.halo = WindowHalo(w);
  in.halo_value = halo_value;
  return in;
}

// Address of the window's first element for the first element of a tile.
uint32_t WindowBase(const TileView& v, const Window& w, const Tile& tile) {
  return AddressOf(v, tile.channel0, tile.row0 * w.stride[0] - w.pad_begin[0],
                   tile.column0 * w.stride[1] - w.pad_begin[1]);
}

// Lanes are columns, windows in r1 (kx) and r2 (ky). Subclasses say what the
// padding holds and which program folds a window. In several parts the result,
// which is fp32 then, holds what has been folded, and a last program finishes
// it.
class WindowPool : public DeviceOp {
 public:
  WindowPool(const DeviceGraph& graph, const Window& window,
             const std::vector<WindowPart>& parts, uint32_t padding, int from,
             int to)
      : window_(window),
        parts_(parts),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    channel_step = 1;
    inputs = {WindowInput(from, window, padding)};
    if (!InParts()) return;
    groups.assign(parts.size(), ConstantGroup());
    const auto reach = [&](const Slice& taps, int d) {
      return Slice{taps.first * window.dilation[d],
                   (taps.count - 1) * window.dilation[d] + 1};
    };
    for (const WindowPart& part : parts) {
      inputs[0].row_slices.push_back(reach(part.y, 0));
      if (parts[0].x.count == window.kernel[1]) continue;
      inputs[0].column_slices.push_back(reach(part.x, 1));
    }
  }
  std::vector<Microprogram> Programs() const override {
    if (!InParts()) return {program_};
    std::vector<Microprogram> all = {program_, next_};
    if (!last_.body.empty()) all.push_back(last_);
    return all;
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    ForCountedTiles(tile, [&](const Tile& part) { EmitPart(emitter, part); });
  }

 protected:
  virtual void Complete(const Tile&, isa::Vrun*) const {}
  bool InParts() const { return parts_.size() > 1; }
  // `program`, going on from what the part before has left (stream B).
  static Microprogram GoingOn(Microprogram program) {
    program.prologue = {
        Micro(MicroOp::kMov, Destination::kV0, Source::kStreamB, Source::kV0)};
    return program;
  }

  // For all of the window or its first part, for the parts after it, and for
  // what they have folded (if it is not the result).
  Microprogram program_, next_, last_;

 private:
  void EmitPart(Emitter* emitter, const Tile& tile) const {
    const Window& w = window_;
    const WindowPart& part = parts_[tile.group];
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    isa::Vrun run = emitter->Run(tile.group == 0 ? program_ : next_);
    run.enable_a = true;
    run.store = isa::StoreMode::kEpilogue;
    run.lanes = tile.columns;
    run.n_r1 = part.x.count;
    run.n_r2 = part.y.count;
    run.n_o1 = tile.rows;
    run.n_o2 = tile.channels;
    isa::Stream a;
    a.type = in_type_;
    a.lane_stride = w.stride[1] * in.xstep;
    a.r1_stride = w.dilation[1] * in.xstep;
    a.r2_stride = w.dilation[0] * in.pitch;
    a.o1_stride = w.stride[0] * in.pitch;
    a.o2_stride = in.plane;
    a.base = WindowBase(in, w, tile) + part.y.first * a.r2_stride +
             part.x.first * a.r1_stride;
    isa::Stream d;
    d.type = out_type_;
    d.base = AddressOf(out, tile.channel0, tile.row0, tile.column0);
    d.lane_stride = out.xstep;
    d.o1_stride = out.pitch;
    d.o2_stride = out.plane;
    run.SetA(a);
    run.SetD(d);
    if (!InParts()) {
      Complete(tile, &run);
      emitter->Append(run);
      return;
    }
    if (tile.group > 0) {
      run.enable_b = true;
      run.SetB(d);
    }
    emitter->Append(run);
    if (tile.group + 1 < static_cast<int>(parts_.size()) ||
        last_.body.empty()) {
      return;
    }
    isa::Vrun last = emitter->Run(last_);
    last.enable_a = true;
    last.store = isa::StoreMode::kBody;
    last.lanes = run.lanes;
    last.n_o1 = run.n_o1;
    last.n_o2 = run.n_o2;
    last.SetA(d);
    last.SetD(d);
    Complete(tile, &last);
    emitter->Append(last);
  }

  Window window_;
  std::vector<WindowPart> parts_;
  isa::ElementType in_type_, out_type_;
};

class DenseMaxPool : public ClonableOp<DenseMaxPool, WindowPool> {
 public:
  DenseMaxPool(const DeviceGraph& graph, const Window& window,
               const std::vector<WindowPart>& parts, int from, int to)
      : ClonableOp(graph, window, parts, PaddingOf(graph.StorageOf(from).type),
                   from, to) {
    switch (graph.StorageOf(from).type) {
      case DataType::kUint8:
        program_ = MaxCodeProgram(0);
        break;
      case DataType::kInt8:
        program_ = MaxCodeProgram(-128);
        break;
      default:
        program_ = MaxProgram();
    }
    if (InParts()) next_ = GoingOn(program_);
  }

 private:
  // Padding is the lowest code or number, of float16 in each half of the word.
  static uint32_t PaddingOf(DataType type) {
    switch (type) {
      case DataType::kUint8:
        return 0;
      case DataType::kInt8:
        return 0x80808080u;
      case DataType::kFloat16:
        return 0xfc00fc00u;
      default:
        return 0xff800000u;
    }
  }
  static Microprogram MaxCodeProgram(int32_t lowest) {
    Microprogram p;
    p.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kImm,
                        Source::kV0, Source::kV0,
                        static_cast<uint32_t>(lowest))};
    p.body = {
        Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kStreamA)};
    p.epilogue = {Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
    return p;
  }
};

// Padding is +0: a sum that began with +0 does not see it.
class DenseAveragePool : public ClonableOp<DenseAveragePool, WindowPool> {
 public:
  DenseAveragePool(Lowering* l, const Window& window,
                   const std::vector<WindowPart>& parts, bool count_include_pad,
                   int from, int to)
      : ClonableOp(l->device(), window, parts, 0, from, to) {
    // Elements that count are rows times columns.
    std::vector<float> columns, rows;
    for (int d = 0; d < 2; ++d) {
      // The other dimension counts 1.
      Window one = window;
      const int o = 1 - d;
      one.in[o] = one.kernel[o] = one.stride[o] = one.dilation[o] = 1;
      one.pad_begin[o] = one.pad_end[o] = 0;
      for (int64_t i = 0; i < window.out[d]; ++i) {
        const int64_t count = AverageCount(one, d == 0 ? i : 0, d == 1 ? i : 0,
                                           count_include_pad);
        (d == 0 ? rows : columns).push_back(static_cast<float>(count));
      }
    }
    auto uniform = [](const std::vector<float>& v) {
      return std::all_of(v.begin(), v.end(),
                         [&](float x) { return x == v[0]; });
    };
    varies_ = !uniform(columns) || !uniform(rows);
    program_ = AverageProgram(varies_);
    if (InParts()) {
      // The division by itself.
      last_.body = program_.epilogue;
      for (MicroInstruction& m : last_.body) {
        if (m.op == MicroOp::kFdiv) m.a = Source::kStreamA;
      }
      program_.epilogue = {
          Micro(MicroOp::kMov, Destination::kOut, Source::kV0, Source::kV0)};
      next_ = GoingOn(program_);
    }
    count_ = columns[0] * rows[0];
    if (!varies_) return;
    // A copy: a new value may move the storages.
    const std::string name = l->device().StorageOf(to).name;
    const auto width = static_cast<int64_t>(columns.size());
    const auto height = static_cast<int64_t>(rows.size());
    OpInput of_columns, of_rows;
    of_columns.value =
        ConstantValue(l, name + "/columns",
                      FromFloats(DataType::kFloat, {1, 1, 1, width}, columns),
                      {1, 1, 1, width});
    of_columns.columns.kind = AxisNeed::kSame;
    of_rows.value =
        ConstantValue(l, name + "/rows",
                      FromFloats(DataType::kFloat, {1, 1, height, 1}, rows),
                      {1, 1, height, 1});
    of_rows.rows.kind = AxisNeed::kSame;
    inputs.push_back(of_columns);
    inputs.push_back(of_rows);
  }

 protected:
  void Complete(const Tile& tile, isa::Vrun* run) const override {
    run->arg0 = model::Bits(count_);
    if (!varies_) return;
    isa::Stream column, row;
    column.type = row.type = isa::ElementType::kF32;
    column.base = AddressOf(tile.inputs[1], 0, 0, tile.column0);
    column.lane_stride = sizeof(float);
    row.base = AddressOf(tile.inputs[2], 0, tile.row0, 0);
    row.o1_stride = tile.inputs[2].pitch;
    run->enable_b = run->enable_c = true;
    run->SetB(column);
    run->SetC(row);
  }

 private:
  bool varies_ = false;
  float count_ = 1;
};

}  // namespace

std::vector<WindowPart> WindowParts(const Window& w, uint64_t sram_bytes) {
  const auto sram = static_cast<int64_t>(sram_bytes);
  constexpr int64_t kElement = sizeof(float);
  const auto reach = [&](int d) {
    return (w.kernel[d] - 1) * w.dilation[d] + 1;
  };
  const int64_t row = reach(1) * kElement;
  if (reach(0) * row <= sram / 8) {
    return {{{0, w.kernel[0]}, {0, w.kernel[1]}}};
  }
  const int64_t rows = std::max<int64_t>(1, sram / 16 / (w.dilation[0] * row));
  const int64_t columns =
      row <= sram / 16
          ? w.kernel[1]
          : std::max<int64_t>(1, sram / 16 / (w.dilation[1] * kElement));
  std::vector<WindowPart> parts;
  for (int64_t y = 0; y < w.kernel[0]; y += rows) {
    for (int64_t x = 0; x < w.kernel[1]; x += columns) {
      parts.push_back({{y, std::min(rows, w.kernel[0] - y)},
                       {x, std::min(columns, w.kernel[1] - x)}});
    }
  }
  return parts;
}

Halo WindowHalo(const Window& w) {
  auto beyond = [&](int d) {
    const int64_t reach = (w.out[d] - 1) * w.stride[d] - w.pad_begin[d] +
                          (w.kernel[d] - 1) * w.dilation[d] + 1;
    return static_cast<int>(std::max<int64_t>(0, reach - w.in[d]));
  };
  Halo halo;
  halo.top = w.pad_begin[0];
  halo.left = w.pad_begin[1];
  halo.bottom = beyond(0);
  halo.right = beyond(1);
  return halo;
}

std::unique_ptr<DeviceOp> MakeMaxPool(const DeviceGraph& graph,
                                      const Window& window,
                                      const std::vector<WindowPart>& parts,
                                      int from, int to) {
  return std::make_unique<DenseMaxPool>(graph, window, parts, from, to);
}

std::unique_ptr<DeviceOp> MakeAveragePool(Lowering* l, const Window& window,
                                          const std::vector<WindowPart>& parts,
                                          bool count_include_pad, int from,
                                          int to) {
  return std::make_unique<DenseAveragePool>(l, window, parts, count_include_pad,
                                            from, to);
}

}  // namespace heddle::compiler
