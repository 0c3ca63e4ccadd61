// SPDX-License-Identifier: Apache-2.0
// A random ONNX model, or a graph inside of one of its nodes, while it is
// written: the values that its nodes may read, and the means to draw from.
//
// Families of nodes are functions in files of their own, <family>_nodes.cc:
//
//   bool AddRelu(GraphWriter* w) {
//     const Value* x = w->Draw(IsFloat);
//     return x != nullptr && w->Append("Relu", {x->name}, *x);
//   }
//   const NodeFamily kRelu("relu", Side::kCard, AddRelu);
#ifndef TESTS_GRAPHS_GRAPH_WRITER_H_
#define TESTS_GRAPHS_GRAPH_WRITER_H_

#include <onnx/onnx_pb.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compiler/testing/control_models.h"
#include "tests/graphs/value.h"
#include "tests/operators/random_cases.h"

namespace heddle::tests {

// An input of a model, of which every run draws its values: multiples of 2 to
// the power of -`fraction` from `low` to `high`.
struct RandomInput {
  Value value;
  int64_t low = 0, high = 0;
};

// What a model and all graphs inside of it have in common.
struct ModelState {
  explicit ModelState(uint64_t seed) : random(seed) {}

  RandomSource random;
  int opset = 17;
  onnx::ModelProto model;
  std::vector<RandomInput> inputs;
  std::vector<std::string> symbols;
  Sizes largest;  // of the symbols
  int names = 0;
};

class GraphWriter {
 public:
  // Elements of a tensor, at most.
  static constexpr int64_t kMostElements = 384;
  static constexpr int kMostDepth = 2;

  GraphWriter(ModelState* state, onnx::GraphProto* graph,
              const GraphWriter* outside = nullptr)
      : state_(state),
        graph_(graph),
        outside_(outside),
        depth_(outside == nullptr ? 0 : outside->depth_ + 1) {}

  RandomSource& random() { return state_->random; }
  int64_t Below(int64_t n) { return random().Below(n); }
  bool OneIn(int64_t n) { return random().OneIn(n); }
  template <typename T>
  T Pick(std::initializer_list<T> list) {
    return list.begin()[Below(static_cast<int64_t>(list.size()))];
  }
  int opset() const { return state_->opset; }
  ModelState* state() const { return state_; }
  onnx::GraphProto* graph() const { return graph_; }
  int depth() const { return depth_; }  // of graphs around this one
  int64_t Count(const Dims& dims) const {
    return CountOf(dims, state_->largest);
  }
  // At most; a symbol's largest size.
  int64_t Extent(const Dim& dim) const { return Count({dim}); }

  std::string NewName();
  // One of the values that may be read here, most often a late one; null: none
  // is such. The pointer holds until the writer goes.
  const Value* Draw(const std::function<bool(const Value&)>& is_such);
  // An input of the model with new values.
  const Value* AddInput(compiler::DataType type, const Dims& dims, int64_t low,
                        int64_t high, int fraction);
  // An initializer of this graph; its name.
  std::string Constant(const compiler::TensorData& data);
  std::string Numbers(const std::vector<int64_t>& values);  // int64, a list
  // Floats that are multiples of a quarter, from -1 to 1.
  std::string Weights(const compiler::Shape& shape);
  // A node; `result` says what it computes, but for the name. Null, and no
  // node, if that is of no use or too large.
  const Value* Append(
      const std::string& op, const std::vector<std::string>& inputs,
      Value result,
      const std::function<void(onnx::NodeProto*)>& attributes = nullptr);
  // A node whose results are not to be read, but by name.
  onnx::NodeProto* AddNode(const std::string& op,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
    return compiler::AddNode(graph_, op, inputs, outputs);
  }
  // What a node that was added computes.
  const Value* AddValue(Value value);
  // Values of this graph that its nodes and inputs have made, in order.
  const std::deque<Value>& own() const { return own_; }

  // Nodes whose lists of axes are an input from opset `since` on.
  const Value* AppendWithAxes(
      const std::string& op, int since, const Value& x,
      const std::vector<int64_t>& axes, Value result,
      const std::function<void(onnx::NodeProto*)>& attributes = nullptr);

 private:
  ModelState* const state_;
  onnx::GraphProto* const graph_;
  const GraphWriter* const outside_;
  const int depth_;
  std::deque<Value> own_;
};

inline bool IsFloat(const Value& v) {
  return v.type == compiler::DataType::kFloat && !v.bounded;
}
inline bool IsExactFloat(const Value& v) { return IsFloat(v) && v.exact(); }
inline bool IsInt64(const Value& v) {
  return v.type == compiler::DataType::kInt64 && !v.bounded;
}
inline bool IsFixed(const Value& v) { return !v.bounded; }

// The value as an input or a result of a graph is declared.
void DeclareValue(const Value& value, const std::vector<std::string>& symbols,
                  onnx::ValueInfoProto* info);

// Which side has the nodes of a family: kHost are those that the card lacks.
enum class Side { kCard, kHost, kControl };

class NodeFamily {
 public:
  // False: no operands fit, nothing that matters was added. `name` makes the
  // order of families that of no linker.
  NodeFamily(const char* name, Side side, bool (*add)(GraphWriter* writer));
};

// Adds nodes of one family of that side, drawn anew until one can.
bool AddNodes(Side side, GraphWriter* writer);

// A Scan of more iterations than the compiler unrolls, which a run decides
// therefore, of two inputs of its own and of nodes that the card lacks: so many
// jobs would take too long. Its results are too large for other nodes.
void AddLongScan(GraphWriter* writer);

}  // namespace heddle::tests

#endif  // TESTS_GRAPHS_GRAPH_WRITER_H_
