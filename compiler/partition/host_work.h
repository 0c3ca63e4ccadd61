// SPDX-License-Identifier: Apache-2.0
// Host time of a node in closed form: the work of its reference's loops,
// counted from types and shapes, at the rates of the host profile. Nothing is
// evaluated. FIGURES.md gives the accuracy of the estimates.
#ifndef HEDDLE_COMPILER_PARTITION_HOST_WORK_H_
#define HEDDLE_COMPILER_PARTITION_HOST_WORK_H_

#include "compiler/base/host_profile.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Counts, which may be too large for 64 bits.
struct HostWork {
  double nodes = 0;         // evaluated; those of an expansion, each
  double bytes = 0;         // copied as they lie
  double elements = 0;      // computed one by one, or moved so
  double instructions = 0;  // of functions of floats, times elements
  double macs_float = 0;    // of convolutions and products
  double macs_int = 0;
  double rows = 0;  // of such: inner loops over a row of results
};

// Of a node whose tensors have known shapes (those that a run's values bound
// count as full). Control flow has none: its bodies' nodes have. An operator
// without a form of its own counts the elements of its largest tensor.
HostWork HostWorkOf(const Graph& graph, const Node& node);

// Nanoseconds.
double HostTime(const HostWork& work, const HostProfile& profile);

// Of all nodes of a graph, one behind the other; bodies of control flow are not
// counted.
double HostTime(const Graph& graph, const HostProfile& profile);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_HOST_WORK_H_
