// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/support.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/int64_range.h"
#include "compiler/host/host_function.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/define.h"
#include "compiler/partition/card_cost.h"
#include "compiler/partition/choose_places.h"
#include "compiler/partition/host_work.h"
#include "compiler/partition/partition.h"

namespace heddle::compiler {
namespace {

bool IsAboutNodes(const absl::Status& rejection) {
  switch (RejectionOf(rejection)) {
    case Rejection::kUnsupportedOperator:
    case Rejection::kUnsupportedAttribute:
    case Rejection::kUnsupportedShape:
    case Rejection::kUnsupportedDatatype:
      return true;
    default:
      return false;
  }
}

// Between the segments of a body tensors have the size that is stated.
absl::Status CheckBetweenSegments(const Graph& body,
                                  const std::vector<NodeSupport>& support) {
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(body));
  if (!bounded.any()) return absl::OkStatus();
  std::vector<size_t> part_of(body.nodes.size());
  const std::vector<Part> parts = Partition(body, PlacesOf(support));
  for (size_t p = 0; p < parts.size(); ++p) {
    for (int n : parts[p].nodes) part_of[n] = p;
  }
  const std::vector<int> producers = body.Producers();
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    const Node& node = body.nodes[n];
    for (TensorId id : node.inputs) {
      if ((bounded.of(id) == 0 && bounded.sizes(id) == nullptr) ||
          part_of[producers[id]] == part_of[n]) {
        continue;
      }
      return RejectNode(Rejection::kUnsupportedShape, node, "it reads '",
                        body.tensors[id].name,
                        "', whose size depends on run-time values; inside a "
                        "run-time If or Loop such a tensor cannot cross the "
                        "card, so compute what the card provides before it");
    }
  }
  return absl::OkStatus();
}

// SupportOf, of a body, of whose inputs is known which are wide.
absl::StatusOr<std::vector<NodeSupport>> SupportInside(
    const Graph& graph, const CompileOptions& options,
    const std::vector<bool>& wide_inputs);

class Finder {
 public:
  Finder(const Graph& graph, const CompileOptions& options,
         const std::vector<bool>& wide_inputs)
      : graph_(graph),
        options_(options),
        wide_(FindWideInt64(graph, wide_inputs)),
        support_(graph.nodes.size()) {
    options_.progress = nullptr;
    options_.after_pass = nullptr;
  }

  absl::StatusOr<std::vector<NodeSupport>> Find() {
    Graph scratch = graph_;
    ASSIGN_OR_RETURN(BoundedTensors bounded, FindBounded(graph_));
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (IsControl(node)) {
        RETURN_IF_ERROR(TakeControl(n));
      } else if (auto s = CheckNodeOfPart(graph_, static_cast<int>(n));
                 !s.ok()) {
        Take(n, s);
      } else if (bounded.Touches(node)) {
        Take(n, RejectNode(Rejection::kUnsupportedShape, node,
                           "the sizes of its tensors depend on run-time "
                           "values, and the card needs them in advance"));
      } else if (const TensorId id = WideOf(node);
                 id != kNoTensor && options_.host_nodes &&
                 CheckHostNode(graph_, node, &scratch, &bounded).ok()) {
        Take(n,
             RejectNode(Rejection::kUnsupportedDatatype, node, "'",
                        graph_.tensors[id].name,
                        "' may have int64 values beyond the card's 32 bits"));
      } else if (options_.placement == Placement::kHost &&
                 options_.host_nodes &&
                 CheckHostNode(graph_, node, &scratch, &bounded).ok()) {
        Choose(n, "the placement asks for the host");
      }
    }
    // Each round takes a node from the card, or is the last.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Part& part : Partition(graph_, PlacesOf(support_))) {
        if (part.place != Place::kCard) continue;
        ASSIGN_OR_RETURN(const bool taken, Refine(part));
        changed |= taken;
      }
    }
    RETURN_IF_ERROR(CheckHost());
    if (IsWeighed()) RETURN_IF_ERROR(Weigh());
    return std::move(support_);
  }

  // Of a body that the card takes as a whole.
  absl::StatusOr<std::vector<NodeSupport>> FindByCost() {
    RETURN_IF_ERROR(Weigh());
    return std::move(support_);
  }

 private:
  // One that the node reads or writes; kNoTensor: none is.
  TensorId WideOf(const Node& node) const {
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (TensorId id : *ids) {
        if (id != kNoTensor && wide_[id]) return id;
      }
    }
    return kNoTensor;
  }

  // Of what a body reads: the slots of control flow are its inputs.
  std::vector<bool> WideSlots(const Node& node) const {
    const bool loop = ControlOf(node).kind == ControlFlow::Kind::kLoop;
    std::vector<bool> wide(loop ? 1 : 0, false);  // the iteration's number
    for (size_t i = loop ? 2 : 1; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      wide.push_back(id != kNoTensor && wide_[id]);
    }
    return wide;
  }

  void Take(size_t node, absl::Status reason) {
    support_[node].place = Place::kHost;
    support_[node].reason = std::move(reason);
  }

  // The host, though the card could.
  void Choose(size_t node, const std::string& why) {
    Take(node, absl::FailedPreconditionError(
                   absl::StrCat(graph_.nodes[node].Describe(), ": ", why)));
    support_[node].by_choice = true;
  }

  bool IsWeighed() const {
    return options_.host_nodes && options_.placement == Placement::kCost &&
           RejectionOf(support_).ok();
  }

  // Sets costs, and moves nodes from the card to the host where that is
  // cheaper.
  absl::Status Weigh() {
    const HostProfile& profile = ProfileOf(options_);
    const std::vector<Place> card = PlacesOf(support_);
    const std::vector<Part> parts = Partition(graph_, card);
    std::vector<NodeCost> costs(graph_.nodes.size());
    std::vector<bool> movable(graph_.nodes.size(), false);
    Graph scratch = graph_;
    BoundedTensors bounded;
    for (size_t n = 0; n < costs.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (card[n] == Place::kCard) {
        movable[n] = CheckHostNode(graph_, node, &scratch, &bounded).ok();
      }
      if (card[n] == Place::kHost || movable[n]) {
        costs[n].host_ns = HostTime(HostWorkOf(graph_, node), profile);
      }
    }
    for (const Part& part : parts) {
      if (part.place != Place::kCard) continue;
      ASSIGN_OR_RETURN(const std::vector<double> times,
                       CardTimes(part.graph, options_));
      for (size_t i = 0; i < times.size(); ++i) {
        costs[part.nodes[i]].card_ns = times[i];
      }
    }
    for (size_t n = 0; n < costs.size(); ++n) support_[n].cost = costs[n];
    const std::vector<Place> places =
        ChoosePlaces(graph_, card, movable, costs, profile);
    if (places == card || !CardTakes(parts, places)) return absl::OkStatus();
    for (size_t n = 0; n < places.size(); ++n) {
      if (places[n] == card[n]) continue;
      Choose(n, absl::StrFormat(
                    "%.2f us on the host are less than %.2f us on the card "
                    "and the crossing",
                    costs[n].host_ns / 1e3, costs[n].card_ns / 1e3));
    }
    return absl::OkStatus();
  }

  // Whether the card takes its parts of `places`. Those of `known` it does: but
  // what is computed in a part may have a range of values that is not known of
  // what comes from the host.
  bool CardTakes(const std::vector<Part>& known,
                 const std::vector<Place>& places) const {
    std::set<std::vector<int>> taken;
    for (const Part& part : known) taken.insert(part.nodes);
    for (const Part& part : Partition(graph_, places)) {
      if (part.place != Place::kCard || taken.count(part.nodes) > 0) continue;
      if (!CheckPart(part.graph, options_).ok()) return false;
    }
    return true;
  }

  absl::Status TakeControl(size_t n) {
    const Node& node = graph_.nodes[n];
    NodeSupport& support = support_[n];
    support.place = options_.host_nodes ? Place::kControl : Place::kRefused;
    support.reason = WhyControl(node);
    for (const ControlBody& body : BodiesOf(node)) {
      std::vector<NodeSupport> inside;
      // A branch of constants has no nodes.
      if (!body.graph->nodes.empty()) {
        ASSIGN_OR_RETURN(inside, SupportOfBody(*body.graph, WideSlots(node)));
      }
      absl::Status s = RejectionOf(inside);
      if (s.ok()) s = CheckBetweenSegments(*body.graph, inside);
      if (!s.ok() && support.place == Place::kControl) {
        support.place = Place::kRefused;
        support.reason = s;
      }
      support.bodies.push_back(std::move(inside));
    }
    return absl::OkStatus();
  }

  // Of a body, of whose inputs is known which are wide.
  absl::StatusOr<std::vector<NodeSupport>> SupportOfBody(
      const Graph& body, const std::vector<bool>& wide) const {
    ASSIGN_OR_RETURN(auto support, SupportByCost(body, wide));
    if (!options_.host_nodes || !RejectionOf(support).ok() ||
        CheckBetweenSegments(body, support).ok()) {
      return support;
    }
    // Nothing has to pass between segments where there is only one.
    CompileOptions host = options_;
    host.placement = Placement::kHost;
    ASSIGN_OR_RETURN(auto whole, SupportInside(body, host, wide));
    if (!RejectionOf(whole).ok() || !CheckBetweenSegments(body, whole).ok()) {
      return support;
    }
    for (size_t n = 0; n < whole.size(); ++n) {
      if (!whole[n].by_choice) continue;
      whole[n].reason = absl::FailedPreconditionError(absl::StrCat(
          body.nodes[n].Describe(),
          ": tensors whose size is known only at run time cannot cross the "
          "card inside a run-time If or Loop"));
    }
    return whole;
  }

  absl::StatusOr<std::vector<NodeSupport>> SupportByCost(
      const Graph& body, const std::vector<bool>& wide) const {
    if (!options_.host_nodes || options_.placement != Placement::kCost) {
      return SupportInside(body, options_, wide);
    }
    CompileOptions card = options_;
    card.placement = Placement::kCard;
    ASSIGN_OR_RETURN(auto support, SupportInside(body, card, wide));
    // A body is a part of a graph that host and card share, wherever it is.
    if (!RejectionOf(support).ok()) return support;
    const bool whole = std::all_of(
        support.begin(), support.end(),
        [](const NodeSupport& s) { return s.place == Place::kCard; });
    ASSIGN_OR_RETURN(auto cheaper,
                     whole ? Finder(body, options_, wide).FindByCost()
                           : SupportInside(body, options_, wide));
    // What may not pass between segments does not decide by cost.
    if (CheckBetweenSegments(body, support).ok() &&
        !CheckBetweenSegments(body, cheaper).ok()) {
      return support;
    }
    return cheaper;
  }

  // The back end's verdict on some nodes of the graph, in its order.
  absl::Status Check(const std::vector<int>& nodes) const {
    return CheckPart(Extract(graph_, nodes), options_);
  }

  // Takes nodes from a region that the card refuses; false: it does not.
  absl::StatusOr<bool> Refine(const Part& part) {
    const absl::Status whole = CheckPart(part.graph, options_);
    if (whole.ok()) return false;
    if (!IsAboutNodes(whole)) return whole;
    bool found = false;
    for (int node : part.nodes) {
      const absl::Status alone = Check({node});
      if (alone.ok()) continue;
      if (!IsAboutNodes(alone)) return alone;
      Take(node, alone);
      found = true;
    }
    if (found) return true;
    // The shortest beginning that is refused ends with the node that is one too
    // many. `good` are accepted.
    size_t good = 1, bad = part.nodes.size();
    absl::Status reason = whole;
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      const absl::Status s =
          Check({part.nodes.begin(), part.nodes.begin() + middle});
      if (s.ok()) {
        good = middle;
        continue;
      }
      if (!IsAboutNodes(s)) return s;
      bad = middle;
      reason = s;
    }
    Take(part.nodes[bad - 1], reason);
    return true;
  }

  absl::Status CheckHost() {
    Graph scratch = graph_;
    BoundedTensors bounded;
    for (size_t n = 0; n < support_.size(); ++n) {
      NodeSupport& node = support_[n];
      // All that read or write bounded tensors are the host's.
      if (node.place != Place::kHost) continue;
      if (!options_.host_nodes) {
        node.place = Place::kRefused;
        continue;
      }
      const absl::Status s =
          CheckHostNode(graph_, graph_.nodes[n], &scratch, &bounded);
      if (s.ok()) continue;
      if (RejectionOf(s) == Rejection::kNone) return s;
      // The card's reason is what the user can do something about.
      node.place = Place::kRefused;
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  CompileOptions options_;
  const std::vector<bool> wide_;  // FindWideInt64
  std::vector<NodeSupport> support_;
};

absl::StatusOr<std::vector<NodeSupport>> SupportInside(
    const Graph& graph, const CompileOptions& options,
    const std::vector<bool>& wide_inputs) {
  const absl::Status card = CheckPart(graph, options);
  const bool wide =
      std::count(wide_inputs.begin(), wide_inputs.end(), true) > 0;
  if (card.ok() && !wide &&
      !(options.host_nodes && options.placement == Placement::kHost)) {
    return std::vector<NodeSupport>(graph.nodes.size());
  }
  if (!card.ok() && (!IsAboutNodes(card) || graph.nodes.empty())) return card;
  return Finder(graph, options, wide_inputs).Find();
}

}  // namespace

absl::StatusOr<std::vector<NodeSupport>> SupportOf(
    const Graph& graph, const CompileOptions& options) {
  return SupportInside(graph, options, {});
}

const HostProfile& ProfileOf(const CompileOptions& options) {
  return options.host_profile != nullptr ? *options.host_profile
                                         : DefaultHostProfile();
}

absl::Status RejectionOf(const std::vector<NodeSupport>& support) {
  for (const NodeSupport& node : support) {
    if (node.place == Place::kRefused) return node.reason;
  }
  return absl::OkStatus();
}

bool HostMayHelp(const absl::Status& rejection, const CompileOptions& options) {
  // Taps are the card's, and who watches the passes watches one back end.
  return options.host_nodes && !options.taps && !options.after_pass &&
         IsAboutNodes(rejection);
}

// Constants without elements are parameters that are not given.
bool HasEmptyTensors(const Graph& graph) {
  const auto empty = [&](TensorId id) {
    return id != kNoTensor && graph.tensors[id].shape_known &&
           ElementCount(graph.tensors[id].shape) == 0;
  };
  const auto any = [&](const std::vector<TensorId>& ids) {
    return std::any_of(ids.begin(), ids.end(), empty);
  };
  if (any(graph.inputs)) return true;
  for (const Node& node : graph.nodes) {
    if (any(node.outputs)) return true;
    if (!IsControl(node)) continue;
    for (const ControlBody& body : BodiesOf(node)) {
      if (HasEmptyTensors(*body.graph)) return true;
    }
  }
  return false;
}

}  // namespace heddle::compiler
