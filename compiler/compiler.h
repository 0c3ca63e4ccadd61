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

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct CompileOptions {
  std::string config = "h256";  // name of a hardware configuration
  // Concrete shapes for inputs with symbolic dimensions; a symbolic dimension
  // of an input that is not named here is bound to 1.
  std::map<std::string, Shape> input_shapes;
  // Weights that the caller gives separately (ONNXIFI weight descriptors).
  std::map<std::string, TensorData> weights;
  // Additional outputs: every quantized tensor under its ONNX name, stored
  // beside the ordinary outputs. Fusion and tiling stay those of the
  // production package.
  bool taps = false;
  // SRAM that the package may use; 0 = all of the configuration's. Less makes
  // more and smaller tiles: for what-if questions and for tests of tiling.
  uint64_t sram_bytes = 0;
  // Device memory that the package may take; 0 = no limit known.
  uint64_t device_memory_bytes = 0;
};

// One line of the report: an operator of the lowered graph.
struct LayerReport {
  std::string name;  // ONNX node name(s)
  std::string op;
  std::string engine;  // "matrix", "vector", "dma", "none" (folded)
  Shape output_shape;
  uint64_t macs = 0;
  uint64_t dram_bytes = 0;        // read and written
  uint64_t estimated_cycles = 0;  // uncalibrated
};

struct CompileReport {
  std::vector<LayerReport> layers;
  uint64_t macs = 0;           // of the model
  uint64_t weight_bytes = 0;   // region 0
  uint64_t scratch_bytes = 0;  // region 1
  uint64_t io_bytes = 0;       // region 2
  uint64_t stream_bytes = 0;
  uint64_t commands = 0;
  uint64_t sram_peak_bytes = 0;
  uint64_t estimated_cycles = 0;     // uncalibrated
  double estimated_utilisation = 0;  // MACs / (cycles * C * K)
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

// Whether the card has an implementation of every operator of an analysed
// graph: OK, or the refusal CompileOnnx would give. What depends on the values
// of weights or on memory is left to CompileOnnx.
absl::Status CheckGraph(const Graph& graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_COMPILER_H_
