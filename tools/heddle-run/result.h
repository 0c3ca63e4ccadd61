// SPDX-License-Identifier: Apache-2.0
// What a run of heddle-run found, as text and as JSON.
//
// JSON, keys stable within a schema version; a part that was not asked for is
// absent:
//   {"schema": "heddle-run/1", "model", "config", "device", "core",
//    "simulated", "device_bytes", "copied_weight_bytes" (from host memory, per
//    run), "latency_ms", "model_macs", "macs", "cycles",
//    "specialisation" (of a package of several shapes: which),
//    "cycles_estimated", "cycles_source": "counted" by the card (with the
//    copies of the job), "estimated", "recorded" on RTL (as the estimate, of
//    the commands), "estimated_job_cycles" (with the copies; where the card
//    counts none and the model is one job), "job_cycles" (recorded: with the
//    copies; first inference of a process), "calibrated": true, "clock_mhz",
//    "card_ms" (the cycles at that clock; "latency_ms" and "bench" are this
//    machine's time, which for a simulated card is that of the simulation),
//    "utilisation", "commands" (that the card counts; those that control a
//    stream, such as end, are in no trace), "bytes_loaded", "bytes_stored",
//    "host_operators" (nodes that ran on the host),
//    "outputs": [{"name", "type", "shape", "equal", "max_error", "differing",
//                 "first": {"index", "value", "expected"}, "problem",
//                 with --check: "cosine", "relative_error" (root mean squares),
//                 "top1": {"agree", "of"} (of a classifier's scores),
//                 "largest": [{"index", "position": "[0,3]", "value",
//                              "expected"}] (differences; at most five)}],
//    "layer_check": {"compared", "differing",
//                    "layers": [{"tensor", "node", "op", "sources",
//                                "differing", "index", "value", "reference",
//                                "problem"; "cosine", "relative_error", "top1"
//                                and "largest" as of outputs}] (that differ, in
//                    the order of the graph), "first": the first of them},
//    "quantization_check": the same, against floating point on dequantized
//                    values,
//    "arithmetic": {"expected": "integer", "float", "rounding", "unknown",
//                   "differing_integer", "differing_float", "max_steps"},
//    "bench": {"runs", "warmup", "min_ms", "median_ms", "p90_ms", "p95_ms",
//              "p99_ms", "p99_9_ms" (null with too few runs), "max_ms",
//              "mean_ms", "per_second", "relative_mad", "half_difference",
//              "halves_differ", "in_flight", "lost" (with a card, and started
//              again), "cards": [{"device", "present", "runs" (with the first
//              and those to warm up), "lost"}] (of several)},
//    "images": {"count", "correct", "top1", "correct5", "top5"},
//    "image_files": [{"file", "top": [{"class", "value", "name"}]}],
//    "pictures": the same again, by the name that it had before release 0.3,
//    "layers": [{"node", "engine", "macs", "dram_bytes", "estimated_cycles",
//                "recorded_cycles"}],
//    "commands_in_time": [{"stream", "offset", "engine", "command", "node",
//                          "begin", "end"}] (cycles of the stream, from 0),
//    "trace": {"file", "times": "counted", "estimated" or "recorded" (as
//              "cycles_source"), "commands", "cycles" (first begin to last
//              end), "lost_for_room", "lost_by_card",
//              "engines": [{"engine", "commands", "cycles",
//                           "stalls": {reason: cycles}}],
//              "layers": [{"node", "cycles"}] (the most cycles first)}}
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/package/package.h"
#include "runtime/session/card_pool.h"
#include "runtime/session/session.h"
#include "tools/heddle-run/arithmetic.h"
#include "tools/heddle-run/compare.h"
#include "tools/heddle-run/images.h"
#include "tools/heddle-run/layer_check.h"
#include "tools/heddle-run/profile.h"
#include "tools/heddle-run/quality.h"
#include "tools/heddle-timing/replay.h"

namespace heddle::run {

struct BenchResult {
  std::vector<double> ms;  // of each inference
  int warmup = 0;
  size_t in_flight = 1;
  double seconds = 0;  // of all, if several are in flight
  uint64_t lost = 0;   // with a card, and started again
  // Of several cards.
  std::vector<session::CardPool::Card> cards;
};

struct ImageResult {
  size_t count = 0;
  std::optional<size_t> correct, correct5;  // with labels
};

struct ImageFileResult {
  std::string file;
  std::vector<Scored> top;
};

struct Result {
  session::DeviceDescription device;
  uint64_t device_bytes = 0;
  std::string specialisation;  // "": the package has one shape
  double latency_ms = 0;       // of the last inference
  session::RunStatistics statistics;
  std::vector<Comparison> comparisons;  // one per output, with --check
  std::vector<Quality> qualities;       // the same
  std::vector<compiler::Shape> shapes;  // the same, as the run left them
  std::optional<BenchResult> bench;
  std::optional<ImageResult> images;
  std::vector<ImageFileResult> image_files;
  std::vector<std::string> names;         // of classes; may be fewer
  std::optional<LayerCheck> layer_check;  // against the reference semantics
  // Of a quantized model: against floating point on dequantized values.
  std::optional<LayerCheck> quantization_check;
  std::optional<Arithmetic> arithmetic;  // quantized, and the outputs differ
  std::optional<timing::Replay> replay;  // with --cycles exact
  std::optional<Profile> profile;        // with --trace
  std::string trace_file;
  bool random_inputs = false;  // nobody gave any
  bool layers = false;
  bool commands = false;  // of the replay

  bool matches() const;
};

// Nodes of the package that the host runs.
size_t HostOperators(const package::Package& package);

// What was measured in one shape of several: a line of a table, and its JSON.
struct ShapeRow {
  std::string shape, line, json;
};

ShapeRow RowOf(const package::Package& package, const Result& result);
// JSON: {"schema": "heddle-run/1", "shapes": [a result for each]}.
std::string ToText(const std::vector<ShapeRow>& rows);
std::string ToJson(const std::vector<ShapeRow>& rows);

// `colour`: of the words that say whether all is well.
std::string ToText(const package::Package& package, const Result& result,
                   bool colour = false);
std::string ToJson(const package::Package& package, const Result& result);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_RESULT_H_
