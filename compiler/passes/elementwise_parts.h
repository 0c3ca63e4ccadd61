// SPDX-License-Identifier: Apache-2.0
// What a node computes of each element, as microprograms.
#ifndef HEDDLE_COMPILER_PASSES_ELEMENTWISE_PARTS_H_
#define HEDDLE_COMPILER_PASSES_ELEMENTWISE_PARTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

// A stream of a step: the result of the step before, an input of the node, or
// constant data that broadcasts to the result.
struct StepOperand {
  static constexpr int kPrevious = -1, kData = -2;
  int input = kPrevious;
  std::shared_ptr<const TensorData> data;  // for kData
};

struct ElementwisePart {
  Microprogram program;
  std::array<uint32_t, 4> arguments{};
  std::vector<StepOperand> operands;
};

// The steps of a node that computes reals of reals (of a Where, of a condition
// too; of a DequantizeLinear, of codes), codes of fp32 (QuantizeLinear), or the
// condition that a comparison is, one
// element of the result from one of each operand. Where the result is float16
// or bfloat16, that of the last step is to be rounded to it. Empty for all
// others, and where a program depends on what is computed at run time.
std::vector<ElementwisePart> ElementwiseParts(const Graph& graph,
                                              const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PASSES_ELEMENTWISE_PARTS_H_
