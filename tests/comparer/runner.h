// SPDX-License-Identifier: Apache-2.0
// Runs a model through ONNXIFI: backend, graph, events, and every release.
#ifndef TESTS_COMPARER_RUNNER_H_
#define TESTS_COMPARER_RUNNER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/comparer/api.h"
#include "tests/comparer/tensor.h"

namespace heddle::comparer {

class Runner {
 public:
  // A backend on the n-th id. Errors name the ONNXIFI function and its status.
  static absl::StatusOr<std::unique_ptr<Runner>> Open(Api* api, size_t card);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // One graph at a time. FALLBACK counts as success, as the header says.
  absl::Status SetModel(const std::string& model);
  // The same, with the status of onnxInitGraph as it is.
  int TryModel(const std::string& model);
  // Runs once. `forms` gives names, types and shapes of the outputs. Output
  // memory starts as a pattern and has guards at both ends: Internal if they or
  // the inputs were changed.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& forms);
  // Gives everything back; the first failure.
  absl::Status Close();

 private:
  explicit Runner(Api* api) : api_(api) {}

  Api* const api_;
  std::vector<void*> ids_;
  void* backend_ = nullptr;
  void* graph_ = nullptr;
};

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_RUNNER_H_
