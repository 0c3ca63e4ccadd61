// SPDX-License-Identifier: Apache-2.0
// Names of a graph and of the graphs around it.
#ifndef HEDDLE_COMPILER_IMPORT_NAME_SCOPE_H_
#define HEDDLE_COMPILER_IMPORT_NAME_SCOPE_H_

#include <set>
#include <string>
#include <unordered_map>

#include "compiler/ir/graph.h"

namespace heddle::compiler {

struct NameScope {
  NameScope* outer = nullptr;
  std::string tensor_prefix, node_prefix;  // of what belongs to the graph
  std::unordered_map<std::string, TensorId> ids;
  // All that its nodes write, to tell "too late" from "never".
  std::set<std::string> written;
  std::set<TensorId> taken;  // from outside

  // kNoTensor if the name is nobody's yet.
  TensorId Find(const std::string& name) {
    const auto it = ids.find(name);
    if (it != ids.end()) return it->second;
    const TensorId id = outer == nullptr ? kNoTensor : outer->Find(name);
    if (id != kNoTensor) taken.insert(id);
    return id;
  }
  bool Writes(const std::string& name) const {
    return written.count(name) != 0 ||
           (outer != nullptr && outer->Writes(name));
  }
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_NAME_SCOPE_H_
