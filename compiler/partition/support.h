// SPDX-License-Identifier: Apache-2.0
// Where each node of an analysed graph can run: on the card, on the host with
// the reference semantics of its operator, or nowhere. An If or Loop that a run
// decides is driven by the host; the nodes of its bodies have places of their
// own. The one place that knows; whoever offers the compiler to users asks it.
#ifndef HEDDLE_COMPILER_PARTITION_SUPPORT_H_
#define HEDDLE_COMPILER_PARTITION_SUPPORT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

enum class Place { kCard, kHost, kControl, kRefused };

struct NodeSupport {
  Place place = Place::kCard;
  // Why not on the card, and for kRefused not on the host either: a rejection.
  // OK for kCard.
  absl::Status reason;
  // Of control flow: the support of its bodies' nodes (ops/control_flow.h). If
  // one is refused, all of it is.
  std::vector<std::vector<NodeSupport>> bodies;
};

// The support of each node, in the graph's order. A node is the card's if the
// back end takes it together with those of its region (partition.h): a sum of
// int64 values, for one, may be too large behind another only. Where a region
// is refused and none of its nodes alone, the one that makes it so is the
// host's. With options.host_nodes off, kRefused stands for kHost and kControl.
//
// A graph that the card takes as a whole costs one CheckPackage, another one as
// many as it takes to find out. Error: what refuses the graph and is no
// node's affair, such as memory.
absl::StatusOr<std::vector<NodeSupport>> SupportOf(
    const Graph& graph, const CompileOptions& options);

// The rejection of the first node that is refused; OK if there is none.
absl::Status RefusalOf(const std::vector<NodeSupport>& support);

// Whether another place for some node may avert this rejection of the card.
bool HostMayHelp(const absl::Status& rejection, const CompileOptions& options);

// Whether inputs or results of the graph's nodes, or of its bodies', have no
// elements. The card has no such tensors, and ONNXIFI neither.
bool HasEmptyTensors(const Graph& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_SUPPORT_H_
