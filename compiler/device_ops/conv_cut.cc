// SPDX-License-Identifier: Apache-2.0
// Cuts a convolution's weights into pieces that fit SRAM beside everything
// else, and its input into channels where a single row of all is too much.
#include <algorithm>
#include <utility>

#include "compiler/device_ops/conv_op.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kBias = sizeof(float);

int64_t DivUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Extent of the chunks along each dimension.
struct Steps {
  int64_t g = 1, m = 1, c = 1, y = 1, x = 1;
};

// `limit`: channels of the input that may be in SRAM at a time.
Steps ChooseSteps(const ConvSpec& spec, const ConvPhase& p, int64_t budget,
                  int64_t limit) {
  const int64_t es = ElementBytes(spec.type);
  const int64_t channels = spec.channels / spec.group;
  const int64_t maps = spec.maps / spec.group;
  const int64_t taps = p.taps[0] * p.taps[1];
  Steps s;
  s.y = std::max<int64_t>(1, p.taps[0]);
  s.x = std::max<int64_t>(1, p.taps[1]);
  s.c = std::clamp<int64_t>(limit, 1, channels);
  const auto fits = [&](int64_t c) { return budget / (c * taps * es + kBias); };
  if (fits(s.c) >= std::min<int64_t>(maps, isa::kVectorLanes)) {
    s.m = std::min(maps, fits(s.c));
    if (s.m < maps) s.m -= s.m % isa::kVectorLanes;
    if (s.c == channels && s.m == maps) {
      const int64_t each = maps * (channels * taps * es + kBias);
      s.g = std::clamp<int64_t>(
          std::min(budget / each, std::max<int64_t>(1, limit / channels)), 1,
          spec.group);
    }
    return s;
  }
  // Fewer channels at a time, so that the lanes stay full.
  s.m = std::min<int64_t>(maps, isa::kVectorLanes);
  s.c = std::min(s.c, (budget / s.m - kBias) / (taps * es));
  if (s.c >= 1) return s;
  s.c = 1;
  s.m = std::clamp<int64_t>(fits(1), 1, s.m);
  if (fits(1) >= 1) return s;
  s.y = (budget - kBias) / (p.taps[1] * es);
  if (s.y >= 1) return s;
  s.y = 1;
  s.x = std::clamp<int64_t>((budget - kBias) / es, 1, p.taps[1]);
  return s;
}

// The same where weights are a value, of which a piece is a run: a part of the
// inner of maps and channels, or all of it and a part of the outer.
Steps ChooseRuns(const ConvSpec& spec, const ConvPhase& p, int64_t budget,
                 int64_t limit) {
  const int64_t channels = spec.channels / spec.group;
  const int64_t maps = spec.maps / spec.group;
  const int64_t plane =
      spec.kernel[0] * spec.kernel[1] * int64_t(ElementBytes(spec.type));
  const int64_t most = std::max<int64_t>(1, budget / plane);
  Steps s;
  s.y = std::max<int64_t>(1, p.taps[0]);
  s.x = std::max<int64_t>(1, p.taps[1]);
  if (spec.maps_inside) {
    s.m = std::min(maps, most);
    s.c = s.m < maps ? 1 : std::clamp<int64_t>(most / maps, 1, channels);
    s.c = std::min(s.c, limit);
  } else {
    s.c = std::min({channels, most, limit});
    s.m = s.c < channels ? 1 : std::clamp<int64_t>(most / channels, 1, maps);
  }
  if (s.m == maps && s.c == channels) {
    s.g = std::clamp<int64_t>(std::min(most / (maps * channels),
                                       std::max<int64_t>(1, limit / channels)),
                              1, spec.group);
  }
  return s;
}

}  // namespace

ConvSpec Turned(ConvSpec spec) {
  const auto turn = [](int64_t* pair) { std::swap(pair[0], pair[1]); };
  turn(spec.in);
  turn(spec.out);
  turn(spec.kernel);
  std::swap(spec.rows, spec.columns);
  for (ConvPhase& p : spec.phases) {
    for (int64_t* pair :
         {p.out_first, p.out_step, p.out_count, p.in_first, p.in_step, p.taps,
          p.tap_step, p.kernel_first, p.kernel_step}) {
      turn(pair);
    }
  }
  return spec;
}

ConvCut CutConv(const ConvSpec& spec, const isa::Config& config,
                bool computed) {
  const int64_t es = ElementBytes(spec.type);
  const int64_t budget = GroupBudget(config);
  // SRAM of the input for one row of the result, twice.
  int64_t rows = spec.rows.extent;
  if (spec.rows.divide > 1) rows = (rows - 1) / spec.rows.divide + 2;
  int64_t left = 0, right = spec.in[1];
  for (const ConvPhase& p : spec.phases) {
    if (p.taps[0] * p.taps[1] == 0) continue;
    left = std::min(left, p.in_first[1]);
    right =
        std::max(right, p.in_first[1] + (p.out_count[1] - 1) * p.in_step[1] +
                            (p.taps[1] - 1) * p.tap_step[1] + 1);
  }
  const int64_t channel = rows * (right - left) * es;
  int64_t limit = spec.channels;
  if (2 * channel * spec.channels >
      static_cast<int64_t>(config.sram_bytes) / 3) {
    limit = std::max<int64_t>(1, budget / channel);
  }
  const int64_t channels = spec.channels / spec.group;
  const int64_t maps = spec.maps / spec.group;
  ConvCut cut;
  int64_t used = 0;
  Slice slice;
  for (size_t phase = 0; phase < spec.phases.size(); ++phase) {
    const ConvPhase& p = spec.phases[phase];
    const bool empty = p.taps[0] * p.taps[1] == 0;
    const Steps s = computed ? ChooseRuns(spec, p, budget, limit)
                             : ChooseSteps(spec, p, budget, limit);
    const int64_t ys = empty ? 1 : DivUp(p.taps[0], s.y);
    const int64_t xs = empty ? 1 : DivUp(p.taps[1], s.x);
    const int64_t cs = empty ? 1 : DivUp(channels, s.c);
    const int64_t first_m = spec.group == 1 ? spec.first_map : 0;
    const int64_t end_m = spec.group == 1 ? spec.end_map : maps;
    const int64_t first_g = spec.first_map / maps;
    const int64_t end_g = DivUp(spec.end_map, maps);
    const int64_t ms = DivUp(end_m - first_m, s.m);
    const int64_t gs = DivUp(end_g - first_g, s.g);
    const int64_t pieces = cs * ys * xs;
    cut.split = cut.split || pieces > 1 || p.taps[0] > kMaxLoop ||
                p.taps[1] > kMaxLoop || s.c > kMaxLoop;
    // Maps inside, so that a slice of the input serves all of them.
    for (int64_t g = 0; g < gs; ++g) {
      for (int64_t piece = 0; piece < pieces; ++piece) {
        for (int64_t m = 0; m < ms; ++m) {
          const auto range = [](int64_t i, int64_t step, int64_t all,
                                int64_t* to, int64_t first = 0) {
            to[0] = first + i * step;
            to[1] = std::min(all, to[0] + step);
          };
          ConvChunk k;
          k.phase = phase;
          range(g, s.g, end_g, k.g, first_g);
          range(m, s.m, end_m, k.m, first_m);
          range(piece / (ys * xs), s.c, channels, k.c);
          range(piece / xs % ys, s.y, p.taps[0], k.y);
          range(piece % xs, s.x, p.taps[1], k.x);
          k.first = piece == 0;
          k.last = piece + 1 == pieces;
          Slice wanted{k.g[0] * channels + k.c[0],
                       (k.g[1] - k.g[0] - 1) * channels + k.c[1] - k.c[0]};
          if (limit >= spec.channels) wanted = Slice{0, spec.channels};
          const int64_t results = (k.g[1] - k.g[0]) * (k.m[1] - k.m[0]);
          const int64_t bytes = results * kBias + results * (k.c[1] - k.c[0]) *
                                                      (k.y[1] - k.y[0]) *
                                                      (k.x[1] - k.x[0]) * es;
          const int64_t aligned = (bytes + 3) / 4 * 4;
          if (cut.groups.empty() || computed || used + aligned > budget ||
              wanted.first != slice.first || wanted.count != slice.count) {
            cut.groups.emplace_back();
            cut.channels.push_back(wanted);
            slice = wanted;
            used = 0;
          }
          k.offset = used;
          used += aligned;
          cut.groups.back().push_back(k);
        }
      }
    }
  }
  if (limit >= spec.channels) cut.channels.clear();
  return cut;
}

}  // namespace heddle::compiler
