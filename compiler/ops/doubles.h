// SPDX-License-Identifier: Apache-2.0
// Elementwise operators on double, which no lane of the card has: the host
// computes them with the functions of C's library.
//
//   const ProgramOperator kExp(Unary("Exp", 6), InferSame, Function<Exp>,
//                              [](const Node&, const double* x) {
//                                return std::exp(x[0]);
//                              });
#ifndef HEDDLE_COMPILER_OPS_DOUBLES_H_
#define HEDDLE_COMPILER_OPS_DOUBLES_H_

#include <vector>

#include "compiler/ops/define.h"

namespace heddle::compiler {

inline constexpr TypeSet kDoubles = Types(DataType::kDouble);
inline constexpr TypeSet kRealsAndDouble = kReals | kDoubles;

// The result for one element of each of the node's inputs.
using DoubleFunction = double (*)(const Node& node, const double* x);

// `function` of one or two inputs that broadcast to one another. Inputs of
// another type are converted; the result is double or, as the graph says, bool.
Results MapDoubles(const Graph& graph, const Node& node, const Inputs& inputs,
                   DoubleFunction function);

// The inputs one after another, two at a time.
Results FoldDoubles(const Node& node, const Inputs& inputs,
                    double (*combine)(double acc, double x));

// Elements of a number of fixed size as double.
std::vector<double> ToDoubles(const TensorData& data);
TensorData FromDoubles(const Shape& shape, const std::vector<double>& values);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_DOUBLES_H_
