// SPDX-License-Identifier: Apache-2.0
// Models that must be refused, with what may be said about them.
#ifndef TESTS_E2E_BAD_MODELS_H_
#define TESTS_E2E_BAD_MODELS_H_

#include <string>
#include <vector>

namespace heddle::tests {

struct BadModel {
  std::string name;
  std::string bytes;
  std::vector<int> statuses;  // of ONNXIFI, one of these
  std::string mention;        // part of the sentence: a node or a field; or ""
};

std::vector<BadModel> BadModels();

// The digit model cut off at every 1,000th byte.
std::vector<BadModel> TruncatedModels();

}  // namespace heddle::tests

#endif  // TESTS_E2E_BAD_MODELS_H_
