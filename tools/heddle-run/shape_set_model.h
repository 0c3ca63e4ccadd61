// SPDX-License-Identifier: Apache-2.0
// The specialisation of a package of several shapes that is run, compiled from
// the model if the package has none for the shapes.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_SHAPE_SET_MODEL_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_SHAPE_SET_MODEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/options.h"
#include "compiler/cache/compile_cache.h"
#include "compiler/import/input_declaration.h"
#include "compiler/package/shape_set.h"
#include "runtime/session/session.h"
#include "runtime/session/shape_set_graph.h"

namespace heddle::run {

struct ShapeSetRequest {
  // Of inputs and dimensions that the set has. What none of them settles is as
  // in the first specialisation that has the others.
  std::map<std::string, compiler::Shape> shapes;
  std::string source;       // file of the ONNX model; "" if there is none
  bool no_compile = false;  // although there may be one
  const compiler::FileCache* cache = nullptr;
  // Of what is compiled, but for shapes, configuration and memory.
  compiler::CompileOptions options;
  // Says that something is compiled, and why, when that begins.
  std::function<void(const std::string& sentence)> say;
};

struct SpecialisedModel {
  session::Specialised taken;
  std::string text;  // "batch=3, padded to batch=4"
  compiler::CacheUse cache_use;
  bool compiled = false;  // now
};

// What the set says of its inputs, as a model does.
std::vector<compiler::InputDeclaration> DeclarationsOf(
    const package::ShapeSet& set);

// The shapes of all inputs.
std::map<std::string, compiler::Shape> CompleteShapes(
    const package::ShapeSet& set,
    const std::map<std::string, compiler::Shape>& given);

// FailedPrecondition: there is no such specialisation, and nothing is compiled;
// the sentence says what is held, and the way out.
absl::StatusOr<SpecialisedModel> LoadSpecialised(
    std::shared_ptr<session::Device> device, absl::string_view package_bytes,
    const ShapeSetRequest& request, const session::LoadOptions& load);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_SHAPE_SET_MODEL_H_
