// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/shape_set_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/compiler.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/shapes/compile_shape_set.h"
#include "tools/cli/file.h"

namespace heddle::run {
namespace {

using compiler::Shape;
using Shapes = std::map<std::string, Shape>;

absl::StatusOr<std::shared_ptr<const compiler::MappedFile>> OpenSource(
    const ShapeSetRequest& request, const package::ShapeSet& set) {
  ASSIGN_OR_RETURN(auto file, compiler::MappedFile::Open(request.source));
  if (compiler::ModelSha256(file->bytes()) == set.model_sha256) return file;
  return absl::InvalidArgumentError(
      absl::StrCat("--source: '", request.source,
                   "' is not the model that the package was compiled from"));
}

// Whether this is the size of a named dimension, not an input's shape.
bool IsDimension(const package::ShapeSet& set, const std::string& name,
                 const Shape& shape) {
  return shape.size() == 1 &&
         std::count(set.symbols.begin(), set.symbols.end(), name) != 0 &&
         std::none_of(
             set.inputs.begin(), set.inputs.end(),
             [&](const package::SetInput& i) { return i.name == name; });
}

}  // namespace

std::vector<compiler::InputDeclaration> DeclarationsOf(
    const package::ShapeSet& set) {
  std::vector<compiler::InputDeclaration> inputs;
  for (const package::SetInput& input : set.inputs) {
    compiler::InputDeclaration declared;
    declared.name = input.name;
    declared.has_shape = true;
    for (size_t i = 0; i < input.shape.size(); ++i) {
      const int32_t symbol = input.symbols[i];
      declared.shape.push_back(symbol < 0 ? input.shape[i] : -1);
      declared.symbols.push_back(symbol < 0 ? "" : set.symbols[symbol]);
    }
    inputs.push_back(std::move(declared));
  }
  return inputs;
}

Shapes CompleteShapes(const package::ShapeSet& set, const Shapes& given) {
  std::vector<int64_t> known(set.symbols.size(), 0);
  for (const package::SetInput& input : set.inputs) {
    const auto found = given.find(input.name);
    if (found == given.end()) continue;
    for (size_t i = 0; i < input.symbols.size() && i < found->second.size();
         ++i) {
      if (input.symbols[i] >= 0) known[input.symbols[i]] = found->second[i];
    }
  }
  for (size_t i = 0; i < known.size(); ++i) {
    const auto found = given.find(set.symbols[i]);
    if (found != given.end() && IsDimension(set, found->first, found->second)) {
      known[i] = found->second[0];
    }
  }
  std::vector<int64_t> values = set.specialisations.front().values;
  for (const package::Specialisation& held : set.specialisations) {
    bool agrees = true;
    for (size_t i = 0; i < known.size(); ++i) {
      agrees &= known[i] == 0 || known[i] == held.values[i];
    }
    if (!agrees) continue;
    values = held.values;
    break;
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] != 0) values[i] = known[i];
  }
  Shapes shapes = set.ShapesOf(values);
  // As they are: what is wrong with them is said later.
  for (const auto& [name, shape] : given) {
    if (!IsDimension(set, name, shape)) shapes[name] = shape;
  }
  return shapes;
}

absl::StatusOr<SpecialisedModel> LoadSpecialised(
    std::shared_ptr<session::Device> device, absl::string_view package_bytes,
    const ShapeSetRequest& request, const session::LoadOptions& load) {
  SpecialisedModel model;
  session::ShapeSetOptions options;
  options.load = load;
  std::shared_ptr<session::ShapeSetGraph> graphs;
  std::vector<int64_t> values;
  const uint64_t memory = device->description().memory_bytes;
  if (!request.source.empty() && !request.no_compile) {
    options.compile = [&](const Shapes& shapes) -> absl::StatusOr<std::string> {
      const package::ShapeSet& set = graphs->set();
      ASSIGN_OR_RETURN(const auto file, OpenSource(request, set));
      compiler::CompileOptions compile = request.options;
      compile.config = set.config;
      compile.device_memory_bytes = memory;
      compile.data_folder = cli::FolderOf(request.source);
      compile.input_shapes = shapes;
      compile.progress = [&](const char* stage, double part) {
        if (!model.compiled && request.say) {
          request.say(absl::StrCat("compiling for ", set.Text(values), ": ",
                                   set.Missing(values)));
        }
        model.compiled = true;
        if (request.options.progress) request.options.progress(stage, part);
      };
      std::string package;
      if (request.cache != nullptr) {
        ASSIGN_OR_RETURN(package, compiler::CompileOnnxCached(
                                      file->bytes(), compile, *request.cache,
                                      &model.cache_use));
      } else {
        ASSIGN_OR_RETURN(auto result,
                         compiler::CompileOnnx(file->bytes(), compile));
        package = std::move(result.package);
      }
      RETURN_IF_ERROR(file->Unchanged());
      return package;
    };
  }
  ASSIGN_OR_RETURN(
      graphs, session::ShapeSetGraph::Load(
                  std::move(device), package_bytes,
                  compiler::KeptByCaller(package_bytes), std::move(options)));
  const package::ShapeSet& set = graphs->set();
  const Shapes shapes = CompleteShapes(set, request.shapes);
  ASSIGN_OR_RETURN(values, set.ValuesOf(shapes));
  auto taken = graphs->For(shapes);
  if (!taken.ok()) {
    if (!absl::IsFailedPrecondition(taken.status()) ||
        (!request.source.empty() && !request.no_compile)) {
      return taken.status();
    }
    return absl::FailedPreconditionError(absl::StrCat(
        taken.status().message(),
        request.no_compile ? "; --no-compile forbids compiling: omit it and "
                             "give the model with --source, "
                           : "; give the model with --source to compile it, ",
        "or add shapes: heddle-compile --shape-set"));
  }
  model.taken = *std::move(taken);
  model.text = set.Text(values);
  if (model.taken.how == session::Specialised::How::kPadded) {
    absl::StrAppend(&model.text, ", padded to ", set.Text(model.taken.values));
  }
  return model;
}

}  // namespace heddle::run
