// SPDX-License-Identifier: Apache-2.0
// A network that the card and the host share: segments that run in order, each
// a package for the card or a graph that the host evaluates. What passes
// between them, and the network's inputs and outputs, are values: tensors in
// the host's memory. Segments are a DAG: who reads a value waits for the one
// segment that writes it.
//
// A package of segments has format version 3. A segment for the card is a whole
// package of version 1 or 2 in its section, so that what runs it is what runs
// those.
#ifndef HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_
#define HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::package {

struct Package;

// Of the places of values in the host's memory.
constexpr uint64_t kValueAlign = 64;

struct Segment {
  std::shared_ptr<const Package> card;  // null: the host evaluates `host`
  // ONNX operators. Whoever got it from a file checks it before it is
  // evaluated (compiler/host/host_function.h); here its structure is sound.
  compiler::Graph host;
  // Indices of Package::values, in the order of the inputs and outputs of
  // `card` or `host`, which have the same names, types and shapes.
  std::vector<uint32_t> inputs, outputs;
};

// What is wrong with the segments of a package, as one clause; "" if nothing
// is. Names, types and shapes agree, every value is written once and before it
// is read, values do not overlap, inputs and outputs are values.
std::string WhatIsWrongWithSegments(const Package& package);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_
