// SPDX-License-Identifier: Apache-2.0
// The parts of MutationsOf, one for each thing of a model that they change.
#ifndef TESTS_MUTATIONS_MUTATIONS_OF_H_
#define TESTS_MUTATIONS_MUTATIONS_OF_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/mutations/mutations.h"

namespace heddle::tests {

using Kinds = std::vector<compiler::Rejection>;
using Change = std::function<void(onnx::ModelProto*)>;

// Collects mutations of one model.
class MutationList {
 public:
  explicit MutationList(const onnx::ModelProto& valid) : valid_(valid) {}
  const onnx::ModelProto& valid() const { return valid_; }
  const onnx::NodeProto& node() const { return valid_.graph().node(0); }

  void Add(std::string what, Verdict verdict, Kinds kinds,
           const Change& change) {
    Mutation mutation = {std::move(what), verdict, std::move(kinds), valid_};
    change(&mutation.model);
    // (Of an empty list, say, the same list without its last entry.)
    if (mutation.model.SerializeAsString() == valid_.SerializeAsString()) {
      return;
    }
    all_.push_back(std::move(mutation));
  }
  std::vector<Mutation> Take() { return std::move(all_); }

 private:
  const onnx::ModelProto& valid_;
  std::vector<Mutation> all_;
};

inline onnx::NodeProto* NodeOf(onnx::ModelProto* model) {
  return model->mutable_graph()->mutable_node(0);
}

inline const Kinds& InvalidModel() {
  static const auto* kinds = new Kinds{compiler::Rejection::kInvalidModel};
  return *kinds;
}

// Versions of the format and of domains, and the operator's name.
void MutateVersions(const compiler::OperatorInfo& info, MutationList* list);
// Which tensors the node reads.
void MutateInputs(const compiler::OperatorInfo& info, MutationList* list);
// Which tensors the node writes and the graph declares.
void MutateOutputs(const compiler::OperatorInfo& info, MutationList* list);
// The node's attributes: kinds and values.
void MutateAttributes(const compiler::OperatorInfo& info, MutationList* list);
// Types, shapes and bytes of graph inputs and initializers.
void MutateTensors(MutationList* list);

}  // namespace heddle::tests

#endif  // TESTS_MUTATIONS_MUTATIONS_OF_H_
