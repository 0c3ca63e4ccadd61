// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/program_operator.h"

#include <cstring>
#include <map>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/broadcast.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

struct Entry {
  StepsFunction steps;
  TypeSet lanes;
  decltype(OperatorInfo::evaluate) wide;
  int selects;
  DoubleFunction doubles;

  // The input whose type decides where the node can be computed.
  size_t deciding() const { return selects > 0 ? selects : 0; }
};

using Key = std::pair<std::string, std::string>;  // domain and name

std::map<Key, Entry>& Registry() {
  static auto* registry = new std::map<Key, Entry>();
  return *registry;
}

bool OnLanes(const Entry& entry, DataType type) {
  isa::ElementType element;
  return LaneType(type, &element) && Contains(entry.lanes, type);
}

Results EvaluateSteps(const Graph& graph, const Node& node,
                      const Inputs& inputs) {
  const Entry& entry = Registry()[{node.domain, node.op}];
  const DataType type = inputs[entry.deciding()]->type;
  if (!OnLanes(entry, type)) {
    if (entry.wide != nullptr) return entry.wide(graph, node, inputs);
    if (entry.doubles != nullptr && type == DataType::kDouble) {
      return MapDoubles(graph, node, inputs, entry.doubles);
    }
    return absl::InternalError(node.Describe() + ": unexpected type");
  }
  ASSIGN_OR_RETURN(auto steps, entry.steps(graph, node));
  const DataType out = graph.tensors[node.outputs[0]].type;
  const bool real = out == DataType::kFloat || out == DataType::kFloat16;
  TensorData previous;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    std::vector<const TensorData*> operands;
    for (int k : steps[i].operands) {
      operands.push_back(k == ElementwiseStep::kPrevious ? &previous
                                                         : inputs[k]);
    }
    auto result =
        RunStep(steps[i], operands, last || !real ? out : DataType::kFloat);
    if (!result.ok()) {
      return absl::InternalError(
          absl::StrCat(node.Describe(), ": ", result.status().message()));
    }
    previous = std::move(*result);
  }
  return One(std::move(previous));
}

bool OnlyMoves(const Microprogram& p) {
  return p.prologue.empty() && p.epilogue.empty() && p.body.size() == 1 &&
         p.body[0].op == isa::MicroOp::kMov &&
         p.body[0].a == isa::Operand::kStreamA &&
         p.body[0].d == isa::Destination::kOut;
}

template <typename T>
void ToFloats(const TensorData& from, TensorData* to) {
  for (int64_t i = 0; i < from.count(); ++i) {
    PaceAt(i);
    to->as<float>()[i] = static_cast<float>(from.as<T>()[i]);
  }
}

absl::Status Infer(Graph* graph, const Node& node, bool same_type) {
  const Tensor& first = InputOf(*graph, node, 0);
  const DataType type = first.type;
  Shape shape = first.shape;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i)) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " is missing");
    }
    const Tensor& other = InputOf(*graph, node, i);
    if (same_type && other.type != type) {
      return RejectNode(Rejection::kInvalidModel, node, "inputs have types ",
                        DataTypeName(type), " and ", DataTypeName(other.type),
                        ", which must be equal");
    }
    Shape both;
    if (!BroadcastShapes(shape, other.shape, &both)) {
      return RejectNode(Rejection::kMismatchingShape, node, "shapes ",
                        ShapeToString(shape), " and ",
                        ShapeToString(other.shape),
                        " cannot be broadcast to one another");
    }
    shape = both;
  }
  return SetOutput(graph, node, 0, type, shape);
}

}  // namespace

bool LaneType(DataType type, isa::ElementType* element) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kBool:
      *element = isa::ElementType::kU8;
      return true;
    case DataType::kInt8:
      *element = isa::ElementType::kS8;
      return true;
    case DataType::kInt16:
      *element = isa::ElementType::kS16;
      return true;
    case DataType::kUint16:
      *element = isa::ElementType::kU16;
      return true;
    case DataType::kUint32:  // 32 bits, which programs see without sign
    case DataType::kInt32:
      *element = isa::ElementType::kS32;
      return true;
    case DataType::kFloat16:
      *element = isa::ElementType::kF16;
      return true;
    case DataType::kBfloat16:
      *element = isa::ElementType::kBf16;
      return true;
    case DataType::kFloat:
      *element = isa::ElementType::kF32;
      return true;
    default:
      return false;
  }
}

TensorData LaneData(const TensorData& data) {
  isa::ElementType element;
  if (LaneType(data.type, &element)) return data;
  const model::ScopedFpEnvironment environment;
  TensorData floats = TensorData::Zeros(DataType::kFloat, data.shape);
  switch (data.type) {
    case DataType::kUint64:
      ToFloats<uint64_t>(data, &floats);
      break;
    case DataType::kInt64:
      ToFloats<int64_t>(data, &floats);
      break;
    case DataType::kDouble:
      ToFloats<double>(data, &floats);
      break;
    default:
      break;
  }
  return floats;
}

absl::StatusOr<std::vector<ElementwiseStep>> OneStep(
    const ProgramBuilder& builder, std::vector<int> operands,
    const std::array<uint32_t, 4>& arguments) {
  ASSIGN_OR_RETURN(auto program, builder.Finish());
  return std::vector<ElementwiseStep>{
      {std::move(program), arguments, std::move(operands)}};
}

absl::Status InferBroadcast(Graph* graph, const Node& node) {
  return Infer(graph, node, false);
}

absl::Status InferBroadcastSameType(Graph* graph, const Node& node) {
  return Infer(graph, node, true);
}

ProgramOperator::ProgramOperator(Define define,
                                 decltype(OperatorInfo::infer) infer,
                                 StepsFunction steps, TypeSet lanes,
                                 decltype(OperatorInfo::evaluate) wide,
                                 int selects) {
  OperatorInfo info = define.Run(infer, EvaluateSteps);
  Registry()[{info.domain, info.op}] = {steps, lanes, wide, selects, nullptr};
  OperatorRegistration registration(std::move(info));
}

ProgramOperator::ProgramOperator(Define define,
                                 decltype(OperatorInfo::infer) infer,
                                 StepsFunction steps, DoubleFunction doubles) {
  OperatorInfo info = define.Run(infer, EvaluateSteps);
  Registry()[{info.domain, info.op}] = {steps, kAllTypes, nullptr, -1, doubles};
  OperatorRegistration registration(std::move(info));
}

bool HasSteps(const std::string& domain, const std::string& op) {
  return Registry().count({domain, op}) > 0;
}

bool SelectsInt64(const std::string& domain, const std::string& op) {
  const auto it = Registry().find({domain, op});
  return it != Registry().end() && it->second.selects >= 0;
}

absl::StatusOr<std::vector<ElementwiseStep>> StepsOf(const Graph& graph,
                                                     const Node& node) {
  const auto it = Registry().find({node.domain, node.op});
  if (it == Registry().end()) {
    return absl::InternalError(node.Describe() + ": has no microprogram");
  }
  const Entry& entry = it->second;
  const DataType type = InputOf(graph, node, entry.deciding()).type;
  const bool narrowed = type == DataType::kInt64 && entry.selects >= 0;
  if (!OnLanes(entry, type) && !narrowed) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card does not compute this operator on ",
                      DataTypeName(type));
  }
  return entry.steps(graph, node);
}

absl::StatusOr<TensorData> RunStep(
    const ElementwiseStep& step, const std::vector<const TensorData*>& operands,
    DataType type) {
  // What only moves keeps its bits, as on the card; other float16 NaN become
  // the one NaN when they are loaded.
  if (operands.size() == 1 && operands[0]->type == type &&
      OnlyMoves(step.program)) {
    return *operands[0];
  }
  Shape shape;
  for (const TensorData* operand : operands) {
    Shape both;
    if (!BroadcastShapes(shape, operand->shape, &both)) {
      return absl::InternalError("operands do not fit");
    }
    shape = both;
  }
  TensorData result = TensorData::Zeros(type, shape);
  const int64_t count = result.count();
  if (count == 0) return result;
  const model::ScopedFpEnvironment environment;
  std::array<HostStream, 3> streams;
  std::vector<uint32_t> loaded[3];
  for (size_t k = 0; k < operands.size(); ++k) {
    isa::ElementType element = isa::ElementType::kF32;
    TensorData converted;
    const bool loadable = LaneType(operands[k]->type, &element);
    if (!loadable) converted = LaneData(*operands[k]);
    const TensorData& data = loadable ? *operands[k] : converted;
    const size_t bytes = ElementBytes(data.type);
    if (data.count() == 1) {
      loaded[k] = {model::LoadElement(element, data.bytes.data())};
      streams[k] = {loaded[k].data(), true};
      continue;
    }
    if (loadable && data.count() == count && bytes == 4) {
      streams[k] = {data.as<uint32_t>(), false};
      continue;
    }
    loaded[k].resize(static_cast<size_t>(count));
    const std::vector<int64_t> strides = BroadcastStrides(data.shape, shape);
    ForEachBroadcast(shape, strides, strides,
                     [to = loaded[k].data(), from = data.bytes.data(), element,
                      bytes](int64_t i, int64_t at, int64_t) {
                       to[i] = model::LoadElement(element, from + at * bytes);
                     });
    streams[k] = {loaded[k].data(), false};
  }
  isa::ElementType element;
  if (!LaneType(type, &element)) {
    return absl::InternalError(
        "the result's type is not one the lanes compute");
  }
  if (ElementBytes(type) == 4) {
    RETURN_IF_ERROR(Evaluate(step.program, step.arguments, streams, count,
                             result.as<uint32_t>()));
    return result;
  }
  std::vector<uint32_t> out(static_cast<size_t>(count));
  RETURN_IF_ERROR(
      Evaluate(step.program, step.arguments, streams, count, out.data()));
  const size_t bytes = ElementBytes(type);
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    model::StoreElement(element, out[i], result.bytes.data() + i * bytes);
  }
  return result;
}

}  // namespace heddle::compiler
