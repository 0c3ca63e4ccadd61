// SPDX-License-Identifier: Apache-2.0
// The compiler's graph: tensors and nodes in topological order, in ONNX's
// terms.
//
// After import, names, attributes and input order are those of the ONNX
// operator (domain "" or "com.microsoft"). After `passes/quantize` every
// quantized computation is in operator form (QLinearConv, QGemm, QLinearAdd
// ...): that is the normal form the backend lowers. Shapes are concrete after
// shape inference: dimensions that were symbolic have been bound.
#ifndef HEDDLE_COMPILER_IR_GRAPH_H_
#define HEDDLE_COMPILER_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/ir/tensor_bytes.h"

namespace heddle::compiler {

// Values of onnx.TensorProto.DataType, so that no table is needed.
enum class DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  // Of 8 and 4 bits, each element in a byte of its own, integers with their
  // sign extended (ops/narrow.h).
  kFloat8E4M3Fn = 17,
  kFloat8E4M3FnUz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FnUz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
};
inline constexpr DataType kLastDataType = DataType::kFloat4E2M1;

// Bytes of one element; 0 for strings and undefined.
size_t ElementBytes(DataType type);
// "float", "uint8", ... as ONNX spells them.
const char* DataTypeName(DataType type);

using Shape = std::vector<int64_t>;

// Product of the dimensions; 1 for a scalar. Saturates at INT64_MAX.
int64_t ElementCount(const Shape& shape);
// "[1,3,224,224]".
std::string ShapeToString(const Shape& shape);

// Dense little-endian data in ONNX's row-major order.
struct TensorData {
  DataType type = DataType::kUndefined;
  Shape shape;
  TensorBytes bytes;  // a view is aligned to its elements

  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  int64_t count() const { return ElementCount(shape); }
  // Zero-filled data of `type` and `shape`.
  static TensorData Zeros(DataType type, Shape shape);
};

using TensorId = int32_t;
constexpr TensorId kNoTensor = -1;  // an optional input that is absent

struct Tensor {
  std::string name;
  DataType type = DataType::kUndefined;
  Shape shape;
  bool shape_known = false;
  std::shared_ptr<const TensorData> constant;  // null if computed at run time
  bool is_constant() const { return constant != nullptr; }
};

struct Graph;

// A graph is the body of a node of control flow (ops/control_flow.h): it stands
// for itself, and reads nothing of the graph that the node is in but its
// inputs.
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>,
                 std::shared_ptr<const TensorData>,
                 std::shared_ptr<const Graph>>;

struct Node {
  std::string op;      // "Conv"
  std::string domain;  // "" = ai.onnx
  std::string name;    // the user's name, or "Conv_3" style when it has none
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::map<std::string, Attribute> attributes;
  int opset = 0;  // version of the domain that the model asks for
  // Names of the ONNX nodes that this node stands for (fusion keeps all).
  std::vector<std::string> sources;

  int64_t IntAttribute(const std::string& name, int64_t fallback) const;
  float FloatAttribute(const std::string& name, float fallback) const;
  std::string StringAttribute(const std::string& name,
                              std::string fallback) const;
  std::vector<int64_t> IntsAttribute(const std::string& name,
                                     std::vector<int64_t> fallback) const;
  TensorId input(size_t i) const {
    return i < inputs.size() ? inputs[i] : kNoTensor;
  }
  // "Conv 'conv1'" for messages.
  std::string Describe() const;
};

// An operator on dequantized values whose result is quantized again, and that
// nevertheless computes in floating point.
struct FloatGroup {
  std::string node, op;
  std::string reason;  // one clause: "its input is uint8, its result int8"
};

struct Graph {
  std::string name;
  std::vector<Tensor> tensors;    // indexed by TensorId
  std::vector<Node> nodes;        // topological order
  std::vector<TensorId> inputs;   // run-time inputs in the model's order
  std::vector<TensorId> outputs;  // in the model's order
  // What the model says and the compiler does not use, one sentence each.
  std::vector<std::string> notes;
  std::vector<FloatGroup> float_groups;  // in the order of the nodes
  // Of which constants are views, beside the model's own.
  std::vector<std::shared_ptr<const MappedFile>> files;

  TensorId AddTensor(Tensor tensor);
  TensorId AddConstant(std::string name, TensorData data);
  // A new computed tensor with a unique name derived from `hint`.
  TensorId AddTemporary(const std::string& hint, DataType type, Shape shape);
  TensorId FindTensor(const std::string& name) const;  // kNoTensor if absent
  // For each tensor the indices of the nodes that read it.
  std::vector<std::vector<int>> Consumers() const;
  // For each tensor the index of the node that writes it, or -1.
  std::vector<int> Producers() const;
  bool IsOutput(TensorId id) const;
  // Removes nodes whose results nobody needs, and nothing else.
  void RemoveDeadNodes();
  // Checks the invariants (ids valid, topological order, single assignment).
  absl::Status Verify() const;
  // One line per node; "=" in front of a tensor: constant.
  std::string ToString() const;
};

// The node alone with its tensors, of which those that it reads and that are
// not constant are the graph's inputs, in the order in which it reads them.
Graph Isolated(const Graph& graph, const Node& node);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IR_GRAPH_H_
