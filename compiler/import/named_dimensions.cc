// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/named_dimensions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {

NamedDimensions::NamedDimensions(const onnx::GraphProto& graph,
                                 const std::map<std::string, Shape>& given) {
  std::set<std::string> inputs;
  for (const auto& input : graph.input()) {
    inputs.insert(input.name());
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (!dim.dim_param().empty()) names_.insert(dim.dim_param());
    }
  }
  for (const auto& [name, shape] : given) {
    if (inputs.count(name) != 0 || names_.count(name) == 0 ||
        shape.size() != 1 || shape[0] < 0) {
      continue;
    }
    given_.insert(name);
    bindings_.emplace(name, Binding{shape[0], "as it is given"});
  }
}

absl::Status NamedDimensions::Bind(const onnx::ValueInfoProto& input,
                                   const Shape& shape) {
  const auto& dims = input.type().tensor_type().shape().dim();
  for (int i = 0; i < dims.size() && i < static_cast<int>(shape.size()); ++i) {
    const std::string& name = dims.Get(i).dim_param();
    if (name.empty()) continue;
    const std::string where = absl::StrCat("in input ", Quote(input.name()));
    const auto [it, added] = bindings_.emplace(name, Binding{shape[i], where});
    if (added || it->second.value == shape[i]) continue;
    return Reject(
        Rejection::kMismatchingShape,
        absl::StrCat("dimension ", Quote(name), " is ", it->second.value, " ",
                     it->second.where, " and ", shape[i], " ", where,
                     "; a name must have one value"));
  }
  return absl::OkStatus();
}

const int64_t* NamedDimensions::Find(const std::string& name) const {
  const auto it = bindings_.find(name);
  return it == bindings_.end() ? nullptr : &it->second.value;
}

std::string NamedDimensions::Names() const {
  if (names_.empty()) return "";
  return absl::StrCat(
      "; its named dimensions are ",
      absl::StrJoin(names_, ", ", [](std::string* text, const auto& name) {
        absl::StrAppend(text, Quote(name));
      }));
}

}  // namespace heddle::compiler
