// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/elementwise_parts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/ops/clamp.h"
#include "compiler/ops/define.h"
#include "compiler/ops/normalization.h"
#include "compiler/ops/ordered.h"
#include "compiler/ops/program_operator.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/stream/microcode.h"
#include "compiler/stream/quantize_reciprocal.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::MicroOp;
using model::Bits;
using Parts = std::vector<ElementwisePart>;

StepOperand Input(int i) { return {i, nullptr}; }
StepOperand Data(const Shape& shape, TensorData data) {
  data.shape = shape;
  return {StepOperand::kData, std::make_shared<TensorData>(std::move(data))};
}

const TensorData* Constant(const Graph& graph, const Node& node, size_t i) {
  return HasInput(node, i) ? InputOf(graph, node, i).constant.get() : nullptr;
}

// Of a constant per channel: 1 elsewhere.
Shape Along(size_t axis, int64_t count, size_t rank) {
  Shape shape(rank, 1);
  if (axis < rank) shape[axis] = count;
  return shape;
}

constexpr TypeSet kRounded = kReals | Types(DataType::kBfloat16);

// Loading widens, and the rounding is all that is done.
Parts Cast(const Graph& graph, const Node& node) {
  if (!Contains(kRounded, InputOf(graph, node, 0).type)) return {};
  return {{CopyProgram(), {}, {Input(0)}}};
}

Parts Clamp(const Graph& graph, const Node& node) {
  if (node.op == "Relu") return {{ReluProgram(), {}, {Input(0)}}};
  float low = 0, high = 0;
  if (!ConstantClampBounds(graph, node, &low, &high)) return {};
  return {{ClampProgram(), {Bits(low), Bits(high), 0, 0}, {Input(0)}}};
}

// Scale and zero point of QuantizeLinear and DequantizeLinear.
struct Parameters {
  const TensorData* scale = nullptr;
  TensorData zero;
  Shape shape;  // of both, to broadcast
};
bool ParametersOf(const Graph& graph, const Node& node, DataType codes,
                  Parameters* p) {
  p->scale = Constant(graph, node, 1);
  if (p->scale == nullptr || p->scale->type != DataType::kFloat ||
      (HasInput(node, 2) && Constant(graph, node, 2) == nullptr) ||
      (codes != DataType::kInt8 && codes != DataType::kUint8)) {
    return false;
  }
  p->zero = HasInput(node, 2) ? *Constant(graph, node, 2)
                              : TensorData::Zeros(codes, p->scale->shape);
  if (p->zero.type != codes || p->zero.count() != p->scale->count()) {
    return false;
  }
  const size_t rank = InputOf(graph, node, 0).shape.size();
  size_t axis = 0;
  if (p->scale->count() > 1 &&
      !NormalizeAxis(node.IntAttribute("axis", 1), rank, &axis)) {
    return false;
  }
  p->shape = Along(axis, p->scale->count(), rank);
  return true;
}

Parts Dequantize(const Graph& graph, const Node& node) {
  Parameters p;
  if (!ParametersOf(graph, node, InputOf(graph, node, 0).type, &p)) return {};
  if (p.scale->count() == 1) {
    return {{DequantizeProgram(),
             {Bits(p.scale->as<float>()[0]),
              static_cast<uint32_t>(ZeroPoint(&p.zero)), 0, 0},
             {Input(0)}}};
  }
  return {{DequantizeAxisProgram(),
           {},
           {Input(0), Data(p.shape, *p.scale), Data(p.shape, p.zero)}}};
}

Parts Quantize(const Graph& graph, const Node& node) {
  const DataType codes = graph.tensors[node.outputs[0]].type;
  Parameters p;
  if (!ParametersOf(graph, node, codes, &p)) return {};
  const int32_t least = QuantizedMin(codes), most = QuantizedMax(codes);
  if (p.scale->count() > 1) {
    return {
        {QuantizeAxisProgram(),
         {0, static_cast<uint32_t>(least), Bits(static_cast<float>(most)), 0},
         {Input(0), Data(p.shape, *p.scale), Data(p.shape, p.zero)}}};
  }
  const float scale = p.scale->as<float>()[0];
  const int32_t zero = ZeroPoint(&p.zero), low = least - zero,
                high = most - zero;
  if (auto fast = MakeQuantizeByReciprocal(scale, low, high, zero, false)) {
    return {{std::move(fast->program), fast->arguments, {Input(0)}}};
  }
  return {{QuantizeProgram(),
           {Bits(scale), static_cast<uint32_t>(low),
            Bits(static_cast<float>(high)), static_cast<uint32_t>(zero)},
           {Input(0)}}};
}

Parts BatchNorm(const Graph& graph, const Node& node) {
  if (node.IntAttribute("training_mode", 0) != 0) return {};
  const TensorData* p[4];
  for (size_t i = 0; i < 4; ++i) {
    p[i] = Constant(graph, node, i + 1);
    if (p[i] == nullptr || !Contains(kReals, p[i]->type)) return {};
  }
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoTensor) return {};
  }
  const BatchNormFactors f = FactorsOf(*p[0], *p[1], *p[2], *p[3],
                                       node.FloatAttribute("epsilon", 1e-5f));
  ProgramBuilder b;
  b.Out(b.Fma(b.A(), b.B(), b.C()));
  auto program = b.Finish();
  if (!program.ok()) return {};
  const Shape shape = Along(1, static_cast<int64_t>(f.a.size()),
                            InputOf(graph, node, 0).shape.size());
  return {{*std::move(program),
           {},
           {Input(0), Data(shape, FromFloats(DataType::kFloat, shape, f.a)),
            Data(shape, FromFloats(DataType::kFloat, shape, f.b))}}};
}

template <MicroOp op>
Parts Binary(const Graph&, const Node&) {
  return {{BinaryProgram(op), {}, {Input(0), Input(1)}}};
}

template <Comparison comparison>
Parts Compare(const Graph& graph, const Node& node) {
  const Order order = OrderOf(InputOf(graph, node, 0).type);
  return {{CompareProgram(comparison, order), {}, {Input(0), Input(1)}}};
}

// Operators whose meaning is a program already.
Parts Programs(const Graph& graph, const Node& node) {
  auto steps = StepsOf(graph, node);
  if (!steps.ok()) return {};
  Parts parts;
  for (ElementwiseStep& step : *steps) {
    ElementwisePart part{std::move(step.program), step.arguments, {}};
    for (int k : step.operands) {
      part.operands.push_back(
          Input(k == ElementwiseStep::kPrevious ? StepOperand::kPrevious : k));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

using PartsFunction = Parts (*)(const Graph&, const Node&);

PartsFunction PartsFunctionOf(const std::string& op) {
  static const auto* functions = new std::map<std::string, PartsFunction>{
      {"Add", Binary<MicroOp::kFadd>},
      {"BatchNormalization", BatchNorm},
      {"Cast", Cast},
      {"CastLike", Cast},
      {"Clip", Clamp},
      {"DequantizeLinear", Dequantize},
      {"Div", Binary<MicroOp::kFdiv>},
      {"Equal", Compare<Comparison::kEqual>},
      {"Greater", Compare<Comparison::kGreater>},
      {"GreaterOrEqual", Compare<Comparison::kGreaterOrEqual>},
      {"Less", Compare<Comparison::kLess>},
      {"LessOrEqual", Compare<Comparison::kLessOrEqual>},
      {"Mul", Binary<MicroOp::kFmul>},
      {"QuantizeLinear", Quantize},
      {"Relu", Clamp},
      {"Sub", Binary<MicroOp::kFsub>},
  };
  const auto it = functions->find(op);
  return it == functions->end() ? nullptr : it->second;
}

}  // namespace

std::vector<ElementwisePart> ElementwiseParts(const Graph& graph,
                                              const Node& node) {
  if (!HasInput(node, 0) || node.outputs.empty() ||
      !(node.domain.empty() || node.domain == kInternalDomain)) {
    return {};
  }
  const bool quantizes = node.op == "QuantizeLinear";
  const DataType in = InputOf(graph, node, 0).type,
                 out = graph.tensors[node.outputs[0]].type;
  // Of any type that lanes have; of int64, where a tensor is two words, not.
  const bool compares = out == DataType::kBool && node.op != "Cast" &&
                        node.op != "CastLike" && node.op != "Where" &&
                        in != DataType::kInt64;
  const bool loads = Contains(kRounded, in) || node.op == "DequantizeLinear" ||
                     node.op == "Where" || compares;
  if (!loads || (!Contains(kRounded, out) && !quantizes && !compares)) {
    return {};
  }
  const PartsFunction parts_of =
      node.domain.empty() ? PartsFunctionOf(node.op) : nullptr;
  return parts_of != nullptr ? parts_of(graph, node) : Programs(graph, node);
}

}  // namespace heddle::compiler
