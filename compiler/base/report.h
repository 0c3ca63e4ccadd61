// SPDX-License-Identifier: Apache-2.0
// What a compilation reports about its result: cycles, memory, and what became
// of each layer. Plain data; compiler/report/ fills it.
#ifndef HEDDLE_COMPILER_BASE_REPORT_H_
#define HEDDLE_COMPILER_BASE_REPORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Where a layer finds an operand, or puts its result.
struct OperandReport {
  std::string tensor;
  // "SRAM", "device memory", "SRAM, copied for its padding"
  std::string place;
  std::string layout;  // "dense", "blocked", "packed"
  Shape shape;
  uint64_t bytes = 0;  // in SRAM, if the whole were there
};

// All cycles are estimates of simulator/timing/timeline.h, calibrated from
// measurements of single commands on the RTL; how far they are off is in
// FIGURES.md.

// One line of the report: an operation of the card.
struct LayerReport {
  std::string name;  // ONNX node name(s)
  std::string op;
  std::string engine;  // "matrix", "vector", "dma", "none" (folded)
  Shape output_shape;
  uint64_t macs = 0;
  uint64_t dram_bytes = 0;  // read and written
  // What the whole is longer for this layer: the end of its last command minus
  // the latest end of the layers before it. Work in the shadow of earlier
  // layers counts there; the layers add up to CompileReport::estimated_cycles.
  uint64_t estimated_cycles = 0;
  // Its span, from the start of its first command to the end of its last one;
  // spans overlap.
  uint64_t first_cycle = 0, last_cycle = 0;
  // Cycles that load, store, matrix and vector engine work for it.
  std::array<uint64_t, 4> busy_cycles{};
  uint64_t commands = 0;
  // MACs / (estimated_cycles * MACs per cycle of its engine); 0 if it has none.
  double utilisation = 0;
  // What its time goes to: "matrix", "vector", "DRAM" (bandwidth), "waiting"
  // (latencies and dependencies, more than half of the time), "hidden" (in the
  // shadow of earlier layers).
  std::string bound;
  std::vector<std::string> sources;  // ONNX nodes that it stands for
  // With CompileOptions::details.
  std::vector<OperandReport> inputs;
  OperandReport output;
  // Of the result, per tile and in all.
  int64_t tile_rows = 0, rows = 0;
  int64_t first_tile_rows = 0;  // of an image's first tile
  int64_t tile_columns = 0, columns = 0;
  int64_t tile_channels = 0, channels = 0;
  uint64_t tiles = 0;  // times groups of constants
  uint64_t groups = 0;
  uint64_t constant_bytes = 0;
};

// SRAM that is taken from one layer to another.
struct BufferReport {
  std::string name;  // of the tensor or the layer
  std::string kind;  // "tensor", "operand", "result", "constants", "temporary",
                     // "programs"
  uint64_t address = 0, bytes = 0;
  size_t first_layer = 0, last_layer = 0;
  // From the start of the first command that touches it to the end of the last.
  uint64_t first_cycle = 0, last_cycle = 0;
};

struct CommandReport {
  int layer = -1;
  int engine = -1;  // 0 load, 1 store, 2 matrix, 3 vector, -1 front end
  const char* mnemonic = "";
  uint32_t offset = 0;  // in the stream
  uint64_t start = 0, end = 0, bytes = 0;
};

// Where the cycles of an engine go.
struct EngineReport {
  std::string name;
  uint64_t commands = 0, bytes = 0;
  uint64_t busy = 0;
  std::array<uint64_t, 4> wait_for{};  // signals of load, store, matrix, vector
  uint64_t wait_for_commands = 0;      // from the front end
  uint64_t finished = 0;               // nothing left to do
};

// A node that the host evaluates.
struct HostNode {
  std::string name, op;
  std::vector<std::string> sources;  // ONNX nodes that it stands for
  std::string reason;                // why the card does not
  bool by_choice = false;            // it could: the host is cheaper
};

// A part of a network that the card and the host share.
struct SegmentReport {
  bool host = false;
  // "If", "Loop": the host decides at run time which of the bodies runs, or how
  // often. Each body is of segments, too.
  std::string control;
  struct Body {
    std::string name;  // "then_branch", "else_branch", "body"
    std::vector<SegmentReport> segments;
  };
  std::vector<Body> bodies;
  std::vector<std::string> nodes;
  // Of tensors that it reads and writes in host memory.
  uint64_t bytes_in = 0, bytes_out = 0;
  // Of the card. Of control flow: each body once.
  uint64_t cycles = 0;
  uint64_t host_bytes = 0;  // of tensors that live on the host only inside it
  // Estimated microseconds: of the card its cycles at the clock, of the host
  // what its profile says (base/host_profile.h), of control flow each body once
  // with its crossings.
  double estimated_us = 0;
  // Of the card: what the job and the bytes in and out cost beside that.
  double crossing_us = 0;
};

struct CompileReport {
  // Of an existing package (compiler/report/package_report.h), which does not
  // say all that the compiler knew: what it leaves out is empty here.
  bool from_package = false;
  std::vector<LayerReport> layers;
  std::vector<EngineReport> engines;
  std::vector<CommandReport> commands_in_time;  // details
  std::vector<BufferReport> buffers;            // details
  // Lower bounds of the cycles. Compute: all MACs at the full rate of their
  // engine, engines in parallel. DRAM: weights, inputs and outputs once at the
  // full bandwidth, of a table only the rows that are gathered. The larger is
  // the limit of the hardware. Layers: the sum of the larger of a layer's MACs
  // and its bytes, as this plan moves them.
  uint64_t compute_bound_cycles = 0;
  uint64_t dram_bound_cycles = 0;
  uint64_t layer_bound_cycles = 0;
  uint64_t bus_busy_cycles = 0;
  uint64_t dram_bytes = 0;
  uint64_t sram_bytes = 0;    // that may be used
  uint64_t macs = 0;          // of the model
  uint64_t weight_bytes = 0;  // of the package
  // Of device memory for weights. If it is smaller than they are, some of them
  // are resident and the others are copied from host memory in each run: the
  // cycles of the estimates do not contain that.
  uint64_t region0_bytes = 0;
  uint64_t window_bytes = 0;  // all windows together
  uint64_t resident_weight_bytes = 0;
  uint64_t copied_weight_bytes = 0;  // per run
  uint64_t copy_wait_cycles = 0;     // in which nothing but copies goes on
  uint64_t scratch_bytes = 0;        // region 1
  uint64_t io_bytes = 0;             // region 2
  uint64_t stream_bytes = 0;
  uint64_t commands = 0;
  // Of the memory plan; of a package up to the last byte that a command may
  // touch, at most.
  uint64_t sram_peak_bytes = 0;
  uint64_t estimated_cycles = 0;
  // Of the whole job, its copies included; 0: there is no one figure
  // (compiler/package/expected_job.h).
  uint64_t estimated_job_cycles = 0;
  double estimated_utilisation = 0;  // MACs / (cycles * C * K)
  // In the order in which they run; empty if the card does it all. The layers
  // and sums are those of the card's segments together, each once, also of
  // bodies that run several times or not at all.
  std::vector<SegmentReport> segments;
  std::vector<HostNode> host_nodes;
  // The name of the profile that times of the host are of; with segments.
  std::string host_profile;
  // What the model says and the compiler does not use, or of a package where it
  // says something else; one sentence each.
  std::vector<std::string> notes;
  // Quantized in the model, and yet computed in floating point.
  std::vector<FloatGroup> float_groups;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_REPORT_H_
