// SPDX-License-Identifier: Apache-2.0
// Runs layers on the verilated matrix engine, SRAM and load DMA, compares every
// output byte with a naive convolution, and measures cycles from the acceptance
// of the command to the last visible write. The floors on utilisation are those
// of the design: 3x3 and 1x1 90 %, depthwise 50 %, first layer 75 % of C x K
// multiplications per cycle, also with the load DMA writing a word per cycle.
//
// Layouts are those of the instruction set: NC/16HW16 or packed rows, packed
// weight tiles, parameters of 4 words bias and 4 words scale per 16 channels.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vcore_bench.h"

namespace heddle {
namespace {

#ifndef BENCH_C
#define BENCH_C 16
#endif
#ifndef BENCH_K
#define BENCH_K 16
#endif
constexpr int kC = BENCH_C;
constexpr int kK = BENCH_K;
constexpr int kWord = 16;
constexpr int kAccPixels = 256;
constexpr int kFoldRows = 4;
constexpr int kSramWords = kK == 32 ? 65536 : 32768;
constexpr int kDmaWords =
    1024;  // region at the top that the competing DMA fills

enum Mode { kConv = 0, kDepthwise = 1, kFold = 2 };

using Word = std::array<uint8_t, kWord>;

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

struct Layer {
  std::string name;
  Mode mode = kConv;
  int ci = 16, h = 8, w = 8, co = 16;
  int kh = 1, kw = 1, sy = 1, sx = 1, dy = 1, dx = 1;
  int pt = 0, pl = 0, pb = 0, pr = 0;
  bool a_signed = false, w_signed = true;
  int za = 0, zw = 0, zo = 0, lo = 0, hi = 255;
  int pitch_pad = 0;  // extra words per input row
  int out_xstep = 1;  // words between output columns
  int oh() const { return (h + pt + pb - dy * (kh - 1) - 1) / sy + 1; }
  int ow() const { return (w + pl + pr - dx * (kw - 1) - 1) / sx + 1; }
  int64_t macs() const {
    return int64_t{1} * oh() * ow() * kh * kw * co *
           (mode == kDepthwise ? 1 : ci);
  }
};

Layer Conv(std::string name, int ci, int hw, int co, int k, int s, int p) {
  Layer l;
  l.name = std::move(name);
  l.ci = ci;
  l.h = l.w = hw;
  l.co = co;
  l.kh = l.kw = k;
  l.sy = l.sx = s;
  l.pt = l.pl = l.pb = l.pr = p;
  l.za = 128;
  return l;
}

Layer Depthwise(std::string name, int c, int hw, int k, int s, int p) {
  Layer l = Conv(std::move(name), c, hw, c, k, s, p);
  l.mode = kDepthwise;
  return l;
}

Layer Fold(std::string name, int c, int hw, int co, int k, int s, int p) {
  Layer l = Conv(std::move(name), c, hw, co, k, s, p);
  l.mode = kFold;
  return l;
}

// Tensors of a layer, plainly indexed, and the expected output codes.
struct Data {
  std::vector<int> in;      // [ci][h][w] codes
  std::vector<int> weight;  // [co][ci or 1][kh][kw] codes
  std::vector<int32_t> bias;
  std::vector<float> scale;
  std::vector<int> out;  // [co][oh][ow] codes
};

Data MakeData(const Layer& l, uint32_t seed) {
  std::mt19937 rng(seed);
  auto code = [&rng](bool is_signed) {
    int v = static_cast<int>(rng() & 255);
    return is_signed ? v - 128 : v;
  };
  Data d;
  const int wci = l.mode == kDepthwise ? 1 : l.ci;
  d.in.resize(l.ci * l.h * l.w);
  for (int& v : d.in) v = code(l.a_signed);
  d.weight.resize(l.co * wci * l.kh * l.kw);
  for (int& v : d.weight) v = code(l.w_signed);
  const float spread =
      std::sqrt(static_cast<float>(wci * l.kh * l.kw)) * 74 * 74;
  for (int o = 0; o < l.co; o++) {
    d.bias.push_back(static_cast<int32_t>(rng() % 20001) - 10000);
    d.scale.push_back((20 + rng() % 80) / spread);
  }
  const int oh = l.oh(), ow = l.ow();
  d.out.resize(l.co * oh * ow);
  for (int o = 0; o < l.co; o++) {
    for (int y = 0; y < oh; y++) {
      for (int x = 0; x < ow; x++) {
        int32_t acc = d.bias[o];
        for (int c = 0; c < wci; c++) {
          const int* plane = &d.in[(l.mode == kDepthwise ? o : c) * l.h * l.w];
          for (int ky = 0; ky < l.kh; ky++) {
            const int iy = y * l.sy - l.pt + ky * l.dy;
            if (iy < 0 || iy >= l.h) continue;
            for (int kx = 0; kx < l.kw; kx++) {
              const int ix = x * l.sx - l.pl + kx * l.dx;
              if (ix < 0 || ix >= l.w) continue;
              acc += (plane[iy * l.w + ix] - l.za) *
                     (d.weight[((o * wci + c) * l.kh + ky) * l.kw + kx] - l.zw);
            }
          }
        }
        const float v = static_cast<float>(acc) * d.scale[o];
        const float c = std::min(std::max(v, static_cast<float>(l.lo - l.zo)),
                                 static_cast<float>(l.hi - l.zo));
        d.out[(o * oh + y) * ow + x] =
            static_cast<int>(std::nearbyint(c)) + l.zo;
      }
    }
  }
  return d;
}

// Activations as NC/16HW16; the lanes behind the last channel hold garbage, as
// their weights are 0.
std::vector<Word> PackBlocked(const Layer& l, const Data& d, int pitch) {
  std::vector<Word> m(CeilDiv(l.ci, 16) * l.h * pitch);
  for (size_t i = 0; i < m.size(); i++) m[i].fill(static_cast<uint8_t>(i * 7));
  for (int c = 0; c < l.ci; c++)
    for (int y = 0; y < l.h; y++)
      for (int x = 0; x < l.w; x++)
        m[((c / 16) * l.h + y) * pitch + x][c % 16] =
            static_cast<uint8_t>(d.in[(c * l.h + y) * l.w + x]);
  return m;
}

std::vector<Word> PackRows(const Layer& l, const Data& d, int pitch) {
  std::vector<Word> m(l.h * pitch);
  for (size_t i = 0; i < m.size(); i++) m[i].fill(static_cast<uint8_t>(i * 7));
  for (int c = 0; c < l.ci; c++)
    for (int y = 0; y < l.h; y++)
      for (int x = 0; x < l.w; x++) {
        const int byte = x * l.ci + c;
        m[y * pitch + byte / 16][byte % 16] =
            static_cast<uint8_t>(d.in[(c * l.h + y) * l.w + x]);
      }
  return m;
}

// Fold vectors as the instruction set defines them: pairs (row, byte of the
// segment).
std::vector<std::vector<std::pair<int, int>>> FoldVectors(const Layer& l) {
  const int len = l.kw * l.ci;
  std::vector<std::vector<std::pair<int, int>>> vectors;
  for (int r = 0, q = 0; r < l.kh;) {
    std::vector<std::pair<int, int>> v;
    const int r0 = r;
    while (r < l.kh && r < r0 + kFoldRows && static_cast<int>(v.size()) < kC) {
      v.emplace_back(r, q);
      if (++q == len) {
        q = 0;
        r++;
      }
    }
    vectors.push_back(v);
  }
  return vectors;
}

std::vector<Word> PackWeights(const Layer& l, const Data& d) {
  std::vector<uint8_t> bytes;
  const int wci = l.mode == kDepthwise ? 1 : l.ci;
  auto at = [&](int o, int c, int ky, int kx) {
    if (o >= l.co || c >= wci) return static_cast<uint8_t>(l.zw);
    return static_cast<uint8_t>(
        d.weight[((o * wci + c) * l.kh + ky) * l.kw + kx]);
  };
  if (l.mode == kDepthwise) {
    for (int cb = 0; cb < CeilDiv(l.co, 16); cb++)
      for (int ky = 0; ky < l.kh; ky++)
        for (int kx = 0; kx < l.kw; kx++)
          for (int c = 0; c < 16; c++)
            bytes.push_back(at(cb * 16 + c, 0, ky, kx));
  } else if (l.mode == kConv) {
    for (int cob = 0; cob < CeilDiv(l.co, kK); cob++)
      for (int ky = 0; ky < l.kh; ky++)
        for (int kx = 0; kx < l.kw; kx++)
          for (int cib = 0; cib < CeilDiv(l.ci, kC); cib++)
            for (int k = 0; k < kK; k++)
              for (int c = 0; c < kC; c++)
                bytes.push_back(at(cob * kK + k, cib * kC + c, ky, kx));
  } else {
    const auto vectors = FoldVectors(l);
    for (int cob = 0; cob < CeilDiv(l.co, kK); cob++)
      for (const auto& v : vectors)
        for (int k = 0; k < kK; k++)
          for (int j = 0; j < kC; j++)
            bytes.push_back(j < static_cast<int>(v.size())
                                ? at(cob * kK + k, v[j].second % l.ci,
                                     v[j].first, v[j].second / l.ci)
                                : static_cast<uint8_t>(l.zw));
  }
  std::vector<Word> m(bytes.size() / kWord);
  std::memcpy(m.data(), bytes.data(), bytes.size());
  return m;
}

std::vector<Word> PackParams(const Layer& l, const Data& d) {
  const int block = l.mode == kDepthwise ? 16 : kK;
  const int channels = CeilDiv(l.co, block) * block;
  std::vector<Word> m(channels / 2);
  for (int o = 0; o < l.co; o++) {
    Word* base = &m[o / 16 * 8];
    std::memcpy(&base[o % 16 / 4][o % 4 * 4], &d.bias[o], 4);
    std::memcpy(&base[4 + o % 16 / 4][o % 4 * 4], &d.scale[o], 4);
  }
  return m;
}

struct Measure {
  int64_t cycles = 0;
  double util = 0;
  int64_t dma_words = 0;
  int64_t wait_weight = 0, wait_operand = 0, wait_output = 0;
};

class Bench {
 public:
  Bench() : top_(std::make_unique<Vcore_bench>()) {
    top_->rst_ni = 0;
    top_->cmd_valid_i = 0;
    top_->dma_start_i = 0;
    top_->dma_valid_i = 0;
    top_->rd_req_i = 0;
    for (int i = 0; i < 4; i++) Tick();
    top_->rst_ni = 1;
    Tick();
  }

  void Tick() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
    cycle_++;
  }

  // Through the load DMA, a word per cycle.
  void Write(int addr, const std::vector<Word>& words) {
    top_->dma_base_i = addr;
    top_->dma_count_i = words.size();
    top_->dma_start_i = 1;
    Tick();
    top_->dma_start_i = 0;
    size_t i = 0;
    for (int guard = 0; i < words.size() || top_->dma_busy_o; guard++) {
      ASSERT_LT(guard, 10000000) << "load DMA hangs";
      top_->dma_valid_i = i < words.size();
      if (i < words.size()) std::memcpy(&top_->dma_data_i, &words[i], kWord);
      Settle();
      const bool moved = top_->dma_valid_i && top_->dma_ready_o;
      Tick();
      if (moved) i++;
    }
    top_->dma_valid_i = 0;
  }

  Word Read(int addr) {
    top_->rd_req_i = 1;
    top_->rd_addr_i = addr;
    Tick();  // nothing else runs: granted at once
    top_->rd_req_i = 0;
    Tick();
    Settle();
    Word w;
    std::memcpy(&w, &top_->rd_data_o, kWord);
    return w;
  }

  Vcore_bench* top() { return top_.get(); }
  int64_t cycle() const { return cycle_; }

  // Combinational outputs for the inputs just set, before the clock edge.
  void Settle() {
    top_->clk_i = 0;
    top_->eval();
  }

  // Gives the commands one after the other as fast as they are taken and runs
  // until all writes are visible. With dma, the load DMA writes its region
  // again and again meanwhile.
  template <typename SetCommand>
  Measure Run(int commands, bool dma, SetCommand set) {
    Measure m;
    int given = 0;
    int64_t start = -1;
    uint32_t pattern = 1;
    for (int64_t guard = 0;; guard++) {
      if (guard > 20000000) {
        ADD_FAILURE() << "matrix engine hangs";
        break;
      }
      top_->cmd_valid_i = given < commands;
      if (given < commands) set(given);
      top_->dma_start_i = dma && !top_->dma_busy_o;
      top_->dma_base_i = kSramWords - kDmaWords;
      top_->dma_count_i = kDmaWords;
      top_->dma_valid_i = dma;
      SetPattern(pattern);
      Settle();
      const bool taken = top_->cmd_valid_i && top_->cmd_ready_o;
      if (taken && start < 0) start = cycle_;
      if (given == commands && top_->idle_o) break;
      const bool moved = top_->dma_valid_i && top_->dma_ready_o;
      m.dma_words += moved;
      pattern += moved ? 4 : 0;
      m.wait_weight += top_->wait_weight_o;
      m.wait_operand += top_->wait_operand_o;
      m.wait_output += top_->wait_output_o;
      Tick();
      given += taken;
    }
    m.cycles = cycle_ - start;
    top_->dma_start_i = 0;
    for (int guard = 0; dma && top_->dma_busy_o && guard < 100000; guard++) {
      SetPattern(pattern);
      Settle();
      pattern += top_->dma_ready_o ? 4 : 0;
      Tick();
    }
    top_->dma_valid_i = 0;
    return m;
  }

  void SetPattern(uint32_t first) {
    for (uint32_t i = 0; i < 4; i++) top_->dma_data_i[i] = first + i;
  }

 private:
  std::unique_ptr<Vcore_bench> top_;
  int64_t cycle_ = 0;
};

// A layer placed in SRAM.
struct Placed {
  Layer layer;
  Data data;
  int ibase, ipitch, iplane, wbase, pbase, obase, opitch, oplane, end;
};

Placed Place(Bench* bench, const Layer& l, int base, uint32_t seed) {
  Placed p{l, MakeData(l, seed), 0, 0, 0, 0, 0, 0, 0, 0, 0};
  p.ibase = base;
  p.ipitch = (l.mode == kFold ? CeilDiv(l.w * l.ci, 16) : l.w) + l.pitch_pad;
  p.iplane = p.ipitch * l.h;
  const auto in = l.mode == kFold ? PackRows(l, p.data, p.ipitch)
                                  : PackBlocked(l, p.data, p.ipitch);
  const auto weights = PackWeights(l, p.data);
  const auto params = PackParams(l, p.data);
  // conv reads C/16 blocks at a time: the last ones may lie behind the tensor,
  // with weight zero.
  p.pbase = base + CeilDiv(CeilDiv(l.ci, 16), kC / 16) * (kC / 16) * p.iplane;
  p.wbase = p.pbase + params.size();
  p.obase = p.wbase + weights.size();
  p.opitch = l.ow() * l.out_xstep;
  p.oplane = p.opitch * l.oh();
  const int oblocks =
      l.mode == kDepthwise ? CeilDiv(l.co, 16) : CeilDiv(l.co, kK) * (kK / 16);
  p.end = p.obase + oblocks * p.oplane;
  EXPECT_LE(p.end, kSramWords - kDmaWords) << l.name << " does not fit";
  bench->Write(p.ibase, in);
  bench->Write(p.pbase, params);
  bench->Write(p.wbase, weights);
  // A recognisable value, so that a missing write is seen.
  Word mark;
  mark.fill(0xa5);
  bench->Write(p.obase, std::vector<Word>(p.end - p.obase, mark));
  return p;
}

int Stripe(const Layer& l) {
  int passes = 0;
  if (l.mode == kConv) {
    passes = CeilDiv(l.ci, kC) * l.kh * l.kw;
  } else if (l.mode == kFold) {
    passes = static_cast<int>(FoldVectors(l).size());
  } else {
    passes = CeilDiv(l.kh, std::min(l.kh, l.kw > 5 ? 2 : 3));
  }
  if (passes == 1) return l.oh();
  // Stripes of equal height: a short last one would not hide the tile loads.
  const int stripes = CeilDiv(l.oh(), std::max(1, kAccPixels / l.ow()));
  return CeilDiv(l.oh(), stripes);
}

void SetCommand(Vcore_bench* t, const Placed& p, bool barrier = false) {
  const Layer& l = p.layer;
  t->mode = l.mode;
  t->barrier = barrier;
  t->a_signed = l.a_signed;
  t->w_signed = l.w_signed;
  t->za = l.za & 0x1ff;
  t->zw = l.zw & 0x1ff;
  t->ibase = p.ibase;
  t->ipitch = p.ipitch;
  t->iplane = p.iplane;
  t->ixstep = 1;
  t->iw = l.w;
  t->ih = l.h;
  t->iy0 = -l.pt & 0xffff;
  t->pl = l.pl & 0xffff;
  t->ow = l.ow();
  t->oh = l.oh();
  t->srows = Stripe(l);
  t->kh = l.kh;
  t->kw = l.kw;
  t->sy = l.sy;
  t->sx = l.sx;
  t->dy = l.dy;
  t->dx = l.dx;
  t->cib = CeilDiv(l.ci, kC);
  t->cob = CeilDiv(l.co, l.mode == kDepthwise ? 16 : kK);
  t->cpix = l.mode == kFold ? l.ci : 0;
  t->wbase = p.wbase;
  t->pbase = p.pbase;
  t->obase = p.obase;
  t->opitch = p.opitch;
  t->oplane = p.oplane;
  t->oxstep = l.out_xstep;
  t->ozp = l.zo & 0x1ff;
  t->olo = l.lo & 0x1ff;
  t->ohi = l.hi & 0x1ff;
}

void ExpectOutput(Bench* bench, const Placed& p) {
  const Layer& l = p.layer;
  int wrong = 0;
  for (int cb = 0; cb < CeilDiv(l.co, 16); cb++) {
    for (int y = 0; y < l.oh(); y++) {
      for (int x = 0; x < l.ow(); x++) {
        const Word w = bench->Read(p.obase + cb * p.oplane + y * p.opitch +
                                   x * l.out_xstep);
        for (int c = 0; c < 16 && cb * 16 + c < l.co; c++) {
          const int want =
              p.data.out[((cb * 16 + c) * l.oh() + y) * l.ow() + x];
          if (w[c] != static_cast<uint8_t>(want) && ++wrong <= 5)
            ADD_FAILURE() << l.name << ": channel " << cb * 16 + c << " y " << y
                          << " x " << x << ": got " << int{w[c]} << ", want "
                          << want;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0) << l.name << ": wrong bytes";
}

Measure RunLayer(Bench* bench, const Layer& l, bool dma, uint32_t seed = 1) {
  const Placed p = Place(bench, l, 5, seed);
  Measure m = bench->Run(1, dma, [&](int) { SetCommand(bench->top(), p); });
  ExpectOutput(bench, p);
  m.util =
      static_cast<double>(l.macs()) / (static_cast<double>(m.cycles) * kC * kK);
  return m;
}

void Report(const Layer& l, const char* load, const Measure& m) {
  std::printf(
      "%-28s %-4s %9lld cycles %6.2f %%  DMA %5.1f %%  waits: operand %lld "
      "weight %lld output %lld\n",
      l.name.c_str(), load, static_cast<long long>(m.cycles), 100 * m.util,
      100.0 * m.dma_words / m.cycles, static_cast<long long>(m.wait_operand),
      static_cast<long long>(m.wait_weight),
      static_cast<long long>(m.wait_output));
}

// Floors apply with and without the competing DMA.
void ExpectFloor(const Layer& l, double floor) {
  Bench bench;
  for (bool dma : {false, true}) {
    const Measure m = RunLayer(&bench, l, dma);
    Report(l, dma ? "DMA" : "-", m);
    EXPECT_GE(m.util, floor) << l.name << (dma ? " with DMA" : "");
  }
}

TEST(Utilisation, Conv3x3) {
  ExpectFloor(Conv("3x3 64->64 @28", 64, 28, 64, 3, 1, 1), 0.90);
  ExpectFloor(Conv("3x3 s2 64->64 @28", 64, 28, 64, 3, 2, 1), 0.90);
  ExpectFloor(Conv("3x3 128->64 @14", 128, 14, 64, 3, 1, 1), 0.90);
  ExpectFloor(Conv("3x3 128->64 @7", 128, 7, 64, 3, 1, 1), 0.90);
}

TEST(Utilisation, Conv1x1) {
  ExpectFloor(Conv("1x1 64->256 @28", 64, 28, 256, 1, 1, 0), 0.90);
  ExpectFloor(Conv("1x1 32->96 @56", 32, 56, 96, 1, 1, 0), 0.90);
  ExpectFloor(Conv("1x1 s2 128->128 @28", 128, 28, 128, 1, 2, 0), 0.90);
  ExpectFloor(Conv("1x1 960->160 @7", 960, 7, 160, 1, 1, 0), 0.90);
}

TEST(Utilisation, FirstLayer) {
  ExpectFloor(Fold("7x7 s2 3->64 @96", 3, 96, 64, 7, 2, 3), 0.75);
  ExpectFloor(Fold("7x7 s2 3->32 @112", 3, 112, 32, 7, 2, 3), 0.75);
  ExpectFloor(Fold("3x3 s2 3->32 @112", 3, 112, 32, 3, 2, 1), 0.75);
}

// One pixel of 16 channels per cycle in every configuration; larger arrays need
// two pixels per cycle.
TEST(Utilisation, Depthwise) {
  for (int s : {1, 2})
    for (int hw : {112, 56, 28, 14}) {
      const int c = hw == 112 ? 16 : hw == 56 ? 64 : 192;
      ExpectFloor(Depthwise("dw 3x3 s" + std::to_string(s) + " c" +
                                std::to_string(c) + " @" + std::to_string(hw),
                            c, hw, 3, s, 1),
                  0.50 * 256 / (kC * kK));
    }
}

Layer RandomLayer(std::mt19937* rng) {
  auto pick = [rng](int lo, int hi) {
    return lo + static_cast<int>((*rng)() % (hi - lo + 1));
  };
  for (;;) {
    Layer l;
    const int kind = pick(0, 2);
    l.mode = kind == 0 ? kConv : kind == 1 ? kFold : kDepthwise;
    l.ci = l.mode == kFold ? pick(1, 8) : pick(1, 70);
    l.co = l.mode == kDepthwise ? l.ci : pick(1, 70);
    l.h = pick(1, 20);
    l.w = pick(1, 40);
    l.kh = pick(1, l.mode == kDepthwise ? 8 : 5);
    l.kw = pick(1, l.mode == kDepthwise ? 8 : 5);
    l.sy = pick(1, 3);
    l.sx = pick(1, l.mode == kDepthwise ? 5 : 3);
    if (l.mode == kConv) {
      l.dy = pick(1, 3);
      l.dx = pick(1, 3);
    }
    l.pt = pick(0, l.kh);
    l.pb = pick(0, l.kh);
    l.pl =
        pick(-2, l.kw + 1);  // negative: a command that starts inside the image
    l.pr = pick(0, l.kw + 1);
    l.a_signed = pick(0, 1);
    l.w_signed = pick(0, 1);
    l.za = pick(0, 255) - (l.a_signed ? 128 : 0);
    l.zw = pick(0, 255) - (l.w_signed ? 128 : 0);
    l.zo = pick(0, 255);
    l.lo = pick(0, 20);
    l.hi = pick(200, 255);
    l.pitch_pad = pick(0, 3);
    if (l.h + l.pt + l.pb < l.dy * (l.kh - 1) + 1) continue;
    if (l.w + l.pl + l.pr < l.dx * (l.kw - 1) + 1) continue;
    if (l.mode == kFold && l.sx * l.ci > 48) continue;
    char name[160];
    std::snprintf(name, sizeof(name),
                  "mode %d %dx%dx%d co %d k %dx%d s %d,%d d %d,%d pt %d pl %d",
                  l.mode, l.ci, l.h, l.w, l.co, l.kh, l.kw, l.sy, l.sx, l.dy,
                  l.dx, l.pt, l.pl);
    l.name = name;
    return l;
  }
}

TEST(Values, RandomLayersEqualNaiveConvolution) {
  std::mt19937 rng(7);
  Bench bench;
  for (int i = 0; i < 120 && !HasFailure(); i++)
    RunLayer(&bench, RandomLayer(&rng), i % 2 == 1, i);
}

TEST(Values, CommandsBackToBackDoNotDisturbEachOther) {
  std::mt19937 rng(11);
  for (int round = 0; round < 8 && !HasFailure(); round++) {
    Bench bench;
    std::vector<Placed> placed;
    int base = 3;
    for (int i = 0; i < 5; i++) {
      Layer l = RandomLayer(&rng);
      placed.push_back(Place(&bench, l, base, i));
      base = placed.back().end + 1;
    }
    bench.Run(static_cast<int>(placed.size()), round % 2 == 1,
              [&](int i) { SetCommand(bench.top(), placed[i]); });
    for (const Placed& p : placed) ExpectOutput(&bench, p);
  }
}

// The second command reads the last row that the first writes; the barrier
// alone keeps it back.
TEST(Values, BarrierOrdersReadsBehindEarlierWrites) {
  Bench bench;
  Placed a = Place(&bench, Conv("producer", 16, 14, 16, 1, 1, 0), 0, 3);
  Layer second = Conv("consumer", 16, 14, 16, 1, 1, 0);
  second.h = 1;
  Placed b = Place(&bench, second, a.end, 4);
  b.ibase = a.obase + 13 * a.opitch;
  for (int o = 0; o < 16; o++) {
    for (int x = 0; x < 14; x++) {
      int32_t acc = b.data.bias[o];
      for (int c = 0; c < 16; c++)
        acc += (a.data.out[(c * 14 + 13) * 14 + x] - 128) *
               b.data.weight[o * 16 + c];
      const float v = static_cast<float>(acc) * b.data.scale[o];
      b.data.out[o * 14 + x] =
          static_cast<int>(std::nearbyint(std::min(std::max(v, 0.f), 255.f)));
    }
  }
  bench.Run(2, false,
            [&](int i) { SetCommand(bench.top(), i == 0 ? a : b, i == 1); });
  ExpectOutput(&bench, b);
}

// A fully connected layer at batch 1 is bound by the weight port: 32 bytes per
// cycle.
TEST(Utilisation, FullyConnectedUsesTheWeightPort) {
  Layer l = Conv("fc 256->256", 256, 1, 256, 1, 1, 0);
  Bench bench;
  const Measure m = RunLayer(&bench, l, false);
  const double bytes_per_cycle = 256.0 * 256 / m.cycles;
  std::printf("%-28s %lld cycles, %.1f weight bytes per cycle\n",
              l.name.c_str(), static_cast<long long>(m.cycles),
              bytes_per_cycle);
  EXPECT_GE(bytes_per_cycle, 28);
}

// Small maps: stripes as long as the tile load (C*K/32 pixels) leave no slack
// for lost SRAM slots, so they show whether the weight reader really gets its
// 32 bytes per cycle.
TEST(Utilisation, ShortStripes) {
  for (int n : {1, 2, 3}) {
    Layer l = Conv("1x1 512->128, " + std::to_string(n) + " tile loads", 512, 1,
                   128, 1, 1, 0);
    l.w = n * kC * kK / 32;
    Bench bench;
    for (bool dma : {false, true}) {
      const Measure m = RunLayer(&bench, l, dma);
      Report(l, dma ? "DMA" : "-", m);
      EXPECT_GE(m.util, 0.90) << l.name;
    }
  }
}

// All output words in one bank: the writer gets one word per cycle. Where a
// vector is two words, the output FIFO must hold the array back (room_o)
// instead of losing vectors.
TEST(Values, OutputInOneBank) {
  Bench bench;
  Layer l = Conv("1x1 16->64 @12, output in one bank", 16, 12, 64, 1, 1, 0);
  l.out_xstep = 32;
  const Measure m = RunLayer(&bench, l, true);
  Report(l, "DMA", m);
}

// What the DMA writes while the array runs arrives.
TEST(Values, CompetingDmaWritesEveryWord) {
  Bench bench;
  const Layer l = Conv("3x3 16->16 @56", 16, 56, 16, 3, 1, 1);
  const Placed p = Place(&bench, l, 5, 1);
  const Measure m =
      bench.Run(1, true, [&](int) { SetCommand(bench.top(), p); });
  ExpectOutput(&bench, p);
  ASSERT_GT(m.dma_words, 3 * kDmaWords);
  // The last transfer fills the whole region with consecutive words.
  uint32_t first = 0;
  for (int i = 0; i < kDmaWords; i++) {
    const Word w = bench.Read(kSramWords - kDmaWords + i);
    uint32_t v[4];
    std::memcpy(v, w.data(), sizeof(v));
    if (i == 0) first = v[0];
    for (uint32_t j = 0; j < 4; j++)
      ASSERT_EQ(v[j], first + 4 * i + j) << "word " << i;
  }
}

}  // namespace
}  // namespace heddle
