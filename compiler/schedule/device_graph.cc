// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/device_graph.h"

#include <algorithm>
#include <utility>

namespace heddle::compiler {
namespace {

int64_t RoundUp(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

Extent ExtentOf(const Shape& shape, Layout layout) {
  Extent e;
  const bool channels_last = layout != Layout::kDense && shape.size() <= 2;
  const size_t rank = shape.size();
  if (rank <= 2) {
    if (rank == 2) e.h = shape[0];
    if (rank >= 1) (channels_last ? e.c : e.w) = shape.back();
  } else {
    e.n = shape[0];
    e.w = shape[rank - 1];
    if (rank > 3) e.h = shape[rank - 2];
    for (size_t i = 1; i < (rank == 3 ? 2 : rank - 2); ++i) e.c *= shape[i];
  }
  if (channels_last) {
    e.dense_c = 1;
    e.dense_w = e.c;
    e.dense_h = e.c;
    e.dense_n = e.c * e.h;
  } else {
    e.dense_w = 1;
    e.dense_h = e.w;
    e.dense_c = e.w * e.h;
    e.dense_n = e.dense_c * e.c;
  }
  return e;
}

Geometry GeometryOf(const Extent& e, Layout layout, size_t element_bytes,
                    int64_t rows, const Halo& halo) {
  // In 64 bits: `bytes` must be true also where distances do not fit their 32
  // bits, so that the memory plan finds no place for such a tensor.
  Geometry g;
  uint64_t pitch = 0, plane = 1;
  switch (layout) {
    case Layout::kDense:
      g.xstep = element_bytes;
      pitch = uint64_t(e.w + halo.left + halo.right) * element_bytes;
      plane = pitch * (rows + halo.top + halo.bottom);
      g.bytes = plane * e.c;
      g.origin = halo.top * pitch + halo.left * g.xstep;
      break;
    case Layout::kBlocked:
      g.xstep = isa::kWordBytes;
      pitch = uint64_t(e.w) * g.xstep;
      plane = pitch * rows;
      g.bytes = plane * ((e.c + 15) / 16);
      break;
    case Layout::kPacked:
      g.xstep = e.c;
      pitch = RoundUp(e.w * e.c, isa::kWordBytes);
      g.bytes = pitch * rows;
      break;
  }
  g.pitch = static_cast<uint32_t>(pitch);
  g.plane = static_cast<uint32_t>(plane);
  return g;
}

uint64_t Storage::DramBytes() const {
  if (dram_dense()) {
    return extent.n * extent.c * extent.h * extent.w * ElementBytes(type);
  }
  return extent.n *
         GeometryOf(extent, layout, ElementBytes(type), extent.h, Halo()).bytes;
}

uint64_t Storage::SramBytes() const {
  return extent.n *
         GeometryOf(extent, layout, ElementBytes(type), extent.h, halo).bytes;
}

isa::Vrun Emitter::Run(const Microprogram& program) const {
  isa::Vrun run;
  run.prog_addr = program_address->at(program.Bytes()) / isa::kWordBytes;
  run.prologue = program.prologue.size();
  run.body = program.body.size();
  run.epilogue = program.epilogue.size();
  return run;
}

uint64_t AlignToRegion(uint64_t bytes) {
  return (bytes + isa::kRegionAlign - 1) / isa::kRegionAlign *
         isa::kRegionAlign;
}

void DeviceOp::Pack(size_t, uint8_t* to) const {
  if (constants_) std::copy(constants_->begin(), constants_->end(), to);
}

void DeviceOp::SetConstants(std::vector<uint8_t> bytes) {
  groups = {ConstantGroup{0, AlignToRegion(bytes.size())}};
  constants_ = std::make_shared<const TensorBytes>(std::move(bytes));
}

DeviceGraph DeviceGraph::Clone() const {
  DeviceGraph graph;
  graph.storages = storages;
  graph.values = values;
  for (const auto& op : ops) graph.ops.push_back(op->Clone());
  graph.sram_bytes = sram_bytes;
  graph.inputs = inputs;
  graph.outputs = outputs;
  graph.taps = taps;
  graph.io_bytes = io_bytes;
  return graph;
}

}  // namespace heddle::compiler
