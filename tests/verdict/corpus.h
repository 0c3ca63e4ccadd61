// SPDX-License-Identifier: Apache-2.0
// The models over which verdicts are compared: all of libonnx-testdata, all of
// the shared folder, and random ones of the compiler's generators.
#ifndef TESTS_VERDICT_CORPUS_H_
#define TESTS_VERDICT_CORPUS_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::tests {

struct CorpusModel {
  std::string name;  // "node/test_relu", "random/17"
  onnx::ModelProto model;
  // Values for inputs that are no initializers, as far as the model comes with
  // some.
  std::map<std::string, onnx::TensorProto> data;
};

struct CorpusEntry {
  std::string name;
  std::function<CorpusModel()> read;
};

// `random`: how many graphs of each generator. Without libonnx-testdata or the
// shared folder there are fewer entries.
std::vector<CorpusEntry> Corpus(uint64_t random);

}  // namespace heddle::tests

#endif  // TESTS_VERDICT_CORPUS_H_
