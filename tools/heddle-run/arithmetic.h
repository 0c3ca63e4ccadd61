// SPDX-License-Identifier: Apache-2.0
// Quantized models can be run in two ways: with integer operators, as the card
// does and ONNX Runtime with its optimizer; or node by node, where every
// operator computes in floating point on dequantized values. The results differ
// by rounding. Which of both made the expected outputs?
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_ARITHMETIC_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_ARITHMETIC_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tools/heddle-run/compare.h"

namespace heddle::run {

// Distance of neighbouring values of the outputs that are quantized, by name:
// the scale of the DequantizeLinear that computes it, 1 for 8-bit codes.
std::map<std::string, double> OutputSteps(const compiler::Graph& graph);

// Has nodes of its own for quantization.
bool IsQuantized(const compiler::Graph& graph);

struct Arithmetic {
  // kRounding: neither of both, but no farther away than rounding leads. In a
  // deep network two orders of the same sums differ as much as both do from
  // the integers, and cannot be told apart.
  enum class Kind { kInteger, kFloat, kRounding, kUnknown };
  Kind kind = Kind::kUnknown;
  // Elements of all outputs that differ by more than half a step (or by more
  // than the tolerance) from the expected ones: with integers, in floating
  // point.
  int64_t integer = 0, floating = 0;
  // The largest distance in quantization steps; 0: an output has none.
  double integer_steps = 0, floating_steps = 0;
};

// `graph` is the model with all its quantization nodes (CompileOptions
// fuse_quantization = false), `values` are its tensors (EvaluateGraph); `card`
// and `expected` are in the order of its outputs.
Arithmetic FindArithmetic(const compiler::Graph& graph,
                          const std::vector<compiler::TensorData>& values,
                          const std::vector<compiler::TensorData>& card,
                          const std::vector<compiler::TensorData>& expected,
                          const Tolerance& tolerance);

// Sentences for people: what the file holds, and how to compare with it.
std::string Describe(const Arithmetic& arithmetic);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_ARITHMETIC_H_
