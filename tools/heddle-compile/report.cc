// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/report.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/clock.h"
#include "compiler/report/package_report.h"
#include "tools/cli/printable.h"
#include "tools/heddle-compile/shape_set_report.h"

namespace heddle::compile {
namespace {

using cli::Printable;
using nlohmann::ordered_json;

constexpr size_t kWidest = 60;  // column of names

uint64_t PageUp(uint64_t bytes) {
  return (bytes + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

std::string TensorText(const package::TensorInfo& tensor) {
  return absl::StrCat("'", Printable(tensor.name), "' ",
                      compiler::DataTypeName(tensor.type),
                      compiler::ShapeToString(tensor.shape));
}

// Operations by engine.
std::map<std::string, size_t> Operators(const compiler::CompileReport& report) {
  std::map<std::string, size_t> count;
  for (const compiler::LayerReport& layer : report.layers) {
    ++count[layer.engine];
  }
  return count;
}

uint64_t Limit(const compiler::CompileReport& report) {
  return std::max(report.compute_bound_cycles, report.dram_bound_cycles);
}
const char* LimitName(const compiler::CompileReport& report) {
  return report.compute_bound_cycles >= report.dram_bound_cycles ? "compute"
                                                                 : "DRAM";
}
// Cycles, and what they are as time if that is known.
std::string Timed(const std::string& cycles, uint64_t count,
                  uint32_t clock_mhz) {
  const std::string time = compiler::AtTheClock(count, clock_mhz);
  return time.empty() ? cycles : absl::StrCat(cycles, ", ", time);
}
double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::string LayerName(const compiler::LayerReport& layer) {
  std::string name = Printable(layer.name);
  if (layer.sources.size() > 1) {
    absl::StrAppend(&name, " (+", layer.sources.size() - 1, ")");
  }
  return name;
}

// A table of the layers, in the order of execution; of a package without what
// it does not say.
std::string LayerTable(const compiler::CompileReport& report,
                       uint32_t clock_mhz) {
  const bool of_model = !report.from_package;
  size_t width = 5, shape_width = 5, op_width = 17;
  for (const compiler::LayerReport& layer : report.layers) {
    op_width = std::max(op_width, std::min(kWidest, layer.op.size()));
    width = std::max(width, std::min(kWidest, LayerName(layer).size()));
    shape_width = std::max(shape_width,
                           compiler::ShapeToString(layer.output_shape).size());
  }
  const int w = static_cast<int>(width), s = static_cast<int>(shape_width);
  const int o = static_cast<int>(op_width);
  std::string text = absl::StrFormat("%-*s ", w, "layer");
  if (of_model) absl::StrAppendFormat(&text, "%-*s ", o, "operator");
  absl::StrAppendFormat(&text, "%-7s ", "engine");
  if (of_model) absl::StrAppendFormat(&text, "%-*s ", s, "shape");
  absl::StrAppendFormat(&text, "%13s %11s %10s %9s %7s %s\n", "MACs",
                        "DRAM bytes", "cycles*", "ms*", "util*", "bound by*");
  for (const compiler::LayerReport& layer : report.layers) {
    absl::StrAppendFormat(&text, "%-*s ", w, LayerName(layer));
    if (of_model) absl::StrAppendFormat(&text, "%-*s ", o, layer.op);
    absl::StrAppendFormat(&text, "%-7s ", layer.engine);
    if (of_model) {
      absl::StrAppendFormat(&text, "%-*s ", s,
                            compiler::ShapeToString(layer.output_shape));
    }
    absl::StrAppendFormat(
        &text, "%13d %11d %10d %9s %6.1f%% %s\n", layer.macs, layer.dram_bytes,
        layer.estimated_cycles,
        compiler::ColumnMilliseconds(layer.estimated_cycles,
                                     report.estimated_cycles, clock_mhz),
        100 * layer.utilisation, layer.bound);
  }
  return text;
}

// What the layers of a group add to the whole.
uint64_t CyclesOf(const compiler::CompileReport& report,
                  const compiler::FloatGroup& group) {
  uint64_t cycles = 0;
  for (const compiler::LayerReport& layer : report.layers) {
    if (std::find(layer.sources.begin(), layer.sources.end(), group.node) !=
        layer.sources.end()) {
      cycles += layer.estimated_cycles;
    }
  }
  return cycles;
}

std::string FloatGroups(const compiler::CompileReport& report) {
  std::string text;
  for (const compiler::FloatGroup& group : report.float_groups) {
    absl::StrAppendFormat(
        &text,
        "float: %s '%s' is quantized in the model but computes in "
        "float, %d cycles*: %s\n",
        group.op, Printable(group.node), CyclesOf(report, group),
        Printable(group.reason));
  }
  return text;
}

std::string EngineTable(const compiler::CompileReport& report) {
  std::string text = absl::StrFormat("%-8s %9s %12s %8s  waiting for*\n",
                                     "engine", "commands", "bytes", "busy*");
  const auto percent = [&report](uint64_t cycles) {
    return 100 * Ratio(cycles, report.estimated_cycles);
  };
  for (const compiler::EngineReport& engine : report.engines) {
    absl::StrAppendFormat(&text, "%-8s %9d %12d %7.1f%% ", engine.name,
                          engine.commands, engine.bytes, percent(engine.busy));
    for (size_t i = 0; i < report.engines.size(); ++i) {
      if (percent(engine.wait_for[i]) < 0.05) continue;
      absl::StrAppendFormat(&text, " %s %.1f%%", report.engines[i].name,
                            percent(engine.wait_for[i]));
    }
    if (percent(engine.wait_for_commands) >= 0.05) {
      absl::StrAppendFormat(&text, " commands %.1f%%",
                            percent(engine.wait_for_commands));
    }
    if (percent(engine.finished) >= 0.05) {
      absl::StrAppendFormat(&text, " (nothing left to do %.1f%%)",
                            percent(engine.finished));
    }
    text += '\n';
  }
  return text;
}

// Where the weights are, if not all of them are on the card.
std::string WeightPlanLines(const package::WeightPlan& plan,
                            const compiler::CompileReport& report) {
  if (plan.empty()) return "";
  std::string text = absl::StrFormat(
      "  on the card     %d bytes resident, and %d window%s of %d bytes\n"
      "  host memory     %d bytes copied in each run, in %d pieces, %s",
      plan.device_bytes, plan.windows, plan.windows == 1 ? "" : "s",
      plan.window_bytes, plan.copied_bytes(), plan.copies.size(),
      plan.windows == 2 ? "while the card computes" : "while the card waits");
  if (!report.from_package) {
    absl::StrAppend(&text, ": ", report.copy_wait_cycles,
                    " cycles* more than the estimate below");
  }
  return text + "\n";
}

bool HasControl(const compiler::CompileReport& report) {
  return std::any_of(
      report.segments.begin(), report.segments.end(),
      [](const compiler::SegmentReport& s) { return !s.control.empty(); });
}

// What is known of segments. Of a package, only the nodes of the host's; times
// only if it has a profile.
struct SegmentColumns {
  bool nodes = true, times = true;
};
SegmentColumns ColumnsOf(const compiler::CompileReport& report) {
  return {!report.from_package,
          !report.from_package || !report.host_profile.empty()};
}

// Lines of segments; those of bodies are named "2 body.1" behind that of the If
// or Loop "2".
void AddSegmentLines(const std::vector<compiler::SegmentReport>& segments,
                     const std::string& prefix, SegmentColumns columns,
                     std::string* text) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const compiler::SegmentReport& s = segments[i];
    const std::string name = absl::StrCat(prefix, i + 1);
    const std::string on = !s.control.empty() ? absl::StrCat("host ", s.control)
                           : s.host           ? "host"
                                              : "card";
    absl::StrAppendFormat(text, "%-20s %-9s", name, on);
    if (columns.nodes) absl::StrAppendFormat(text, " %6d", s.nodes.size());
    absl::StrAppendFormat(
        text, " %12d %12d %12s", s.bytes_in, s.bytes_out,
        s.host && s.cycles == 0 ? "" : absl::StrCat(s.cycles));
    if (columns.times) {
      absl::StrAppendFormat(
          text, " %12.1f %12s", s.estimated_us,
          s.host ? "" : absl::StrFormat("%.1f", s.crossing_us));
    }
    *text += '\n';
    for (const auto& body : s.bodies) {
      AddSegmentLines(body.segments, absl::StrCat(name, " ", body.name, "."),
                      columns, text);
    }
  }
}

// Estimated microseconds, bodies each once.
struct SegmentTimes {
  double card = 0, host = 0, crossing = 0;
};
SegmentTimes TimesOf(const std::vector<compiler::SegmentReport>& segments) {
  SegmentTimes sum;
  for (const compiler::SegmentReport& s : segments) {
    // Control flow is the sum of its bodies.
    if (s.control.empty()) (s.host ? sum.host : sum.card) += s.estimated_us;
    sum.crossing += s.crossing_us;
    for (const auto& body : s.bodies) {
      const SegmentTimes inside = TimesOf(body.segments);
      sum.card += inside.card;
      sum.host += inside.host;
      sum.crossing += inside.crossing;
    }
  }
  return sum;
}

// How card and host share the network; nothing if the card does it all.
std::string SegmentTable(const compiler::CompileReport& report) {
  if (report.segments.empty()) return "";
  const SegmentColumns columns = ColumnsOf(report);
  std::string text = absl::StrFormat("%-20s %-9s", "segment", "on");
  if (columns.nodes) absl::StrAppendFormat(&text, " %6s", "nodes");
  absl::StrAppendFormat(&text, " %12s %12s %12s", "bytes in", "bytes out",
                        "cycles*");
  if (columns.times) {
    absl::StrAppendFormat(&text, " %12s %12s", "us*", "crossing us*");
  }
  text += '\n';
  AddSegmentLines(report.segments, "", columns, &text);
  const SegmentTimes times = TimesOf(report.segments);
  if (HasControl(report)) {
    text +=
        "Cycles count each body once; the number of iterations is known at run "
        "time only.\n";
  }
  if (columns.times) {
    absl::StrAppendFormat(
        &text,
        "Microseconds of the host and of crossings (a job, and its bytes in "
        "and out) follow\n"
        "the host profile '%s'; sums: card %.1f, host %.1f, crossings %.1f.\n",
        Printable(report.host_profile), times.card, times.host, times.crossing);
  }
  for (const compiler::HostNode& node : report.host_nodes) {
    absl::StrAppend(&text, "host: ", Printable(node.reason), "\n");
  }
  return text;
}

ordered_json HostNodes(const compiler::CompileReport& report) {
  ordered_json nodes = ordered_json::array();
  for (const compiler::HostNode& node : report.host_nodes) {
    ordered_json entry = {{"node", node.name}, {"op", node.op}};
    if (!report.from_package) {
      entry["reason"] = node.reason;
      entry["by_choice"] = node.by_choice;
    }
    nodes.push_back(std::move(entry));
  }
  return nodes;
}

ordered_json Segments(const std::vector<compiler::SegmentReport>& list,
                      SegmentColumns columns) {
  ordered_json segments = ordered_json::array();
  for (const compiler::SegmentReport& s : list) {
    ordered_json segment = {{"on", s.host ? "host" : "card"}};
    if (columns.nodes) segment["nodes"] = s.nodes;
    segment["bytes_in"] = s.bytes_in;
    segment["bytes_out"] = s.bytes_out;
    segment["estimated_cycles"] = s.cycles;
    if (columns.nodes) segment["host_bytes"] = s.host_bytes;
    if (columns.times) {
      segment["estimated_us"] = s.estimated_us;
      segment["crossing_us"] = s.crossing_us;
    }
    if (!s.control.empty()) {
      ordered_json bodies = ordered_json::array();
      for (const auto& body : s.bodies) {
        bodies.push_back({{"name", body.name},
                          {"segments", Segments(body.segments, columns)}});
      }
      segment["control"] = s.control;
      segment["bodies"] = std::move(bodies);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

ordered_json WeightPlanAsJson(const package::Package& package,
                              const compiler::CompileReport& report) {
  const package::WeightPlan& plan = package.weight_plan;
  ordered_json copies = ordered_json::array();
  for (const package::WeightCopy& c : plan.copies) {
    copies.push_back({{"stream", c.stream},
                      {"from", c.from},
                      {"to", c.to},
                      {"bytes", c.size}});
  }
  ordered_json json = {{"device_bytes", package.region0_bytes()},
                       {"resident_bytes", plan.empty() ? package.weights.size()
                                                       : plan.resident_bytes()},
                       {"copied_bytes", plan.copied_bytes()},
                       {"windows", plan.windows},
                       {"window_bytes", plan.window_bytes},
                       {"overlapped", plan.windows == 2}};
  if (!report.from_package) json["wait_cycles"] = report.copy_wait_cycles;
  json["copies"] = std::move(copies);
  return json;
}

}  // namespace

ordered_json TensorsJson(const std::vector<package::TensorInfo>& tensors) {
  ordered_json list = ordered_json::array();
  for (const package::TensorInfo& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"type", compiler::DataTypeName(tensor.type)},
                    {"shape", tensor.shape},
                    {"bytes", tensor.size}});
  }
  return list;
}

uint64_t DeviceBytes(const package::Package& package) {
  if (!package.segments.empty()) {
    uint64_t sum = 0;
    for (const package::Package* card : package::CardPackages(package)) {
      sum += DeviceBytes(*card);
    }
    return sum;
  }
  uint64_t sum = package.weight_device_bytes() + PageUp(package.scratch_bytes) +
                 PageUp(package.io_bytes);
  for (const auto& stream : package.streams) {
    sum += PageUp(stream.size() * sizeof(uint32_t));
  }
  return sum;
}

std::string TextReport(const package::Package& package,
                       const compiler::CompileReport& report) {
  const uint32_t clock_mhz = compiler::ClockMhz(package.config);
  std::string text = LayerTable(report, clock_mhz);
  absl::StrAppend(&text, "\n", EngineTable(report), "\n");
  std::string operators;
  for (const auto& [engine, count] : Operators(report)) {
    absl::StrAppend(&operators, engine, " ", count, ", ");
  }
  std::string tensors;
  for (const package::TensorInfo& input : package.inputs) {
    absl::StrAppend(&tensors, "input             ", TensorText(input), "\n");
  }
  for (const package::TensorInfo& output : package.outputs) {
    absl::StrAppend(&tensors, "output            ", TensorText(output), "\n");
  }
  std::string job;
  if (report.estimated_job_cycles > 0) {
    job = absl::StrCat(
        "job*              ",
        Timed(absl::StrCat(report.estimated_job_cycles, " with its copies"),
              report.estimated_job_cycles, clock_mhz),
        "\n");
  }
  absl::StrAppendFormat(
      &text,
      "model             %s for %s\n"
      "%soperations        %shost %d\n"
      "MACs              %d\n"
      "weights           %d bytes\n"
      "%sscratch           %d bytes\n"
      "inputs, outputs   %d bytes\n"
      "command streams   %d bytes, %d commands\n"
      "device memory     %d bytes\n"
      "DRAM traffic      %d bytes\n"
      "%s%d of %d bytes\n"
      "cycles*           %s\n"
      "%s"
      "limit             %d cycles, by %s (compute %d, DRAM %d)\n"
      "distance*         %.2f times the limit; layer by layer at least %d\n"
      "utilisation*      %.1f %% of the matrix engine's MACs\n"
      "* estimated by the compiler, calibrated on single commands of the RTL; "
      "commands only, but for the line of the job\n",
      Printable(package.model_name), package.config, tensors, operators,
      report.host_nodes.size(), report.macs, report.weight_bytes,
      WeightPlanLines(package.weight_plan, report), report.scratch_bytes,
      report.io_bytes, report.stream_bytes, report.commands,
      DeviceBytes(package), report.dram_bytes,
      report.from_package ? "SRAM touched      " : "SRAM peak         ",
      report.sram_peak_bytes, report.sram_bytes,
      Timed(absl::StrCat(report.estimated_cycles), report.estimated_cycles,
            clock_mhz),
      job, Limit(report), LimitName(report), report.compute_bound_cycles,
      report.dram_bound_cycles, Ratio(report.estimated_cycles, Limit(report)),
      report.layer_bound_cycles, 100 * report.estimated_utilisation);
  text += SegmentTable(report);
  text += FloatGroups(report);
  for (const std::string& note : report.notes) {
    absl::StrAppend(&text, "note: ", Printable(note), "\n");
  }
  if (report.from_package) {
    absl::StrAppend(&text, compiler::kNotInPackage, ".\n");
  }
  return text;
}

ordered_json ReportAsJson(const package::Package& package,
                          const compiler::CompileReport& report) {
  ordered_json layers = ordered_json::array();
  for (const compiler::LayerReport& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"engine", layer.engine},
                      {"shape", layer.output_shape},
                      {"macs", layer.macs},
                      {"dram_bytes", layer.dram_bytes},
                      {"estimated_cycles", layer.estimated_cycles},
                      {"first_cycle", layer.first_cycle},
                      {"last_cycle", layer.last_cycle},
                      {"utilisation", layer.utilisation},
                      {"bound", layer.bound},
                      {"commands", layer.commands},
                      {"sources", layer.sources},
                      {"tiles", layer.tiles}});
    if (!report.from_package) continue;
    for (const char* key : {"op", "shape", "sources", "tiles"}) {
      layers.back().erase(key);
    }
  }
  ordered_json engines = ordered_json::array();
  for (const compiler::EngineReport& engine : report.engines) {
    ordered_json entry = {{"name", engine.name},
                          {"commands", engine.commands},
                          {"bytes", engine.bytes},
                          {"busy", engine.busy}};
    for (size_t i = 0; i < report.engines.size(); ++i) {
      entry["wait_for_" + report.engines[i].name] = engine.wait_for[i];
    }
    entry["wait_for_commands"] = engine.wait_for_commands;
    entry["finished"] = engine.finished;
    engines.push_back(std::move(entry));
  }
  ordered_json buffers = ordered_json::array();
  for (const compiler::BufferReport& buffer : report.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"kind", buffer.kind},
                       {"address", buffer.address},
                       {"bytes", buffer.bytes},
                       {"first_layer", buffer.first_layer},
                       {"last_layer", buffer.last_layer},
                       {"first_cycle", buffer.first_cycle},
                       {"last_cycle", buffer.last_cycle}});
  }
  ordered_json float_groups = ordered_json::array();
  for (const compiler::FloatGroup& group : report.float_groups) {
    float_groups.push_back({{"node", group.node},
                            {"op", group.op},
                            {"reason", group.reason},
                            {"estimated_cycles", CyclesOf(report, group)}});
  }
  const uint32_t clock_mhz = compiler::ClockMhz(package.config);
  const ordered_json limits = {
      {"compute_bound_cycles", report.compute_bound_cycles},
      {"dram_bound_cycles", report.dram_bound_cycles},
      {"layer_bound_cycles", report.layer_bound_cycles},
      {"bound_by", LimitName(report)},
      {"distance", Ratio(report.estimated_cycles, Limit(report))}};
  ordered_json json = {
      {"schema", "heddle-compile/1"},
      {"model", package.model_name},
      {"config", package.config},
      {"macs", report.macs},
      {"weight_bytes", report.weight_bytes},
      {"weight_plan", WeightPlanAsJson(package, report)},
      {"scratch_bytes", report.scratch_bytes},
      {"io_bytes", report.io_bytes},
      {"stream_bytes", report.stream_bytes},
      {"device_bytes", DeviceBytes(package)},
      {"commands", report.commands},
      {"sram_bytes", report.sram_bytes},
      {"sram_peak_bytes", report.sram_peak_bytes},
      {"dram_bytes", report.dram_bytes},
      {"operators", Operators(report)},
      {"host_operators", HostNodes(report)},
      {"segments", Segments(report.segments, ColumnsOf(report))},
      {"host_profile", report.host_profile},
      {"calibrated", true},
      {"estimated_cycles", report.estimated_cycles},
      {"clock_mhz", clock_mhz},
      {"estimated_ms",
       compiler::MillisecondsOf(report.estimated_cycles, clock_mhz)},
      {"estimated_per_second",
       compiler::PerSecond(report.estimated_cycles, clock_mhz)},
      {"estimated_job_cycles", report.estimated_job_cycles},
      {"estimated_job_ms",
       compiler::MillisecondsOf(report.estimated_job_cycles, clock_mhz)},
      {"estimated_utilisation", report.estimated_utilisation},
      {"limits", limits},
      {"engines", std::move(engines)},
      {"inputs", TensorsJson(package.inputs)},
      {"outputs", TensorsJson(package.outputs)},
      {"taps", TensorsJson(package.taps)},
      {"notes", report.notes},
      {"float_groups", std::move(float_groups)},
      {"layers", std::move(layers)},
      {"buffers", std::move(buffers)}};
  if (report.from_package) {
    for (const char* key : {"sram_peak_bytes", "float_groups", "buffers"}) {
      json.erase(key);
    }
    json["sram_touched_bytes"] = report.sram_peak_bytes;
    json["not_in_package"] = compiler::kNotInPackage;
  }
  return json;
}

std::string JsonReport(const package::Package& package,
                       const compiler::CompileReport& report,
                       const compiler::ShapeSetReport* set) {
  ordered_json json = ReportAsJson(package, report);
  if (set != nullptr) json["shape_set"] = ShapeSetAsJson(*set);
  // Names are the user's bytes: what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace heddle::compile
