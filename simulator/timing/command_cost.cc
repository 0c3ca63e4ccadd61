// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/command_cost.h"

#include <algorithm>
#include <type_traits>

#include "simulator/timing/matrix_cost.h"
#include "simulator/timing/transfer_cost.h"

namespace heddle::timing {

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

CommandCost CostOfCommand(const isa::Command& command,
                          const isa::Config& config,
                          const Calibration& calibration,
                          const uint64_t* program, VectorCosts* vector) {
  const auto latency = static_cast<int64_t>(config.dram_latency_cycles);
  return std::visit(
      [&](const auto& c) {
        using T = std::decay_t<decltype(c)>;
        CommandCost cost;
        if constexpr (std::is_same_v<T, isa::Conv>) {
          const MatrixCost matrix = CostOf(c, config, calibration);
          cost.start = matrix.start;
          cost.cycles = matrix.cycles;
          cost.tail = matrix.tail;
          cost.lead = matrix.lead;
          cost.last = matrix.last;
          cost.weights_wait = matrix.weights_wait;
          cost.output_wait = matrix.output_wait;
          cost.words = matrix.words;
          cost.weights = matrix.weights;
          cost.strided = matrix.strided;
        } else if constexpr (std::is_same_v<T, isa::Vmac> ||
                             std::is_same_v<T, isa::Vrun>) {
          VectorTimes times;
          if constexpr (std::is_same_v<T, isa::Vrun>) {
            times = vector->Of(c, program);
          } else {
            times = vector->Of(c);
          }
          cost.cycles = times.done;
          cost.read = times.read;
          cost.lines = times.lines;
        } else if constexpr (std::is_same_v<T, isa::Load> ||
                             std::is_same_v<T, isa::LoadGather>) {
          const TransferCost transfer = [&] {
            if constexpr (std::is_same_v<T, isa::Load>) {
              return CostOf(c, config);
            } else {
              return CostOf(c, calibration);
            }
          }();
          cost.start = calibration.load_prepare;
          cost.cycles = transfer.cycles;
          cost.tail = latency + calibration.load_tail;
          cost.beats = transfer.beats;
          cost.moves = transfer.words;
        } else if constexpr (std::is_same_v<T, isa::Fill>) {
          cost.start = calibration.load_prepare;
          cost.cycles = cost.moves = CostOf(c, calibration).cycles;
          cost.tail = calibration.fill_tail;
        } else if constexpr (std::is_same_v<T, isa::Store> ||
                             std::is_same_v<T, isa::StoreScatter>) {
          const TransferCost transfer = CostOf(c, calibration);
          cost.start = calibration.store_prepare;
          cost.cycles = transfer.cycles;
          // Memory is asked when a burst is complete.
          cost.tail = latency + calibration.store_tail +
                      std::min<uint64_t>(16, transfer.beats);
          cost.beats = transfer.beats;
          cost.moves = transfer.words;
        } else if constexpr (std::is_same_v<T, isa::SyncLoad> ||
                             std::is_same_v<T, isa::SyncStore>) {
          cost.start = 7;  // through the unit that prepares commands
        }
        return cost;
      },
      command);
}

uint64_t EstimateCycles(const isa::Command& command,
                        const isa::Config& config) {
  const Calibration& calibration = CalibrationOf(config);
  VectorCosts vector(calibration);
  const CommandCost cost =
      CostOfCommand(command, config, calibration, nullptr, &vector);
  return cost.start + cost.cycles + cost.tail;
}

}  // namespace heddle::timing
