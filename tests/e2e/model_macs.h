// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates of a model, counted by libonnx's shape inference, not by
// the product.
#ifndef TESTS_E2E_MODEL_MACS_H_
#define TESTS_E2E_MODEL_MACS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::tests {

// Of all convolutions and matrix products, quantized or not, whose shapes can
// be inferred. `inputs` gives shapes to inputs that leave them open.
uint64_t ModelMacs(const std::string& model,
                   const std::map<std::string, std::vector<int64_t>>& inputs);

// The same of every node of the model's graph by its name, Conv_0, Conv_1 and
// so on where it has none; 0 for other operators.
std::map<std::string, uint64_t> NodeMacs(
    const std::string& model,
    const std::map<std::string, std::vector<int64_t>>& inputs);

}  // namespace heddle::tests

#endif  // TESTS_E2E_MODEL_MACS_H_
