// SPDX-License-Identifier: Apache-2.0
// Vocabulary for writing operators: a builder for OperatorInfo, sets of types,
// and the few accesses that every `infer` and `evaluate` needs.
//
//   const OperatorRegistration kRelu(
//       Define("Relu", 6, 17).Inputs(1, 1, kFloats).Run(InferSame, Evaluate));
#ifndef HEDDLE_COMPILER_OPS_DEFINE_H_
#define HEDDLE_COMPILER_OPS_DEFINE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

constexpr TypeSet Types() { return 0; }
template <typename... Rest>
constexpr TypeSet Types(DataType first, Rest... rest) {
  return (TypeSet{1} << static_cast<int>(first)) | Types(rest...);
}
inline bool Contains(TypeSet set, DataType type) {
  const auto bit = static_cast<uint32_t>(type);
  return bit < 32 && ((set >> bit) & 1) != 0;
}

inline constexpr TypeSet kFloats = Types(DataType::kFloat);
inline constexpr TypeSet kReals = Types(DataType::kFloat, DataType::kFloat16);
inline constexpr TypeSet kQuantizedValues =
    Types(DataType::kUint8, DataType::kInt8);
inline constexpr TypeSet kIndices = Types(DataType::kInt32, DataType::kInt64);
inline constexpr TypeSet kInt64s = Types(DataType::kInt64);
inline constexpr TypeSet kInt32s = Types(DataType::kInt32);
inline constexpr TypeSet kIntegers = Types(
    DataType::kUint8, DataType::kInt8, DataType::kUint16, DataType::kInt16,
    DataType::kInt32, DataType::kInt64, DataType::kUint32, DataType::kUint64);
inline constexpr TypeSet kNumbers = kReals | kIntegers;
// Everything of fixed size: for operators that move elements.
inline constexpr TypeSet kMovable =
    kNumbers | Types(DataType::kBool, DataType::kDouble, DataType::kBfloat16);

// "float, uint8, int8".
std::string TypeSetToString(TypeSet set);

// The highest opset of the ONNX domain that the importer accepts.
inline constexpr int kMaxOpset = 26;

// Builds an OperatorInfo.
class Define {
 public:
  Define(const char* op, int since, int until) {
    info_.op = op;
    info_.since_version = since;
    info_.until_version = until;
  }
  Define& Domain(const char* domain) {
    info_.domain = domain;
    return *this;
  }
  // Types of the inputs in order; the last set holds for all that follow.
  template <typename... Sets>
  Define& Inputs(int min, int max, Sets... sets) {
    info_.min_inputs = min;
    info_.max_inputs = max;
    info_.input_types = {sets...};
    return *this;
  }
  // Inputs before the last required one that may be absent all the same.
  template <typename... Indices>
  Define& Optional(Indices... indices) {
    info_.optional_inputs = ((uint32_t{1} << indices) | ...);
    return *this;
  }
  Define& Outputs(int max) {
    info_.max_outputs = max;
    return *this;
  }
  Define& Attr(const char* name, AttributeKind kind, bool required = false) {
    info_.attributes.push_back({name, kind, required});
    return *this;
  }
  Define& Rule(Rejection kind, const char* text,
               bool (*check)(const Graph&, const Node&, std::string*)) {
    info_.constraints.push_back({kind, text, check});
    return *this;
  }
  Define& Rules(const std::vector<Constraint>& rules) {
    info_.constraints.insert(info_.constraints.end(), rules.begin(),
                             rules.end());
    return *this;
  }
  Define& Converts(decltype(OperatorInfo::convert) convert) {
    info_.convert = convert;
    return *this;
  }
  OperatorInfo Run(decltype(OperatorInfo::infer) infer,
                   decltype(OperatorInfo::evaluate) evaluate) {
    info_.infer = infer;
    info_.evaluate = evaluate;
    return std::move(info_);
  }

 private:
  OperatorInfo info_;
};

using Inputs = std::vector<const TensorData*>;
using Results = absl::StatusOr<std::vector<TensorData>>;

inline bool HasInput(const Node& node, size_t i) {
  return node.input(i) != kNoTensor;
}
inline const Tensor& InputOf(const Graph& graph, const Node& node, size_t i) {
  return graph.tensors[node.inputs[i]];
}
inline const TensorData* At(const Inputs& inputs, size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}

// Sets type and shape of output i; an absent output is no error.
inline absl::Status SetOutput(Graph* graph, const Node& node, size_t i,
                              DataType type, Shape shape) {
  if (i >= node.outputs.size() || node.outputs[i] == kNoTensor) {
    return absl::OkStatus();
  }
  Tensor& tensor = graph->tensors[node.outputs[i]];
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.shape_known = true;
  return absl::OkStatus();
}

// A rejection that begins with the node's name.
template <typename... Args>
absl::Status RejectNode(Rejection kind, const Node& node, const Args&... why) {
  return Reject(kind, absl::StrCat(node.Describe(), ": ", why...));
}

inline std::vector<TensorData> One(TensorData data) {
  std::vector<TensorData> results;
  results.push_back(std::move(data));
  return results;
}

// Values of an int32 or int64 tensor.
std::vector<int64_t> ToInts(const TensorData& data);

// The definition is of no use but to be converted: fails.
absl::Status InferNothing(Graph* graph, const Node& node);
Results EvaluateNothing(const Graph& graph, const Node& node,
                        const Inputs& inputs);

// Output 0 has type and shape of input 0.
absl::Status InferSame(Graph* graph, const Node& node);

// Maps -rank..rank-1 to 0..rank-1; false if outside.
bool NormalizeAxis(int64_t axis, size_t rank, size_t* normal);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_DEFINE_H_
