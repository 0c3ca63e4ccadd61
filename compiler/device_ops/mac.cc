// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/mac.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/ops/define.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kLanes = isa::kVectorLanes;

double Filled(int64_t n) {
  return static_cast<double>(n) /
         static_cast<double>((n + kLanes - 1) / kLanes * kLanes);
}

// A dimension of one step has no stride.
int32_t Stride(int64_t n, int64_t stride) {
  return n > 1 ? static_cast<int32_t>(stride) : 0;
}

void EmitOne(Emitter* emitter, const MacLoop& loop) {
  const size_t lanes = ChooseLanes(loop);
  MacDim one;
  std::vector<MacDim> order = {loop.dims.empty() ? one : loop.dims[lanes]};
  for (size_t i = 0; i < loop.dims.size(); ++i) {
    if (i != lanes) order.push_back(loop.dims[i]);
  }
  order.resize(4);
  isa::Vmac m;
  m.lanes = order[0].n;
  m.n_o1 = order[1].n;
  m.n_o2 = order[2].n;
  m.n_o3 = order[3].n;
  m.n_r1 = loop.r[0].n;
  m.n_r2 = loop.r[1].n;
  m.n_r3 = loop.r[2].n;
  m.initial = loop.initial;
  m.clamp = loop.clamp.enabled;
  m.clamp_min = loop.clamp.low;
  m.clamp_max = loop.clamp.high;
  auto stream = [&](int64_t base, isa::ElementType type,
                    int64_t MacDim::*stride) {
    isa::Stream s;
    s.base = static_cast<uint32_t>(base);
    s.type = type;
    s.lane_stride = Stride(order[0].n, order[0].*stride);
    s.o1_stride = Stride(order[1].n, order[1].*stride);
    s.o2_stride = Stride(order[2].n, order[2].*stride);
    s.o3_stride = Stride(order[3].n, order[3].*stride);
    return s;
  };
  auto reduce = [&](isa::Stream s, int64_t MacReduction::*stride) {
    s.r1_stride = Stride(loop.r[0].n, loop.r[0].*stride);
    s.r2_stride = Stride(loop.r[1].n, loop.r[1].*stride);
    s.r3_stride = Stride(loop.r[2].n, loop.r[2].*stride);
    return s;
  };
  m.SetA(reduce(stream(loop.a, loop.a_type, &MacDim::a), &MacReduction::a));
  m.SetB(reduce(stream(loop.b, loop.b_type, &MacDim::b), &MacReduction::b));
  isa::Stream unused;
  unused.type = isa::ElementType::kF32;
  m.SetC(loop.initial ? stream(loop.c, loop.c_type, &MacDim::c) : unused);
  m.SetD(stream(loop.d, loop.d_type, &MacDim::d));
  emitter->Append(m);
}

// One part of dimension k of the reduction after another, the chain continuing
// in d.
void EmitParts(Emitter* emitter, const MacLoop& loop, size_t k, int64_t step) {
  for (int64_t done = 0; done < loop.r[k].n; done += step) {
    MacLoop part = loop;
    part.r[k].n = std::min(step, loop.r[k].n - done);
    part.a += done * loop.r[k].a;
    part.b += done * loop.r[k].b;
    if (done > 0) {
      part.initial = true;
      part.c = loop.d;
      part.c_type = loop.d_type;
      for (MacDim& dim : part.dims) dim.c = dim.d;
    }
    if (done + step < loop.r[k].n) part.clamp.enabled = false;
    EmitMac(emitter, part);
  }
}

// Rounds a tensor to the type of another.
class Rounding : public ClonableOp<Rounding> {
 public:
  Rounding(const DeviceGraph& graph, int from, int to)
      : from_(VectorType(graph.StorageOf(from).type)),
        to_(VectorType(graph.StorageOf(to).type)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = channels_tileable = true;
    channel_step = 1;
    OpInput in;
    in.value = from;
    in.rows.kind = in.columns.kind = in.channels.kind = AxisNeed::kSame;
    inputs = {in};
  }
  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const auto operand = [&](const TileView& v, isa::ElementType type) {
      LoopOperand o;
      o.base = AddressOf(v, tile.channel0, tile.row0, tile.column0);
      o.type = type;
      o.strides = {v.xstep, v.pitch, v.plane};
      return o;
    };
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    EmitLoop(emitter, run, {tile.columns, tile.rows, tile.channels},
             {operand(tile.inputs[0], from_)}, operand(tile.output, to_));
  }

 private:
  isa::ElementType from_, to_;
};

// The one element of a constant bound.
bool BoundOf(const Lowering& lowering, const Node& node, size_t i,
             DataType type, float* bound) {
  if (!HasInput(node, i)) return true;
  const TensorData* data = lowering.ConstantInput(node, i);
  if (data == nullptr || data->count() != 1 || data->type != type) return false;
  *bound = type == DataType::kFloat ? *data->as<float>()
                                    : model::F16ToF32(*data->as<uint16_t>());
  return true;
}

}  // namespace

size_t ChooseLanes(const MacLoop& loop) {
  size_t best = 0;
  double best_score = -1;
  for (size_t i = 0; i < loop.dims.size(); ++i) {
    const MacDim& dim = loop.dims[i];
    if (dim.n == 1 && best_score >= 0) continue;
    double score = Filled(dim.n);
    // Both factors differ from lane to lane: no factor is fetched once for all,
    // which costs two streams; worth it only where lanes would stay empty.
    if (dim.a != 0 && dim.b != 0) score *= 0.6;
    // Neighbours in memory are fetched as words.
    const int64_t step = dim.a != 0 ? dim.a : dim.b;
    if (step == 4 || step == 2) score *= 1.05;
    if (dim.d == 4 || dim.d == 2) score *= 1.05;
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best;
}

void EmitMac(Emitter* emitter, MacLoop loop) {
  // Dimensions of one step vanish; neighbours in every operand merge.
  std::vector<MacDim> dims;
  for (const MacDim& dim : loop.dims) {
    if (dim.n == 1) continue;
    bool merged = false;
    for (MacDim& in : dims) {
      merged = in.a * in.n == dim.a && in.b * in.n == dim.b &&
               in.d * in.n == dim.d &&
               (!loop.initial || in.c * in.n == dim.c) &&
               in.n * dim.n <= kMaxLoop;
      if (merged) {
        in.n *= dim.n;
        break;
      }
    }
    if (!merged) dims.push_back(dim);
  }
  loop.dims = std::move(dims);
  for (size_t i = 0; i < loop.dims.size(); ++i) {
    const MacDim dim = loop.dims[i];
    if (dim.n <= kMaxLoop) continue;
    for (int64_t done = 0; done < dim.n; done += kMaxLoop) {
      MacLoop part = loop;
      part.dims[i].n = std::min(kMaxLoop, dim.n - done);
      part.a += done * dim.a;
      part.b += done * dim.b;
      part.c += done * dim.c;
      part.d += done * dim.d;
      EmitMac(emitter, part);
    }
    return;
  }
  // The outer dimensions of the chain one step at a time if an inner one is
  // too long.
  for (size_t k = 3; k-- > 0;) {
    const bool inner =
        (k > 0 && loop.r[0].n > kMaxLoop) || (k > 1 && loop.r[1].n > kMaxLoop);
    if (loop.r[k].n == 1 || (!inner && loop.r[k].n <= kMaxLoop)) continue;
    EmitParts(emitter, loop, k, inner ? 1 : kMaxLoop);
    return;
  }
  EmitOne(emitter, loop);
}

MacClamp FindClamp(const Lowering& l, TensorId id, TensorId* result) {
  MacClamp none;
  *result = id;
  const DataType type = l.graph().tensors[id].type;
  if (l.consumers(id).size() != 1 || l.graph().IsOutput(id)) return none;
  const Node& node = l.graph().nodes[l.consumers(id)[0]];
  if (!node.domain.empty() || node.inputs[0] != id) return none;
  MacClamp clamp;
  clamp.enabled = true;
  if (node.op == "Relu") {
    clamp.low = 0;
    clamp.high = std::numeric_limits<float>::infinity();
  } else if (node.op == "Clip") {
    const float limit =
        type == DataType::kFloat ? std::numeric_limits<float>::max() : 65504.0f;
    clamp.low = node.FloatAttribute("min", -limit);
    clamp.high = node.FloatAttribute("max", limit);
    if (!BoundOf(l, node, 1, type, &clamp.low) ||
        !BoundOf(l, node, 2, type, &clamp.high)) {
      return none;
    }
    // Where rounding to fp16 makes a zero of a small number, the order of
    // rounding and clamping decides on the sign of the zero.
    if (type != DataType::kFloat &&
        (clamp.high == 0 || (clamp.low == 0 && std::signbit(clamp.low)))) {
      return none;
    }
  } else {
    return none;
  }
  *result = node.outputs[0];
  return clamp;
}

Node WithClamp(const Lowering& l, const Node& node, TensorId result) {
  Node both = node;
  if (result == node.outputs[0]) return both;
  const Node& clamp = l.graph().nodes[l.consumers(node.outputs[0])[0]];
  both.sources.insert(both.sources.end(), clamp.sources.begin(),
                      clamp.sources.end());
  return both;
}

int ConstantValue(Lowering* l, const std::string& name, const TensorData& data,
                  const Shape& shape) {
  const int value = l->NewTemporary(name, data.type, shape, Layout::kDense);
  Storage& s = l->device().StorageOf(value);
  s.region = kWeightRegion;
  s.constant = std::make_shared<const TensorBytes>(data.bytes);
  return value;
}

std::unique_ptr<DeviceOp> MakeRounding(const DeviceGraph& graph, int from,
                                       int to) {
  return std::make_unique<Rounding>(graph, from, to);
}

}  // namespace heddle::compiler
