// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/compile_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/backend/producer.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/host/host_function.h"
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

std::vector<HostNode> HostNodesOf(const Graph& graph,
                                  const std::vector<NodeSupport>& support) {
  std::vector<HostNode> nodes;
  for (size_t n = 0; n < support.size(); ++n) {
    if (support[n].place != Place::kHost) continue;
    const Node& node = graph.nodes[n];
    nodes.push_back({node.name, node.op, node.sources,
                     std::string(support[n].reason.message())});
  }
  return nodes;
}

}  // namespace

absl::StatusOr<SplitResult> CompileParts(const Graph& graph,
                                         const CompileOptions& options) {
  BeginPass(options, "what the host takes");
  ASSIGN_OR_RETURN(const std::vector<NodeSupport> support,
                   SupportOf(graph, options));
  RETURN_IF_ERROR(RefusalOf(support));
  SplitResult result;
  package::Package& whole = result.package;
  whole.model_name = graph.name;
  whole.producer = kProducer;
  whole.config = options.config;
  whole.hw_version = reg::MakeVersion(reg::MajorOf(reg::kVersionReset), 0);
  Values values(&whole);
  for (TensorId id : graph.inputs) values.Of(graph.tensors[id]);
  CompileOptions rest = options;
  for (Part& part : Partition(graph, PlacesOf(support))) {
    package::Segment segment;
    segment.inputs = values.Of(part.graph, part.graph.inputs);
    segment.outputs = values.Of(part.graph, part.graph.outputs);
    SegmentReport entry;
    for (int n : part.nodes) entry.nodes.push_back(graph.nodes[n].name);
    for (uint32_t v : segment.inputs) entry.bytes_in += whole.values[v].size;
    for (uint32_t v : segment.outputs) entry.bytes_out += whole.values[v].size;
    entry.host = part.place == Place::kHost;
    if (entry.host) {
      // What whoever loads the package checks.
      ASSIGN_OR_RETURN(const HostFunction checked,
                       HostFunction::Make(part.graph));
      entry.host_bytes = checked.working_bytes();
      segment.host = std::move(part.graph);
    } else {
      ASSIGN_OR_RETURN(BackendResult made, GeneratePackage(part.graph, rest));
      if (rest.device_memory_bytes > 0) {
        const uint64_t weights =
            made.package.weight_plan.empty() ? PageUp(made.weights.size()) : 0;
        const uint64_t taken = DeviceBytes(made.package) + weights;
        if (taken >= rest.device_memory_bytes) {
          return Reject(Rejection::kNoDeviceMemory,
                        absl::StrCat("the card's segments of the model take "
                                     "more than its memory of ",
                                     options.device_memory_bytes, " bytes"));
        }
        rest.device_memory_bytes -= taken;
      }
      entry.cycles = made.report.estimated_cycles;
      MergeReport(made.report, &result.report);
      segment.card = Finish(&made);
      Narrow(*segment.card, segment.inputs, &whole);
      whole.hw_version = std::max(whole.hw_version, segment.card->hw_version);
    }
    result.report.segments.push_back(std::move(entry));
    whole.segments.push_back(std::move(segment));
  }
  for (TensorId id : graph.inputs) {
    whole.inputs.push_back(whole.values[values.Of(graph.tensors[id])]);
  }
  for (TensorId id : graph.outputs) {
    whole.outputs.push_back(whole.values[values.Of(graph.tensors[id])]);
  }
  result.report.host_nodes = HostNodesOf(graph, support);
  whole.macs = result.report.macs;
  whole.estimated_cycles = result.report.estimated_cycles;
  FinishMerge(options.config, &result.report);
  return result;
}

}  // namespace heddle::compiler
