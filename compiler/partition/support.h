// SPDX-License-Identifier: Apache-2.0
// Where each node of an analysed graph can run: on the card, on the host with
// the reference semantics of its operator, or nowhere. A run-time If or Loop is
// driven by the host; the nodes of its bodies have places of their own. This is
// the only place that decides; whatever exposes the compiler to users asks it.
#ifndef HEDDLE_COMPILER_PARTITION_SUPPORT_H_
#define HEDDLE_COMPILER_PARTITION_SUPPORT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/options.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

enum class Place { kCard, kHost, kControl, kRefused };

// Nanoseconds that a node takes on either side, crossings apart; 0 where it
// cannot run, and where nothing depends on it: in a graph that the card takes
// as a whole, and with another placement than by cost. Of control flow neither:
// its bodies' nodes have costs.
struct NodeCost {
  double card_ns = 0;  // card_cost.h
  double host_ns = 0;  // host_work.h
};

struct NodeSupport {
  Place place = Place::kCard;
  // Why not on the card, and for kRefused not on the host either: a rejection.
  // OK for kCard.
  absl::Status reason;
  // The card could have taken it: options.placement is why it does not, which
  // `reason` says, and is no rejection.
  bool by_choice = false;
  NodeCost cost;
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
// What both could take goes where options.placement says. By cost, a graph that
// the card takes as a whole stays there: it needs no host, and no profile
// changes a byte of its package. Of any other graph, and of each body of
// control flow, nodes that the host has an operator for go there if that is
// cheaper (choose_places.h), and if the card still takes the parts that are
// left. Whether a node is refused does not depend on the placement.
//
// A graph that the card takes as a whole costs one CheckPackage, another one as
// many as it takes to find out, and by cost a package of each part, made in the
// shortest time, whose timeline has the costs. Error: what refuses the graph
// and is no node's affair, such as memory.
absl::StatusOr<std::vector<NodeSupport>> SupportOf(
    const Graph& graph, const CompileOptions& options);

// What options.host_profile says, or the default.
const HostProfile& ProfileOf(const CompileOptions& options);

// The rejection of the first node that is refused; OK if there is none.
absl::Status RejectionOf(const std::vector<NodeSupport>& support);

// Whether another place for some node may avert this rejection of the card.
bool HostMayHelp(const absl::Status& rejection, const CompileOptions& options);

// Whether inputs or results of the graph's nodes, or of its bodies', have no
// elements. The card has no such tensors, and ONNXIFI neither.
bool HasEmptyTensors(const Graph& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_SUPPORT_H_
