// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/elementwise.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/broadcast.h"
#include "compiler/schedule/flatten.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kBlock = 16;  // channels of a word
// A larger part of SRAM is not spent on a constant as a whole: it is tiled like
// a computed operand.
constexpr uint64_t kConstantShare = 64;

class Elementwise : public ClonableOp<Elementwise> {
 public:
  Elementwise(DeviceGraph* graph, const Microprogram& program,
              const std::array<uint32_t, 4>& arguments,
              const std::vector<Operand>& operands, int result)
      : program_(program),
        arguments_(arguments),
        copy_(program.Bytes() == CopyProgram().Bytes()) {
    engine = "vector";
    output = result;
    shape_ = graph->values[result].shape;
    extent_ = graph->values[result].extent;
    layouts_.push_back(graph->StorageOf(result).layout);
    types_.push_back(graph->StorageOf(result).type);
    std::vector<uint8_t> blob;
    for (const Operand& o : operands) {
      Source source;
      if (o.value >= 0) {
        const Storage& s = graph->StorageOf(o.value);
        const Extent& e = graph->values[o.value].extent;
        source.input = inputs.size();
        source.shape = graph->values[o.value].shape;
        layouts_.push_back(s.layout);
        types_.push_back(s.type);
        OpInput in;
        in.value = o.value;
        const auto along = [](int64_t own, int64_t result) {
          return own == result ? AxisNeed::kSame : AxisNeed::kWhole;
        };
        in.rows.kind = along(e.h, extent_.h);
        in.swapped = shape_.size() <= 2 && (s.layout == Layout::kDense) !=
                                               (layouts_[0] == Layout::kDense);
        in.columns.kind = along(e.w, in.swapped ? extent_.c : extent_.w);
        in.channels.kind = along(e.c, in.swapped ? extent_.w : extent_.c);
        inputs.push_back(in);
      } else {
        blob.resize((blob.size() + 15) / 16 * 16);
        source.offset = blob.size();
        source.shape = o.data->shape;
        blob.insert(blob.end(), o.data->bytes.begin(), o.data->bytes.end());
        layouts_.push_back(Layout::kDense);
        types_.push_back(o.data->type);
      }
      sources_.push_back(source);
    }
    SetConstants(std::move(blob));
    tileable = true;
    channels_ = ExtentOf(shape_, Layout::kBlocked);
    blocked_ = std::any_of(layouts_.begin(), layouts_.end(),
                           [](Layout l) { return l != Layout::kDense; });
    // Of more dimensions the middle ones are the channels, which need not be
    // one loop.
    columns_tileable = true;
    channels_tileable = blocked_ || shape_.size() <= 4;
    if (blocked_ && MatrixResult()) column_step = kBlock;
    if (!blocked_) channel_step = 1;
  }

  std::vector<Microprogram> Programs() const override { return {program_}; }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    isa::Vrun run = emitter->Run(program_);
    run.arg0 = arguments_[0];
    run.arg1 = arguments_[1];
    run.arg2 = arguments_[2];
    run.arg3 = arguments_[3];
    run.enable_a = sources_.size() > 0;
    run.enable_b = sources_.size() > 1;
    run.enable_c = sources_.size() > 2;
    if (!blocked_) {
      EmitDense(emitter, run, tile);
      return;
    }
    const int64_t first = MatrixResult() ? tile.column0 : tile.channel0;
    const int64_t count = MatrixResult() ? tile.columns : tile.channels;
    const int64_t full = count / kBlock, rest = count % kBlock;
    if (full) EmitChannels(emitter, run, tile, first, kBlock, full);
    if (rest) EmitChannels(emitter, run, tile, first + full * kBlock, rest, 1);
  }

 private:
  struct Source {
    int input = -1;  // index in `inputs`, or a constant at `offset`
    uint32_t offset = 0;
    Shape shape;
  };

  // Whether the columns of the result are channels in blocked operands.
  bool MatrixResult() const {
    return shape_.size() <= 2 && layouts_[0] == Layout::kDense;
  }

  isa::ElementType TypeOf(DataType type) const {
    return copy_ ? MoveType(type) : VectorType(type);
  }

  // Byte strides of a dense view per dimension of `shape`, image excluded.
  static std::vector<int64_t> DenseStrides(const Shape& shape,
                                           const TileView& v) {
    std::vector<int64_t> strides(shape.size(), 0);
    const size_t rank = shape.size();
    if (rank >= 1) strides[rank - 1] = v.xstep;
    if (rank == 2) strides[0] = v.pitch;
    if (rank == 3) strides[1] = v.plane;
    if (rank >= 4) {
      strides[rank - 2] = v.pitch;
      int64_t at = v.plane;
      for (size_t i = rank - 3; i >= 1; --i) {
        strides[i] = at;
        at *= shape[i];
      }
    }
    return strides;
  }

  // Strides of an operand of `own` shape along the result's dimensions.
  static std::vector<int64_t> Broadcast(const Shape& own, const Shape& result,
                                        const std::vector<int64_t>& strides) {
    std::vector<int64_t> out(result.size(), 0);
    const size_t lead = result.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i] != 1) out[lead + i] = strides[i];
    }
    return out;
  }

  // The address of a dense operand's element for the tile's first.
  static uint32_t Start(const OpInput& in, const TileView& v,
                        const Tile& tile) {
    const auto at = [](const AxisNeed& need, int64_t first) {
      return need.kind == AxisNeed::kWhole ? 0 : first;
    };
    return AddressOf(v, at(in.channels, tile.channel0), at(in.rows, tile.row0),
                     at(in.columns, tile.column0));
  }

  void EmitDense(Emitter* emitter, const isa::Vrun& run,
                 const Tile& tile) const {
    const size_t rank = shape_.size();
    // Loop counts innermost first: columns, rows of the tile, middle
    // dimensions.
    const bool images = rank >= 3;
    const bool rows = rank == 2 || rank >= 4;
    std::vector<int64_t> counts;
    for (size_t i = rank; i-- > (images ? 1u : 0u);) {
      const bool row_dim = rows && i == rank - 2;
      counts.push_back(row_dim         ? tile.rows
                       : i + 1 == rank ? tile.columns
                       : rank <= 4     ? tile.channels
                                       : shape_[i]);
    }
    if (counts.empty()) counts.push_back(1);
    auto reversed = [&](std::vector<int64_t> strides) {
      std::vector<int64_t> out;
      for (size_t i = rank; i-- > (images ? 1u : 0u);)
        out.push_back(strides[i]);
      if (out.empty()) out.push_back(0);
      return out;
    };
    std::vector<LoopOperand> operands;
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Source& s = sources_[k];
      LoopOperand o;
      o.type = TypeOf(types_[k + 1]);
      if (s.input >= 0) {
        const TileView& v = tile.inputs[s.input];
        o.base = Start(inputs[s.input], v, tile);
        o.strides =
            reversed(Broadcast(s.shape, shape_, DenseStrides(s.shape, v)));
      } else {
        std::vector<int64_t> strides = BroadcastStrides(s.shape, shape_);
        for (int64_t& x : strides) x *= ElementBytes(types_[k + 1]);
        o.base = tile.constants + s.offset;
        if (images) o.base += tile.image * strides[0];
        if (rows) o.base += tile.row0 * strides[rank - 2];
        if (rank >= 1) o.base += tile.column0 * strides[rank - 1];
        if (rank == 3 || rank == 4) o.base += tile.channel0 * strides[1];
        o.strides = reversed(strides);
      }
      operands.push_back(o);
    }
    LoopOperand result;
    result.base =
        AddressOf(tile.output, tile.channel0, tile.row0, tile.column0);
    result.type = TypeOf(types_[0]);
    result.strides = reversed(DenseStrides(shape_, tile.output));
    EmitLoop(emitter, run, counts, operands, result);
  }

  // `count` channels of each of `blocks` blocks from channel `first` on.
  void EmitChannels(Emitter* emitter, const isa::Vrun& run, const Tile& tile,
                    int64_t first, int64_t count, int64_t blocks) const {
    // An operand that has one column, row or channel repeats it.
    auto operand = [&](Layout layout, DataType type, const TileView& v,
                       const Shape& own) {
      const Extent e = ExtentOf(own, Layout::kBlocked);
      const bool channels = e.c == channels_.c;
      LoopOperand o;
      o.type = TypeOf(type);
      const bool columns = shape_.size() > 2 && e.w == channels_.w;
      o.base = AddressOf(v, 0, e.h == channels_.h ? tile.row0 : 0,
                         columns ? tile.column0 : 0);
      switch (layout) {
        case Layout::kBlocked:
          if (channels) o.base += first / kBlock * v.plane;
          o.strides = {v.xstep, v.pitch, 1, v.plane};
          break;
        case Layout::kPacked:
          if (channels) o.base += first;
          o.strides = {v.xstep, v.pitch, 1, kBlock};
          break;
        case Layout::kDense: {
          const MixedStrides m = StridesInBlocked(shape_, v);
          if (channels) o.base += first * m.channel;
          o.strides = {m.column, m.row, m.channel, kBlock * m.channel};
          break;
        }
      }
      if (e.w != channels_.w) o.strides[0] = 0;
      if (e.h != channels_.h) o.strides[1] = 0;
      if (!channels) o.strides[2] = o.strides[3] = 0;
      return o;
    };
    std::vector<LoopOperand> operands;
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Source& s = sources_[k];
      if (s.input >= 0) {
        operands.push_back(operand(layouts_[k + 1], types_[k + 1],
                                   tile.inputs[s.input], s.shape));
        continue;
      }
      LoopOperand o;
      const int64_t es = ElementBytes(types_[k + 1]);
      const int64_t step = ElementCount(s.shape) > 1 ? es : 0;
      o.type = TypeOf(types_[k + 1]);
      o.base = tile.constants + s.offset + first * step;
      o.strides = {0, 0, step, kBlock * step};
      operands.push_back(o);
    }
    const int64_t wide = shape_.size() > 2 ? tile.columns : channels_.w;
    std::vector<int64_t> counts = {wide, tile.rows, count, blocks};
    LoopOperand result = operand(layouts_[0], types_[0], tile.output, shape_);
    // Channels that lie beside each other everywhere are the lanes.
    const auto beside = [&](const LoopOperand& o, size_t k) {
      return o.strides[2] == 0 ||
             o.strides[2] == static_cast<int64_t>(ElementBytes(types_[k]));
    };
    bool all_beside = beside(result, 0);
    for (size_t k = 0; k < operands.size(); ++k) {
      all_beside &= beside(operands[k], k + 1);
    }
    if (all_beside) {
      const auto first = [](std::vector<int64_t>* v) {
        std::rotate(v->begin(), v->begin() + 2, v->begin() + 3);
      };
      first(&counts);
      first(&result.strides);
      for (LoopOperand& o : operands) first(&o.strides);
    }
    EmitLoop(emitter, run, counts, operands, result);
  }

  Microprogram program_;
  std::array<uint32_t, 4> arguments_;
  bool copy_;  // moves bits
  Shape shape_;
  Extent extent_;    // of the result
  Extent channels_;  // of the same shape in blocked layout
  std::vector<Source> sources_;
  std::vector<Layout> layouts_;  // result, then operands
  std::vector<DataType> types_;
  bool blocked_ = false;
};

}  // namespace

Operand Operand::PerChannel(const TensorData& values, size_t rank,
                            size_t axis) {
  auto data = std::make_shared<TensorData>(values);
  const int64_t count = values.count();
  data->shape.assign(rank, 1);
  if (rank > 0) data->shape[axis] = count;
  return Constant(data);
}

Operand DenseOperand(Lowering* l, const Node& node, size_t i, size_t rank) {
  const Tensor& tensor = l->tensor(node.inputs[i]);
  // (int64 constants are narrowed where they become values)
  if (tensor.is_constant() && tensor.type != DataType::kInt64 &&
      tensor.constant->bytes.size() <=
          l->config().sram_bytes / kConstantShare) {
    return Operand::Constant(tensor.constant);
  }
  const int value = l->ValueIn(node.inputs[i], Layout::kDense, node);
  if (tensor.shape.size() == rank) return Operand::Of(value);
  Shape padded = tensor.shape;
  padded.insert(padded.begin(), rank - padded.size(), 1);
  return Operand::Of(l->Reshaped(value, padded));
}

namespace {

// A view of `value` in another shape.
int View(DeviceGraph* graph, int value, const Shape& shape) {
  if (graph->values[value].shape == shape) return value;
  graph->StorageOf(value).shared = true;
  Value v = graph->values[value];
  v.shape = shape;
  v.extent = ExtentOf(shape, Layout::kDense);
  graph->values.push_back(v);
  return static_cast<int>(graph->values.size()) - 1;
}

// Bytes of the smallest tile of all operands and the result that is no reason
// to give up the shapes of the graph: much of SRAM, but little where there are
// no rows (rank 1 and 3), which a tile would be made of.
int64_t SmallestTile(const DeviceGraph& graph, bool rows) {
  const int64_t most = rows ? 128 << 10 : 4 << 10;
  const uint64_t share = graph.sram_bytes / (rows ? 4 : 8);
  return share == 0 ? most : std::min(most, static_cast<int64_t>(share));
}

// The shapes of dense operands, and the bytes of the smallest tile of them and
// the result; false if something is not dense.
bool DenseShapes(const DeviceGraph& graph, const std::vector<Operand>& operands,
                 int result, std::vector<Shape>* shapes, int64_t* bytes) {
  const auto row = [&](int value) {
    return RowElements(graph.values[value].shape) *
           static_cast<int64_t>(ElementBytes(graph.StorageOf(value).type));
  };
  if (graph.StorageOf(result).layout != Layout::kDense) return false;
  *bytes = row(result);
  for (const Operand& o : operands) {
    if (o.value < 0) {
      shapes->push_back(o.data->shape);
      continue;
    }
    if (graph.StorageOf(o.value).layout != Layout::kDense) return false;
    shapes->push_back(graph.values[o.value].shape);
    *bytes += row(o.value);
  }
  return true;
}

// Views in which the operation can be cut into smaller tiles, if it needs that.
void FlattenOperands(DeviceGraph* graph, std::vector<Operand>* operands,
                     int* result) {
  Shape shape = graph->values[*result].shape;
  std::vector<Shape> shapes;
  int64_t bytes = 0;
  if (!DenseShapes(*graph, *operands, *result, &shapes, &bytes)) return;
  const bool rows = shape.size() == 2 || shape.size() > 3;
  if (bytes <= SmallestTile(*graph, rows)) return;
  const int64_t before = RowElements(shape);
  if (!Flatten(&shape, &shapes) || RowElements(shape) >= before) return;
  for (size_t k = 0; k < operands->size(); ++k) {
    Operand& o = (*operands)[k];
    if (o.value < 0) {
      auto data = std::make_shared<TensorData>(*o.data);
      data->shape = shapes[k];
      o.data = data;
    } else {
      o.value = View(graph, o.value, shapes[k]);
    }
  }
  *result = View(graph, *result, shape);
}

// Constants that are too large to be held as a whole as values in region 0,
// which are tiled.
void TileConstants(DeviceGraph* graph, std::vector<Operand>* operands,
                   int result) {
  if (graph->sram_bytes == 0) return;
  const size_t rank = graph->values[result].shape.size();
  bool blocked = graph->StorageOf(result).layout != Layout::kDense;
  for (const Operand& o : *operands) {
    blocked = blocked || (o.value >= 0 &&
                          graph->StorageOf(o.value).layout != Layout::kDense);
  }
  for (Operand& o : *operands) {
    if (o.value >= 0 ||
        o.data->bytes.size() <= graph->sram_bytes / kConstantShare) {
      continue;
    }
    Shape shape = o.data->shape;
    if (blocked) {  // it varies along channels
      shape.assign(rank, 1);
      shape[rank <= 2 ? rank - 1 : 1] = o.data->count();
    } else {
      shape.insert(shape.begin(), rank - shape.size(), 1);
    }
    Storage s;
    s.name = "constant";
    s.type = o.data->type;
    s.extent = ExtentOf(shape, Layout::kDense);
    s.region = kWeightRegion;
    s.constant = SharedBytes(o.data, &o.data->bytes);
    graph->storages.push_back(s);
    Value v;
    v.storage = static_cast<int>(graph->storages.size()) - 1;
    v.shape = shape;
    v.extent = s.extent;
    graph->values.push_back(v);
    o = Operand::Of(static_cast<int>(graph->values.size()) - 1);
  }
}

}  // namespace

std::unique_ptr<DeviceOp> MakeElementwise(
    DeviceGraph* graph, const Microprogram& program,
    const std::array<uint32_t, 4>& arguments,
    const std::vector<Operand>& operands, int result) {
  std::vector<Operand> flat = operands;
  FlattenOperands(graph, &flat, &result);
  TileConstants(graph, &flat, result);
  return std::make_unique<Elementwise>(graph, program, arguments, flat, result);
}

void AddElementwise(Lowering* l, const Node& node, const Microprogram& program,
                    const std::array<uint32_t, 4>& arguments,
                    std::vector<Operand> operands, int result) {
  DeviceGraph* graph = &l->device();
  const Shape shape = graph->values[result].shape;
  std::vector<Shape> shapes;
  int64_t bytes = 0;
  const bool many = shape.size() > 4 &&
                    DenseShapes(*graph, operands, result, &shapes, &bytes) &&
                    bytes > SmallestTile(*graph, true);
  // One after another, until few dimensions are left.
  for (size_t k = 0; many && k < operands.size(); ++k) {
    if (!HasManyDims(shape, shapes)) break;
    if (shapes[k] == shape) continue;
    Shape own = shapes[k];
    own.insert(own.begin(), shape.size() - own.size(), 1);
    Operand& o = operands[k];
    if (o.value < 0) {
      o = Operand::Of(ConstantValue(l, absl::StrCat(node.name, "/operand", k),
                                    *o.data, own));
    }
    IndexMap map = IdentityMap(own);
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i] != shape[i]) map.axes[i].assign(shape[i], 0);
    }
    o.value = TakeValue(l, node, View(graph, o.value, own), std::move(map));
    shapes[k] = shape;
  }
  l->Add(MakeElementwise(graph, program, arguments, operands, result), node);
}

}  // namespace heddle::compiler
