// SPDX-License-Identifier: Apache-2.0
// A network that the card and the host share: segments that run in order, each
// a package for the card, a graph that the host evaluates, or an If or Loop
// that the host drives. What passes between them, and the network's inputs and
// outputs, are values: tensors in the host's memory. Segments are a DAG: who
// reads a value waits for the one segment that writes it.
//
// A package of segments has format version 3; 4 if it has control flow. A
// segment for the card is a whole package of version 1 or 2 in its section, so
// that what runs it is what runs those. So is each body of control flow, of any
// version: its inputs are some of the slots (compiler/ir/control_flow.h), its
// outputs the body's results.
#ifndef HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_
#define HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph.h"

namespace heddle::package {

struct Package;

// Of the places of values in the host's memory.
constexpr uint64_t kValueAlign = 64;

// A branch of an If or the body of a Loop.
struct Body {
  std::shared_ptr<const Package> package;
  std::vector<uint32_t> slots;  // in the order of the package's inputs
};

enum class SegmentKind { kCard, kHost, kControl };

struct Segment {
  std::shared_ptr<const Package> card;
  // Of a kind, if the host drives bodies.
  compiler::ControlFlow control;
  std::vector<Body> bodies;
  // ONNX operators. Whoever got it from a file checks it before it is
  // evaluated (compiler/host/host_function.h); here its structure is sound.
  compiler::Graph host;
  // Indices of Package::values, in the order of the inputs and outputs of
  // `card` or `host`, which have the same names, types and shapes; of `control`
  // those that it reads and writes.
  std::vector<uint32_t> inputs, outputs;
  // What the compiler expects of a run, crossings apart; 0 in packages that do
  // not say. For reports: nothing depends on it.
  uint64_t estimated_ns = 0;

  SegmentKind kind() const {
    if (card != nullptr) return SegmentKind::kCard;
    return control.kind == compiler::ControlFlow::Kind::kNone
               ? SegmentKind::kHost
               : SegmentKind::kControl;
  }
};

// The packages for the card in it, those of bodies too; itself if it is one.
std::vector<const Package*> CardPackages(const Package& package);

// The types of some values.
std::vector<compiler::ValueType> TypesOf(const Package& package,
                                         const std::vector<uint32_t>& values);

// What is wrong with the segments of a package, as one clause; "" if nothing
// is. Names, types and shapes agree, every value is written once and before it
// is read, values do not overlap, inputs and outputs are values. Bodies are
// taken for right by themselves.
std::string WhatIsWrongWithSegments(const Package& package);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_SEGMENTS_H_
