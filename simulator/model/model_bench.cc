// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates per second of CPU time of the fast implementation, on
// commands as a compiler makes them (operands in SRAM; stripes where a whole
// layer does not fit). GMACs counts 1e9; vrun counts micro-operations x lanes.
#include <benchmark/benchmark.h>

#include <vector>

#include "simulator/model/model.h"
#include "simulator/model/numerics.h"

namespace heddle::model {
namespace {

// SRAM words: input, output, weights, parameters.
constexpr uint32_t kIn = 0, kOut = 24000, kWeights = 44000, kParams = 60000;

void RunCommand(benchmark::State& state, const isa::Command& command,
                double lane_ops) {
  std::vector<uint8_t> dram(64);
  FlatMemory memory(dram.data(), dram.size());
  Model model(isa::kH1024, &memory);
  uint32_t seed = 1;
  for (size_t i = 0; i < model.sram_bytes(); i += 4) {
    seed = seed * 1664525u + 1013904223u;
    const float v = 1.0f + static_cast<float>(seed >> 9) / (1 << 23);
    std::memcpy(model.sram() + i, &v, 4);
  }
  // A sigmoid-like microprogram: clamp, square, two Horner chains, divide.
  std::vector<uint64_t> program;
  auto op = [&](isa::MicroOp o, int d, isa::Operand a, isa::Operand b,
                isa::Operand c = isa::Operand::kV0) {
    isa::MicroInstruction m;
    m.op = o;
    m.d = static_cast<isa::Destination>(d);
    m.a = a, m.b = b, m.c = c;
    if (a == isa::Operand::kImm || b == isa::Operand::kImm ||
        c == isa::Operand::kImm) {
      m.imm = Bits(0.125f);
    }
    program.push_back(m.Encode());
  };
  using O = isa::Operand;
  using M = isa::MicroOp;
  op(M::kFmax, 0, O::kStreamA, O::kArg0);
  op(M::kFmin, 0, O::kV0, O::kArg1);
  op(M::kFmul, 1, O::kV0, O::kV0);
  op(M::kFfma, 2, O::kV1, O::kArg2, O::kImm);
  for (int i = 0; i < 3; ++i) op(M::kFfma, 2, O::kV2, O::kV1, O::kImm);
  op(M::kFmul, 2, O::kV2, O::kV0);
  op(M::kFfma, 3, O::kV1, O::kArg3, O::kImm);
  for (int i = 0; i < 4; ++i) op(M::kFfma, 3, O::kV3, O::kV1, O::kImm);
  op(M::kFdiv, 2, O::kV2, O::kV3);
  op(M::kFadd, 2, O::kV2, O::kImm);
  op(M::kFmax, 16, O::kV2, O::kV4);
  std::memcpy(model.sram() + size_t{kParams} * 16, program.data(),
              program.size() * 8);
  std::vector<uint32_t> words;
  isa::Append(command, &words);
  isa::Append(isa::Command(isa::End()), &words);
  uint64_t macs = 0;
  for (auto _ : state) {
    const RunResult r = model.Run(words.data(), words.size() * 4, {});
    if (r.status != isa::Error::kOk) {
      state.SkipWithError(isa::ToString(r.status));
      return;
    }
    macs = r.macs;
  }
  const double per_run = lane_ops > 0 ? lane_ops : static_cast<double>(macs);
  state.counters[lane_ops > 0 ? "Glaneops" : "GMACs"] = benchmark::Counter(
      per_run * static_cast<double>(state.iterations()) * 1e-9,
      benchmark::Counter::kIsRate);
}

isa::Conv Base(uint32_t size, uint32_t rows, uint32_t ci, uint32_t co,
               uint32_t k) {
  isa::Conv c;
  c.ih = rows + k - 1;
  c.iw = c.ow = size;
  c.out_rows = rows;
  c.kh = c.kw = k;
  c.pad_left = static_cast<int32_t>(k / 2);
  c.ci = ci;
  c.co = co;
  c.in_addr = kIn;
  c.out_addr = kOut;
  c.w_addr = kWeights;
  c.param_addr = kParams + 64;
  c.in_pitch = c.out_pitch = size;
  c.in_plane = c.ih * size;
  c.out_plane = rows * size;
  c.za = 120;
  c.w_signed = true;
  c.act_max = 255;
  return c;
}

void Conv3x3(benchmark::State& state) {
  RunCommand(state, Base(56, 56, 64, 64, 3), 0);
}
void Conv3x3TwoRows(benchmark::State& state) {
  RunCommand(state, Base(56, 2, 64, 64, 3), 0);
}
void Conv1x1(benchmark::State& state) {
  RunCommand(state, Base(56, 24, 256, 64, 1), 0);
}
void Depthwise3x3(benchmark::State& state) {
  isa::Conv c = Base(56, 28, 144, 144, 3);
  c.mode = isa::MatrixMode::kDepthwise;
  RunCommand(state, c, 0);
}
void FirstLayer(benchmark::State& state) {
  isa::Conv c = Base(112, 28, 3, 64, 7);
  c.mode = isa::MatrixMode::kFold;
  c.fold_channels = 3;
  c.iw = 224;
  c.sx = c.sy = 2;
  c.ih = 56 + 5;
  c.in_pitch = 224 * 3 / 16;
  RunCommand(state, c, 0);
}
void FullyConnected(benchmark::State& state) {
  isa::Conv c = Base(1, 1, 1024, 240, 1);
  RunCommand(state, c, 0);
}
// 3x3, 16 -> 64 channels, 16 rows of 28 pixels, f32.
void VmacConv(benchmark::State& state) {
  isa::Vmac c;
  c.lanes = 64;
  c.n_r1 = 16;
  c.n_r2 = 3;
  c.n_r3 = 3;
  c.n_o1 = 28;
  c.n_o2 = 16;
  isa::Stream a, b, d;
  a.type = b.type = d.type = isa::ElementType::kF32;
  a.r1_stride = 4;
  a.r2_stride = a.o1_stride = 64;
  a.r3_stride = a.o2_stride = 64 * 30;
  b.base = kWeights * 16;
  b.lane_stride = 4;
  b.r1_stride = 256;
  b.r2_stride = 256 * 16;
  b.r3_stride = 256 * 48;
  d.base = kOut * 16;
  d.lane_stride = 4;
  d.o1_stride = 256;
  d.o2_stride = 256 * 28;
  c.SetA(a);
  c.SetB(b);
  c.SetD(d);
  RunCommand(state, c, 0);
}
void VrunSigmoid(benchmark::State& state) {
  isa::Vrun c;
  c.prog_addr = kParams;
  c.body = 16;
  c.lanes = 16384;
  c.enable_a = true;
  c.store = isa::StoreMode::kBody;
  c.arg0 = Bits(-18.0f);
  c.arg1 = Bits(18.0f);
  c.arg2 = c.arg3 = Bits(0.001f);
  isa::Stream a, d;
  a.type = d.type = isa::ElementType::kF32;
  a.lane_stride = d.lane_stride = 4;
  d.base = kOut * 16;
  c.SetA(a);
  c.SetD(d);
  RunCommand(state, c, 16384.0 * 16);
}

BENCHMARK(Conv3x3);
BENCHMARK(Conv3x3TwoRows);
BENCHMARK(Conv1x1);
BENCHMARK(Depthwise3x3);
BENCHMARK(FirstLayer);
BENCHMARK(FullyConnected);
BENCHMARK(VmacConv);
BENCHMARK(VrunSigmoid);

}  // namespace
}  // namespace heddle::model

BENCHMARK_MAIN();
