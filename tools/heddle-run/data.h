// SPDX-License-Identifier: Apache-2.0
// Where inputs come from: ONNX test data sets, images, a random generator.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_DATA_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"
#include "tools/heddle-run/value_range.h"

namespace heddle::run {

struct NamedTensor {
  std::string name;  // may be empty
  compiler::TensorData data;
};

// KIND_0.pb, KIND_1.pb ... of a folder; `kind` is "input" or "output". May be
// none. A folder that does not exist is NotFound; a tensor of strings or the
// like is refused as a model of such tensors is.
absl::StatusOr<std::vector<NamedTensor>> ReadDataSet(const std::string& folder,
                                                     const std::string& kind);

// The error for a folder from which a model's inputs were to come and that has
// none. Models of the ONNX Model Zoo have theirs in a folder beside them.
absl::Status NoInputs(const std::string& folder);

// The tensors in the order of `wanted`: by name, or by position where a tensor
// has no name. InvalidArgument: one is missing, too many, other type or shape.
absl::StatusOr<std::vector<compiler::TensorData>> Assign(
    const std::vector<package::TensorInfo>& wanted,
    std::vector<NamedTensor> tensors, const std::string& what);

// The same for every run with that seed: floats in [-1, 1), bool 0 or 1,
// integers over the type's range, wide ones in [0, 16); or of `range`, which
// fits the type.
compiler::TensorData RandomTensor(const package::TensorInfo& info,
                                  uint64_t seed,
                                  const ValueRange* range = nullptr);

// Writes an onnx.TensorProto.
absl::Status WriteTensor(const std::string& path, const std::string& name,
                         const compiler::TensorData& data);

// Writes each into a file in `folder`, which is made if it does not exist.
// `outputs`: called as in ONNX's data sets, so that --data takes them as
// expected; else after their names.
absl::Status WriteTensors(const std::string& folder,
                          const std::vector<package::TensorInfo>& infos,
                          const std::vector<compiler::TensorData>& tensors,
                          bool outputs);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_DATA_H_
