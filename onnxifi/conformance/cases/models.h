// SPDX-License-Identifier: Apache-2.0
// Models that a backend refuses, with the status that it does so with. They are
// given to onnxGetBackendCompatibility and onnxInitGraph alike.
#ifndef ONNXIFI_CONFORMANCE_CASES_MODELS_H_
#define ONNXIFI_CONFORMANCE_CASES_MODELS_H_

#include <string>
#include <vector>

#include "onnxifi/conformance/context.h"

namespace heddle::conformance {

struct BadModel {
  std::string what;
  std::string bytes;
  std::vector<onnxStatus> allowed;
};

std::vector<BadModel> BrokenProtobufs(Context& t);
std::vector<BadModel> InvalidModels(Context& t);
std::vector<BadModel> UnknownOperators(Context& t);
std::vector<BadModel> MismatchingModels(Context& t);
std::vector<BadModel> UnsupportedTypes(Context& t);
std::vector<BadModel> UnsupportedForms(Context& t);

// Gives each to both functions.
void ExpectRejections(Context& t, const std::vector<BadModel>& models);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_CASES_MODELS_H_
