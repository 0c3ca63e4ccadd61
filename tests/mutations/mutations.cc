// SPDX-License-Identifier: Apache-2.0
#include "tests/mutations/mutations.h"

#include "tests/mutations/mutations_of.h"

namespace heddle::tests {

std::vector<Mutation> MutationsOf(const onnx::ModelProto& valid,
                                  const compiler::OperatorInfo& info) {
  MutationList list(valid);
  MutateVersions(info, &list);
  MutateInputs(info, &list);
  MutateOutputs(info, &list);
  MutateAttributes(info, &list);
  MutateTensors(&list);
  return list.Take();
}

}  // namespace heddle::tests
