// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/result.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "compiler/base/clock.h"
#include "compiler/base/count_text.h"
#include "compiler/package/expected_job.h"
#include "rtl/spec/generated/isa.h"
#include "tools/cli/colour.h"
#include "tools/cli/printable.h"
#include "tools/heddle-run/bench.h"

namespace heddle::run {
namespace {

using cli::Printable;
using nlohmann::ordered_json;

// Cycles that the card counted; if its core has no timing, those that were
// recorded on RTL, or what the compiler expects.
struct Cycles {
  uint64_t count = 0;
  absl::string_view source = "counted";  // of the JSON
  const char* note = "";
  // What takes them: that of a small model is a fraction of its job.
  const char* of = "of the job with its copies";
  double utilisation = 0;  // MACs / (cycles * array size)
  uint32_t clock_mhz = 0;
  double ms = 0;  // at the clock
};

constexpr absl::string_view kEstimated = "estimated";

Cycles CyclesOf(const package::Package& package, const Result& result) {
  Cycles cycles;
  cycles.count = result.statistics.cycles;
  if (result.replay.has_value()) {
    cycles = {result.replay->cycles, "recorded", " (exact, recorded on RTL)",
              "of the commands"};
  } else if (cycles.count == 0) {
    cycles = {package.estimated_cycles, kEstimated, " (estimated)",
              "of the commands, without copies"};
  }
  const isa::Config* config = isa::FindConfig(package.config);
  if (config != nullptr && cycles.count > 0) {
    cycles.utilisation = static_cast<double>(package.macs) /
                         (static_cast<double>(cycles.count) * config->lanes_in *
                          config->lanes_out);
    cycles.clock_mhz = config->clock_mhz;
    cycles.ms = compiler::MillisecondsOf(cycles.count, cycles.clock_mhz);
  }
  return cycles;
}

// `what` and the time of so many cycles; "" if the card has nothing to do.
std::string Timed(const char* what, uint64_t cycles, uint32_t clock_mhz) {
  const std::string time = compiler::AtTheClock(cycles, clock_mhz);
  return time.empty() ? "" : absl::StrCat(what, ": ", time);
}

// What the compiler expects of a whole job; 0 where it is counted, or where
// there are several jobs, or copies in parallel with runs.
uint64_t ExpectedJobCycles(const package::Package& package,
                           const Cycles& cycles) {
  return cycles.source == kEstimated ? package::ExpectedJobCycles(package) : 0;
}

std::string NodeName(const package::Package& package, uint32_t node) {
  return node < package.nodes.size() ? package.nodes[node] : "";
}

uint64_t CopiedWeightBytes(const package::Package& package) {
  uint64_t sum = 0;
  for (const auto* card : package::CardPackages(package))
    sum += card->weight_plan.copied_bytes();
  return sum;
}

std::string LayersText(const package::Package& package,
                       const std::optional<timing::Replay>& replay) {
  const uint32_t clock_mhz = compiler::ClockMhz(package.config);
  uint64_t whole = 0;
  for (const package::Package* card : package::CardPackages(package)) {
    whole += card->estimated_cycles;
  }
  if (replay.has_value()) whole = replay->cycles;
  std::string text =
      absl::StrFormat("%-48s %-7s %14s %12s %12s %12s\n", "layer", "engine",
                      "MACs", "DRAM bytes", "cycles*", "ms*");
  for (const package::Package* card : package::CardPackages(package)) {
    for (size_t i = 0; i < card->layers.size(); ++i) {
      const package::Layer& layer = card->layers[i];
      const uint64_t cycles =
          replay.has_value() ? replay->layer_cycles[i] : layer.estimated_cycles;
      absl::StrAppendFormat(
          &text, "%-48s %-7s %14d %12d %12d %12s\n",
          Printable(NodeName(*card, layer.node)), layer.engine, layer.macs,
          layer.dram_bytes, cycles,
          compiler::ColumnMilliseconds(cycles, whole, clock_mhz));
    }
  }
  absl::StrAppendFormat(&text, "* %s; ms at %d MHz\n\n",
                        replay.has_value() ? "exact, recorded on RTL"
                                           : "estimated by the compiler",
                        clock_mhz);
  return text;
}

std::string CommandsText(const timing::Replay& replay) {
  std::string text =
      absl::StrFormat("%6s %10s %12s %12s  %-7s %-13s %s\n", "stream", "offset",
                      "begin*", "end*", "engine", "command", "node");
  for (const timing::ReplayedCommand& c : replay.commands) {
    absl::StrAppendFormat(&text, "%6d %#10x %12d %12d  %-7s %-13s %s\n",
                          c.stream, c.offset, c.begin, c.end, c.engine,
                          c.mnemonic, Printable(c.node));
  }
  return absl::StrCat(text,
                      "* cycle of the stream, exact, recorded on RTL\n\n");
}

double PerSecond(const BenchResult& bench, const BenchSummary& summary) {
  if (bench.seconds <= 0) return summary.per_second;
  return static_cast<double>(bench.ms.size()) / bench.seconds;
}

std::string BenchText(const BenchResult& bench, bool simulated, bool colour) {
  const BenchSummary s = Summarize(bench.ms);
  const auto ms = [](const std::optional<double>& value) {
    return value.has_value() ? absl::StrFormat("%.3f", *value) : "-";
  };
  const std::string order = bench.in_flight > 1
                                ? absl::StrCat(bench.in_flight, " in flight")
                                : "one after another";
  std::string text = absl::StrFormat(
      "bench         %s after %d to warm up, %s: %.1f per second%s\n"
      "  ms          min %.3f, P50 %.3f, P90 %s, P95 %s, P99 %s, P99.9 %s, max "
      "%.3f, mean %.3f\n"
      "  noise       relative MAD %.1f %%; second half %+.1f %% against the "
      "first",
      compiler::CountText(s.runs, "run"), bench.warmup, order,
      PerSecond(bench, s), simulated ? ", of the simulation" : "", s.min,
      s.median, ms(s.p90), ms(s.p95), ms(s.p99), ms(s.p99_9), s.max, s.mean,
      100 * s.relative_mad, 100 * s.half_difference);
  if (s.halves_differ) {
    absl::StrAppend(&text, ": ",
                    cli::Coloured("THEY DIFFER", cli::Colour::kWarning, colour),
                    ", the machine was busy; measure again");
  }
  text += "\n";
  for (const session::CardPool::Card& card : bench.cards) {
    absl::StrAppendFormat(&text, "  card        %s: %s", Printable(card.id),
                          compiler::CountText(card.started, "run"));
    if (card.lost > 0) {
      absl::StrAppendFormat(&text, ", %d LOST with it and restarted",
                            card.lost);
    }
    if (card.device == nullptr) text += "; it is gone";
    text += "\n";
  }
  return text;
}

std::string ClassName(const Result& result, int64_t index) {
  const auto i = static_cast<size_t>(index);
  return i < result.names.size() ? result.names[i] : "";
}

ordered_json BenchJson(const BenchResult& bench) {
  const BenchSummary b = Summarize(bench.ms);
  const auto ms = [](const std::optional<double>& value) {
    return value.has_value() ? ordered_json(*value) : ordered_json(nullptr);
  };
  ordered_json json = {{"runs", b.runs},
                       {"warmup", bench.warmup},
                       {"min_ms", b.min},
                       {"median_ms", b.median},
                       {"p90_ms", ms(b.p90)},
                       {"p95_ms", ms(b.p95)},
                       {"p99_ms", ms(b.p99)},
                       {"p99_9_ms", ms(b.p99_9)},
                       {"max_ms", b.max},
                       {"mean_ms", b.mean},
                       {"per_second", PerSecond(bench, b)},
                       {"relative_mad", b.relative_mad},
                       {"half_difference", b.half_difference},
                       {"halves_differ", b.halves_differ},
                       {"in_flight", bench.in_flight},
                       {"lost", bench.lost}};
  for (const session::CardPool::Card& card : bench.cards) {
    json["cards"].push_back({{"device", card.id},
                             {"present", card.device != nullptr},
                             {"runs", card.started},
                             {"lost", card.lost}});
  }
  return json;
}

ordered_json LayersJson(const package::Package& package,
                        const std::optional<timing::Replay>& replay) {
  ordered_json layers = ordered_json::array();
  for (const package::Package* card : package::CardPackages(package)) {
    for (size_t i = 0; i < card->layers.size(); ++i) {
      const package::Layer& layer = card->layers[i];
      layers.push_back({{"node", NodeName(*card, layer.node)},
                        {"engine", layer.engine},
                        {"macs", layer.macs},
                        {"dram_bytes", layer.dram_bytes},
                        {"estimated_cycles", layer.estimated_cycles}});
      if (replay.has_value()) {
        layers.back()["recorded_cycles"] = replay->layer_cycles[i];
      }
    }
  }
  return layers;
}

ordered_json CommandsJson(const timing::Replay& replay) {
  ordered_json commands = ordered_json::array();
  for (const timing::ReplayedCommand& c : replay.commands) {
    commands.push_back({{"stream", c.stream},
                        {"offset", c.offset},
                        {"engine", c.engine},
                        {"command", c.mnemonic},
                        {"node", c.node},
                        {"begin", c.begin},
                        {"end", c.end}});
  }
  return commands;
}

ordered_json ProfileJson(const Profile& profile, const std::string& file) {
  ordered_json engines = ordered_json::array(), layers = engines;
  for (int e = 0; e < timing::kTimedEngines; ++e) {
    const EngineProfile& engine = profile.engines[e];
    engines.push_back({{"engine", timing::EngineName(e)},
                       {"commands", engine.commands},
                       {"cycles", engine.cycles},
                       {"stalls", ordered_json::object()}});
    for (const session::Stall& stall : engine.stalls) {
      engines.back()["stalls"][stall.reason] = stall.cycles;
    }
  }
  for (const LayerProfile& layer : profile.layers) {
    layers.push_back({{"node", layer.name}, {"cycles", layer.cycles}});
  }
  return {{"file", file},
          {"times", TimeSourceName(profile.source)},
          {"commands", profile.commands.size()},
          {"cycles", profile.cycles()},
          {"lost_for_room", profile.lost_for_room},
          {"lost_by_card", profile.lost_by_card},
          {"engines", std::move(engines)},
          {"layers", std::move(layers)}};
}

ordered_json ArithmeticJson(const Arithmetic& arithmetic) {
  const char* kind = arithmetic.kind == Arithmetic::Kind::kInteger ? "integer"
                     : arithmetic.kind == Arithmetic::Kind::kFloat ? "float"
                     : arithmetic.kind == Arithmetic::Kind::kRounding
                         ? "rounding"
                         : "unknown";
  return {{"expected", kind},
          {"differing_integer", arithmetic.integer},
          {"differing_float", arithmetic.floating},
          {"max_steps", arithmetic.integer_steps}};
}

}  // namespace

bool Result::matches() const {
  if (layer_check.has_value() && !layer_check->differences.empty()) {
    return false;
  }
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& c) { return c.equal; });
}

size_t HostOperators(const package::Package& package) {
  size_t count = 0;
  for (const package::Segment& segment : package.segments) {
    count += segment.kind() == package::SegmentKind::kControl
                 ? 1
                 : segment.host.nodes.size();
    for (const package::Body& body : segment.bodies) {
      count += HostOperators(*body.package);
    }
  }
  return count;
}

std::string ToText(const package::Package& package, const Result& result,
                   bool colour) {
  std::string text;
  if (result.layers) text += LayersText(package, result.replay);
  if (result.commands && result.replay) text += CommandsText(*result.replay);
  const Cycles cycles = CyclesOf(package, result);
  absl::StrAppendFormat(
      &text,
      "model         %s for %s, %d bytes of device memory\n"
      "device        %s (%s%s)\n"
      "latency       %.3f ms%s\n"
      "MACs          %d of the model, %d counted by the card\n"
      "cycles        %d%s%s\n"
      "utilisation   %.1f %%%s\n",
      Printable(package.model_name), package.config, result.device_bytes,
      result.device.id, result.device.core,
      result.device.simulated ? ", simulated" : "", result.latency_ms,
      result.device.simulated ? " of this machine, which simulates the card"
                              : "",
      package.macs, result.statistics.macs, cycles.count, cycles.note,
      Timed(absl::StrCat(" ", cycles.of).c_str(), cycles.count,
            cycles.clock_mhz),
      100 * cycles.utilisation, cycles.note);
  if (result.random_inputs) {
    text +=
        "inputs        pseudo-random; --data, --image or --images give real "
        "ones\n";
  }
  if (!result.specialisation.empty()) {
    absl::StrAppendFormat(&text, "shapes        %s\n",
                          Printable(result.specialisation));
  }
  if (const uint64_t job = ExpectedJobCycles(package, cycles); job > 0) {
    absl::StrAppendFormat(&text, "job           %d cycles including copies%s\n",
                          job, Timed(cycles.note, job, cycles.clock_mhz));
  }
  if (result.replay.has_value()) {
    absl::StrAppendFormat(
        &text,
        "job           %d cycles including copies, as the "
        "first job of a process%s\n",
        result.replay->job_cycles,
        Timed(cycles.note, result.replay->job_cycles, cycles.clock_mhz));
  }
  if (!package.weight_plan.empty()) {
    absl::StrAppendFormat(&text,
                          "weights       %d bytes stay on the card, %d are "
                          "copied from host memory in each run\n",
                          package.weight_plan.resident_bytes(),
                          package.weight_plan.copied_bytes());
  }
  if (!package.segments.empty()) {
    absl::StrAppendFormat(
        &text, "host          nodes run on the host: %d, in %d segment%s\n",
        HostOperators(package), package.segments.size(),
        package.segments.size() == 1 ? "" : "s");
  }
  if (result.profile.has_value()) {
    text += ProfileText(*result.profile, result.trace_file,
                        result.statistics.commands);
  }
  if (result.bench.has_value()) {
    text += BenchText(*result.bench, result.device.simulated, colour);
  }
  if (result.images.has_value()) {
    const ImageResult& images = *result.images;
    absl::StrAppendFormat(&text, "images        %d", images.count);
    const double percent = images.count > 0 ? 100.0 / images.count : 0;
    if (images.correct.has_value()) {
      absl::StrAppendFormat(&text, ", top-1 %d (%.2f %%)", *images.correct,
                            percent * *images.correct);
    }
    if (images.correct5.has_value()) {
      absl::StrAppendFormat(&text, ", top-5 %d (%.2f %%)", *images.correct5,
                            percent * *images.correct5);
    }
    text += '\n';
  }
  for (const ImageFileResult& image : result.image_files) {
    absl::StrAppendFormat(&text, "%s\n  %12s  %5s\n", Printable(image.file),
                          "value", "class");
    for (const Scored& scored : image.top) {
      absl::StrAppendFormat(&text, "  %12.6g  %5d  %s\n", scored.value,
                            scored.index,
                            Printable(ClassName(result, scored.index)));
    }
  }
  for (size_t i = 0; i < result.comparisons.size(); ++i) {
    const Comparison& c = result.comparisons[i];
    const package::TensorInfo& output = package.outputs[i];
    absl::StrAppendFormat(&text, "output '%s'  ", Printable(output.name));
    if (!c.problem.empty()) {
      absl::StrAppend(&text, c.problem, "\n");
      continue;
    }
    absl::StrAppendFormat(
        &text, "%s, max error %g",
        c.equal ? cli::Coloured("matches", cli::Colour::kGood, colour)
                : cli::Coloured("DIFFERS", cli::Colour::kBad, colour),
        c.max_error);
    if (!c.equal) {
      absl::StrAppendFormat(
          &text, ", %d %s, first at %s: %.9g, expected %.9g", c.differing,
          c.differing == 1 ? "element differs" : "elements differ",
          ElementText(result.shapes[i], c.first), c.value, c.expected);
    }
    absl::StrAppend(&text, "\n",
                    Describe(result.qualities[i], result.shapes[i]));
  }
  if (result.layer_check.has_value()) {
    text += Describe(*result.layer_check);
    if (!result.matches() && result.layer_check->compared > 0 &&
        result.layer_check->differences.empty()) {
      text +=
          "              so the card is correct by Heddle's definition; the "
          "expected outputs come from different arithmetic (see --rtol, "
          "--atol-range)\n";
    }
  }
  if (result.arithmetic.has_value()) text += Describe(*result.arithmetic);
  if (result.quantization_check.has_value()) {
    text += DescribeInFloat(*result.quantization_check);
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
                       {"copied_weight_bytes", CopiedWeightBytes(package)},
                       {"latency_ms", result.latency_ms},
                       {"model_macs", package.macs},
                       {"macs", s.macs},
                       {"cycles", cycles.count},
                       {"cycles_estimated", cycles.source == kEstimated},
                       {"cycles_source", std::string(cycles.source)},
                       {"calibrated", true},
                       {"clock_mhz", cycles.clock_mhz},
                       {"card_ms", cycles.ms},
                       {"utilisation", cycles.utilisation},
                       {"commands", s.commands},
                       {"bytes_loaded", s.bytes_loaded},
                       {"bytes_stored", s.bytes_stored},
                       {"host_operators", HostOperators(package)}};
  if (!result.specialisation.empty()) {
    json["specialisation"] = result.specialisation;
  }
  if (result.replay.has_value()) json["job_cycles"] = result.replay->job_cycles;
  if (const uint64_t job = ExpectedJobCycles(package, cycles); job > 0) {
    json["estimated_job_cycles"] = job;
  }
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
        entry["max_error"] = JsonNumber(c.max_error);
        entry["differing"] = c.differing;
        AddQuality(result.qualities[i], result.shapes[i], &entry);
        if (c.differing > 0) {
          entry["first"] = {{"index", c.first},
                            {"value", JsonNumber(c.value)},
                            {"expected", JsonNumber(c.expected)}};
        }
      }
    }
    json["outputs"].push_back(std::move(entry));
  }
  if (result.layer_check.has_value()) {
    json["layer_check"] = LayerCheckJson(*result.layer_check);
  }
  if (result.quantization_check.has_value()) {
    json["quantization_check"] = LayerCheckJson(*result.quantization_check);
  }
  if (result.arithmetic.has_value()) {
    json["arithmetic"] = ArithmeticJson(*result.arithmetic);
  }
  if (result.bench.has_value()) json["bench"] = BenchJson(*result.bench);
  if (result.images.has_value()) {
    const ImageResult& images = *result.images;
    json["images"] = {{"count", images.count}};
    const auto put = [&](const char* count, const char* part, size_t value) {
      json["images"][count] = value;
      json["images"][part] =
          static_cast<double>(value) / static_cast<double>(images.count);
    };
    if (images.correct) put("correct", "top1", *images.correct);
    if (images.correct5) put("correct5", "top5", *images.correct5);
  }
  for (const ImageFileResult& image : result.image_files) {
    ordered_json top = ordered_json::array();
    for (const Scored& scored : image.top) {
      ordered_json entry = {{"class", scored.index},
                            {"value", JsonNumber(scored.value)}};
      const std::string name = ClassName(result, scored.index);
      if (!name.empty()) entry["name"] = name;
      top.push_back(std::move(entry));
    }
    json["image_files"].push_back(
        {{"file", image.file}, {"top", std::move(top)}});
  }
  if (!result.image_files.empty()) json["pictures"] = json["image_files"];
  if (result.layers) json["layers"] = LayersJson(package, result.replay);
  if (result.commands && result.replay.has_value()) {
    json["commands_in_time"] = CommandsJson(*result.replay);
  }
  if (result.profile.has_value()) {
    json["trace"] = ProfileJson(*result.profile, result.trace_file);
  }
  // Names are the user's bytes: what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

ShapeRow RowOf(const package::Package& package, const Result& result) {
  ShapeRow row;
  row.shape = Printable(result.specialisation);
  row.json = ToJson(package, result);
  if (!result.bench.has_value()) return row;
  const BenchSummary summary = Summarize(result.bench->ms);
  const Cycles cycles = CyclesOf(package, result);
  row.line = absl::StrFormat(
      "%8d %12.3f %12s %12.1f %14d%s", summary.runs, summary.median,
      summary.p90.has_value() ? absl::StrFormat("%.3f", *summary.p90) : "-",
      PerSecond(*result.bench, summary), cycles.count, cycles.note);
  if (summary.halves_differ) row.line += "  NOISY: measure again";
  return row;
}

std::string ToText(const std::vector<ShapeRow>& rows) {
  size_t width = 5;
  for (const ShapeRow& row : rows) width = std::max(width, row.shape.size());
  std::string text =
      absl::StrFormat("%-*s %8s %12s %12s %12s %14s\n", width, "shape", "runs",
                      "P50 ms", "P90 ms", "per second", "cycles");
  for (const ShapeRow& row : rows) {
    absl::StrAppendFormat(&text, "%-*s %s\n", width, row.shape, row.line);
  }
  return text;
}

std::string ToJson(const std::vector<ShapeRow>& rows) {
  ordered_json json = {{"schema", "heddle-run/1"},
                       {"shapes", ordered_json::array()}};
  for (const ShapeRow& row : rows) {
    json["shapes"].push_back(ordered_json::parse(row.json));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace heddle::run
