// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/conv_op.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kBias = sizeof(float);

class ConvOp : public ClonableOp<ConvOp> {
 public:
  ConvOp(DeviceGraph* graph, const ConvSpec& spec, const ConvCut& cut,
         const ConvWeights& weights, const MacClamp& clamp, int from, int to)
      : spec_(spec),
        cut_(cut),
        clamp_(clamp),
        computed_(weights.data == nullptr),
        in_type_(VectorType(graph->StorageOf(from).type)),
        out_type_(VectorType(graph->StorageOf(to).type)),
        es_(ElementBytes(spec.type)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows = spec.rows;
    in.columns = spec.columns;
    columns_tileable = true;
    in.halo = HaloOf();
    in.channel_slices = cut.channels;
    inputs = {in};
    const int64_t images = graph->values[to].extent.n;
    for (const ConvPhase& p : spec.phases) {
      macs += images * (spec.end_map - spec.first_map) *
              (spec.channels / spec.group) * p.taps[0] * p.taps[1] *
              p.out_count[0] * p.out_count[1];
    }
    has_bias_ = weights.bias_data != nullptr || weights.bias_value >= 0;
    if (computed_) {
      AddWhole(weights.value);
      if (has_bias_) AddWhole(weights.bias_value);
      if (cut_.groups.size() > 1) SliceWeights();
      return;
    }
    groups.clear();
    weights_ = weights;
    for (const std::vector<ConvChunk>& group : cut_.groups) {
      uint64_t bytes = 0;
      for (const ConvChunk& k : group) bytes = k.offset + BytesOf(k);
      groups.push_back({0, AlignToRegion(bytes)});
    }
  }

  void Pack(size_t group, uint8_t* to) const override {
    if (computed_) return;
    for (const ConvChunk& chunk : cut_.groups[group]) {
      PackChunk(chunk, to + chunk.offset);
    }
  }

  std::vector<Microprogram> Programs() const override {
    // Results that no tap reaches are copies of the bias.
    for (const ConvPhase& p : spec_.phases) {
      if (p.taps[0] * p.taps[1] == 0) return {CopyProgram(), ClampProgram()};
    }
    return {};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (const ConvChunk& chunk : cut_.groups[tile.group]) {
      EmitChunk(emitter, tile, chunk);
    }
  }

 private:
  // Rows and columns beyond the image that taps reach.
  Halo HaloOf() const {
    int64_t low[2] = {0, 0}, high[2] = {0, 0};
    for (const ConvPhase& p : spec_.phases) {
      if (p.taps[0] * p.taps[1] == 0) continue;
      for (int d = 0; d < 2; ++d) {
        const int64_t last = p.in_first[d] +
                             (p.out_count[d] - 1) * p.in_step[d] +
                             (p.taps[d] - 1) * p.tap_step[d];
        low[d] = std::max(low[d], -p.in_first[d]);
        high[d] = std::max(high[d], last - (spec_.in[d] - 1));
      }
    }
    Halo halo;
    halo.top = static_cast<int>(low[0]);
    halo.left = static_cast<int>(low[1]);
    halo.bottom = static_cast<int>(high[0]);
    halo.right = static_cast<int>(high[1]);
    return halo;
  }

  void AddWhole(int value) {
    OpInput in;
    in.value = value;
    in.rows.kind = AxisNeed::kWhole;
    inputs.push_back(in);
  }

  // What each group needs of computed weights and bias.
  void SliceWeights() {
    groups.assign(cut_.groups.size(), ConstantGroup());
    const int64_t taps = spec_.kernel[0] * spec_.kernel[1];
    for (const std::vector<ConvChunk>& group : cut_.groups) {
      const ConvChunk& k = group[0];
      const int64_t low = PlaneAt(k.g[0], k.m[0], k.c[0]);
      const int64_t high = PlaneAt(k.g[1] - 1, k.m[1] - 1, k.c[1] - 1);
      inputs[1].column_slices.push_back({low * taps, (high - low + 1) * taps});
      if (!has_bias_) continue;
      const int64_t map = k.g[0] * maps() + k.m[0];
      inputs[2].column_slices.push_back(
          {map, (k.g[1] - 1) * maps() + k.m[1] - map});
    }
  }

  int64_t channels() const { return spec_.channels / spec_.group; }
  int64_t maps() const { return spec_.maps / spec_.group; }

  // Index of a kernel in ONNX's weights.
  int64_t PlaneAt(int64_t g, int64_t m, int64_t c) const {
    return spec_.maps_inside ? (g * channels() + c) * maps() + m
                             : (g * maps() + m) * channels() + c;
  }
  // Index in ONNX's weights, and its steps.
  int64_t WeightAt(const ConvPhase& p, int64_t g, int64_t m, int64_t c,
                   int64_t y, int64_t x) const {
    const int64_t row = p.kernel_first[0] + y * p.kernel_step[0];
    const int64_t column = p.kernel_first[1] + x * p.kernel_step[1];
    return (PlaneAt(g, m, c) * spec_.kernel[0] + row) * spec_.kernel[1] +
           column;
  }

  // Biases, then weights.
  uint64_t BytesOf(const ConvChunk& k) const {
    const int64_t maps = (k.g[1] - k.g[0]) * (k.m[1] - k.m[0]);
    return maps * (kBias + (k.c[1] - k.c[0]) * (k.y[1] - k.y[0]) *
                               (k.x[1] - k.x[0]) * es_);
  }

  void PackChunk(const ConvChunk& k, uint8_t* to) const {
    const ConvPhase& p = spec_.phases[k.phase];
    for (int64_t g = k.g[0]; g < k.g[1]; ++g) {
      for (int64_t m = k.m[0]; m < k.m[1]; ++m) {
        float bias = 0;
        if (weights_.bias_data != nullptr) {
          const int64_t i = g * maps() + m;
          bias = spec_.type == DataType::kFloat
                     ? weights_.bias_data->as<float>()[i]
                     : model::F16ToF32(weights_.bias_data->as<uint16_t>()[i]);
        }
        bias = model::Canonical(bias);
        std::memcpy(to, &bias, kBias);
        to += kBias;
      }
    }
    for (int64_t g = k.g[0]; g < k.g[1]; ++g) {
      for (int64_t c = k.c[0]; c < k.c[1]; ++c) {
        for (int64_t y = k.y[0]; y < k.y[1]; ++y) {
          for (int64_t x = k.x[0]; x < k.x[1]; ++x) {
            for (int64_t m = k.m[0]; m < k.m[1]; ++m) {
              const uint8_t* from = weights_.data->bytes.data() +
                                    WeightAt(p, g, m, c, y, x) * es_;
              std::memcpy(to, from, es_);
              to += es_;
            }
          }
        }
      }
    }
  }

  void EmitChunk(Emitter* emitter, const Tile& tile, const ConvChunk& k) const {
    const ConvPhase& p = spec_.phases[k.phase];
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    // Results of this phase in the rows of the tile.
    const auto index = [&](int d, int64_t at) {
      const int64_t j = at - p.out_first[d] + p.out_step[d] - 1;
      return std::clamp<int64_t>(j < 0 ? 0 : j / p.out_step[d], 0,
                                 p.out_count[d]);
    };
    const int64_t j0 = index(0, tile.row0),
                  j1 = index(0, tile.row0 + tile.rows);
    const int64_t i0 = index(1, tile.column0),
                  i1 = index(1, tile.column0 + tile.columns);
    if (j0 == j1 || i0 == i1) return;
    const int64_t first_map = k.g[0] * maps() + k.m[0];
    MacLoop loop;
    loop.a_type = in_type_;
    loop.b_type = VectorType(spec_.type);
    loop.d_type = out_type_;
    loop.d =
        out.base +
        (p.out_first[0] + j0 * p.out_step[0] - out.row0) * int64_t{out.pitch} +
        (p.out_first[1] + i0 * p.out_step[1]) * int64_t{out.xstep} +
        (first_map - spec_.first_map) * int64_t{out.plane};
    loop.a =
        in.base +
        (p.in_first[0] + j0 * p.in_step[0] + k.y[0] * p.tap_step[0] - in.row0) *
            int64_t{in.pitch} +
        (p.in_first[1] + i0 * p.in_step[1] + k.x[0] * p.tap_step[1]) *
            int64_t{in.xstep} +
        (k.g[0] * channels() + k.c[0]) * int64_t{in.plane};
    MacDim columns, rows, map, group;
    columns.n = i1 - i0;
    columns.a = p.in_step[1] * in.xstep;
    columns.d = p.out_step[1] * out.xstep;
    rows.n = j1 - j0;
    rows.a = p.in_step[0] * in.pitch;
    rows.d = p.out_step[0] * out.pitch;
    map.n = k.m[1] - k.m[0];
    map.d = out.plane;
    group.n = k.g[1] - k.g[0];
    group.a = channels() * in.plane;
    group.d = maps() * out.plane;
    loop.r[0] = {k.x[1] - k.x[0], p.tap_step[1] * in.xstep, 0};
    loop.r[1] = {k.y[1] - k.y[0], p.tap_step[0] * in.pitch, 0};
    loop.r[2] = {k.c[1] - k.c[0], in.plane, 0};
    if (computed_) {
      const auto step = [&](int64_t g, int64_t m, int64_t c, int64_t y,
                            int64_t x) {
        return (WeightAt(p, g, m, c, y, x) - WeightAt(p, 0, 0, 0, 0, 0)) * es_;
      };
      loop.b = tile.inputs[1].base +
               WeightAt(p, k.g[0], k.m[0], k.c[0], k.y[0], k.x[0]) * es_;
      loop.r[0].b = step(0, 0, 0, 0, 1);
      loop.r[1].b = step(0, 0, 0, 1, 0);
      loop.r[2].b = step(0, 0, 1, 0, 0);
      map.b = step(0, 1, 0, 0, 0);
      group.b = step(1, 0, 0, 0, 0);
      if (has_bias_) {
        loop.c = tile.inputs[2].base + first_map * es_;
        loop.c_type = VectorType(spec_.type);
        map.c = es_;
        group.c = maps() * es_;
      }
    } else {
      loop.c = tile.constants + k.offset;
      loop.b = loop.c + group.n * map.n * kBias;
      loop.r[0].b = map.n * es_;
      loop.r[1].b = loop.r[0].n * loop.r[0].b;
      loop.r[2].b = loop.r[1].n * loop.r[1].b;
      map.b = es_;
      group.b = loop.r[2].n * loop.r[2].b;
      map.c = kBias;
      group.c = map.n * kBias;
    }
    loop.initial = has_bias_;
    if (!k.first) {
      loop.initial = true;
      loop.c = loop.d;
      loop.c_type = loop.d_type;
      for (MacDim* dim : {&columns, &rows, &map, &group}) dim->c = dim->d;
    }
    if (k.last) loop.clamp = clamp_;
    loop.dims = {columns, rows, map, group};
    if (p.taps[0] * p.taps[1] == 0) {
      EmitBias(emitter, loop);
    } else {
      EmitMac(emitter, loop);
    }
  }

  void EmitBias(Emitter* emitter, const MacLoop& loop) const {
    isa::Vrun run =
        emitter->Run(clamp_.enabled ? ClampProgram() : CopyProgram());
    if (clamp_.enabled) {
      std::memcpy(&run.arg0, &clamp_.low, sizeof(run.arg0));
      std::memcpy(&run.arg1, &clamp_.high, sizeof(run.arg1));
    }
    run.enable_a = true;
    LoopOperand from, to;
    from.base = static_cast<uint32_t>(loop.c);
    from.type = loop.c_type;
    to.base = static_cast<uint32_t>(loop.d);
    to.type = loop.d_type;
    std::vector<int64_t> counts;
    for (const MacDim& dim : loop.dims) {
      counts.push_back(dim.n);
      from.strides.push_back(dim.c);
      to.strides.push_back(dim.d);
    }
    EmitLoop(emitter, run, counts, {from}, to);
  }

  ConvSpec spec_;
  ConvCut cut_;
  MacClamp clamp_;
  ConvWeights weights_;  // of the graph, which is there throughout
  bool computed_;
  bool has_bias_ = false;
  isa::ElementType in_type_, out_type_;
  int64_t es_;
};

// The cut of a convolution whose weights are a value, and not large: one piece
// per phase.
ConvCut Whole(const ConvSpec& spec) {
  ConvCut cut;
  cut.groups.emplace_back();
  for (size_t i = 0; i < spec.phases.size(); ++i) {
    const ConvPhase& p = spec.phases[i];
    ConvChunk k;
    k.phase = i;
    const auto all = [](int64_t* range, int64_t n) {
      range[0] = 0;
      range[1] = n;
    };
    all(k.g, spec.group);
    all(k.m, spec.maps / spec.group);
    all(k.c, spec.channels / spec.group);
    all(k.y, p.taps[0]);
    all(k.x, p.taps[1]);
    cut.groups[0].push_back(k);
    cut.split = cut.split || p.taps[0] > kMaxLoop || p.taps[1] > kMaxLoop ||
                spec.channels / spec.group > kMaxLoop;
  }
  return cut;
}

// A row of the result of all maps has to fit SRAM twice; where it is too much,
// several operations compute some of the maps each.
int64_t MapsPerOperation(const ConvSpec& spec, const isa::Config& config) {
  constexpr int64_t kBytes = sizeof(float);  // of a sum
  const int64_t sram = config.sram_bytes;
  const int64_t map = spec.out[1] * kBytes;
  if (spec.maps * map <= sram / 4) return spec.maps;
  const int64_t unit = spec.maps / spec.group;
  if (spec.group > 1) {
    return unit * std::max<int64_t>(1, sram / 8 / (map * unit));
  }
  const int64_t step = std::max<int64_t>(1, sram / 8 / map);
  return step <= isa::kVectorLanes ? step : step - step % isa::kVectorLanes;
}

}  // namespace

std::unique_ptr<DeviceOp> MakeConvOp(DeviceGraph* graph, const ConvSpec& spec,
                                     const ConvCut& cut,
                                     const ConvWeights& weights,
                                     const MacClamp& clamp, int from, int to) {
  return std::make_unique<ConvOp>(graph, spec, cut, weights, clamp, from, to);
}

absl::Status LowerConvolution(Lowering* l, const Node& node,
                              const ConvSpec& original) {
  // An image of one row is cut into tiles of columns if it is long.
  const int64_t es = ElementBytes(original.type);
  const bool line =
      original.in[0] == 1 && original.out[0] == 1 && original.kernel[0] == 1;
  const int64_t row =
      (original.channels * original.in[1] + original.maps * original.out[1]) *
      es;
  const bool turn =
      line && 4 * row > static_cast<int64_t>(l->config().sram_bytes);
  ConvSpec spec = turn ? Turned(original) : original;
  spec.end_map = spec.maps;
  DeviceGraph* device = &l->device();
  ConvWeights weights;
  weights.data = l->ConstantInput(node, 1);
  if (HasInput(node, 2)) weights.bias_data = l->ConstantInput(node, 2);
  const bool no_taps = std::any_of(
      spec.phases.begin(), spec.phases.end(),
      [](const ConvPhase& p) { return p.taps[0] * p.taps[1] == 0; });
  const bool computed =
      weights.data == nullptr || (HasInput(node, 2) && !weights.bias_data);
  if (computed && no_taps) {
    return RejectNode(Rejection::kUnsupportedAttribute, node,
                      "weights and bias must be constants where the strides "
                      "leave results without any tap");
  }
  int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int64_t images = l->tensor(node.inputs[0]).shape[0];
  if (turn) {
    from = l->Reshaped(from, {images, spec.channels, spec.in[0], 1});
  }
  if (computed) {
    const auto flat = [&](size_t i) {
      const int64_t count = ElementCount(l->tensor(node.inputs[i]).shape);
      return l->Reshaped(l->ValueIn(node.inputs[i], Layout::kDense, node),
                         {count});
    };
    weights = ConvWeights();
    weights.value = flat(1);
    if (HasInput(node, 2)) weights.bias_value = flat(2);
  }
  TensorId result = node.outputs[0];
  const MacClamp clamp = FindClamp(*l, result, &result);
  const Node done = WithClamp(*l, node, result);
  const Tensor& tensor = l->tensor(result);
  const Shape shape =
      turn ? Shape{images, spec.maps, spec.out[0], 1} : tensor.shape;
  int to = -1;
  if (turn) {
    to = l->NewTemporary(tensor.name, tensor.type, shape, Layout::kDense);
    l->Bind(result, l->Reshaped(to, tensor.shape));
  } else {
    to = l->NewValue(result, Layout::kDense);
  }
  const bool small =
      computed && l->device().StorageOf(weights.value).DramBytes() <=
                      l->config().sram_bytes / 8;
  const int64_t step =
      computed || images > 1 ? spec.maps : MapsPerOperation(spec, l->config());
  for (int64_t first = 0; first < spec.maps; first += step) {
    spec.first_map = first;
    spec.end_map = std::min(spec.maps, first + step);
    int part = to;
    Shape part_shape = shape;
    if (step < spec.maps) {
      part_shape[1] = spec.end_map - first;
      part = l->Part(to, first * spec.out[0] * spec.out[1] * es, part_shape);
    }
    const ConvCut cut =
        computed && small ? Whole(spec) : CutConv(spec, l->config(), computed);
    int sum = part;
    if (cut.split && spec.type != DataType::kFloat) {
      sum = l->NewTemporary(tensor.name + "/sum", DataType::kFloat, part_shape,
                            Layout::kDense);
    }
    l->Add(MakeConvOp(device, spec, cut, weights, clamp, from, sum), done);
    if (sum != part) l->Add(MakeRounding(*device, sum, part), done);
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
