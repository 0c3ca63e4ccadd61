// SPDX-License-Identifier: Apache-2.0
// Packed weights and parameters, in convolutions on the functional model that
// are compared with the sum they stand for; every configuration, with
// remainders of channels in both directions.
#include "compiler/stream/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "compiler/stream/access.h"
#include "compiler/testing/command_bench.h"
#include "simulator/timing/matrix_cost.h"

namespace heddle::compiler {
namespace {

class PackTest : public testing::TestWithParam<isa::Config> {};

int Code(uint8_t code, bool is_signed) {
  return is_signed ? static_cast<int8_t>(code) : code;
}

// One random convolution in `mode` of output channels [first, first + count).
void Check(const isa::Config& config, isa::MatrixMode mode, uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  const bool fold = mode == isa::MatrixMode::kFold;
  const bool depthwise = mode == isa::MatrixMode::kDepthwise;
  CodeWeights w;
  w.kh = between(1, fold ? 9 : 3);
  w.kw = between(1, 4);
  const int64_t units = between(1, 4);
  w.co = between(1, 70);
  w.ci = depthwise ? 1 : fold ? between(1, 8) : between(1, 70);
  const int64_t first =
      std::min<int64_t>(w.co - 1, 16 * between(0, 3)) / 16 * 16;
  const int64_t count = between(1, w.co - first);
  const bool w_signed = random() % 2, in_signed = random() % 2;
  const bool zero_points = random() % 2;
  w.outputs_last = random() % 2;
  std::vector<uint8_t> codes(w.co * w.ci * w.kh * w.kw);
  for (uint8_t& v : codes) v = random();
  w.codes = std::make_shared<const TensorBytes>(std::move(codes));
  std::vector<uint8_t> zero(w.co, static_cast<uint8_t>(random()));
  if (zero_points) {
    for (uint8_t& z : zero) z = random();
  }
  std::vector<int32_t> bias(w.co);
  for (int32_t& b : bias) b = static_cast<int32_t>(random() % 20001) - 10000;
  std::vector<float> scale(w.co);
  for (float& s : scale) s = static_cast<float>(between(1, 1000)) / 256;
  const int za = Code(static_cast<uint8_t>(random()), in_signed);

  const int64_t channels = depthwise ? count : w.ci;
  const int64_t ih = w.kh + units, iw = w.kw + 2, oh = units + 1, ow = 3;
  std::vector<uint8_t> input(channels * ih * iw);
  for (uint8_t& v : input) v = random();
  CommandBench bench(config);
  // Whatever lies beyond the last channel counts nothing.
  for (uint8_t& v : bench.sram) v = random();
  isa::Conv c;
  c.mode = mode;
  c.w_signed = w_signed;
  c.in_signed = in_signed;
  c.zw_channel = zero_points;
  c.out_type = isa::OutType::kF32;
  c.in_addr = 0x400;
  if (fold) {
    c.fold_channels = w.ci;
    c.in_pitch = (iw * w.ci + 15) / 16;
  } else {
    c.in_pitch = iw;
    c.in_plane = ih * iw;
  }
  for (int64_t ch = 0; ch < channels; ++ch) {
    for (int64_t y = 0; y < ih; ++y) {
      for (int64_t x = 0; x < iw; ++x) {
        const int64_t at =
            fold
                ? 16 * (c.in_addr + y * c.in_pitch) + x * w.ci + ch
                : 16 * (c.in_addr + ch / 16 * c.in_plane + y * c.in_pitch + x) +
                      ch % 16;
        bench.sram[at] = input[(ch * ih + y) * iw + x];
      }
    }
  }
  c.ih = ih;
  c.iw = iw;
  c.out_rows = oh;
  c.ow = ow;
  c.kh = w.kh;
  c.kw = w.kw;
  c.ci = channels;
  c.co = count;
  c.za = za;
  if (!zero_points) c.zw = Code(zero[0], w_signed);
  c.param_addr = 0x1000;
  const std::vector<uint8_t> params =
      PackParameters(bias, scale, zero, zero_points, first, count);
  ASSERT_EQ(params.size(),
            size_t((count + 15) / 16 * (zero_points ? 144 : 128)));
  bench.Put(c.param_addr * 16, params);
  c.w_addr = c.param_addr + params.size() / 16;
  std::vector<uint8_t> packed;
  uint64_t vectors =
      w.kh * w.kw * ((w.ci + config.lanes_in - 1) / config.lanes_in);
  if (fold) {
    packed = PackFold(w, first, count, zero, config);
    vectors = timing::FoldVectors(w.kh, w.kw * w.ci, config.lanes_in);
  } else if (depthwise) {
    packed = PackDepthwise(w, first, count, zero);
  } else {
    const Contraction whole{0, w.ci, 0, w.kh};
    packed.resize(PackedBytes(w, count, whole, config));
    PackConv(w, first, count, whole, zero, config, packed.data());
  }
  const uint64_t blocks = (count + config.lanes_out - 1) / config.lanes_out;
  const uint64_t size =
      depthwise ? (count + 15) / 16 * w.kh * w.kw * 16
                : blocks * vectors * config.lanes_in * config.lanes_out;
  ASSERT_EQ(packed.size(), size);
  bench.Put(c.w_addr * 16, packed);
  c.out_addr = (config.sram_bytes - (128 << 10)) / 16;
  ASSERT_LE(c.w_addr + packed.size() / 16, c.out_addr);
  c.out_xstep = 4;
  c.out_pitch = 4 * ow;
  c.out_plane = 4 * ow * oh;
  bench.emitter()->Append(c);
  ASSERT_EQ(bench.Run(), "");
  for (int64_t o = 0; o < count; ++o) {
    for (int64_t y = 0; y < oh; ++y) {
      for (int64_t x = 0; x < ow; ++x) {
        int32_t acc = 0;
        for (int64_t ch = 0; ch < w.ci; ++ch) {
          for (int64_t ky = 0; ky < w.kh; ++ky) {
            for (int64_t kx = 0; kx < w.kw; ++kx) {
              const int64_t from = depthwise ? o : ch;
              acc +=
                  (Code(input[(from * ih + y + ky) * iw + x + kx], in_signed) -
                   za) *
                  (Code(w.At(first + o, ch, ky, kx), w_signed) -
                   Code(zero[first + o], w_signed));
            }
          }
        }
        const float expected =
            static_cast<float>(acc + bias[first + o]) * scale[first + o];
        const uint64_t at =
            16 * (c.out_addr + o / 16 * c.out_plane + y * c.out_pitch + 4 * x) +
            4 * (o % 16);
        ASSERT_EQ(bench.Get<float>(at, 1)[0], expected)
            << "channel " << o << " row " << y << " column " << x;
      }
    }
  }
}

TEST_P(PackTest, Conv) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Check(GetParam(), isa::MatrixMode::kConv, seed);
  }
}
TEST_P(PackTest, Fold) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Check(GetParam(), isa::MatrixMode::kFold, seed);
  }
}
TEST_P(PackTest, Depthwise) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Check(GetParam(), isa::MatrixMode::kDepthwise, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PackTest, testing::ValuesIn(isa::kConfigs),
                         [](const auto& info) { return info.param.name; });

// The order of ISA.md, literally: [cob][ky][kx][cib], rows of C bytes.
TEST(Pack, TheOrderOfConvTiles) {
  CodeWeights w;
  w.co = 17;
  w.ci = 18;
  w.kw = 2;
  std::vector<uint8_t> codes(17 * 18 * 2);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = i * 31 + i / 256 + 1;
  w.codes = std::make_shared<const TensorBytes>(std::move(codes));
  const std::vector<uint8_t> zero(17, 99);
  const Contraction whole{0, w.ci, 0, w.kh};
  std::vector<uint8_t> packed(PackedBytes(w, 17, whole, isa::kH256));
  PackConv(w, 0, 17, whole, zero, isa::kH256, packed.data());
  ASSERT_EQ(packed.size(), 2u * 2 * 2 * 256);
  size_t at = 0;
  for (int64_t cob = 0; cob < 2; ++cob) {
    for (int64_t kx = 0; kx < 2; ++kx) {
      for (int64_t cib = 0; cib < 2; ++cib) {
        for (int64_t k = 16 * cob; k < 16 * cob + 16; ++k) {
          for (int64_t c = 16 * cib; c < 16 * cib + 16; ++c) {
            EXPECT_EQ(packed[at++], k < 17 && c < 18 ? w.At(k, c, 0, kx) : 99);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
