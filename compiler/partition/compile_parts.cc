// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/compile_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/backend/producer.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/status_macros.h"
#include "compiler/host/host_function.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/control_flow.h"
#include "compiler/partition/card_cost.h"
#include "compiler/partition/host_work.h"
#include "compiler/partition/merge_report.h"
#include "compiler/partition/partition.h"
#include "compiler/partition/support.h"
#include "rtl/spec/version.h"

namespace heddle::compiler {
namespace {

uint64_t AlignValue(uint64_t at) {
  return (at + package::kValueAlign - 1) / package::kValueAlign *
         package::kValueAlign;
}

uint64_t PageUp(uint64_t bytes) {
  return (bytes + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

uint64_t DeviceBytes(const package::Package& p) {
  uint64_t bytes =
      p.weight_device_bytes() + PageUp(p.scratch_bytes) + PageUp(p.io_bytes);
  for (const auto& stream : p.streams) {
    bytes += PageUp(stream.size() * sizeof(uint32_t));
  }
  return bytes;
}

// The values of a package, by name.
class Values {
 public:
  explicit Values(package::Package* package) : package_(package) {}

  // The value of this tensor, which is added if it is new.
  uint32_t Of(const Tensor& tensor) {
    const auto [it, fresh] = index_.try_emplace(
        tensor.name, static_cast<uint32_t>(package_->values.size()));
    if (fresh) {
      package::TensorInfo info;
      info.name = tensor.name;
      info.type = tensor.type;
      info.shape = tensor.shape;
      info.size = static_cast<uint64_t>(ElementCount(tensor.shape)) *
                  ElementBytes(tensor.type);
      info.offset = package_->io_bytes;
      package_->io_bytes = AlignValue(package_->io_bytes + info.size);
      package_->values.push_back(std::move(info));
    }
    return it->second;
  }

  std::vector<uint32_t> Of(const Graph& graph,
                           const std::vector<TensorId>& ids) {
    std::vector<uint32_t> values;
    for (TensorId id : ids) values.push_back(Of(graph.tensors[id]));
    return values;
  }

 private:
  package::Package* const package_;
  std::map<std::string, uint32_t> index_;
};

// The card computes with int32: what a segment asks of an input of the network.
void Narrow(const package::Package& card, const std::vector<uint32_t>& values,
            package::Package* whole) {
  for (size_t i = 0; i < values.size(); ++i) {
    package::TensorInfo& value = whole->values[values[i]];
    value.minimum = std::max(value.minimum, card.inputs[i].minimum);
    value.maximum = std::min(value.maximum, card.inputs[i].maximum);
  }
}

// The whole package, with weights that the segment keeps.
std::shared_ptr<const package::Package> Finish(BackendResult* made) {
  auto bytes =
      std::make_shared<const std::string>(std::move(made->weights.bytes));
  const uint64_t head = made->weights.head;
  made->package.weights =
      TensorBytes::View(bytes->data() + head, bytes->size() - head, bytes);
  return std::make_shared<const package::Package>(std::move(made->package));
}

const char* NameOf(Placement placement) {
  switch (placement) {
    case Placement::kCost:
      return "cost";
    case Placement::kCard:
      return "card";
    case Placement::kHost:
      return "host";
  }
  return "";
}

// What parts hand to each other that is bounded: by name, an index of its own.
struct BoundedValues {
  std::map<std::string, TensorId> ids;
  BoundedTensors tensors;
};

// Which inputs of a part are bounded.
BoundedTensors InputsOf(const Graph& graph, const BoundedValues& bounded) {
  BoundedTensors inputs;
  for (TensorId id : graph.inputs) {
    const auto found = bounded.ids.find(graph.tensors[id].name);
    if (found != bounded.ids.end()) {
      inputs.Copy(bounded.tensors, found->second, id);
    }
  }
  return inputs;
}

// Appends those of bodies behind their node.
void AddHostNodes(const Graph& graph, const std::vector<NodeSupport>& support,
                  std::vector<HostNode>* nodes) {
  for (size_t n = 0; n < support.size(); ++n) {
    if (support[n].place == Place::kCard) continue;
    const Node& node = graph.nodes[n];
    nodes->push_back({node.name, node.op, node.sources,
                      std::string(support[n].reason.message()),
                      support[n].by_choice});
    if (support[n].place != Place::kControl) continue;
    const std::vector<ControlBody> bodies = BodiesOf(node);
    for (size_t b = 0; b < bodies.size(); ++b) {
      AddHostNodes(*bodies[b].graph, support[n].bodies[b], nodes);
    }
  }
}

// Names are what values are known by. With `keep`, inputs and outputs keep
// theirs: nobody looks at the others.
void MakeNamesUnique(bool keep, Graph* graph) {
  std::set<std::string> taken;
  std::vector<bool> fixed(graph->tensors.size(), false);
  for (const auto* ids : {&graph->inputs, &graph->outputs}) {
    for (TensorId id : *ids) {
      if (!keep) continue;
      fixed[id] = true;
      taken.insert(graph->tensors[id].name);
    }
  }
  size_t number = 0;
  for (size_t id = 0; id < graph->tensors.size(); ++id) {
    if (fixed[id]) continue;
    std::string& name = graph->tensors[id].name;
    const std::string given = name;
    while (!taken.insert(name).second) {
      name = absl::StrCat(given, "/", ++number);
    }
  }
}

class PartsCompiler {
 public:
  explicit PartsCompiler(const CompileOptions& options)
      : options_(options), rest_(options), profile_(ProfileOf(options)) {}

  // The package of a graph that card and host share, and what is said of its
  // segments.
  absl::StatusOr<package::Package> CompileGraph(
      Graph graph, const std::vector<NodeSupport>& support,
      std::vector<SegmentReport>* reports) {
    MakeNamesUnique(true, &graph);
    package::Package whole;
    whole.model_name = graph.name;
    whole.producer = kProducer;
    whole.config = options_.config;
    whole.hw_version = reg::MakeVersion(reg::MajorOf(reg::kVersionReset), 0);
    Values values(&whole);
    for (TensorId id : graph.inputs) values.Of(graph.tensors[id]);
    BoundedValues bounded;
    for (Part& part : Partition(graph, PlacesOf(support))) {
      SegmentReport entry;
      for (int n : part.nodes) entry.nodes.push_back(graph.nodes[n].name);
      package::Segment segment;
      if (part.place == Place::kControl) {
        const Node& node = part.graph.nodes[0];
        segment.inputs = values.Of(part.graph, Given(node.inputs));
        segment.outputs = values.Of(part.graph, node.outputs);
        RETURN_IF_ERROR(CompileControl(node, support[part.nodes[0]], &segment,
                                       &whole, &entry));
      } else {
        segment.inputs = values.Of(part.graph, part.graph.inputs);
        segment.outputs = values.Of(part.graph, part.graph.outputs);
        if (part.place == Place::kHost) {
          RETURN_IF_ERROR(
              CompileHost(std::move(part), &bounded, &segment, &entry));
        } else {
          RETURN_IF_ERROR(CompileCard(part, &segment, &whole, &entry));
        }
      }
      for (uint32_t v : segment.inputs) entry.bytes_in += whole.values[v].size;
      for (uint32_t v : segment.outputs) {
        entry.bytes_out += whole.values[v].size;
      }
      if (part.place == Place::kCard) AddCardTime(&entry);
      segment.estimated_ns =
          static_cast<uint64_t>(std::llround(entry.estimated_us * 1e3));
      reports->push_back(std::move(entry));
      whole.segments.push_back(std::move(segment));
    }
    for (TensorId id : graph.inputs) {
      whole.inputs.push_back(whole.values[values.Of(graph.tensors[id])]);
    }
    for (TensorId id : graph.outputs) {
      whole.outputs.push_back(whole.values[values.Of(graph.tensors[id])]);
    }
    return whole;
  }

  CompileReport& report() { return report_; }
  const HostProfile& profile() const { return profile_; }

 private:
  static std::vector<TensorId> Given(const std::vector<TensorId>& ids) {
    std::vector<TensorId> given;
    for (TensorId id : ids) {
      if (id != kNoTensor) given.push_back(id);
    }
    return given;
  }

  // A package for the card; device memory for it is taken.
  absl::StatusOr<std::shared_ptr<const package::Package>> OnCard(
      const Graph& graph, uint64_t* cycles) {
    ASSIGN_OR_RETURN(const Graph composed, AsForCard(graph, rest_));
    ASSIGN_OR_RETURN(BackendResult made, GeneratePackage(composed, rest_));
    if (rest_.device_memory_bytes > 0) {
      const uint64_t weights =
          made.package.weight_plan.empty() ? PageUp(made.weights.size()) : 0;
      const uint64_t taken = DeviceBytes(made.package) + weights;
      if (taken >= rest_.device_memory_bytes) {
        return Reject(Rejection::kNoDeviceMemory,
                      absl::StrCat("the model's card segments need more than "
                                   "the card's memory of ",
                                   options_.device_memory_bytes, " bytes"));
      }
      rest_.device_memory_bytes -= taken;
    }
    *cycles = made.report.estimated_cycles;
    MergeReport(made.report, &report_);
    return Finish(&made);
  }

  // Cycles and bytes are known.
  void AddCardTime(SegmentReport* entry) const {
    entry->estimated_us = CardTime(entry->cycles, options_.config) / 1e3;
    entry->crossing_us =
        profile_.job_us +
        static_cast<double>(entry->bytes_in + entry->bytes_out) *
            profile_.transfer_byte_ns / 1e3;
  }

  absl::Status CompileHost(Part part, BoundedValues* bounded,
                           package::Segment* segment, SegmentReport* entry) {
    entry->host = true;
    entry->estimated_us = HostTime(part.graph, profile_) / 1e3;
    // What whoever loads the package checks.
    ASSIGN_OR_RETURN(
        const HostFunction checked,
        HostFunction::Make(part.graph, InputsOf(part.graph, *bounded)));
    for (TensorId id : part.graph.outputs) {
      if (checked.bounded().of(id) == 0 &&
          checked.bounded().sizes(id) == nullptr) {
        continue;
      }
      const auto at = static_cast<TensorId>(bounded->ids.size());
      bounded->ids[part.graph.tensors[id].name] = at;
      bounded->tensors.Copy(checked.bounded(), id, at);
    }
    entry->host_bytes = checked.working_bytes();
    segment->host = std::move(part.graph);
    return absl::OkStatus();
  }

  absl::Status CompileCard(const Part& part, package::Segment* segment,
                           package::Package* whole, SegmentReport* entry) {
    ASSIGN_OR_RETURN(segment->card, OnCard(part.graph, &entry->cycles));
    Narrow(*segment->card, segment->inputs, whole);
    whole->hw_version = std::max(whole->hw_version, segment->card->hw_version);
    return absl::OkStatus();
  }

  absl::Status CompileControl(const Node& node, const NodeSupport& support,
                              package::Segment* segment,
                              package::Package* whole, SegmentReport* entry) {
    segment->control = ControlOf(node);
    entry->host = true;
    entry->control = node.op;
    const std::vector<ControlBody> bodies = BodiesOf(node);
    for (size_t b = 0; b < bodies.size(); ++b) {
      package::Body body;
      Graph graph = *bodies[b].graph;
      body.slots = KeepReadInputs(&graph);
      MakeNamesUnique(false, &graph);
      SegmentReport::Body said;
      said.name = bodies[b].name;
      ASSIGN_OR_RETURN(
          body.package,
          CompileBody(std::move(graph), support.bodies[b], &said.segments));
      for (const SegmentReport& s : said.segments) {
        entry->cycles += s.cycles;
        entry->estimated_us += s.estimated_us + s.crossing_us;
      }
      entry->bodies.push_back(std::move(said));
      whole->hw_version = std::max(whole->hw_version, body.package->hw_version);
      segment->bodies.push_back(std::move(body));
    }
    return absl::OkStatus();
  }

  // Lets a body have the inputs that it reads, and says which these are.
  static std::vector<uint32_t> KeepReadInputs(Graph* graph) {
    std::vector<bool> read(graph->tensors.size(), false);
    for (const Node& node : graph->nodes) {
      for (TensorId id : node.inputs) {
        if (id != kNoTensor) read[id] = true;
      }
    }
    for (TensorId id : graph->outputs) read[id] = true;
    std::vector<uint32_t> slots;
    std::vector<TensorId> kept;
    for (size_t i = 0; i < graph->inputs.size(); ++i) {
      if (!read[graph->inputs[i]]) continue;
      slots.push_back(static_cast<uint32_t>(i));
      kept.push_back(graph->inputs[i]);
    }
    graph->inputs = std::move(kept);
    return slots;
  }

  absl::StatusOr<std::shared_ptr<const package::Package>> CompileBody(
      Graph graph, const std::vector<NodeSupport>& support,
      std::vector<SegmentReport>* reports) {
    const bool whole = !graph.nodes.empty() &&
                       std::all_of(support.begin(), support.end(),
                                   [](const NodeSupport& node) {
                                     return node.place == Place::kCard;
                                   }) &&
                       std::none_of(graph.outputs.begin(), graph.outputs.end(),
                                    [&](TensorId id) {
                                      return graph.tensors[id].is_constant();
                                    });
    if (!whole) {
      ASSIGN_OR_RETURN(auto made,
                       CompileGraph(std::move(graph), support, reports));
      return std::make_shared<const package::Package>(std::move(made));
    }
    SegmentReport entry;
    for (const Node& node : graph.nodes) entry.nodes.push_back(node.name);
    for (TensorId id : graph.inputs) entry.bytes_in += BytesOf(graph, id);
    for (TensorId id : graph.outputs) entry.bytes_out += BytesOf(graph, id);
    ASSIGN_OR_RETURN(auto made, OnCard(graph, &entry.cycles));
    AddCardTime(&entry);
    reports->push_back(std::move(entry));
    return made;
  }

  static uint64_t BytesOf(const Graph& graph, TensorId id) {
    return static_cast<uint64_t>(ElementCount(graph.tensors[id].shape)) *
           ElementBytes(graph.tensors[id].type);
  }

  const CompileOptions& options_;
  CompileOptions rest_;  // with the memory that is left
  const HostProfile& profile_;
  CompileReport report_;
};

}  // namespace

CompileOptions SharedOptions(const CompileOptions& options) {
  CompileOptions shared = options;
  shared.features.fuse_elementwise = false;
  shared.keep_direct = true;
  return shared;
}

absl::StatusOr<SplitResult> CompileParts(const Graph& graph,
                                         const CompileOptions& options) {
  BeginPass(options, "what the host takes");
  ASSIGN_OR_RETURN(const std::vector<NodeSupport> support,
                   SupportOf(graph, options));
  RETURN_IF_ERROR(RejectionOf(support));
  PartsCompiler compiler(options);
  SplitResult result;
  std::vector<SegmentReport> segments;
  ASSIGN_OR_RETURN(result.package,
                   compiler.CompileGraph(graph, support, &segments));
  result.report = std::move(compiler.report());
  result.report.segments = std::move(segments);
  result.report.host_profile = compiler.profile().name;
  result.package.placement = NameOf(options.placement);
  result.package.host_profile = HostProfileText(compiler.profile());
  AddHostNodes(graph, support, &result.report.host_nodes);
  result.package.macs = result.report.macs;
  result.package.estimated_cycles = result.report.estimated_cycles;
  FinishMerge(options.config, &result.report);
  return result;
}

}  // namespace heddle::compiler
