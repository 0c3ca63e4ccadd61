// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime says of a model: whether ONNX's definitions allow it.
#ifndef TESTS_MUTATIONS_JUDGE_H_
#define TESTS_MUTATIONS_JUDGE_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "tests/support/onnxruntime.h"

namespace heddle::tests {

struct Judgement {
  enum Kind {
    kValid,      // it runs
    kInvalid,    // it is refused, or fails with inputs of ones and zeros
    kUndecided,  // nothing is known beyond what types and attributes it has
  };
  Kind kind = kUndecided;
  std::string why;  // in the library's words
};

// Inputs are 1 for real numbers, 0 for others. The library is called in
// processes of its own: some models that it does not refuse end it, or take
// more memory or time than it is given.
std::vector<Judgement> JudgeByRuntime(
    OnnxRuntime* runtime, const std::vector<onnx::ModelProto>& models);

}  // namespace heddle::tests

#endif  // TESTS_MUTATIONS_JUDGE_H_
