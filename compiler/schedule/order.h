// SPDX-License-Identifier: Apache-2.0
// The order of operations that needs the least SRAM.
//
// A tensor lives from the first operation that reads or makes it to the last.
// Orders are compared by the most bytes that live at a time (together with what
// an operation has for itself); then by the sum of the bytes that live over all
// operations; then by the bytes that an operation hands to the next one, which
// alone reads them: cascades are made of such.
//
// Operations that every other one is before or behind part the graph into
// regions, whose orders have nothing to do with each other; none gets worse by
// this measure. Within one, windows of at most 64 operations are ordered by
// dynamic programming over the sets of operations that are done, which is exact
// as long as there are few enough of them. Chains take part as a few runs each:
// from a trough of their live bytes to the next, there is no use in doing
// something else in between (Liu 1987). Time is linear in the number of
// operations. Deterministic.
#ifndef HEDDLE_COMPILER_SCHEDULE_ORDER_H_
#define HEDDLE_COMPILER_SCHEDULE_ORDER_H_

#include <cstdint>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

struct OrderTask {
  std::vector<int> after;  // tasks that must come before it; each once
  std::vector<int> uses;   // tensors that it reads or makes; each once
  uint64_t own = 0;        // bytes that it needs while it runs
};

// Tasks, in an order that is valid, and the bytes of the tensors: where they
// live, and where they are handed from task to task.
struct OrderProblem {
  std::vector<OrderTask> tasks;
  std::vector<uint64_t> bytes, handed;
};

struct OrderCost {
  uint64_t peak = 0, area = 0, handed = 0;
  bool operator<(const OrderCost& o) const {
    if (peak != o.peak) return peak < o.peak;
    if (area != o.area) return area < o.area;
    return handed > o.handed;
  }
};

// Of the tasks in `order`, which is a permutation of all.
OrderCost CostOf(const OrderProblem& problem, const std::vector<int>& order);
// The tasks in a better order, or as they are; the peak is never above theirs.
std::vector<int> ImproveOrder(const OrderProblem& problem);

// The operations of `graph` with what must come before what, so that each finds
// the bytes that it finds in the order given. Tensors that SRAM of
// `sram_bytes` cannot hold, and those of the network's inputs, outputs and
// constants, take no room in it.
OrderProblem OrderProblemOf(const DeviceGraph& graph, uint64_t sram_bytes);
// Puts the operations into the order.
void ApplyOrder(const std::vector<int>& order, DeviceGraph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_ORDER_H_
