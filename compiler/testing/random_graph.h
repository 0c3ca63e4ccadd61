// SPDX-License-Identifier: Apache-2.0
// Seeded random small graphs in the backend's normal form, for tests of
// everything that compiles or executes graphs. Only operators of the registry
// are used, with attributes and shapes their constraints accept.
//
// Each family of operators contributes generators of nodes in a file of its
// own, random_nodes_<family>.cc:
//
//   bool AddRelu(RandomGraphBuilder* b, TensorId x) {
//     return b->Append("", "Relu", {x});
//   }
//   const NodeGeneratorRegistration kRelu("relu", {"Relu"}, AddRelu);
//
// Operators are drawn evenly: one is wanted, its generators are tried until one
// has appended it. The operator wanted first, and the opset, follow from the
// seed.
#ifndef HEDDLE_COMPILER_TESTING_RANDOM_GRAPH_H_
#define HEDDLE_COMPILER_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct RandomGraphOptions {
  uint64_t seed = 1;
  int min_nodes = 5, max_nodes = 30;
  int64_t max_elements = 12000;  // of one tensor
  // Large shapes: the dimensions of inputs are log-uniform, up to max_elements
  // together, and products take at most `max_products` multiplications.
  bool large = false;
  int64_t max_products = int64_t{1} << 23;
  // Whether an operator may be taken; null = all that generators know.
  bool (*allowed)(const std::string& domain, const std::string& op) = nullptr;
  // The only operator of the graph, its opset, and whether infinities, NaNs and
  // the like are left out; null and 0: drawn.
  const char* only = nullptr;
  int opset = 0;
  bool plain = false;
  // Whether an operator may read computed int64 tensors; null = all. Some
  // graphs disregard it.
  bool (*reads_int64)(const std::string& domain,
                      const std::string& op) = nullptr;
};

struct RandomGraph {
  Graph graph;
  std::vector<TensorData> inputs;        // in the order of graph.inputs
  std::vector<TensorData> other_inputs;  // of the same types and shapes
};

// The graph under construction and the means to draw from.
class RandomGraphBuilder {
 public:
  explicit RandomGraphBuilder(const RandomGraphOptions& options);
  RandomGraph Run();

  int64_t Below(int64_t n) {
    return static_cast<int64_t>((random_() >> 11) % n);
  }
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }
  // The wanted operator if it is among `ops`, else any of them.
  const char* PickOp(std::initializer_list<const char*> ops);
  // Whether to take the way that makes `op`, one in `n` unless it is wanted.
  bool Takes(const char* op, int64_t n) {
    return wanted_.empty() ? OneIn(n) : wanted_ == op;
  }
  float Real() { return static_cast<float>(Between(-4096, 4096)) / 1024.0f; }
  // Scales of the size that keeps codes of a reduction of `terms` in range.
  float Scale(int64_t terms = 1);
  std::mt19937_64& random() { return random_; }
  // Whether infinities, NaNs and the like may occur in this graph.
  bool specials() const { return specials_; }
  // The batch that tensors of rank 3 and more have.
  int64_t batch() const { return batch_; }
  // The opset of the graph.
  int opset() const { return opset_; }
  // Whether nodes that the card refuses for their int64 tensors are wanted.
  bool any_int64() const { return any_int64_; }

  // Values of magnitude `range`; integers over most of their type.
  TensorData Values(DataType type, const Shape& shape, float range,
                    bool specials);
  TensorId Constant(TensorData data);
  TensorId ScaleConstant(float value);
  TensorId ZeroConstant(DataType type);
  Shape RandomShape(size_t rank);
  // Extents of a window of `rank` dimensions, and its attributes.
  Shape Kernel(size_t rank);
  std::map<std::string, Attribute> WindowAttributes(const Shape& kernel);

  const Tensor& T(TensorId id) const { return graph_.tensors[id]; }
  // Tensors that are not constant, in order of creation.
  const std::vector<TensorId>& computed() const { return computed_; }
  // A tensor of `type` that broadcasts with `shape`: computed or constant.
  TensorId Partner(DataType type, const Shape& shape, bool constant_too);

  // Appends the node if it is allowed and the registry accepts it; its results
  // may then be used. A generator that returns false takes back its constants.
  bool Append(const std::string& domain, const std::string& op,
              std::vector<TensorId> inputs,
              std::map<std::string, Attribute> attributes = {},
              int outputs = 1);
  // The same for an operator whose lists of integers are attributes before
  // opset `since`, and inputs from it on.
  bool AppendWithLists(
      int since, const std::string& op, TensorId x,
      const std::vector<std::pair<const char*, std::vector<int64_t>>>& lists,
      std::map<std::string, Attribute> attributes = {}, int outputs = 1);

 private:
  void AddInput();
  bool AddNode(const std::string& op);
  std::string RandomOperator();
  bool TooManyProducts(const Node& node) const;

  const RandomGraphOptions options_;
  std::mt19937_64 random_;
  int64_t batch_ = 1;
  int opset_ = 13;
  bool specials_ = false;
  bool any_int64_ = false;
  std::string wanted_;  // the operator that alone is appended now
  Graph graph_;
  std::vector<TensorId> computed_;
};

inline bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

// Appends a node that reads `x`; false if it cannot (nothing is appended).
using NodeGenerator = bool (*)(RandomGraphBuilder* builder, TensorId x);

class NodeGeneratorRegistration {
 public:
  // `name` identifies the generator and makes the order of generators
  // deterministic; `ops` are all operators it may append.
  NodeGeneratorRegistration(const char* name,
                            std::initializer_list<const char*> ops,
                            NodeGenerator generator);
};

RandomGraph MakeRandomGraph(const RandomGraphOptions& options);

// Whether a generator appends this operator (RandomGraphOptions.only).
bool HasGenerator(const std::string& op);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_RANDOM_GRAPH_H_
