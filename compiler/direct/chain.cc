// SPDX-License-Identifier: Apache-2.0
#include "compiler/direct/chain.h"

#include <algorithm>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/program_operator.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

absl::StatusOr<Chain> Chain::Make(
    const std::function<TensorId(Expansion* e, TensorId x)>& build) {
  Graph graph;
  Tensor x;
  x.name = "x";
  x.type = DataType::kFloat;
  x.shape = {2};  // not one: that would be a number
  x.shape_known = true;
  TensorId computed = graph.AddTensor(std::move(x));
  Node whole;
  whole.name = "chain";
  whole.inputs = {computed};
  Expansion expansion(&graph, whole);
  const TensorId result = build(&expansion, computed);
  RETURN_IF_ERROR(expansion.status());
  Chain chain;
  for (const Node& node : expansion.Take()) {
    std::vector<Step::Operand> inputs;
    for (TensorId id : node.inputs) {
      const Tensor& tensor = graph.tensors[id];
      if (id == computed) {
        inputs.emplace_back();
      } else if (tensor.is_constant() && tensor.type == DataType::kFloat &&
                 ElementCount(tensor.shape) == 1) {
        inputs.push_back({true, *tensor.constant->as<uint32_t>()});
      } else {
        return absl::InternalError(node.Describe() + ": not part of a chain");
      }
    }
    computed = node.outputs[0];
    if (node.op == "Relu") {
      chain.steps_.emplace_back().relu = true;
      continue;
    }
    if (node.op == "Add" || node.op == "Mul") {
      Step& step = chain.steps_.emplace_back();
      step.function =
          node.op == "Add" ? LaneFunction::kSum : LaneFunction::kProduct;
      step.operands = std::move(inputs);
      continue;
    }
    ASSIGN_OR_RETURN(auto steps, StepsOf(graph, node));
    for (size_t i = 0; i < steps.size(); ++i) {
      Step& step = chain.steps_.emplace_back();
      step.program = std::move(steps[i].program);
      // (As Evaluate() has it.)
      if (&BestLanes() != PortableLanes()) {
        step.function = FunctionOf(step.program);
      }
      step.arguments = steps[i].arguments;
      for (int k : steps[i].operands) {
        if (k == ElementwiseStep::kPrevious) {
          step.operands.emplace_back();
        } else if (i > 0 && !inputs[k].number) {
          return absl::InternalError(node.Describe() + ": not part of a chain");
        } else {
          step.operands.push_back(inputs[k]);
        }
      }
    }
  }
  if (result != computed)
    return absl::InternalError("a chain does not end in its result");
  return chain;
}

absl::Status Chain::Run(float* x, int64_t count,
                        std::vector<float>* scratch) const {
  auto* const words = reinterpret_cast<uint32_t*>(x);
  for (const Step& step : steps_) {
    if (step.relu) {
      Pace(count);
      for (int64_t i = 0; i < count; ++i) x[i] = model::FMax(x[i], 0.0f);
      continue;
    }
    std::array<HostStream, 3> streams;
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const Step::Operand& operand = step.operands[k];
      streams[k] = operand.number ? HostStream{&operand.value, true}
                                  : HostStream{words, false};
    }
    if (step.function != LaneFunction::kCount) {
      LaneOperands operands;
      std::copy(streams.begin(), streams.end(), operands.streams);
      std::copy(step.arguments.begin(), step.arguments.end(),
                operands.arguments);
      Compute(step.function, operands, count, words);
      continue;
    }
    scratch->resize(static_cast<size_t>(count));
    RETURN_IF_ERROR(Interpret(step.program, step.arguments, streams, count,
                              reinterpret_cast<uint32_t*>(scratch->data())));
    std::copy_n(scratch->data(), count, x);
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler
