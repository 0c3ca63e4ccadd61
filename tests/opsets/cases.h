// SPDX-License-Identifier: Apache-2.0
// Random models for a comparison with another implementation: no value in them
// is one for which implementations differ by right (infinities, NaNs, overflow
// of a conversion), and none of the cases is one of those that ONNX Runtime is
// known to compute otherwise than ONNX defines: pools with auto_pad and
// dilations (its padding forgets the dilations), products of uint8 by int8 (on
// processors without VNNI sums of two saturate at 16 bits), and what
// IsComputedOtherwise() says.
#ifndef TESTS_OPSETS_CASES_H_
#define TESTS_OPSETS_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::tests {

struct OpsetCase {
  std::string model;  // bytes; empty: the seed made none
  std::vector<std::string> inputs, outputs;
  std::vector<compiler::TensorData> values;  // of the inputs
};

// One node of an operator of ai.onnx at `opset`, with the attributes and types
// that this opset has.
OpsetCase NodeCase(const std::string& op, int opset, uint64_t seed);

// The same of an operator that random graphs hardly have; no model for others.
OpsetCase RareCase(const std::string& op, int opset, uint64_t seed);

// Several nodes of operators that are continuous, at `opset`: a small error
// stays one.
OpsetCase GraphCase(int opset, uint64_t seed);

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_CASES_H_
