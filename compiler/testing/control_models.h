// SPDX-License-Identifier: Apache-2.0
// Ifs, Loops and Scans of ONNX for tests: the graphs inside of nodes, and
// models whose course a run decides.
#ifndef HEDDLE_COMPILER_TESTING_CONTROL_MODELS_H_
#define HEDDLE_COMPILER_TESTING_CONTROL_MODELS_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {

// A graph that is an attribute.
onnx::GraphProto* AddGraph(onnx::NodeProto* node, const std::string& name);
onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);
void AddConstant(onnx::GraphProto* graph, const std::string& name,
                 const TensorData& data);
// An input or output of a graph, of any shape; `number`: of none.
void Declare(onnx::ValueInfoProto* info, const std::string& name, DataType type,
             bool number = false);

TensorData Bool(bool value);

// y = flag ? relu(x) * w + b : x - b, of [2,3] floats; flag is an input.
ModelBuilder ChosenModel();
// v = 0.5 v + x until its sum is more than `limit`, at most `most` times; all
// three are inputs besides v. Result y and how often, n.
ModelBuilder RepeatedModel();
// A decoder of `length` tokens: state h [1,8], each step the next token by
// ArgMax, until it is the end token or the buffer is full. Inputs: first token
// (int64 [1]), h; results: tokens [length], how many there are (int64).
ModelBuilder DecoderModel(int64_t length);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_CONTROL_MODELS_H_
