// SPDX-License-Identifier: Apache-2.0
// Elementwise operators whose meaning is a microprogram. The same steps are run
// by the reference (here) and by the card (lowering/lower_unary.cc).
//
//   const ProgramOperator kExp(
//       Define("Exp", 6, kMaxOpset).Inputs(1, 1, kReals), InferSame,
//       ExpSteps);
#ifndef HEDDLE_COMPILER_OPS_PROGRAM_OPERATOR_H_
#define HEDDLE_COMPILER_OPS_PROGRAM_OPERATOR_H_

#include <array>
#include <string>
#include <vector>

#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/microprogram.h"

namespace heddle::compiler {

// One run over all elements. The result has the broadcast shape of the
// operands and is fp32, or the node's integer type, unless it is the last.
struct ElementwiseStep {
  static constexpr int kPrevious = -1;  // the result of the step before

  Microprogram program;
  std::array<uint32_t, 4> arguments{};
  std::vector<int> operands;  // streams A, B, C: inputs of the node
};

// The steps of a checked node. Inputs are loaded as LaneType says, or as fp32
// if it does not know their type (see LaneData).
using StepsFunction =
    absl::StatusOr<std::vector<ElementwiseStep>> (*)(const Graph&, const Node&);

// How lanes load and store a type; false if they cannot.
bool LaneType(DataType type, isa::ElementType* element);
// Data that lanes cannot load, as fp32, rounded to nearest even.
TensorData LaneData(const TensorData& data);

// One step with a finished program.
absl::StatusOr<std::vector<ElementwiseStep>> OneStep(
    const ProgramBuilder& builder, std::vector<int> operands,
    const std::array<uint32_t, 4>& arguments = {});

// Output 0 has the type of input 0 and the broadcast shape of all inputs.
absl::Status InferBroadcast(Graph* graph, const Node& node);
// The same, and all inputs have one type.
absl::Status InferBroadcastSameType(Graph* graph, const Node& node);

inline constexpr TypeSet kAllTypes = ~TypeSet{0};

// Registers an operator with its steps, for nodes whose first input has a type
// of `lanes` that lanes have. `wide` evaluates the others on the host; the card
// refuses these. `selects`: the result is one of the inputs from this on, whose
// type decides in place of the first one's; int64 values, which the card holds
// as int32, stay what they are.
class ProgramOperator {
 public:
  ProgramOperator(Define define, decltype(OperatorInfo::infer) infer,
                  StepsFunction steps, TypeSet lanes = kAllTypes,
                  decltype(OperatorInfo::evaluate) wide = nullptr,
                  int selects = -1);
  // For nodes of lanes' types, and of double by `doubles`.
  ProgramOperator(Define define, decltype(OperatorInfo::infer) infer,
                  StepsFunction steps, DoubleFunction doubles);
};

// Whether the operator was registered so. It then needs no lowering of its own.
bool HasSteps(const std::string& domain, const std::string& op);
// Whether it selects among its inputs, and so takes int64 tensors.
bool SelectsInt64(const std::string& domain, const std::string& op);

// The steps of a node, or the rejection of a type that the card does not
// compute with.
absl::StatusOr<std::vector<ElementwiseStep>> StepsOf(const Graph& graph,
                                                     const Node& node);

// Runs one step on the host. `operands` in the order of the streams.
absl::StatusOr<TensorData> RunStep(
    const ElementwiseStep& step, const std::vector<const TensorData*>& operands,
    DataType type);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_PROGRAM_OPERATOR_H_
