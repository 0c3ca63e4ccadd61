// SPDX-License-Identifier: Apache-2.0
// Writes the nodes that a node of another form becomes (OperatorInfo::convert):
//
//   FormWriter w(graph, node);
//   const TensorId wide = w.Add("Cast", 13, {node.inputs[0]}, {{"to", 1}});
//   return w.Finish("Mul", 14, {wide, node.inputs[1]});
//
// Helpers are named "<node>/<operator>", the last one like the node.
#ifndef HEDDLE_COMPILER_OPS_FORM_WRITER_H_
#define HEDDLE_COMPILER_OPS_FORM_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

class FormWriter {
 public:
  using Attributes = std::map<std::string, Attribute>;

  FormWriter(Graph* graph, const Node& node) : graph_(graph), node_(node) {}

  // Appends a helper; the tensor that it computes.
  TensorId Add(const char* op, int opset, std::vector<TensorId> inputs,
               Attributes attributes = {});
  TensorId Constant(TensorData data);
  TensorId Ints(const std::vector<int64_t>& values);  // int64, rank 1
  TensorId Int32(int32_t value);
  TensorId Float(float value);

  // Appends the node that computes the original's outputs; all nodes.
  std::vector<Node> Finish(const char* op, int opset,
                           std::vector<TensorId> inputs,
                           Attributes attributes = {});

 private:
  Node Make(const char* op, int opset, std::vector<TensorId> inputs,
            Attributes attributes) const;
  TensorId Temporary();

  Graph* const graph_;
  const Node& node_;
  std::vector<Node> nodes_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_FORM_WRITER_H_
