// SPDX-License-Identifier: Apache-2.0
// The forms in which a framework may present one model: its weights inside or
// outside, whole or node by node. Only ONNX's own library is used.
#ifndef TESTS_VERDICT_FORMS_H_
#define TESTS_VERDICT_FORMS_H_

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "tests/verdict/corpus.h"

namespace heddle::tests {

// A tensor's elements in row-major order, little-endian; of strings, nothing.
std::string BytesOf(const onnx::TensorProto& tensor);

// All inputs but `dynamic` as initializers, as far as there are data.
onnx::ModelProto WithData(const CorpusModel& model, int dynamic);

// The initializers as declared inputs instead, behind the other inputs; their
// values go to `weights`.
onnx::ModelProto WithoutInitializers(const onnx::ModelProto& model,
                                     std::vector<onnx::TensorProto>* weights);

// Weights for a model without initializers: the known ones, then all inputs but
// one, which in turn is each of the first `most`. Values that are not known are
// made up if their shapes are: of a list of integers as long as the first
// output's rank its dimensions, for a Reshape -1 and ones, else ones for floats
// and zeros for integers.
std::vector<std::vector<onnx::TensorProto>> WeightChoices(
    const onnx::ModelProto& model, const std::vector<onnx::TensorProto>& known,
    int most);

// Equal for models that differ in names only.
std::string Anonymous(const onnx::ModelProto& model);

// With all that ONNX's shape inference finds out; as it is if that fails.
onnx::ModelProto Inferred(const onnx::ModelProto& model);

// Parts of a model as models of their own. What the nodes of a part read from
// outside is an initializer if it is one in the model or comes from a Constant,
// else an input as the model declares it.
class Parts {
 public:
  explicit Parts(onnx::ModelProto model);
  const onnx::GraphProto& graph() const { return model_.graph(); }
  // `nodes`: indices, rising.
  onnx::ModelProto Of(const std::vector<int>& nodes) const;

 private:
  const onnx::ModelProto model_;
  std::map<std::string, onnx::ValueInfoProto> values_;
  std::map<std::string, onnx::TensorProto> constants_;
};

}  // namespace heddle::tests

#endif  // TESTS_VERDICT_FORMS_H_
