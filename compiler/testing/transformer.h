// SPDX-License-Identifier: Apache-2.0
// One encoder layer of a transformer as a quantizing exporter writes it: every
// operator in float between DequantizeLinear and QuantizeLinear, GELU,
// layer normalisation and the change to heads in primitive operators (opset
// 13).
#ifndef HEDDLE_COMPILER_TESTING_TRANSFORMER_H_
#define HEDDLE_COMPILER_TESTING_TRANSFORMER_H_

#include <cstdint>
#include <string>

namespace heddle::compiler {

struct TransformerLayer {
  int64_t sequence = 128, width = 768, heads = 12, inner = 3072;
};

// Input and output are float [1, sequence, width]. Fixed random weights.
std::string MakeTransformerLayer(const std::string& name,
                                 const TransformerLayer& layer);
// Its first part: projections, softmax, products and the projection behind
// them.
std::string MakeAttentionLayer(const std::string& name,
                               const TransformerLayer& layer);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_TRANSFORMER_H_
