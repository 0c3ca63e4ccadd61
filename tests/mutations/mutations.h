// SPDX-License-Identifier: Apache-2.0
// A valid model of one node, changed in one thing: every change that can be
// made of any operator's model by looking at the model and at the operator's
// signature (how many inputs and outputs, which attributes), none of which
// knows what the operator computes. compiler/testing/invalid_models.h has the
// changes that do.
#ifndef TESTS_MUTATIONS_MUTATIONS_H_
#define TESTS_MUTATIONS_MUTATIONS_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ops/operator.h"

namespace heddle::tests {

// What the changed model is by ONNX's definition.
enum class Verdict {
  kInvalid,  // whatever the operator is
  kJudged,   // valid or not: the operator's definition says
  kExtreme,  // the same, of numbers so large that nobody may run it
};

struct Mutation {
  std::string what;
  Verdict verdict;
  // Of an invalid model, one of these is the right kind of rejection.
  std::vector<compiler::Rejection> kinds;
  onnx::ModelProto model;
};

// `valid` has one node, whose outputs are the graph's and have no declared
// types; `info` is the definition that the node has there.
std::vector<Mutation> MutationsOf(const onnx::ModelProto& valid,
                                  const compiler::OperatorInfo& info);

}  // namespace heddle::tests

#endif  // TESTS_MUTATIONS_MUTATIONS_H_
