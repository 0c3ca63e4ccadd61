// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as the judge of a model's outputs: a library of it, loaded while
// the test runs, through the few functions of its C interface that are declared
// in onnxruntime.cc. Nothing of it is needed to build.
//
//   HEDDLE_SKIP_WITHOUT_SHARED();      // data = ["@shared//:onnxruntime"]
//   auto runtime = OnnxRuntime::Open(path);
//   auto outputs = runtime->Run(model_bytes, {{"x", x}}, {"y"});
#ifndef TESTS_SUPPORT_ONNXRUNTIME_H_
#define TESTS_SUPPORT_ONNXRUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tests {

// `type` is a number of onnx.TensorProto.DataType; elements are dense.
struct RuntimeTensor {
  int type = 0;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

class OnnxRuntime {
 public:
  // The libraries of the shared folder, oldest first; none without it.
  static std::vector<std::string> SharedLibraries();
  // A library stays loaded until the process ends.
  static absl::StatusOr<std::unique_ptr<OnnxRuntime>> Open(
      const std::string& library);
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  // One run on one thread, graph optimisations off unless `optimise`.
  absl::StatusOr<std::vector<RuntimeTensor>> Run(
      const std::string& model,
      const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
      const std::vector<std::string>& outputs, bool optimise = false);
  // CPU seconds of the fastest of `repeat` such runs, at least 1, behind one
  // that does not count.
  absl::StatusOr<double> Time(
      const std::string& model,
      const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
      const std::vector<std::string>& outputs, int repeat);

 private:
  OnnxRuntime() = default;
  class Call;
  // Runs it once, and so often more; `seconds` of the fastest of those.
  absl::StatusOr<std::vector<RuntimeTensor>> Execute(
      const std::string& model,
      const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
      const std::vector<std::string>& outputs, bool optimise, int more,
      double* seconds);
  void* const* table_ = nullptr;
  void* environment_ = nullptr;
};

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_ONNXRUNTIME_H_
