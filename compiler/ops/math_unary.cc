// SPDX-License-Identifier: Apache-2.0
// Functions of one element, as microprograms: the exponential family, roundings
// and activations. float16 is computed in fp32 and rounded once.
#include <cmath>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/vector_math.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using Steps = absl::StatusOr<std::vector<ElementwiseStep>>;
using model::Bits;

constexpr TypeSet kSigned =
    kRealsAndDouble | Types(DataType::kInt8, DataType::kInt16, DataType::kInt32,
                            DataType::kInt64);

// out = function(a)
template <Term (*function)(ProgramBuilder*, Term)>
Steps Function(const Graph&, const Node&) {
  ProgramBuilder b;
  b.Out(function(&b, b.A()));
  return OneStep(b, {0});
}

Define Unary(const char* op, int since, TypeSet types = kRealsAndDouble) {
  Define define(op, since, kMaxOpset);
  define.Inputs(1, 1, types);
  return define;
}

Term Sqrt(ProgramBuilder* b, Term x) { return b->Sqrt(x); }

Term Reciprocal(ProgramBuilder* b, Term x) { return b->Div(b->Imm(1.0f), x); }

// x / (1 + |x|), 1 for infinity.
Term Softsign(ProgramBuilder* b, Term x) {
  return b->Div(x, b->Add(b->Imm(1.0f), Abs(b, x)));
}

// max(0, min(1, alpha x + beta)); a NaN stays.
Term HardSigmoid(ProgramBuilder* b, Term x, Term alpha, Term beta) {
  const Term line = b->Fma(x, alpha, beta);
  return b->Max(b->Imm(0), b->Min(b->Imm(1.0f), line));
}

// As ONNX defines it, so -infinity gives NaN (-infinity times 0).
Term HardSwish(ProgramBuilder* b, Term x) {
  return b->Mul(x, HardSigmoid(b, x, b->Imm(1.0f / 6), b->Imm(0.5f)));
}

Steps HardSigmoidSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  b.Out(HardSigmoid(&b, b.A(), b.Arg(0), b.Arg(1)));
  return OneStep(b, {0},
                 {Bits(node.FloatAttribute("alpha", 0.2f)),
                  Bits(node.FloatAttribute("beta", 0.5f)), 0, 0});
}

// x < 0 ? alpha (exp(x) - 1) : x
Steps EluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  const Term low = b.Mul(b.Arg(0), Expm1NonPositive(&b, b.A()));
  b.Out(b.Select(b.Less(b.A(), b.Imm(0)), low, b.A()));
  return OneStep(b, {0}, {Bits(node.FloatAttribute("alpha", 1.0f)), 0, 0, 0});
}

// gamma (x > 0 ? x : alpha (exp(x) - 1))
Steps SeluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  const Term low = b.Mul(b.Arg(0), Expm1NonPositive(&b, b.A()));
  const Term y = b.Select(b.Less(b.A(), b.Imm(0)), low, b.A());
  b.Out(b.Mul(y, b.Arg(1)));
  return OneStep(
      b, {0},
      {Bits(node.FloatAttribute("alpha", 1.67326319217681884765625f)),
       Bits(node.FloatAttribute("gamma", 1.05070102214813232421875f)), 0, 0});
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
Steps CeluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  const Term low =
      b.Mul(b.Arg(0), Expm1NonPositive(&b, b.Div(b.A(), b.Arg(0))));
  b.Out(b.Select(b.Less(b.A(), b.Imm(0)), low, b.A()));
  return OneStep(b, {0}, {Bits(node.FloatAttribute("alpha", 1.0f)), 0, 0, 0});
}

bool PositiveAlpha(const Graph&, const Node& node, std::string* detail) {
  const float alpha = node.FloatAttribute("alpha", 1.0f);
  *detail = absl::StrCat("alpha = ", alpha);
  return alpha > 0;
}

// x >= 0 ? x : alpha x
Steps LeakyReluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  const Term positive = b.LessEqual(b.Imm(0), b.A());
  b.Out(b.Select(positive, b.A(), b.Mul(b.Arg(0), b.A())));
  return OneStep(b, {0}, {Bits(node.FloatAttribute("alpha", 0.01f)), 0, 0, 0});
}

// x > alpha ? x : 0
Steps ThresholdedReluSteps(const Graph&, const Node& node) {
  ProgramBuilder b;
  b.Out(b.And(b.Less(b.Arg(0), b.A()), b.A()));
  return OneStep(b, {0}, {Bits(node.FloatAttribute("alpha", 1.0f)), 0, 0, 0});
}

// x tanh(log(1 + exp(x))) as x p / (p + 2), p = e (e + 2), e = exp(x): what
// tanh and the logarithm come to.
Term Mish(ProgramBuilder* b, Term x) {
  // From 20 on the quotient is 1.
  const Term e = Exp(b, b->Min(b->Imm(20.0f), x));
  const Term p = b->Mul(e, b->Add(e, b->Imm(2.0f)));
  return b->Mul(x, b->Div(p, b->Add(p, b->Imm(2.0f))));
}

// x < -lambd ? x + bias : x > lambd ? x - bias : 0; integers as fp32, toward
// zero.
Steps ShrinkSteps(const Graph& graph, const Node& node) {
  const DataType type = InputOf(graph, node, 0).type;
  ProgramBuilder b;
  const bool real = Contains(kReals, type);
  const bool wide = type == DataType::kUint32;
  const Term x = real   ? b.A()
                 : wide ? FromUnsigned(&b, b.A())
                        : b.FromInt(b.A());
  const Term above = b.And(b.Less(b.Arg(1), x), b.Sub(x, b.Arg(2)));
  const Term y = b.Select(b.Less(x, b.Arg(0)), b.Add(x, b.Arg(2)), above);
  b.Out(real ? y : wide ? ToUnsigned(&b, y) : b.Truncate(y));
  const float lambd = node.FloatAttribute("lambd", 0.5f);
  return OneStep(
      b, {0},
      {Bits(-lambd), Bits(lambd), Bits(node.FloatAttribute("bias", 0.0f)), 0});
}

bool IsReal(const Graph& graph, const Node& node) {
  return Contains(kReals, InputOf(graph, node, 0).type);
}

// The low bits of an integer as the type holds it; the store saturates.
Term Wrapped(ProgramBuilder* b, Term x, DataType type) {
  const uint32_t shift = type == DataType::kInt8    ? 24
                         : type == DataType::kInt16 ? 16
                                                    : 0;
  return shift == 0 ? x : b->Sar(b->Shl(x, shift), shift);
}

Steps AbsSteps(const Graph& graph, const Node& node) {
  if (IsReal(graph, node)) return Function<Abs>(graph, node);
  ProgramBuilder b;
  if (OrderOf(InputOf(graph, node, 0).type) == Order::kUnsigned) {
    b.Out(b.A());
    return OneStep(b, {0});
  }
  const Term other = b.ISub(b.ImmBits(0), b.A());
  b.Out(Wrapped(&b, b.IMax(b.A(), other), InputOf(graph, node, 0).type));
  return OneStep(b, {0});
}

Steps NegSteps(const Graph& graph, const Node& node) {
  if (IsReal(graph, node)) return Function<Neg>(graph, node);
  ProgramBuilder b;
  b.Out(Wrapped(&b, b.ISub(b.ImmBits(0), b.A()), InputOf(graph, node, 0).type));
  return OneStep(b, {0});
}

Steps SignSteps(const Graph& graph, const Node& node) {
  if (IsReal(graph, node)) return Function<Sign>(graph, node);
  ProgramBuilder b;
  if (OrderOf(InputOf(graph, node, 0).type) == Order::kUnsigned) {
    b.Out(b.Select(b.A(), b.ImmBits(1), b.ImmBits(0)));
    return OneStep(b, {0});
  }
  b.Out(b.IMax(b.IMin(b.A(), b.ImmBits(1)), b.ImmBits(~0u)));
  return OneStep(b, {0});
}

// Types that lanes do not have.
template <typename T, typename Function>
TensorData Map(const TensorData& x, Function function) {
  TensorData y = TensorData::Zeros(x.type, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    y.as<T>()[i] = function(x.as<T>()[i]);
  }
  return y;
}

// `function` is applied to the 64 bits of an integer.
template <typename Function>
Results MapWide(const Graph& graph, const Node& node, const TensorData& x,
                Function function, DoubleFunction doubles) {
  switch (x.type) {
    case DataType::kDouble:
      return MapDoubles(graph, node, {&x}, doubles);
    case DataType::kUint64:
      return One(Map<uint64_t>(x, function));
    case DataType::kInt64:
      return One(Map<int64_t>(x, function));
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
}

Results WideAbs(const Graph& graph, const Node& node, const Inputs& inputs) {
  const bool has_sign = inputs[0]->type == DataType::kInt64;
  return MapWide(
      graph, node, *inputs[0],
      [has_sign](uint64_t v) { return has_sign && (v >> 63) != 0 ? 0 - v : v; },
      [](const Node&, const double* x) { return std::fabs(x[0]); });
}

Results WideNeg(const Graph& graph, const Node& node, const Inputs& inputs) {
  return MapWide(
      graph, node, *inputs[0], [](uint64_t v) { return 0 - v; },
      [](const Node&, const double* x) { return -x[0]; });
}

Results WideSign(const Graph& graph, const Node& node, const Inputs& inputs) {
  const bool has_sign = inputs[0]->type == DataType::kInt64;
  return MapWide(
      graph, node, *inputs[0],
      [has_sign](uint64_t v) {
        return has_sign && (v >> 63) != 0 ? ~uint64_t{0} : uint64_t{v != 0};
      },
      [](const Node&, const double* x) {
        return x[0] > 0 ? 1.0 : x[0] < 0 ? -1.0 : x[0];
      });
}

// Toward zero; the ends of the type for what lies outside.
template <typename T>
T ToWhole(double v) {
  constexpr auto kEnd = 2 * static_cast<double>(T{1} << (8 * sizeof(T) - 2)) *
                        (std::numeric_limits<T>::min() == 0 ? 2 : 1);
  if (v >= kEnd) return std::numeric_limits<T>::max();
  if (v <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(v);
}

double DoubleShrink(const Node& node, const double* x) {
  const double lambd = node.FloatAttribute("lambd", 0.5f);
  const double bias = node.FloatAttribute("bias", 0.0f);
  return x[0] < -lambd ? x[0] + bias : x[0] > lambd ? x[0] - bias : 0;
}

// Integers by way of double, toward zero.
Results WideShrink(const Graph& graph, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  switch (x.type) {
    case DataType::kDouble:
      return MapDoubles(graph, node, inputs, DoubleShrink);
    case DataType::kUint64:
      return One(Map<uint64_t>(x, [&node](uint64_t v) {
        const auto real = static_cast<double>(v);
        return ToWhole<uint64_t>(DoubleShrink(node, &real));
      }));
    case DataType::kInt64:
      return One(Map<int64_t>(x, [&node](int64_t v) {
        const auto real = static_cast<double>(v);
        return ToWhole<int64_t>(DoubleShrink(node, &real));
      }));
    default:
      return absl::InternalError(node.Describe() + ": unexpected type");
  }
}

double DoubleSigmoid(const Node&, const double* x) {
  const double e = std::exp(-std::fabs(x[0]));
  return (x[0] < 0 ? e : 1) / (1 + e);
}

double DoubleSoftplus(const Node&, const double* x) {
  return std::log1p(std::exp(-std::fabs(x[0]))) + (x[0] > 0 ? x[0] : 0);
}

// A NaN stays.
double HardLine(double x, double alpha, double beta) {
  const double line = alpha * x + beta;
  return line < 0 ? 0 : line > 1 ? 1 : line;
}

double DoubleHardSigmoid(const Node& node, const double* x) {
  return HardLine(x[0], node.FloatAttribute("alpha", 0.2f),
                  node.FloatAttribute("beta", 0.5f));
}

double DoubleHardSwish(const Node&, const double* x) {
  return x[0] * HardLine(x[0], 1.0 / 6, 0.5);
}

double DoubleMish(const Node& node, const double* x) {
  return x[0] * std::tanh(DoubleSoftplus(node, x));
}

double DoubleElu(const Node& node, const double* x) {
  const double alpha = node.FloatAttribute("alpha", 1.0f);
  return x[0] < 0 ? alpha * std::expm1(x[0]) : x[0];
}

double DoubleSelu(const Node& node, const double* x) {
  const double alpha = node.FloatAttribute("alpha", 1.67326319217681884765625f);
  const double gamma = node.FloatAttribute("gamma", 1.05070102214813232421875f);
  return gamma * (x[0] < 0 ? alpha * std::expm1(x[0]) : x[0]);
}

double DoubleCelu(const Node& node, const double* x) {
  const double alpha = node.FloatAttribute("alpha", 1.0f);
  return x[0] < 0 ? alpha * std::expm1(x[0] / alpha) : x[0];
}

double DoubleLeakyRelu(const Node& node, const double* x) {
  return x[0] < 0 ? node.FloatAttribute("alpha", 0.01f) * x[0] : x[0];
}

double DoubleThresholdedRelu(const Node& node, const double* x) {
  return x[0] > node.FloatAttribute("alpha", 1.0f) ? x[0] : 0;
}

const ProgramOperator kExp(Unary("Exp", 6), InferSame, Function<Exp>,
                           [](const Node&, const double* x) {
                             return std::exp(x[0]);
                           });
const ProgramOperator kLog(Unary("Log", 6), InferSame, Function<Log>,
                           [](const Node&, const double* x) {
                             return std::log(x[0]);
                           });
const ProgramOperator kSqrt(Unary("Sqrt", 6), InferSame, Function<Sqrt>,
                            [](const Node&, const double* x) {
                              return std::sqrt(x[0]);
                            });
const ProgramOperator kErf(Unary("Erf", 9), InferSame, Function<Erf>,
                           [](const Node&, const double* x) {
                             return std::erf(x[0]);
                           });
const ProgramOperator kTanh(Unary("Tanh", 6), InferSame, Function<Tanh>,
                            [](const Node&, const double* x) {
                              return std::tanh(x[0]);
                            });
const ProgramOperator kSigmoid(Unary("Sigmoid", 6), InferSame,
                               Function<Sigmoid>, DoubleSigmoid);
const ProgramOperator kSoftplus(Unary("Softplus", 1), InferSame,
                                Function<Softplus>, DoubleSoftplus);
const ProgramOperator kSoftsign(Unary("Softsign", 1), InferSame,
                                Function<Softsign>,
                                [](const Node&, const double* x) {
                                  return x[0] / (1 + std::fabs(x[0]));
                                });
const ProgramOperator kReciprocal(Unary("Reciprocal", 6), InferSame,
                                  Function<Reciprocal>,
                                  [](const Node&, const double* x) {
                                    return 1 / x[0];
                                  });
const ProgramOperator kFloor(Unary("Floor", 6), InferSame, Function<Floor>,
                             [](const Node&, const double* x) {
                               return std::floor(x[0]);
                             });
const ProgramOperator kCeil(Unary("Ceil", 6), InferSame, Function<Ceil>,
                            [](const Node&, const double* x) {
                              return std::ceil(x[0]);
                            });
const ProgramOperator kRound(Unary("Round", 11), InferSame, Function<RoundEven>,
                             [](const Node&, const double* x) {
                               return std::nearbyint(x[0]);
                             });
const ProgramOperator kHardSwish(Unary("HardSwish", 14), InferSame,
                                 Function<HardSwish>, DoubleHardSwish);
const ProgramOperator kMish(Unary("Mish", 18), InferSame, Function<Mish>,
                            DoubleMish);
const ProgramOperator kShrink(Unary("Shrink", 9, kNumbers | kDoubles)
                                  .Attr("lambd", AttributeKind::kFloat)
                                  .Attr("bias", AttributeKind::kFloat),
                              InferSame, ShrinkSteps, kAllTypes, WideShrink);
const ProgramOperator kAbs(Unary("Abs", 6, kNumbers | kDoubles), InferSame,
                           AbsSteps, kAllTypes, WideAbs);
const ProgramOperator kNeg(Unary("Neg", 6, kSigned), InferSame, NegSteps,
                           kAllTypes, WideNeg);
const ProgramOperator kSign(Unary("Sign", 9, kNumbers | kDoubles), InferSame,
                            SignSteps, kAllTypes, WideSign);
const ProgramOperator kHardSigmoid(Unary("HardSigmoid", 6)
                                       .Attr("alpha", AttributeKind::kFloat)
                                       .Attr("beta", AttributeKind::kFloat),
                                   InferSame, HardSigmoidSteps,
                                   DoubleHardSigmoid);
const ProgramOperator kElu(Unary("Elu", 6).Attr("alpha", AttributeKind::kFloat),
                           InferSame, EluSteps, DoubleElu);
const ProgramOperator kSelu(Unary("Selu", 6)
                                .Attr("alpha", AttributeKind::kFloat)
                                .Attr("gamma", AttributeKind::kFloat),
                            InferSame, SeluSteps, DoubleSelu);
const ProgramOperator kCelu(Unary("Celu", 12)
                                .Attr("alpha", AttributeKind::kFloat)
                                .Rule(Rejection::kUnsupportedAttribute,
                                      "alpha is positive", PositiveAlpha),
                            InferSame, CeluSteps, DoubleCelu);
const ProgramOperator kLeakyRelu(
    Unary("LeakyRelu", 6).Attr("alpha", AttributeKind::kFloat), InferSame,
    LeakyReluSteps, DoubleLeakyRelu);
const ProgramOperator kThresholdedRelu(
    Unary("ThresholdedRelu", 10).Attr("alpha", AttributeKind::kFloat),
    InferSame, ThresholdedReluSteps, DoubleThresholdedRelu);

}  // namespace
}  // namespace heddle::compiler
