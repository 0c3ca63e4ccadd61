// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/segments.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/package/package.h"

namespace heddle::package {
namespace {

bool SameTensor(const TensorInfo& a, const TensorInfo& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape;
}

// A tensor of a host graph as a value.
TensorInfo InfoOf(const compiler::Graph& graph, compiler::TensorId id) {
  TensorInfo info;
  info.name = graph.tensors[id].name;
  info.type = graph.tensors[id].type;
  info.shape = graph.tensors[id].shape;
  return info;
}

std::vector<TensorInfo> InfosOf(const compiler::Graph& graph,
                                const std::vector<compiler::TensorId>& ids) {
  std::vector<TensorInfo> infos;
  for (compiler::TensorId id : ids) infos.push_back(InfoOf(graph, id));
  return infos;
}

// Whether `values` are those tensors, in this order.
bool Agree(const Package& package, const std::vector<uint32_t>& values,
           const std::vector<TensorInfo>& tensors) {
  if (values.size() != tensors.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= package.values.size() ||
        !SameTensor(package.values[values[i]], tensors[i])) {
      return false;
    }
  }
  return true;
}

using Names = std::map<std::string, size_t>;

// The index of the value, or -1.
int64_t ValueOf(const Package& package, const Names& names,
                const TensorInfo& tensor) {
  const auto found = names.find(tensor.name);
  if (found == names.end()) return -1;
  const TensorInfo& value = package.values[found->second];
  const bool same = SameTensor(value, tensor) && value.offset == tensor.offset;
  return same ? static_cast<int64_t>(found->second) : -1;
}

std::vector<compiler::ValueType> TypesOf(
    const std::vector<TensorInfo>& tensors) {
  std::vector<compiler::ValueType> types;
  for (const TensorInfo& t : tensors) types.push_back({t.type, t.shape});
  return types;
}

std::string WhatIsWrongWithControl(const Package& package,
                                   const Segment& segment) {
  for (const auto* values : {&segment.inputs, &segment.outputs}) {
    for (uint32_t v : *values) {
      if (v >= package.values.size())
        return "it refers to a value that does not exist";
    }
  }
  const auto inputs = TypesOf(package, segment.inputs);
  std::vector<std::vector<compiler::ValueType>> results;
  for (const Body& body : segment.bodies) {
    results.push_back(TypesOf(body.package->outputs));
  }
  std::string wrong = compiler::WhatIsWrongWithControl(
      segment.control, inputs, TypesOf(package, segment.outputs), results);
  if (!wrong.empty()) return wrong;
  const auto slots = SlotTypes(segment.control, inputs);
  for (const Body& body : segment.bodies) {
    if (body.package->config != package.config) {
      return absl::StrCat("a body is for configuration ", body.package->config);
    }
    const auto read = TypesOf(body.package->inputs);
    bool agree = read.size() == body.slots.size();
    for (size_t i = 0; agree && i < read.size(); ++i) {
      agree = body.slots[i] < slots.size() && slots[body.slots[i]] == read[i];
    }
    if (!agree) return "a body reads other tensors than there are";
  }
  return "";
}

std::string WhatIsWrongWith(const Package& package, const Segment& segment) {
  std::vector<TensorInfo> inputs, outputs;
  if (segment.kind() == SegmentKind::kControl) {
    return WhatIsWrongWithControl(package, segment);
  }
  if (segment.card != nullptr) {
    const Package& card = *segment.card;
    if (!card.segments.empty()) return "a package of segments";
    if (card.config != package.config) {
      return absl::StrCat("for configuration ", card.config);
    }
    inputs = card.inputs;
    outputs = card.outputs;
  } else {
    inputs = InfosOf(segment.host, segment.host.inputs);
    outputs = InfosOf(segment.host, segment.host.outputs);
  }
  if (!Agree(package, segment.inputs, inputs)) return "its inputs disagree";
  if (!Agree(package, segment.outputs, outputs)) return "its outputs disagree";
  return "";
}

void AddCardPackages(const Package& package,
                     std::vector<const Package*>* found) {
  if (package.segments.empty()) found->push_back(&package);
  for (const Segment& segment : package.segments) {
    if (segment.card != nullptr) found->push_back(segment.card.get());
    for (const Body& body : segment.bodies) {
      AddCardPackages(*body.package, found);
    }
  }
}

}  // namespace

std::vector<const Package*> CardPackages(const Package& package) {
  std::vector<const Package*> found;
  AddCardPackages(package, &found);
  return found;
}

std::vector<compiler::ValueType> TypesOf(const Package& package,
                                         const std::vector<uint32_t>& values) {
  std::vector<compiler::ValueType> types;
  for (uint32_t v : values) {
    types.push_back({package.values[v].type, package.values[v].shape});
  }
  return types;
}

std::string WhatIsWrongWithSegments(const Package& package) {
  if (package.weights.size() > 0 || !package.streams.empty() ||
      !package.taps.empty() || package.scratch_bytes > 0 ||
      !package.weight_plan.empty()) {
    return "beside segments there are weights, streams or taps";
  }
  Names names;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const TensorInfo& value : package.values) {
    if (!names.emplace(value.name, names.size()).second) {
      return absl::StrCat("two values are named '", value.name, "'");
    }
    if (value.offset % kValueAlign != 0) {
      return absl::StrCat("value '", value.name, "' lies at ", value.offset);
    }
    if (value.size > 0) {
      places.emplace_back(value.offset, value.offset + value.size);
    }
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second) return "values overlap";
  }
  std::vector<bool> written(package.values.size(), false);
  for (const TensorInfo& input : package.inputs) {
    const int64_t value = ValueOf(package, names, input);
    if (value < 0 || written[value]) {
      return absl::StrCat("input '", input.name,
                          "' is not a value, or is repeated");
    }
    written[value] = true;
  }
  for (size_t s = 0; s < package.segments.size(); ++s) {
    const Segment& segment = package.segments[s];
    const std::string wrong = WhatIsWrongWith(package, segment);
    if (!wrong.empty()) return absl::StrCat("segment ", s, ": ", wrong);
    for (uint32_t value : segment.inputs) {
      if (!written[value]) {
        return absl::StrCat("segment ", s, " reads '",
                            package.values[value].name,
                            "' before it is written");
      }
    }
    for (uint32_t value : segment.outputs) {
      if (written[value]) {
        return absl::StrCat("segment ", s, " writes '",
                            package.values[value].name, "' again");
      }
      written[value] = true;
    }
  }
  for (const TensorInfo& output : package.outputs) {
    const int64_t value = ValueOf(package, names, output);
    if (value < 0 || !written[value]) {
      return absl::StrCat("output '", output.name, "' is never written");
    }
  }
  return "";
}

}  // namespace heddle::package
