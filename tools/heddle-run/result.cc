// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/result.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::run {
namespace {

using nlohmann::ordered_json;

// Cycles that the card counted, or what the compiler expects if its core has no
// timing.
struct Cycles {
  uint64_t count = 0;
  bool estimated = false;
  double utilisation = 0;  // MACs / (cycles * array size)
};

Cycles CyclesOf(const package::Package& package, const Result& result) {
  Cycles cycles;
  cycles.count = result.statistics.cycles;
  cycles.estimated = cycles.count == 0;
  if (cycles.estimated) cycles.count = package.estimated_cycles;
  const isa::Config* config = isa::FindConfig(package.config);
  if (config != nullptr && cycles.count > 0) {
    cycles.utilisation = static_cast<double>(package.macs) /
                         (static_cast<double>(cycles.count) * config->lanes_in *
                          config->lanes_out);
  }
  return cycles;
}

struct Summary {
  double min = 0, median = 0, p95 = 0, mean = 0;
};

Summary Summarize(std::vector<double> ms) {
  Summary s;
  if (ms.empty()) return s;
  std::sort(ms.begin(), ms.end());
  s.min = ms.front();
  s.median = ms[ms.size() / 2];
  s.p95 = ms[std::min(ms.size() - 1, ms.size() * 95 / 100)];
  s.mean = std::accumulate(ms.begin(), ms.end(), 0.0) /
           static_cast<double>(ms.size());
  return s;
}

std::string NodeName(const package::Package& package, uint32_t node) {
  return node < package.nodes.size() ? package.nodes[node] : "";
}

// JSON has no infinities and no not-a-number.
ordered_json Number(double value) {
  if (std::isfinite(value)) return value;
  return absl::StrCat(value);
}

}  // namespace

bool Result::matches() const {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& c) { return c.equal; });
}

std::string ToText(const package::Package& package, const Result& result) {
  std::string text;
  if (result.layers) {
    absl::StrAppendFormat(&text, "%-48s %-7s %14s %12s %12s\n", "layer",
                          "engine", "MACs", "DRAM bytes", "cycles*");
    for (const package::Layer& layer : package.layers) {
      absl::StrAppendFormat(
          &text, "%-48s %-7s %14d %12d %12d\n", NodeName(package, layer.node),
          layer.engine, layer.macs, layer.dram_bytes, layer.estimated_cycles);
    }
    absl::StrAppend(&text, "* estimated by the compiler, not calibrated\n\n");
  }
  const Cycles cycles = CyclesOf(package, result);
  const char* estimated = cycles.estimated ? " (estimated)" : "";
  absl::StrAppendFormat(
      &text,
      "model         %s for %s, %d bytes of device memory\n"
      "device        %s (%s%s)\n"
      "latency       %.3f ms\n"
      "MACs          %d of the model, %d counted by the card\n"
      "cycles        %d%s\n"
      "utilisation   %.1f %%%s\n",
      package.model_name, package.config, result.device_bytes, result.device.id,
      result.device.core, result.device.simulated ? ", simulated" : "",
      result.latency_ms, package.macs, result.statistics.macs, cycles.count,
      estimated, 100 * cycles.utilisation, estimated);
  if (result.bench.has_value()) {
    const Summary s = Summarize(result.bench->ms);
    absl::StrAppendFormat(
        &text,
        "bench         %d runs: min %.3f, median %.3f, 95%% %.3f, mean %.3f "
        "ms; %.1f per second\n",
        result.bench->ms.size(), s.min, s.median, s.p95, s.mean,
        s.mean > 0 ? 1000 / s.mean : 0);
  }
  if (result.images.has_value()) {
    absl::StrAppendFormat(&text, "images        %d", result.images->count);
    if (result.images->correct.has_value()) {
      absl::StrAppendFormat(
          &text, ", top-1 %d (%.2f %%)", *result.images->correct,
          100.0 * *result.images->correct / result.images->count);
    }
    text += '\n';
  }
  for (size_t i = 0; i < result.comparisons.size(); ++i) {
    const Comparison& c = result.comparisons[i];
    const package::TensorInfo& output = package.outputs[i];
    absl::StrAppendFormat(&text, "output '%s'  ", output.name);
    if (!c.problem.empty()) {
      absl::StrAppend(&text, c.problem, "\n");
      continue;
    }
    absl::StrAppendFormat(&text, "%s, max error %g",
                          c.equal ? "matches" : "DIFFERS", c.max_error);
    if (!c.equal) {
      absl::StrAppendFormat(
          &text, ", %d elements differ, first at %d: %.9g, expected %.9g",
          c.differing, c.first, c.value, c.expected);
    }
    text += '\n';
  }
  return text;
}

std::string ToJson(const package::Package& package, const Result& result) {
  const Cycles cycles = CyclesOf(package, result);
  const session::RunStatistics& s = result.statistics;
  ordered_json json = {{"schema", "heddle-run/1"},
                       {"model", package.model_name},
                       {"config", package.config},
                       {"device", result.device.id},
                       {"core", result.device.core},
                       {"simulated", result.device.simulated},
                       {"device_bytes", result.device_bytes},
                       {"latency_ms", result.latency_ms},
                       {"model_macs", package.macs},
                       {"macs", s.macs},
                       {"cycles", cycles.count},
                       {"cycles_estimated", cycles.estimated},
                       {"utilisation", cycles.utilisation},
                       {"commands", s.commands},
                       {"bytes_loaded", s.bytes_loaded},
                       {"bytes_stored", s.bytes_stored},
                       {"host_operators", 0}};
  json["outputs"] = ordered_json::array();
  for (size_t i = 0; i < package.outputs.size(); ++i) {
    const package::TensorInfo& output = package.outputs[i];
    ordered_json entry = {{"name", output.name},
                          {"type", compiler::DataTypeName(output.type)},
                          {"shape", output.shape}};
    if (i < result.comparisons.size()) {
      const Comparison& c = result.comparisons[i];
      entry["equal"] = c.equal;
      if (!c.problem.empty()) {
        entry["problem"] = c.problem;
      } else {
        entry["max_error"] = Number(c.max_error);
        entry["differing"] = c.differing;
        if (c.differing > 0) {
          entry["first"] = {{"index", c.first},
                            {"value", Number(c.value)},
                            {"expected", Number(c.expected)}};
        }
      }
    }
    json["outputs"].push_back(std::move(entry));
  }
  if (result.bench.has_value()) {
    const Summary b = Summarize(result.bench->ms);
    json["bench"] = {{"runs", result.bench->ms.size()},
                     {"min_ms", b.min},
                     {"median_ms", b.median},
                     {"p95_ms", b.p95},
                     {"mean_ms", b.mean},
                     {"per_second", b.mean > 0 ? 1000 / b.mean : 0}};
  }
  if (result.images.has_value()) {
    json["images"] = {{"count", result.images->count}};
    if (result.images->correct.has_value()) {
      json["images"]["correct"] = *result.images->correct;
      json["images"]["top1"] = static_cast<double>(*result.images->correct) /
                               static_cast<double>(result.images->count);
    }
  }
  if (result.layers) {
    json["layers"] = ordered_json::array();
    for (const package::Layer& layer : package.layers) {
      json["layers"].push_back({{"node", NodeName(package, layer.node)},
                                {"engine", layer.engine},
                                {"macs", layer.macs},
                                {"dram_bytes", layer.dram_bytes},
                                {"estimated_cycles", layer.estimated_cycles}});
    }
  }
  // Names are the user's bytes: what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace heddle::run
