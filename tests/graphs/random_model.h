// SPDX-License-Identifier: Apache-2.0
// Random ONNX models, each with nodes that the card lacks; in a share of them
// Ifs, Loops and Scans, in a share symbolic dimensions.
#ifndef TESTS_GRAPHS_RANDOM_MODEL_H_
#define TESTS_GRAPHS_RANDOM_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {

struct RandomModel {
  uint64_t seed = 0;
  onnx::ModelProto model;
  std::vector<RandomInput> inputs;
  std::vector<Value> outputs;  // in the model's order
  std::vector<Value> values;   // of the outermost graph, as they were made
  std::vector<std::string> symbols;
  // What a package of several shapes holds, as heddle-compile --shape-set takes
  // it: "n=2,4"; "" without symbols.
  std::string shape_set;
  std::vector<Sizes> runs;  // the sizes of the symbols in each run
  bool long_scan = false;   // it has one, which a run decides
};

// Three of five have control flow, one of four has symbolic dimensions, one of
// 400 a Scan that is not unrolled.
RandomModel MakeRandomModel(uint64_t seed);

// Removes what no output needs: nodes, inputs, constants.
void Prune(RandomModel* model);

// Values of an input in a run: the same for the same `seed`.
compiler::TensorData Draw(const RandomInput& input, const Sizes& sizes,
                          uint64_t seed);

}  // namespace heddle::tests

#endif  // TESTS_GRAPHS_RANDOM_MODEL_H_
