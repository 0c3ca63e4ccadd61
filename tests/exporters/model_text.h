// SPDX-License-Identifier: Apache-2.0
// Models as text: ONNX's own form (onnx/defs/parser.h), with what a test needs
// to know in lines that begin with '#'. Other such lines are comments.
//
//   #! run N=1 S=7            sizes of the symbols in one run; a line for each
//   #! values ids 0 99        an input's elements are of this range, else of
//                             -1 to 1 (integers: 0 to 3, bool: 0 and 1)
//   #! bound total 40          CompileOptions::bounds: the most that it may be
//   #! host NonZero           operators that are on the host; none if not said
//   #! sequences list         inputs and outputs of inner graphs that are
//                             sequences of tensors of the type that the text
//                             says
//   #! tolerance 1e-4         floats may be so far apart, times the largest of
//                             the output, or one if that is more (1e-4)
//
// An input whose name begins with "w_" is a weight, with drawn values of about
// 1 / sqrt(elements that a sum has); "g_": of 0.5 to 1.5; "s_": of 0.01 to
// 0.02; "ninf_": minus infinity. They become initializers.
#ifndef TESTS_EXPORTERS_MODEL_TEXT_H_
#define TESTS_EXPORTERS_MODEL_TEXT_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace heddle::tests {

struct ModelText {
  onnx::ModelProto model;
  std::vector<std::map<std::string, int64_t>> runs;  // one at least
  std::map<std::string, std::pair<double, double>> ranges;
  std::map<std::string, int64_t> bounds;
  std::vector<std::string> host_operators;  // sorted
  std::vector<std::string> sequences;
  double tolerance = 1e-4;
};

absl::StatusOr<ModelText> ParseModelText(const std::string& text);

// The inputs of a run, in the model's order: the same for the same `seed`.
absl::StatusOr<std::vector<compiler::TensorData>> DrawInputs(
    const ModelText& text, const std::map<std::string, int64_t>& sizes,
    uint64_t seed);

}  // namespace heddle::tests

#endif  // TESTS_EXPORTERS_MODEL_TEXT_H_
