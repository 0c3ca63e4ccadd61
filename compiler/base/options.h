// SPDX-License-Identifier: Apache-2.0
// Options of a compilation: target card, shapes, limits, scheduling goal.
#ifndef HEDDLE_COMPILER_BASE_OPTIONS_H_
#define HEDDLE_COMPILER_BASE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct HostProfile;  // host_profile.h

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
  // The first tile of what loads its operands is shorter than the others,
  // where that is faster: the work begins sooner.
  bool short_first = true;
  // The first tiles of operands are loaded beside the operation before, where
  // that is faster: their place is reserved from there on.
  bool early_operands = true;
  // What is an output and read again stays in SRAM, where that is faster.
  bool keep_outputs = true;
  // Float operators element by element as one microprogram.
  bool fuse_elementwise = true;
  // Operations in the order that needs the least SRAM, where it is faster.
  bool order = true;
  // What is cheap is computed again for a later reader, where that is faster
  // than keeping it.
  bool recompute = true;
  // Short first tiles, the order and copies wherever they change anything, be
  // it slower: so that tests see them.
  bool always_rewrite = false;
};

// What the schedule is chosen for, among those that differ in time and traffic
// only.
enum class Goal {
  kSpeed,        // fewest cycles of a run
  kThorough,     // the same among more schedules, in several times the time
  kTraffic,      // fewest bytes to and from device memory, then fewest cycles
  kCompileTime,  // the first schedule that works
};

// Where nodes run that both the card and the host could run.
enum class Placement {
  // Where the estimates of node, transfer and job say that it is faster. A
  // graph that the card takes as a whole stays there.
  kCost,
  kCard,  // on the card
  kHost,  // on the host, also of a graph that the card takes as a whole
};

struct CompileOptions {
  std::string config = "h256";  // name of a hardware configuration
  // Concrete shapes for inputs with symbolic dimensions; of a symbol that is no
  // input's name, its one value. A dimension that stays open is refused, or is
  // 1, with a note in the report.
  std::map<std::string, Shape> input_shapes;
  bool open_dimensions_are_one = false;
  // The most that the elements of integer tensors may be in any run, by the
  // names of the tensors, inputs among them: what decides the size of a result
  // while the model runs (a Range, a Pad, the sizes of a Resize) is refused
  // without. A run in which one is more ends with an error.
  std::map<std::string, int64_t> bounds;
  // False: every operator between a DequantizeLinear and a QuantizeLinear
  // computes in floating point, as an interpreter of the model does it, and so
  // does each primitive operator of a softmax, layer normalisation or GELU. The
  // results differ from those of the integer operators, and of the recognised
  // functions, by rounding.
  bool fuse_quantization = true;
  // Nodes that the card lacks, and of which the compiler has the reference
  // semantics, run on the host (compiler/partition). False: the graph is
  // refused. A graph without such nodes gives the same package either way.
  bool host_nodes = false;
  // With `host_nodes`: which side takes the nodes that either could. The
  // results are the same bytes.
  Placement placement = Placement::kCost;
  // Nodes that the host computes as they are, and the card by their expansion
  // (compiler/direct), stay in the graph: for one that both share, of which
  // each part of the card expands its own.
  bool keep_direct = false;
  // What work of the host and a crossing to the card cost, for
  // Placement::kCost and the report; null: DefaultHostProfile().
  std::shared_ptr<const HostProfile> host_profile;
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
  // Longest command stream; 0 = the longest that the driver takes. Longer ones
  // are cut into several.
  uint64_t stream_bytes = 0;
  // Device memory that the package may take; 0 = no limit known. A package that
  // takes more has a part of its weights in host memory, and copies it in each
  // run (compiler/backend/weight_streaming.h).
  uint64_t device_memory_bytes = 0;
  // Windows for such weights, at most: 2, or 1 for copies that wait for each
  // other (compiler/package/weight_plan.h). For comparisons.
  uint32_t weight_windows = 2;
  // Threads that work, the caller's among them; 0: as many as there are
  // processors for this process. The package is the same with any number.
  int threads = 1;
  // Fill in CompileReport::commands and buffers, and the operands of layers.
  bool details = false;
  // Called from the calling thread with the name of the pass that begins
  // (compiler/passes/registry.h), or with a sentence. `part` of what the text
  // names is done, 0 to 1; it is negative where that is not known.
  std::function<void(const char* text, double part)> progress;
  // Called when a pass is done, with its name and a function that writes down
  // the state behind it; not when CheckGraph asks for a verdict only, and of
  // schedules that are tried for the one that is taken. A status other than OK
  // ends the compilation, which returns it.
  std::function<absl::Status(const char* pass,
                             const std::function<std::string()>& state)>
      after_pass;
  Goal goal = Goal::kSpeed;
  Features features;
};

inline void BeginPass(const CompileOptions& options, const char* pass) {
  if (options.progress) options.progress(pass, -1);
}
inline absl::Status EndPass(const CompileOptions& options, const char* pass,
                            const std::function<std::string()>& state) {
  return options.after_pass ? options.after_pass(pass, state)
                            : absl::OkStatus();
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_OPTIONS_H_
