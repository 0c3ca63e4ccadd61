// SPDX-License-Identifier: Apache-2.0
// The Gelu family, as microprograms; float16 is computed in fp32 and rounded
// once.
//
//   exact    y = f32(f32(x * 0.5) * f32(erf(f32(x * f32(1 / sqrt(2)))) + 1))
//            with erf of vector_math.h: a product instead of the division,
//            which takes the vector engine 32 cycles for 16 elements.
//   tanh     y = f32(f32(x * 0.5) * f32(tanh(f32(x * fma(c3, f32(x * x), c1)))
//            + 1)), c1 = sqrt(2 / pi), c3 = 0.044715 c1
//   sigmoid  y = f32(x * sigmoid(f32(alpha * x)))
//
// Gelu of opset 20 is exact or tanh as it says; of com.microsoft Gelu and
// BiasGelu, of a + b, are exact, FastGelu, of x + bias if there is one, tanh,
// QuickGelu sigmoid, as is Swish of opset 24. heddle.Gelu is what a pass makes
// of x * 0.5 * (1 + erf(x / sqrt(2))) in primitive operators
// (passes/fuse_gelu.h).
#include <cmath>
#include <string>

#include "compiler/base/status_macros.h"
#include "compiler/lanes/terms.h"
#include "compiler/ops/program_operator.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Steps = absl::StatusOr<std::vector<ElementwiseStep>>;

Term Exact(ProgramBuilder* b, Term x) { return terms::GeluExact(b, x); }

Term ByTanh(ProgramBuilder* b, Term x) { return terms::GeluTanh(b, x); }

// Of the first input, or of its sum with the second if that is there.
template <Term (*function)(ProgramBuilder*, Term)>
Steps GeluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  const bool biased = HasInput(node, 1);
  b.Out(function(&b, biased ? b.Add(b.A(), b.B()) : b.A()));
  return OneStep(b, biased ? std::vector<int>{0, 1} : std::vector<int>{0});
}

std::string Approximation(const Node& node) {
  return node.StringAttribute("approximate", "none");
}

Steps Gelu20Steps(const Graph& graph, const Node& node) {
  return Approximation(node) == "tanh" ? GeluSteps<ByTanh>(graph, node)
                                       : GeluSteps<Exact>(graph, node);
}

Steps BySigmoid(float alpha) {
  ProgramBuilder b;
  b.Out(terms::GeluSigmoid(&b, b.A(), b.Arg(0)));
  return OneStep(b, {0}, {model::Bits(alpha), 0, 0, 0});
}

Steps QuickGeluSteps(const Graph&, const Node& node) {
  return BySigmoid(node.FloatAttribute("alpha", 1.702f));
}

Steps SwishSteps(const Graph&, const Node& node) {
  return BySigmoid(node.FloatAttribute("alpha", 1));
}

absl::Status InferBiased(Graph* graph, const Node& node) {
  RETURN_IF_ERROR(InferSame(graph, node));
  if (!HasInput(node, 1)) return absl::OkStatus();
  const Tensor& x = InputOf(*graph, node, 0);
  const Tensor& bias = InputOf(*graph, node, 1);
  if (bias.type != x.type) {
    return RejectNode(Rejection::kInvalidModel, node, "inputs have types ",
                      DataTypeName(x.type), " and ", DataTypeName(bias.type),
                      ", which must be equal");
  }
  if (x.shape.empty() || bias.shape != Shape{x.shape.back()}) {
    return RejectNode(Rejection::kMismatchingShape, node, "bias of shape ",
                      ShapeToString(bias.shape),
                      " is not one number for each of the last dimension of ",
                      ShapeToString(x.shape));
  }
  return absl::OkStatus();
}

bool KnowsApproximation(const Graph&, const Node& node, std::string* detail) {
  const std::string name = Approximation(node);
  *detail = absl::StrCat("approximate = '", name, "'");
  return name == "none" || name == "tanh";
}

Define Microsoft(const char* op, int min_inputs, int max_inputs) {
  Define define(op, 1, 1);
  define.Domain("com.microsoft").Inputs(min_inputs, max_inputs, kReals);
  return define;
}

const ProgramOperator kPassGelu(
    Define("Gelu", 1, kMaxOpset).Domain(kInternalDomain).Inputs(1, 1, kFloats),
    InferSame, GeluSteps<Exact>);
double DoubleGelu(const Node& node, const double* x) {
  const double v = x[0];
  if (Approximation(node) == "tanh") {
    const double slope = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
    return 0.5 * v * (1 + std::tanh(slope));
  }
  return 0.5 * v * (1 + std::erf(v * M_SQRT1_2));
}

const ProgramOperator kGelu20(Define("Gelu", 20, kMaxOpset)
                                  .Inputs(1, 1, kRealsAndDouble)
                                  .Attr("approximate", AttributeKind::kString)
                                  .Rule(Rejection::kInvalidModel,
                                        "approximate is none or tanh",
                                        KnowsApproximation),
                              InferSame, Gelu20Steps, DoubleGelu);
const ProgramOperator kGelu(Microsoft("Gelu", 1, 1), InferSame,
                            GeluSteps<Exact>);
const ProgramOperator kBiasGelu(Microsoft("BiasGelu", 2, 2), InferBiased,
                                GeluSteps<Exact>);
const ProgramOperator kFastGelu(Microsoft("FastGelu", 1, 2), InferBiased,
                                GeluSteps<ByTanh>);
const ProgramOperator kSwish(Define("Swish", 24, kMaxOpset)
                                 .Inputs(1, 1, kReals)
                                 .Attr("alpha", AttributeKind::kFloat),
                             InferSame, SwishSteps);
const ProgramOperator kQuickGelu(
    Microsoft("QuickGelu", 1, 1).Attr("alpha", AttributeKind::kFloat),
    InferSame, QuickGeluSteps);

}  // namespace
}  // namespace heddle::compiler
