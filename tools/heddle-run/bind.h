// SPDX-License-Identifier: Apache-2.0
// The shapes of inputs that a model leaves open, from what it is run with:
// tensors of --data, or images, of which each is a batch of its own.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_BIND_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_BIND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/input_declaration.h"
#include "compiler/ir/graph.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-run/images.h"

namespace heddle::run {

struct Binding {
  std::map<std::string, compiler::Shape> shapes;  // by input
  // What was found of open dimensions: "'batch' = 1, dimension 2 of 'x' = 5".
  // Empty if the model or the user says it all.
  std::string found;
};

// `given`, by the user, goes before everything. What neither says stays open.
Binding BindInputs(const std::vector<compiler::InputDeclaration>& inputs,
                   const std::map<std::string, compiler::Shape>& given,
                   const std::vector<NamedTensor>& data,
                   const ImageOptions& images);

// Adds to `shapes`, as --shape would, that the first dimension of each input
// that leaves it open is `batch`; inputs that have a shape there keep it.
// InvalidArgument: no input leaves it open, or one has other open dimensions
// and no name for the first.
absl::Status BindBatch(const std::vector<compiler::InputDeclaration>& inputs,
                       int64_t batch,
                       std::map<std::string, compiler::Shape>* shapes);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_BIND_H_
