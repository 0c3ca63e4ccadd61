// SPDX-License-Identifier: Apache-2.0
// The compiler: ONNX bytes in, a package (.hpk) out.
//
//   auto result = CompileOnnx(bytes, {.config = "h256"});
//   if (!result.ok()) ...; RefusalOf(result.status()) says what to tell the
//   user WriteFile("model.hpk", result->package);
//
// Deterministic: equal input and options give equal bytes, whatever the locale,
// time or number of threads.
#ifndef HEDDLE_COMPILER_COMPILER_H_
#define HEDDLE_COMPILER_COMPILER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// What the compiler may do to make a network fast. Results never depend on it:
// each switch is there so that what it brings can be measured.
struct Features {
  // QLinearAdd and QLinearMul in the output stage of the operand's producer.
  bool fuse_residual = true;
  // 8-bit functions of one operand as the output stage's table.
  bool fuse_table = true;
  // MaxPool and QLinearGlobalAveragePool in the output stage.
  bool fuse_pool = true;
  // Height of tiles, and what is spilled, by the closed form of what it costs
  // (otherwise halved until it fits).
  bool cost_tiles = true;
  // Constants of all groups are kept, or the groups' loop put outside that of
  // the tiles, where that saves reloading them for every tile.
  bool keep_weights = true;
  // Constants are loaded while up to so many operations before compute, as far
  // as there is SRAM for them; 0: when their operation begins.
  int prefetch = 8;
  // Several layers in turn on one stripe of rows, the tensors between them in
  // rolling buffers.
  bool cascade = true;
};

// What the schedule is chosen for, among those that differ in time and traffic
// only.
enum class Goal {
  kSpeed,        // fewest cycles of a run
  kThorough,     // the same among more schedules, in several times the time
  kTraffic,      // fewest bytes to and from device memory, then fewest cycles
  kCompileTime,  // the first schedule that works
};

struct CompileOptions {
  std::string config = "h256";  // name of a hardware configuration
  // Concrete shapes for inputs with symbolic dimensions. A dimension that stays
  // open is refused, or is 1, with a note in the report.
  std::map<std::string, Shape> input_shapes;
  bool open_dimensions_are_one = false;
  // False: every operator between a DequantizeLinear and a QuantizeLinear
  // computes in floating point, as an interpreter of the model does it. The
  // results differ from those of the integer operators by rounding.
  bool fuse_quantization = true;
  // Weights that the caller gives separately (ONNXIFI weight descriptors).
  std::map<std::string, TensorData> weights;
  // Folder of the model's file, from which tensors with external data are read
  // and that they cannot leave; "" for a model that has none: they are refused.
  std::string data_folder;
  // Additional outputs: every quantized tensor under its ONNX name, stored
  // beside the ordinary outputs. Fusion and tiling stay those of the
  // production package. A tensor that fusion has removed is computed behind
  // the production commands, by the same operation without the fused part.
  bool taps = false;
  // With `taps`: every computed tensor that has a place of its own on the card
  // (int64 tensors, which the card holds as int32, do not).
  bool tap_all = false;
  // SRAM that the package may use; 0 = all of the configuration's. Less makes
  // more and smaller tiles: for what-if questions and for tests of tiling.
  uint64_t sram_bytes = 0;
  // Device memory that the package may take; 0 = no limit known.
  uint64_t device_memory_bytes = 0;
  // Fill in CompileReport::commands and buffers, and the operands of layers.
  bool details = false;
  // Called when a stage begins ("lowering"), from the calling thread.
  std::function<void(const char* stage)> progress;
  Goal goal = Goal::kSpeed;
  Features features;
};

// Where a layer finds an operand, or puts its result.
struct OperandReport {
  std::string tensor;
  // "SRAM", "device memory", "SRAM, copied for its padding"
  std::string place;
  std::string layout;  // "dense", "blocked", "packed"
  Shape shape;
  uint64_t bytes = 0;  // in SRAM, if the whole were there
};

// One line of the report: an operation of the card. All cycles are estimates,
// uncalibrated.
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
  int64_t tile_rows = 0, rows = 0;  // rows of the result per tile, and in all
  uint64_t tiles = 0;               // times groups of constants
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

struct CompileReport {
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
  uint64_t sram_bytes = 0;     // that may be used
  uint64_t macs = 0;           // of the model
  uint64_t weight_bytes = 0;   // region 0
  uint64_t scratch_bytes = 0;  // region 1
  uint64_t io_bytes = 0;       // region 2
  uint64_t stream_bytes = 0;
  uint64_t commands = 0;
  uint64_t sram_peak_bytes = 0;
  uint64_t estimated_cycles = 0;     // uncalibrated
  double estimated_utilisation = 0;  // MACs / (cycles * C * K)
  // What the model says and the compiler does not use, one sentence each.
  std::vector<std::string> notes;
  // Quantized in the model, and yet computed in floating point.
  std::vector<FloatGroup> float_groups;
};

struct CompileResult {
  std::string package;
  CompileReport report;
};

absl::StatusOr<CompileResult> CompileOnnx(absl::string_view model,
                                          const CompileOptions& options);

// Import, shape inference, folding and quantization fusion only: the graph that
// the backend would lower, checked against the constraints of every operator.
// Weights may be absent.
absl::StatusOr<Graph> AnalyseOnnx(absl::string_view model,
                                  const CompileOptions& options);

// What CompileOnnx does with an analysed graph.
absl::StatusOr<CompileResult> CompileGraph(const Graph& graph,
                                           const CompileOptions& options);

// Whether CompileGraph succeeds: OK, or its refusal. Several times as fast, as
// no schedule is searched for.
absl::Status CheckGraph(const Graph& graph, const CompileOptions& options);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_COMPILER_H_
