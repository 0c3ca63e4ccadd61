// SPDX-License-Identifier: Apache-2.0
// Weights and parameters of the matrix engine in the layouts of ISA.md
// ("Layouts"): packed tiles, fold vectors, depthwise words, parameter blocks.
#ifndef HEDDLE_COMPILER_STREAM_PACK_H_
#define HEDDLE_COMPILER_STREAM_PACK_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/ir/tensor_bytes.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Weights of one convolution as [co][ci][kh][kw] codes, or, with outputs_last,
// as [ci][kh][kw][co]: the second factor of a product. They may be those of the
// model's tensor.
struct CodeWeights {
  SharedBytes codes;
  int64_t co = 0, ci = 0, kh = 1, kw = 1;
  bool outputs_last = false;

  int64_t IndexOf(int64_t o, int64_t c, int64_t y, int64_t x) const {
    return outputs_last ? ((c * kh + y) * kw + x) * co + o
                        : ((o * ci + c) * kh + y) * kw + x;
  }
  uint8_t At(int64_t o, int64_t c, int64_t y, int64_t x) const {
    return (*codes)[IndexOf(o, c, y, x)];
  }
  // `channels` ones for mode depthwise.
  static CodeWeights Ones(int64_t channels) {
    CodeWeights ones;
    ones.codes = std::make_shared<const TensorBytes>(
        std::vector<uint8_t>(channels, uint8_t{1}));
    ones.co = channels;
    ones.ci = 1;
    return ones;
  }
};

// Output channels [first, first + count); rows of a tile beyond the last hold
// `zero[o]`'s code, that is, weights that count nothing.
// Mode conv: [cob][ky][kx][cib] tiles of K x C, of a part of the contraction.
struct Contraction {
  int64_t ci0 = 0, ci = 0;  // input channels
  int64_t ky0 = 0, ky = 0;  // rows of the kernel
};
// Writes PackedBytes bytes to `tile`.
void PackConv(const CodeWeights& w, int64_t first, int64_t count,
              const Contraction& part, const std::vector<uint8_t>& zero,
              const isa::Config& config, uint8_t* tile);
uint64_t PackedBytes(const CodeWeights& w, int64_t count,
                     const Contraction& part, const isa::Config& config);
// The most rows of a kernel that one command takes.
constexpr int64_t kMaxKernelRows = 255;
// Whether one command of at most `max_rows` rows of the kernel can contract
// all.
bool IsOneContraction(const CodeWeights& w, int64_t max_rows);
// The parts, in order, of which one of `lanes_out` output channels (at least a
// block) takes at most `max_bytes`, or is the smallest there is, and which one
// command of at most `max_rows` rows of the kernel can contract.
std::vector<Contraction> CutContraction(const CodeWeights& w,
                                        uint64_t max_bytes,
                                        const isa::Config& config,
                                        int64_t max_rows = kMaxKernelRows);
// Mode fold: [cob][vector] tiles.
std::vector<uint8_t> PackFold(const CodeWeights& w, int64_t first,
                              int64_t count, const std::vector<uint8_t>& zero,
                              const isa::Config& config);
// Mode depthwise (ci = 1): [block][ky][kx] words.
std::vector<uint8_t> PackDepthwise(const CodeWeights& w, int64_t first,
                                   int64_t count,
                                   const std::vector<uint8_t>& zero);

// Parameter blocks of channels [first, first + count): bias, scale and, with
// `zero_points`, a word of weight zero points. Lanes beyond count are zero.
std::vector<uint8_t> PackParameters(const std::vector<int32_t>& bias,
                                    const std::vector<float>& scale,
                                    const std::vector<uint8_t>& zero,
                                    bool zero_points, int64_t first,
                                    int64_t count);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_PACK_H_
