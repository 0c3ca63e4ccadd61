// SPDX-License-Identifier: Apache-2.0
// ONNX's backend test cases (folders with model.onnx and test_data_set_0, as
// libonnx-testdata has them) as cases of the suite.
#ifndef ONNXIFI_CONFORMANCE_NODES_H_
#define ONNXIFI_CONFORMANCE_NODES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {

// One for each folder in `folder`, by name: "nodes.test_abs". The cases live as
// long as the program. NotFound: there is none.
absl::StatusOr<std::vector<Case>> NodeCases(const std::string& folder);

// A tensor as a file has it.
struct TensorFile {
  std::string name;
  int type = 0;  // TensorProto.DataType
  std::vector<uint64_t> shape;
  std::string bytes;  // the elements as onnxifi wants them
};

// InvalidArgument: no TensorProto, or one whose elements do not fit its shape.
// Unimplemented: of strings, say, which are no bytes.
absl::StatusOr<TensorFile> ReadTensor(const std::string& proto);

// Names of a model's inputs and outputs, in their order, without initializers,
// and the elements' types of all of them (0: no tensors).
struct Signature {
  std::vector<std::string> inputs, outputs;
  std::map<std::string, int> types;
};
absl::StatusOr<Signature> ReadSignature(const std::string& model);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_NODES_H_
