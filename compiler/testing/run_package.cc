// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/run_package.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/host/host_function.h"
#include "compiler/ir/block_pool.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ops/bounded.h"
#include "compiler/testing/cpu_seconds.h"

namespace heddle::compiler {
namespace {

// Of another job; as a float or an integer it is a large number.
constexpr int kGarbage = 0xcd;

void Add(PackageRun part, PackageRun* run) {
  run->macs += part.macs;
  run->cpu_seconds += part.cpu_seconds;
  run->host_segments.insert(run->host_segments.end(),
                            part.host_segments.begin(),
                            part.host_segments.end());
  run->findings.insert(run->findings.end(), part.findings.begin(),
                       part.findings.end());
}

// An If or Loop: its bodies are packages of their own.
absl::Status RunControl(const package::Segment& segment,
                        const package::Package& package,
                        const std::vector<const uint8_t*>& from,
                        const std::vector<uint8_t*>& to,
                        const model::Options& options, int host_runs,
                        PackageRun* run) {
  const auto run_body =
      [&](size_t b, const std::vector<const uint8_t*>& slots,
          const std::vector<uint8_t*>& results) -> absl::Status {
    const package::Body& body = segment.bodies[b];
    std::vector<TensorData> arguments;
    for (size_t i = 0; i < body.slots.size(); ++i) {
      const package::TensorInfo& info = body.package->inputs[i];
      TensorData data = TensorData::Zeros(info.type, info.shape);
      if (info.size > 0) {
        std::memcpy(data.bytes.data(), slots[body.slots[i]], info.size);
      }
      arguments.push_back(std::move(data));
    }
    ASSIGN_OR_RETURN(PackageRun part,
                     RunPackage(*body.package, arguments, options, host_runs));
    for (size_t i = 0; i < results.size(); ++i) {
      const package::TensorInfo& info = body.package->outputs[i];
      if (info.size == 0) continue;
      std::memcpy(results[i], part.outputs[info.name].bytes.data(), info.size);
    }
    Add(std::move(part), run);
    return absl::OkStatus();
  };
  return Drive(segment.control, TypesOf(package, segment.inputs),
               TypesOf(package, segment.outputs), from, to, run_body,
               [] { return absl::OkStatus(); });
}

// One segment after another, as a session does it.
absl::StatusOr<PackageRun> RunSegments(const package::Package& package,
                                       const std::vector<TensorData>& inputs,
                                       const model::Options& options,
                                       int host_runs) {
  std::vector<TensorData> values;
  for (const package::TensorInfo& info : package.values) {
    values.push_back(TensorData::Zeros(info.type, info.shape));
  }
  for (size_t i = 0; i < inputs.size(); ++i) values[i] = inputs[i];
  std::vector<AxisSet> bounded(values.size(), 0);
  PackageRun run;
  for (const package::Segment& segment : package.segments) {
    if (segment.card != nullptr) {
      std::vector<TensorData> arguments;
      for (uint32_t v : segment.inputs) arguments.push_back(values[v]);
      ASSIGN_OR_RETURN(PackageRun part,
                       RunPackage(*segment.card, arguments, options));
      for (uint32_t v : segment.outputs) {
        values[v] = part.outputs[package.values[v].name];
      }
      Add(std::move(part), &run);
      continue;
    }
    std::vector<const uint8_t*> from;
    std::vector<uint8_t*> to;
    for (uint32_t v : segment.inputs) from.push_back(values[v].bytes.data());
    for (uint32_t v : segment.outputs) to.push_back(values[v].bytes.data());
    if (segment.kind() == package::SegmentKind::kControl) {
      RETURN_IF_ERROR(
          RunControl(segment, package, from, to, options, host_runs, &run));
      continue;
    }
    BoundedTensors known;
    std::vector<Shape> shapes, results;
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      known.Set(segment.host.inputs[i], bounded[segment.inputs[i]]);
      shapes.push_back(values[segment.inputs[i]].shape);
    }
    ASSIGN_OR_RETURN(const HostFunction host,
                     HostFunction::Make(segment.host, std::move(known)));
    const BlockPoolScope memory(
        std::make_shared<BlockPool>(kMostKeptBytes, kMostKeptBytes));
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < host_runs; ++i) {
      const double before = CpuSeconds();
      RETURN_IF_ERROR(host.Run(
          from, to, [] { return absl::OkStatus(); }, kPaceInterval, &shapes,
          &results));
      least = std::min(least, CpuSeconds() - before);
    }
    const std::vector<Node>& nodes = segment.host.nodes;
    run.host_segments.push_back({nodes.size(),
                                 nodes.empty() ? "" : nodes[0].Describe(),
                                 segment.estimated_ns, least});
    for (size_t i = 0; i < segment.outputs.size(); ++i) {
      const uint32_t v = segment.outputs[i];
      bounded[v] = host.bounded().of(segment.host.outputs[i]);
      if (bounded[v] == 0) continue;
      values[v].shape = results[i];
      values[v].bytes.resize(static_cast<uint64_t>(values[v].count()) *
                             ElementBytes(values[v].type));
    }
  }
  for (const package::TensorInfo& output : package.outputs) {
    for (size_t v = 0; v < values.size(); ++v) {
      if (package.values[v].name == output.name) {
        run.outputs[output.name] = values[v];
      }
    }
  }
  return run;
}

}  // namespace

absl::StatusOr<PackageRun> RunPackage(const package::Package& package,
                                      const std::vector<TensorData>& inputs,
                                      const model::Options& options,
                                      int host_runs) {
  if (!package.segments.empty()) {
    return RunSegments(package, inputs, options, host_runs);
  }
  const isa::Config* config = isa::FindConfig(package.config);
  if (config == nullptr) return absl::InvalidArgumentError("configuration");
  auto align = [](uint64_t v) { return (v + 4095) / 4096 * 4096; };
  const package::WeightPlan& plan = package.weight_plan;
  const uint64_t windows = align(package.region0_bytes());
  const uint64_t scratch = windows + align(plan.windows * plan.window_bytes);
  const uint64_t io = scratch + align(package.scratch_bytes);
  std::vector<uint8_t> memory(io + align(package.io_bytes) + 4096, 0);
  if (inputs.size() != package.inputs.size()) {
    return absl::InvalidArgumentError("number of inputs");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const package::TensorInfo& info = package.inputs[i];
    if (inputs[i].bytes.size() != info.size) {
      return absl::InvalidArgumentError(
          absl::StrCat("size of input ", info.name));
    }
    std::memcpy(&memory[io + info.offset], inputs[i].bytes.data(), info.size);
  }
  model::FlatMemory flat(memory.data(), memory.size());
  model::Model model(*config, &flat, options);
  model::RegionTable regions;
  regions[0] = {0, package.region0_bytes(), false};
  regions[1] = {scratch, package.scratch_bytes, true};
  regions[2] = {io, package.io_bytes, true};
  PackageRun run;
  const auto prepare = [&](uint32_t s) {
    package.PrepareWeights(s, memory.data(), &memory[windows]);
  };
  prepare(0);
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    const std::vector<uint32_t>& stream = package.streams[s];
    // Copies come as early as a card may execute them.
    const uint32_t ahead = plan.windows == 2 ? s + 1 : s;
    if (ahead > 0) prepare(ahead);
    if (!plan.empty()) {
      regions[package::kWindowRegion] = {windows + plan.window_begin(s),
                                         plan.window_bytes, false};
    }
    std::memset(model.sram(), kGarbage, config->sram_bytes);
    std::memset(model.accumulators(), kGarbage,
                size_t{config->acc_pixels} * config->lanes_out * 4);
    const double before = CpuSeconds();
    const model::RunResult result =
        model.Run(stream.data(), stream.size() * 4, regions);
    run.cpu_seconds += CpuSeconds() - before;
    if (result.status != isa::Error::kOk) {
      return absl::InternalError(
          absl::StrCat("fault ", static_cast<int>(result.status), " at offset ",
                       result.fault_offset, " node '",
                       package.NodeAt(s, result.fault_offset), "' address ",
                       result.fault_address));
    }
    run.macs += result.macs;
    for (const model::Finding& f : model.findings()) {
      run.findings.push_back(
          absl::StrCat(f.what, " at ", f.offset, " of stream ", s, " (",
                       package.NodeAt(s, f.offset), ") and ", f.other_offset,
                       " (", package.NodeAt(s, f.other_offset), ")"));
    }
  }
  for (const auto* tensors : {&package.outputs, &package.taps}) {
    for (const package::TensorInfo& info : *tensors) {
      TensorData data;
      data.type = info.type;
      data.shape = info.shape;
      const auto from = memory.begin() + static_cast<int64_t>(io + info.offset);
      data.bytes =
          std::vector<uint8_t>(from, from + static_cast<int64_t>(info.size));
      run.outputs[info.name] = std::move(data);
    }
  }
  return run;
}

}  // namespace heddle::compiler
