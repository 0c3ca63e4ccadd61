// SPDX-License-Identifier: Apache-2.0
// One node against ONNX Runtime: its results by the reference semantics, which
// the card has too (compiler/lowering's tests) and the host where it computes
// the node as it is, and those of a library.
#ifndef TESTS_OPERATORS_RUNTIME_CASE_H_
#define TESTS_OPERATORS_RUNTIME_CASE_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "tests/support/onnxruntime.h"

namespace heddle::tests {

struct RuntimeCase {
  std::string op;
  std::string domain;
  int opset = 17;
  // Of undefined type: absent.
  std::vector<compiler::TensorData> inputs;
  std::vector<bool> constant;  // inputs that are initializers; others are not
  std::function<void(onnx::NodeProto*)> attributes;
  int outputs = 1;
  // So many inputs are the node's, or all; those behind them, and those that
  // are the node's, too, are there for graphs inside of it, as "x0", "x1" ...
  int operands = -1;
  std::vector<compiler::Shape> declared;  // of outputs; else none
  // How far floats may be apart: |ours - theirs| <= absolute + relative *
  // |theirs|. Other types, infinities and NaN are equal.
  double relative = 0, absolute = 0;
  int compared = 1 << 10;  // outputs of which a part may be anything come last
};

// The model; `given`: its inputs, in order, that are no initializers.
compiler::ModelBuilder ModelOf(const RuntimeCase& c,
                               std::vector<compiler::TensorData>* given);

// "" or what differs, and where.
std::string CompareWithRuntime(OnnxRuntime* runtime, const RuntimeCase& c);

}  // namespace heddle::tests

#endif  // TESTS_OPERATORS_RUNTIME_CASE_H_
