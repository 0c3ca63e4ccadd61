// SPDX-License-Identifier: Apache-2.0
// A folder in the form of ONNX's test data:
//
//   model.onnx
//   test_data_set_0/input_0.pb, input_1.pb, ..., output_0.pb, ...
//   integer_reference/*.pb     (or another name) tensors by name, for set 0
//
// Input i belongs to the i-th input of the graph that is no initializer, output
// i to its i-th output; names in the files are not needed.
#ifndef TESTS_COMPARER_MODEL_FOLDER_H_
#define TESTS_COMPARER_MODEL_FOLDER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/comparer/tensor.h"

namespace heddle::comparer {

struct DataSet {
  int number = 0;
  std::vector<Tensor> inputs, outputs;  // with the graph's names
};

struct ModelFolder {
  std::string path;
  std::string model;  // bytes of model.onnx
  std::vector<DataSet> sets;
};

// All data sets, or only `set` if it is not negative.
absl::StatusOr<ModelFolder> ReadModelFolder(const std::string& path, int set);

// The tensors of a folder by their names. InvalidArgument: one without a name,
// or two of the same.
absl::StatusOr<std::map<std::string, Tensor>> ReadNamedTensors(
    const std::string& folder);

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_MODEL_FOLDER_H_
