// SPDX-License-Identifier: Apache-2.0
// One package for several shapes of a model with symbolic dimensions
// (compiler/package/shape_set.h).
//
//   ShapeValues values;
//   ParseShapeValues("batch=1..8;height=224,320", &values);
//   auto result = CompileShapeSet(bytes, options, values);
//
// Every combination of the values is compiled, as CompileOnnx does it alone,
// and for those between two values of a symbol it is proven, if it can be
// (independence.h), that they may be padded to the larger one.
#ifndef HEDDLE_COMPILER_SHAPES_COMPILE_SHAPE_SET_H_
#define HEDDLE_COMPILER_SHAPES_COMPILE_SHAPE_SET_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/compiler.h"
#include "compiler/package/shape_set.h"
#include "compiler/shapes/shape_values.h"

namespace heddle::compiler {

// Of all packages of a set together, before what they have in common is found.
inline constexpr uint64_t kMostSetBytes = uint64_t{4} << 30;
// Values of a symbol below a specialisation's own that are tried for padding.
inline constexpr int64_t kMostPadding = 64;

struct SpecialisationReport {
  std::vector<int64_t> values;
  uint64_t package_bytes = 0;  // alone
  uint64_t added_bytes = 0;    // of the file: what those before it have not
  uint64_t estimated_cycles = 0;
  size_t host_nodes = 0;
};

// What a package of several shapes holds.
struct ShapeSetReport {
  uint64_t package_bytes = 0;
  std::vector<std::string> symbols;
  std::vector<SpecialisationReport> specialisations;
  // By symbol that has gaps: from which value each is padded, or why not.
  std::vector<std::string> padding;
};

struct ShapeSetResult : ShapeSetReport {
  std::string package;
  CompileResult largest;  // that with the largest values
};

// Of a symbol whose gaps are all padded.
std::string IsPadded(const std::string& symbol);

// The values of all symbols of the model's inputs: those that are given, 1, 2,
// 4 and 8 for one that is the first dimension wherever it occurs (a batch). The
// dimensions of inputs in options.input_shapes are no symbols. InvalidArgument:
// a name that the model does not have, a symbol without values, more than
// kMostSpecialisations combinations.
absl::StatusOr<ShapeValues> AllShapeValues(absl::string_view model,
                                           const CompileOptions& options,
                                           const ShapeValues& given);

// The shapes of all inputs with the largest of these values.
absl::StatusOr<std::map<std::string, Shape>> LargestShapes(
    absl::string_view model, const CompileOptions& options,
    const ShapeValues& values);

// Not with taps. Errors of the compiler say for which values.
absl::StatusOr<ShapeSetResult> CompileShapeSet(absl::string_view model,
                                               const CompileOptions& options,
                                               const ShapeValues& given);

// 64 hexadecimal digits: ShapeSet::model_sha256.
std::string ModelSha256(absl::string_view model);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SHAPES_COMPILE_SHAPE_SET_H_
