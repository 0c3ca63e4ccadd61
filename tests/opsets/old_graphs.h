// SPDX-License-Identifier: Apache-2.0
// Random graphs of opsets 1 to 6, whose operators had forms of their own, each
// with the same graph as opset 7 writes it: the first opset that ONNX Runtime
// supports. Both are written from ONNX's definitions, not from what the
// compiler makes of the old forms (compiler/ops/old_forms.cc).
#ifndef TESTS_OPSETS_OLD_GRAPHS_H_
#define TESTS_OPSETS_OLD_GRAPHS_H_

#include <cstdint>
#include <set>
#include <string>

#include "tests/opsets/cases.h"

namespace heddle::tests {

// The first opset that the runtime supports.
inline constexpr int kFirstRun = 7;

struct OldCase {
  OpsetCase old;       // of the opset
  std::string modern;  // the same model at opset 7
  std::set<std::string> operators;
};

// `opset`: 1 to 6.
OldCase OldGraphCase(int opset, uint64_t seed);

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_OLD_GRAPHS_H_
