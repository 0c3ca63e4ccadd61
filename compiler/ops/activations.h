// SPDX-License-Identifier: Apache-2.0
// The activations that recurrent operators name.
#ifndef HEDDLE_COMPILER_OPS_ACTIVATIONS_H_
#define HEDDLE_COMPILER_OPS_ACTIVATIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

struct Activation {
  std::string name;  // as ONNX writes it
  float alpha = 0, beta = 0;
};

// Those of a node, or `defaults` for each of its `directions`. One takes the
// next alpha and beta of the lists if it has such, else its own default. Names
// are taken in any case. kInvalidModel: a name that is none, another number
// than `count` for each direction, an activation without default and value.
absl::StatusOr<std::vector<Activation>> ActivationsOf(
    const Node& node, const std::vector<std::string>& defaults,
    size_t directions);

TensorId Activate(Expansion* e, const Activation& activation, TensorId x);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_ACTIVATIONS_H_
