// SPDX-License-Identifier: Apache-2.0
// Min, Max, Sum and Mean of any number of inputs with numpy's broadcasting: a
// chain of two-operand steps from the first input on, in fp32 for real types
// (rounded once at the end). Min and Max give NaN where any input is NaN. Mean
// is the sum divided by the number of inputs.
#include <algorithm>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Steps = absl::StatusOr<std::vector<ElementwiseStep>>;
using Combine = Term (*)(ProgramBuilder*, Term, Term);

// The inputs one after another; `finish` makes the result of the last value.
template <typename Finish>
Steps Chain(const Node& node, Combine combine, Finish finish,
            const std::array<uint32_t, 4>& arguments) {
  std::vector<ElementwiseStep> steps;
  const size_t count = node.inputs.size();
  for (size_t i = count > 1 ? 1 : 0; i < count; ++i) {
    ProgramBuilder b;
    const Term value = count > 1 ? combine(&b, b.A(), b.B()) : b.A();
    b.Out(i + 1 == count ? finish(&b, value) : value);
    ASSIGN_OR_RETURN(auto program, b.Finish());
    ElementwiseStep step;
    step.program = std::move(program);
    step.arguments = arguments;
    step.operands = {i <= 1 ? 0 : ElementwiseStep::kPrevious};
    if (count > 1) step.operands.push_back(static_cast<int>(i));
    steps.push_back(std::move(step));
  }
  return steps;
}

Steps Chain(const Node& node, Combine combine) {
  return Chain(node, combine, [](ProgramBuilder*, Term value) { return value; },
               {});
}

// By the type of the operands; narrower unsigned ones are positive int32.
Combine Choose(const Graph& graph, const Node& node, Combine real,
               Combine integer, Combine wide) {
  const DataType type = InputOf(graph, node, 0).type;
  if (Contains(kReals, type)) return real;
  return type == DataType::kUint32 ? wide : integer;
}

Term Min(ProgramBuilder* b, Term x, Term y) { return b->Min(x, y); }
Term Max(ProgramBuilder* b, Term x, Term y) { return b->Max(x, y); }
Term IMin(ProgramBuilder* b, Term x, Term y) { return b->IMin(x, y); }
Term IMax(ProgramBuilder* b, Term x, Term y) { return b->IMax(x, y); }
Term UMin(ProgramBuilder* b, Term x, Term y) {
  return b->Select(b->ULess(x, y), x, y);
}
Term UMax(ProgramBuilder* b, Term x, Term y) {
  return b->Select(b->ULess(x, y), y, x);
}
Term Add(ProgramBuilder* b, Term x, Term y) { return b->Add(x, y); }

Steps MinSteps(const Graph& graph, const Node& node) {
  return Chain(node, Choose(graph, node, Min, IMin, UMin));
}

Steps MaxSteps(const Graph& graph, const Node& node) {
  return Chain(node, Choose(graph, node, Max, IMax, UMax));
}

Steps SumSteps(const Graph&, const Node& node) { return Chain(node, Add); }

Steps MeanSteps(const Graph&, const Node& node) {
  const auto count = static_cast<float>(node.inputs.size());
  return Chain(
      node, Add,
      [](ProgramBuilder* b, Term sum) { return b->Div(sum, b->Arg(0)); },
      {model::Bits(count), 0, 0, 0});
}

// Types that lanes do not have.
template <typename T>
Results ChooseAs(const Node& node, const Inputs& inputs, bool larger) {
  TensorData y = *inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    const TensorData& x = *inputs[i];
    Shape shape;
    if (!BroadcastShapes(y.shape, x.shape, &shape)) {
      return absl::InternalError(node.Describe() + ": operands do not fit");
    }
    TensorData z = TensorData::Zeros(y.type, shape);
    T* const out = z.as<T>();
    const T *const from = std::as_const(y).as<T>(), *const other = x.as<T>();
    ForEachBroadcast(shape, BroadcastStrides(y.shape, shape),
                     BroadcastStrides(x.shape, shape),
                     [=](int64_t k, int64_t a, int64_t b) {
                       const T u = from[a], v = other[b];
                       const bool first = larger ? u > v : u < v;
                       // A NaN differs from itself.
                       out[k] = first || u != u ? u : v;
                     });
    y = std::move(z);
  }
  return One(std::move(y));
}

Results ChooseWide(const Node& node, const Inputs& inputs, bool larger) {
  switch (inputs[0]->type) {
    case DataType::kUint64:
      return ChooseAs<uint64_t>(node, inputs, larger);
    case DataType::kInt64:
      return ChooseAs<int64_t>(node, inputs, larger);
    case DataType::kDouble:
      return ChooseAs<double>(node, inputs, larger);
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
}

Results WideMin(const Graph&, const Node& node, const Inputs& inputs) {
  return ChooseWide(node, inputs, false);
}
Results WideMax(const Graph&, const Node& node, const Inputs& inputs) {
  return ChooseWide(node, inputs, true);
}

Results WideSum(const Graph&, const Node& node, const Inputs& inputs) {
  return FoldDoubles(node, inputs,
                     [](double acc, double x) { return acc + x; });
}
Results WideMean(const Graph& graph, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(auto sums, WideSum(graph, node, inputs));
  return MapDoubles(graph, node, {&sums[0]},
                    [](const Node& n, const double* x) {
                      return x[0] / static_cast<double>(n.inputs.size());
                    });
}

// As many inputs as a node may have.
constexpr int kMaxInputs = 1 << 16;

Define Variadic(const char* op, TypeSet types) {
  Define define(op, 8, kMaxOpset);
  define.Inputs(1, kMaxInputs, types);
  return define;
}

constexpr TypeSet kOrdered = kNumbers | kDoubles;

const ProgramOperator kMin(Variadic("Min", kOrdered), InferBroadcastSameType,
                           MinSteps, kAllTypes, WideMin, 0);
const ProgramOperator kMax(Variadic("Max", kOrdered), InferBroadcastSameType,
                           MaxSteps, kAllTypes, WideMax, 0);
const ProgramOperator kSum(Variadic("Sum", kRealsAndDouble),
                           InferBroadcastSameType, SumSteps, kAllTypes,
                           WideSum);
const ProgramOperator kMean(Variadic("Mean", kRealsAndDouble),
                            InferBroadcastSameType, MeanSteps, kAllTypes,
                            WideMean);

}  // namespace
}  // namespace heddle::compiler
