// SPDX-License-Identifier: Apache-2.0
// A package of several shapes: for a model with symbolic dimensions, packages
// (package.h) for several values of them in one file. What they have in common,
// the weights above all, is there once: the file is a pool of blocks of 64
// bytes, and each package a list of runs of blocks. Weights are packed from
// multiples of 64 on, so equal weights are equal blocks.
//
// The header is that of packages (file_header.h), with the magic "HEDDLEPS" and
// version 1.
//
// Untrusted input: ParseShapeSet checks all of this and every index before
// anything is used. A package uses no block twice, so none is larger than the
// file; it is parsed as any other when it is taken.
#ifndef HEDDLE_COMPILER_PACKAGE_SHAPE_SET_H_
#define HEDDLE_COMPILER_PACKAGE_SHAPE_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/tensor_bytes.h"
#include "compiler/package/block_pool.h"
#include "compiler/package/package.h"

namespace heddle::package {

constexpr uint32_t kShapeSetVersion = 1;
constexpr size_t kMostSpecialisations = 256;
constexpr size_t kMostSymbols = 16;

// An input as the model declares it.
struct SetInput {
  std::string name;
  compiler::DataType type = compiler::DataType::kUndefined;
  compiler::Shape shape;         // 0 where a symbol stands
  std::vector<int32_t> symbols;  // by dimension: index of a symbol, or -1
};

// Proven harmless: a run in which the symbol is `least` or more gives the same
// bytes as one with the specialisation's own value whose further indices are
// copies of the last, cut off again.
struct Padding {
  struct Axis {
    int32_t axis = -1;  // -1: the output does not depend on the symbol
    int64_t inner = 0;  // elements along the axis for each index
  };
  uint32_t symbol = 0;
  int64_t least = 0;
  std::vector<Axis> outputs;
};

struct Specialisation {
  std::vector<int64_t> values;  // of the symbols, in their order
  uint64_t size = 0;            // bytes of its package
  std::vector<Extent> extents;
  std::vector<Padding> padding;  // at most one for each symbol
};

struct ShapeSet {
  std::string model_name, producer, config;
  std::string model_sha256;  // of the ONNX model: 64 hexadecimal digits
  std::vector<std::string> symbols;
  std::vector<SetInput> inputs;
  uint32_t outputs = 0;
  std::vector<Specialisation> specialisations;  // ascending by values
  compiler::TensorBytes blocks;

  // The file of a specialisation's package.
  std::string PackageBytes(size_t index) const;
  // Whether it is for what the set says: configuration, inputs, padded outputs.
  absl::Status Check(size_t index, const Package& package) const;

  // The values of the symbols. InvalidArgument: a shape is missing, or none
  // that the model takes.
  absl::StatusOr<std::vector<int64_t>> ValuesOf(
      const std::map<std::string, compiler::Shape>& shapes) const;
  // The shapes of all inputs.
  std::map<std::string, compiler::Shape> ShapesOf(
      const std::vector<int64_t>& values) const;

  struct Choice {
    size_t index = 0;
    const Padding* padding = nullptr;  // null: it is the exact one
  };
  // The exact specialisation, or the smallest of those that differ in one
  // symbol that may be padded; nothing if there is none.
  std::optional<Choice> Choose(const std::vector<int64_t>& values) const;

  // "batch=3, height=224".
  std::string Text(const std::vector<int64_t>& values) const;
  // "batch 1,2,4,8; height 224,320 (8 specialisations)".
  std::string Held() const;
  // Why there is none for these values: the dimension, its value, what is held.
  std::string Missing(const std::vector<int64_t>& values) const;
};

// Whether the bytes begin as such a file.
bool IsShapeSet(absl::string_view bytes);

// Deterministic.
std::string Serialize(const ShapeSet& set);

// Errors as of Parse (package.h). `owner` keeps the bytes, of which the blocks
// then are a view; without it they are a copy.
absl::StatusOr<ShapeSet> ParseShapeSet(
    absl::string_view bytes, std::shared_ptr<const void> owner = nullptr);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_SHAPE_SET_H_
