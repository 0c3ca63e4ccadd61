// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/shape_set_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/session/padded_graph.h"

namespace heddle::session {

absl::StatusOr<std::shared_ptr<ShapeSetGraph>> ShapeSetGraph::Load(
    std::shared_ptr<Device> device, absl::string_view package_bytes,
    std::shared_ptr<const void> owner, ShapeSetOptions options) {
  auto set = package::ParseShapeSet(package_bytes, std::move(owner));
  if (!set.ok()) return set.status();
  return std::shared_ptr<ShapeSetGraph>(new ShapeSetGraph(
      std::move(device), *std::move(set), std::move(options)));
}

const ShapeSetGraph::Loaded* ShapeSetGraph::FindLoaded(const Values& values) {
  const auto found =
      std::find_if(loaded_.begin(), loaded_.end(),
                   [&](const Loaded& l) { return l.values == values; });
  if (found == loaded_.end()) return nullptr;
  loaded_.splice(loaded_.begin(), loaded_, found);
  return &loaded_.front();
}

absl::StatusOr<const ShapeSetGraph::Loaded*> ShapeSetGraph::Take(
    const Values& values, bool compiled,
    std::shared_ptr<const std::string> bytes) {
  const size_t most = std::max<size_t>(options_.most_loaded, 1);
  while (loaded_.size() >= most) loaded_.pop_back();
  auto graph = LoadGraph(device_, *bytes, options_.load);
  if (!graph.ok() && absl::IsResourceExhausted(graph.status()) &&
      ExhaustedResource(graph.status()) == ExhaustedKind::kDeviceMemory &&
      !loaded_.empty()) {
    // Others may be asked for again, but this one is needed now.
    loaded_.clear();
    graph = LoadGraph(device_, *bytes, options_.load);
  }
  if (!graph.ok()) return graph.status();
  loaded_.push_front({values, *std::move(graph), std::move(bytes), compiled});
  return &loaded_.front();
}

absl::Status ShapeSetGraph::CheckCompiled(const Values& values,
                                          absl::string_view bytes) const {
  const std::shared_ptr<const void> caller(std::shared_ptr<const void>(),
                                           bytes.data());
  const auto package = package::Parse(bytes, caller);
  if (!package.ok()) return package.status();
  const auto shapes = set_.ShapesOf(values);
  bool same = package->config == set_.config &&
              package->inputs.size() == set_.inputs.size();
  for (size_t i = 0; same && i < set_.inputs.size(); ++i) {
    same = package->inputs[i].name == set_.inputs[i].name &&
           package->inputs[i].shape == shapes.at(set_.inputs[i].name);
  }
  if (same) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "what was compiled for ", set_.Text(values), " is for something else"));
}

absl::StatusOr<std::shared_ptr<const std::string>> ShapeSetGraph::Compiled(
    const Values& values) {
  const auto found =
      std::find_if(compiled_.begin(), compiled_.end(),
                   [&](const Kept& kept) { return kept.values == values; });
  if (found != compiled_.end()) {
    compiled_.splice(compiled_.begin(), compiled_, found);
    return compiled_.front().package;
  }
  if (options_.compile == nullptr) {
    return absl::FailedPreconditionError(set_.Missing(values));
  }
  auto bytes = options_.compile(set_.ShapesOf(values));
  if (!bytes.ok()) return bytes.status();
  if (auto s = CheckCompiled(values, *bytes); !s.ok()) return s;
  auto package = std::make_shared<const std::string>(*std::move(bytes));
  compiled_.push_front({values, package});
  uint64_t sum = 0;
  size_t count = 0;
  for (auto it = compiled_.begin(); it != compiled_.end();) {
    sum += it->package->size();
    // What is needed now stays, as it is on the card anyway.
    const bool keep = ++count == 1 || (count <= options_.most_compiled &&
                                       sum <= options_.most_compiled_bytes);
    it = keep ? std::next(it) : compiled_.erase(it);
  }
  return package;
}

std::shared_ptr<Graph> ShapeSetGraph::Padded(
    const Loaded& loaded, const Values& values,
    const package::Padding& padding) const {
  const int64_t real = values[padding.symbol];
  std::vector<PaddedAxis> inputs, outputs;
  for (const package::SetInput& input : set_.inputs) {
    PaddedAxis axis;
    for (size_t i = 0; i < input.symbols.size(); ++i) {
      if (input.symbols[i] != static_cast<int32_t>(padding.symbol)) continue;
      axis = {static_cast<int>(i), real};
    }
    inputs.push_back(axis);
  }
  for (const package::Padding::Axis& output : padding.outputs) {
    outputs.push_back({output.axis, real * output.inner});
  }
  return MakePaddedGraph(loaded.graph, std::move(inputs), std::move(outputs));
}

absl::StatusOr<Specialised> ShapeSetGraph::For(
    const std::map<std::string, compiler::Shape>& shapes) {
  const auto values = set_.ValuesOf(shapes);
  if (!values.ok()) return values.status();
  const std::lock_guard<std::mutex> lock(mutex_);
  Specialised taken;
  taken.values = *values;
  if (const Loaded* exact = FindLoaded(*values)) {
    taken.how = exact->compiled ? Specialised::How::kCompiled
                                : Specialised::How::kExact;
    taken.graph = exact->graph;
    taken.package = exact->package;
    return taken;
  }
  const auto choice = set_.Choose(*values);
  if (choice.has_value()) {
    const Values& own = set_.specialisations[choice->index].values;
    const Loaded* loaded = FindLoaded(own);
    if (loaded == nullptr) {
      auto bytes =
          std::make_shared<const std::string>(set_.PackageBytes(choice->index));
      const std::shared_ptr<const void> owner(bytes, bytes->data());
      const auto package = package::Parse(*bytes, owner);
      if (!package.ok()) return package.status();
      if (auto s = set_.Check(choice->index, *package); !s.ok()) return s;
      const auto made = Take(own, false, std::move(bytes));
      if (!made.ok()) return made.status();
      loaded = *made;
    }
    taken.values = own;
    taken.package = loaded->package;
    taken.graph = loaded->graph;
    if (choice->padding != nullptr) {
      taken.how = Specialised::How::kPadded;
      taken.graph = Padded(*loaded, *values, *choice->padding);
    }
    return taken;
  }
  auto bytes = Compiled(*values);
  if (!bytes.ok()) return bytes.status();
  const auto made = Take(*values, true, *std::move(bytes));
  if (!made.ok()) return made.status();
  taken.how = Specialised::How::kCompiled;
  taken.package = (*made)->package;
  taken.graph = (*made)->graph;
  return taken;
}

}  // namespace heddle::session
