// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/pack.h"

#include <algorithm>
#include <cstring>

namespace heddle::compiler {
namespace {

constexpr int64_t kBlock = 16;
constexpr int64_t kMaxChannels = 65535;  // of a command

int64_t DivUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Range {
  int64_t first, count;
};

// Tap (y, x) of `outputs` by `inputs` at `tile`, whose rows have `lanes` bytes.
void PackTile(const CodeWeights& w, Range outputs, Range inputs, int64_t y,
              int64_t x, int64_t lanes, uint8_t* tile) {
  const uint8_t* from =
      w.codes->data() + w.IndexOf(outputs.first, inputs.first, y, x);
  const int64_t taps = w.kh * w.kw;
  if (w.outputs_last) {
    for (int64_t c = 0; c < inputs.count; ++c, from += taps * w.co) {
      for (int64_t k = 0; k < outputs.count; ++k) tile[k * lanes + c] = from[k];
    }
    return;
  }
  for (int64_t k = 0; k < outputs.count; ++k, from += w.ci * taps) {
    if (taps == 1) {
      std::memcpy(tile + k * lanes, from, inputs.count);
      continue;
    }
    for (int64_t c = 0; c < inputs.count; ++c) {
      tile[k * lanes + c] = from[c * taps];
    }
  }
}

}  // namespace

void PackConv(const CodeWeights& w, int64_t first, int64_t count,
              const Contraction& part, const std::vector<uint8_t>& zero,
              const isa::Config& config, uint8_t* tile) {
  const int64_t lanes = config.lanes_in, cells = config.lanes_out;
  const int64_t end = part.ci0 + part.ci;
  for (int64_t cob = 0; cob < count; cob += cells) {
    const int64_t outputs = std::min(cells, count - cob);
    for (int64_t y = part.ky0; y < part.ky0 + part.ky; ++y) {
      for (int64_t x = 0; x < w.kw; ++x) {
        for (int64_t cib = part.ci0; cib < end; cib += lanes) {
          const int64_t channels = std::min(lanes, end - cib);
          PackTile(w, {first + cob, outputs}, {cib, channels}, y, x, lanes,
                   tile);
          for (int64_t k = 0; channels < lanes && k < outputs; ++k) {
            std::memset(tile + k * lanes + channels, zero[first + cob + k],
                        lanes - channels);
          }
          std::memset(tile + outputs * lanes, zero[first],
                      (cells - outputs) * lanes);
          tile += cells * lanes;
        }
      }
    }
  }
}

uint64_t PackedBytes(const CodeWeights& w, int64_t count,
                     const Contraction& part, const isa::Config& config) {
  const int64_t lanes = config.lanes_in, cells = config.lanes_out;
  return DivUp(count, cells) * cells * part.ky * w.kw * DivUp(part.ci, lanes) *
         lanes;
}

bool IsOneContraction(const CodeWeights& w, int64_t max_rows) {
  return w.kh <= std::min(kMaxKernelRows, max_rows) && w.ci <= kMaxChannels;
}

std::vector<Contraction> CutContraction(const CodeWeights& w,
                                        uint64_t max_bytes,
                                        const isa::Config& config,
                                        int64_t max_rows) {
  const int64_t lanes = config.lanes_in;
  const auto most = static_cast<int64_t>(max_bytes);
  const int64_t row =
      std::max<int64_t>(kBlock, config.lanes_out) * w.kw * lanes;
  // As many lanes as fit with the whole kernel, else as many of its rows.
  const int64_t blocks = DivUp(w.ci, lanes);
  const int64_t fit = std::clamp<int64_t>(
      most / (row * w.kh), 1, std::min(blocks, kMaxChannels / lanes));
  const int64_t ci = DivUp(blocks, DivUp(blocks, fit)) * lanes;
  const int64_t rows =
      std::min({kMaxKernelRows, max_rows,
                fit > 1 ? w.kh : std::clamp<int64_t>(most / row, 1, w.kh)});
  std::vector<Contraction> parts;
  for (int64_t c = 0; c < w.ci; c += ci) {
    for (int64_t y = 0; y < w.kh; y += rows) {
      parts.push_back({c, std::min(ci, w.ci - c), y, std::min(rows, w.kh - y)});
    }
  }
  return parts;
}

std::vector<uint8_t> PackFold(const CodeWeights& w, int64_t first,
                              int64_t count, const std::vector<uint8_t>& zero,
                              const isa::Config& config) {
  const int64_t lanes = config.lanes_in, cells = config.lanes_out;
  const int64_t row_bytes = w.kw * w.ci;
  // (row, byte in row) of every lane of every vector; row -1 = no lane.
  struct Lane {
    int64_t row, byte;
  };
  std::vector<std::vector<Lane>> vectors;
  for (int64_t row = 0, byte = 0; row < w.kh;) {
    std::vector<Lane> v;
    for (uint32_t rows = 0; rows < isa::kFoldRowsMax && row < w.kh &&
                            static_cast<int64_t>(v.size()) < lanes;
         ++rows) {
      while (byte < row_bytes && static_cast<int64_t>(v.size()) < lanes) {
        v.push_back({row, byte++});
      }
      if (byte == row_bytes) {
        byte = 0;
        ++row;
      }
    }
    v.resize(lanes, {-1, 0});
    vectors.push_back(v);
  }
  std::vector<uint8_t> out;
  for (int64_t cob = 0; cob < count; cob += cells) {
    for (const auto& v : vectors) {
      for (int64_t k = cob; k < cob + cells; ++k) {
        for (const Lane& lane : v) {
          if (k >= count) {
            out.push_back(zero[first]);
          } else if (lane.row < 0) {
            out.push_back(zero[first + k]);
          } else {
            out.push_back(
                w.At(first + k, lane.byte % w.ci, lane.row, lane.byte / w.ci));
          }
        }
      }
    }
  }
  return out;
}

std::vector<uint8_t> PackDepthwise(const CodeWeights& w, int64_t first,
                                   int64_t count,
                                   const std::vector<uint8_t>& zero) {
  std::vector<uint8_t> out;
  for (int64_t block = 0; block < count; block += kBlock) {
    for (int64_t y = 0; y < w.kh; ++y) {
      for (int64_t x = 0; x < w.kw; ++x) {
        for (int64_t c = block; c < block + kBlock; ++c) {
          out.push_back(c < count ? w.At(first + c, 0, y, x) : zero[first]);
        }
      }
    }
  }
  return out;
}

std::vector<uint8_t> PackParameters(const std::vector<int32_t>& bias,
                                    const std::vector<float>& scale,
                                    const std::vector<uint8_t>& zero,
                                    bool zero_points, int64_t first,
                                    int64_t count) {
  std::vector<uint8_t> out;
  for (int64_t block = 0; block < count; block += kBlock) {
    std::vector<uint8_t> words((zero_points ? 9 : 8) * kBlock, 0);
    const int64_t lanes = std::min(kBlock, count - block);
    for (int64_t i = 0; i < lanes; ++i) {
      const int64_t o = first + block + i;
      std::memcpy(&words[4 * i], &bias[o], 4);
      std::memcpy(&words[64 + 4 * i], &scale[o], 4);
      if (zero_points) words[128 + i] = zero[o];
    }
    out.insert(out.end(), words.begin(), words.end());
  }
  return out;
}

}  // namespace heddle::compiler
