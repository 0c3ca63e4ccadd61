// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream/estimate.h"

#include <algorithm>
#include <type_traits>

#include "compiler/stream/access.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kCommandStart =
    40;  // until results of a command are visible

uint64_t DivUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t ConvCycles(const isa::Conv& c, const isa::Config& config) {
  const uint64_t pixels = uint64_t{c.out_rows} * c.ow;
  if (c.mode == isa::MatrixMode::kDepthwise ||
      c.mode == isa::MatrixMode::kMaxpool) {
    // Up to three kernel rows of at most C taps per pass.
    const uint64_t rows = std::max<uint64_t>(
        1, std::min<uint64_t>({3, c.kh, config.lanes_in / c.kw}));
    const uint64_t passes = DivUp(c.kh, rows) * DivUp(c.kw, config.lanes_in);
    return DivUp(c.co, 16) * passes * DivUp(pixels, config.depthwise_pixels);
  }
  const uint64_t passes =
      c.mode == isa::MatrixMode::kFold
          ? FoldVectors(c.kh, c.kw * c.fold_channels, config.lanes_in)
          : uint64_t{c.kh} * c.kw * DivUp(c.ci, config.lanes_in);
  const uint64_t weight_load =
      uint64_t{config.lanes_in} * config.lanes_out / config.weight_port_bytes;
  return DivUp(c.co, config.lanes_out) * passes * std::max(pixels, weight_load);
}

// Steps of the loop nest of a vector command, 16 lanes each.
template <typename T>
uint64_t VectorGroups(const T& c) {
  return DivUp(c.lanes, isa::kVectorLanes) * c.n_o1 * c.n_o2 * c.n_o3;
}

}  // namespace

uint64_t DramBytesOf(const isa::Command& command) {
  if (const auto* c = std::get_if<isa::Load>(&command)) {
    return (uint64_t{c->n0} * c->n1 * c->n2 * c->n3) << c->elem_log2;
  }
  if (const auto* c = std::get_if<isa::Store>(&command)) {
    return (uint64_t{c->n0} * c->n1 * c->n2 * c->n3) << c->elem_log2;
  }
  if (const auto* c = std::get_if<isa::LoadGather>(&command)) {
    return (uint64_t{c->n0} * c->count) << c->elem_log2;
  }
  if (const auto* c = std::get_if<isa::StoreScatter>(&command)) {
    return (uint64_t{c->n0} * c->count) << c->elem_log2;
  }
  return 0;
}

uint64_t EstimateCycles(const isa::Command& command,
                        const isa::Config& config) {
  return std::visit(
      [&](const auto& c) -> uint64_t {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, isa::Conv>) {
          return ConvCycles(c, config) + kCommandStart;
        } else if constexpr (std::is_same_v<T, isa::Vmac>) {
          return VectorGroups(c) * c.n_r1 * c.n_r2 * c.n_r3 + kCommandStart;
        } else if constexpr (std::is_same_v<T, isa::Vrun>) {
          const uint64_t steps = uint64_t{c.n_r1} * c.n_r2 * c.n_r3;
          return VectorGroups(c) * (c.prologue + steps * c.body + c.epilogue) +
                 kCommandStart;
        } else if constexpr (std::is_same_v<T, isa::Fill>) {
          return DivUp((uint64_t{c.n0} * c.n1 * c.n2 * c.n3) << c.elem_log2,
                       isa::kWordBytes);
        } else {
          const uint64_t bytes = DramBytesOf(command);
          return bytes == 0 ? 0
                            : DivUp(bytes, config.dram_bytes_per_cycle) +
                                  config.dram_latency_cycles;
        }
      },
      command);
}

}  // namespace heddle::compiler
