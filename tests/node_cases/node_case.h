// SPDX-License-Identifier: Apache-2.0
// ONNX's node cases (Debian package libonnx-testdata), and what a refusal of
// one may say. Only protobuf and the comparer's files are used: the product is
// not asked what it should be able to do.
#ifndef TESTS_NODE_CASES_NODE_CASE_H_
#define TESTS_NODE_CASES_NODE_CASE_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/comparer/model_folder.h"

namespace heddle::tests {

struct NodeCase {
  std::string name;  // "test_relu"
  // The operator that the case is about. A case "..._expanded" has the nodes
  // that define the operator: its group is "Softmax (expanded)".
  std::string group;
  onnx::ModelProto model;
  comparer::ModelFolder folder;
};

// The names listed in a JSON file (an array of strings).
absl::StatusOr<std::vector<std::string>> ReadCaseNames(const std::string& path);
absl::StatusOr<NodeCase> ReadNodeCase(const std::string& name);

// The form in which a case is tried. The later one means the same computation,
// and is for cases that are refused in the form before.
enum class Form {
  kAsGiven,
  // All inputs but the first (weights, scales, axes, shapes) as
  // initializers of the model.
  kConstants,
};

// The model in a form, and the inputs that remain, by their indices.
std::string ModelIn(Form form, const NodeCase& node_case,
                    std::vector<size_t>* inputs);

// Why `status` (of onnxInitGraph) is a right answer to the case in this form,
// in a few words; "" if it is not.
std::string ReasonFor(int status, Form form, const NodeCase& node_case);

// Operators of which cases must pass.
const std::vector<std::string>& RequiredOperators();

}  // namespace heddle::tests

#endif  // TESTS_NODE_CASES_NODE_CASE_H_
