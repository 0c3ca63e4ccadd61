// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/recompute.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/order.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kTransferStart = 100;
constexpr int64_t kLanes = 16;

int64_t ElementsOf(const Extent& e) { return e.n * e.c * e.h * e.w; }

// Whether the operation does nothing but move words of codes.
bool MovesWords(const DeviceGraph& graph, const DeviceOp& op) {
  return graph.StorageOf(op.output).layout == Layout::kBlocked &&
         !op.inputs.empty() &&
         std::all_of(op.inputs.begin(), op.inputs.end(), [](const OpInput& in) {
           return in.rows.kind == AxisNeed::kDirect;
         });
}

class Finder {
 public:
  Finder(const DeviceGraph& graph, const isa::Config& config)
      : graph_(graph),
        config_(config),
        readers_(graph.storages.size()),
        writers_(graph.storages.size()),
        full_(graph.ops.size() + 1, 0) {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      for (const OpInput& in : graph.ops[i]->inputs) {
        std::vector<int>& list = readers_[graph.values[in.value].storage];
        const int at = static_cast<int>(i);
        if (list.empty() || list.back() != at) list.push_back(at);
      }
      writers_[graph.values[graph.ops[i]->output].storage].push_back(i);
    }
    CountFull();
  }

  std::vector<Copy> Run() const {
    std::vector<Copy> copies;
    for (size_t i = 0; i < graph_.ops.size(); ++i) FindOf(i, &copies);
    std::stable_sort(
        copies.begin(), copies.end(),
        [](const Copy& a, const Copy& b) { return a.before < b.before; });
    return copies;
  }

 private:
  // Prefix sums of the operations during which more lives than SRAM holds.
  void CountFull() {
    const OrderProblem problem = OrderProblemOf(graph_, config_.sram_bytes);
    std::vector<int64_t> change(graph_.ops.size() + 1, 0);
    for (size_t s = 0; s < graph_.storages.size(); ++s) {
      if (readers_[s].empty() && writers_[s].empty()) continue;
      int first = static_cast<int>(graph_.ops.size()), last = 0;
      for (const auto* list : {&readers_[s], &writers_[s]}) {
        if (list->empty()) continue;
        first = std::min(first, list->front());
        last = std::max(last, list->back());
      }
      change[first] += problem.bytes[s];
      change[last + 1] -= problem.bytes[s];
    }
    int64_t live = 0;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      live += change[i];
      const bool full = live + problem.tasks[i].own > config_.sram_bytes;
      full_[i + 1] = full_[i] + full;
    }
  }

  // Whether the storage finds no room somewhere in (from, to).
  bool Waits(const Storage& s, int from, int to) const {
    return s.SramBytes() > config_.sram_bytes || full_[to] > full_[from + 1];
  }

  int64_t CyclesToMove(uint64_t bytes) const {
    return bytes / config_.dram_bytes_per_cycle + kTransferStart;
  }

  // Of the operation once more.
  int64_t CyclesToCompute(const DeviceOp& op) const {
    int64_t elements = ElementsOf(graph_.values[op.output].extent);
    for (const OpInput& in : op.inputs) {
      elements = std::max(elements, ElementsOf(graph_.values[in.value].extent));
    }
    // Four lanes have a word.
    if (MovesWords(graph_, op)) elements /= 4;
    // (a line of SRAM is loaded and one stored for 16 lanes)
    int64_t instructions = 2;
    for (const Microprogram& p : op.Programs()) {
      instructions += static_cast<int64_t>(p.body.size());
    }
    return (elements + kLanes - 1) / kLanes * instructions;
  }

  void FindOf(size_t at, std::vector<Copy>* copies) const {
    const DeviceOp& op = *graph_.ops[at];
    const int storage = graph_.values[op.output].storage;
    const Storage& s = graph_.storages[storage];
    if (op.AsMatrix() != nullptr || op.macs > 0 || op.groups.size() > 1 ||
        s.dram_dense() || s.shared || writers_[storage].size() != 1) {
      return;
    }
    int before = static_cast<int>(at);
    for (int reader : readers_[storage]) {
      const int from = std::exchange(before, reader);
      // (behind its producer there is nothing to do again)
      if (from == static_cast<int>(at) || !Waits(s, from, reader)) continue;
      const int64_t again = CyclesAgain(op, s, static_cast<int>(at), reader);
      const int64_t saved = 2 * CyclesToMove(s.DramBytes()) - again;
      if (again >= 0 && saved > 0) {
        copies->push_back({op.output, static_cast<int>(at), reader, saved});
      }
    }
  }

  // Cycles of the operation in front of `reader`; -1 if its operands are not
  // there.
  int64_t CyclesAgain(const DeviceOp& op, const Storage& result, int at,
                      int reader) const {
    int64_t cycles = CyclesToCompute(op);
    uint64_t more = 0;  // bytes that would live longer
    for (const ConstantGroup& g : op.groups) cycles += CyclesToMove(g.bytes);
    for (const OpInput& in : op.inputs) {
      const int storage = graph_.values[in.value].storage;
      const Storage& s = graph_.storages[storage];
      if (s.is_input || s.constant) {
        cycles += CyclesToMove(s.DramBytes());
        continue;
      }
      // Nobody may write there afterwards.
      if (writers_[storage].empty() || writers_[storage].back() > at) return -1;
      if (s.is_output || s.SramBytes() > config_.sram_bytes) {
        cycles += CyclesToMove(s.DramBytes());
      } else if (readers_[storage].back() < reader) {
        more += s.SramBytes();
      }
    }
    return 2 * more <= result.SramBytes() ? cycles : -1;
  }

  const DeviceGraph& graph_;
  const isa::Config& config_;
  std::vector<std::vector<int>> readers_, writers_;  // of storages, in order
  std::vector<int> full_;
};

}  // namespace

std::vector<Copy> FindCopies(const DeviceGraph& graph,
                             const isa::Config& config) {
  return Finder(graph, config).Run();
}

void ApplyCopies(const std::vector<Copy>& copies, DeviceGraph* graph) {
  std::vector<std::unique_ptr<DeviceOp>> ops;
  std::vector<int> now(graph->values.size());  // what stands for each value
  for (size_t v = 0; v < now.size(); ++v) now[v] = static_cast<int>(v);
  // The producers' operands are what they were: some of them are copies by
  // then.
  std::vector<std::unique_ptr<DeviceOp>> producers;
  for (const Copy& copy : copies) {
    producers.push_back(graph->ops[copy.producer]->Clone());
  }
  size_t next = 0;
  for (size_t i = 0; i < graph->ops.size(); ++i) {
    for (; next < copies.size() && copies[next].before == static_cast<int>(i);
         ++next) {
      Value value = graph->values[copies[next].value];
      Storage storage = graph->storages[value.storage];
      absl::StrAppend(&storage.name, "'");
      storage.tap_offset = -1;
      value.storage = static_cast<int>(graph->storages.size());
      graph->storages.push_back(std::move(storage));
      std::unique_ptr<DeviceOp> op = std::move(producers[next]);
      for (OpInput& in : op->inputs) in.value = now[in.value];
      op->output = static_cast<int>(graph->values.size());
      now[copies[next].value] = op->output;
      graph->values.push_back(std::move(value));
      now.push_back(op->output);
      ops.push_back(std::move(op));
    }
    for (OpInput& in : graph->ops[i]->inputs) in.value = now[in.value];
    ops.push_back(std::move(graph->ops[i]));
  }
  graph->ops = std::move(ops);
}

}  // namespace heddle::compiler
