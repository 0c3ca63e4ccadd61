// SPDX-License-Identifier: Apache-2.0
// The device graph and its memory plan as text for people: what each operation
// needs of its operands along each axis, along which axes it may be cut, where
// everything lies. Equal graphs give equal text.
#ifndef HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_TEXT_H_
#define HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_TEXT_H_

#include <string>

#include "compiler/schedule/device_graph.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {

// "rows y*2-1 +3": for row y of the result, 3 rows from 2y-1 on.
std::string ToText(const AxisNeed& need);
std::string ToText(const DeviceGraph& graph);
std::string ToText(const DeviceGraph& graph, const MemoryPlan& plan);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_TEXT_H_
