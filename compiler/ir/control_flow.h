// SPDX-License-Identifier: Apache-2.0
// If and Loop whose course a run decides: what one reads and writes, and the
// part of running one that is not its bodies'. The graph (ops/control_flow.h),
// packages (package/segments.h) and whoever runs them share it.
//
//   If    reads a condition and what its branches read, and writes what either
//         of the two branches computes
//   Loop  reads a trip count and a condition, if it has them, then the first of
//         what one iteration hands to the next (carried), sequences, of which
//         each iteration gets its row, and what the body reads besides. It
//         writes what is carried at the end, and scanned results, to which each
//         iteration adds a row.
//
// Slots are what a body may read: of an If all but the condition; of a Loop the
// number of the iteration (int64, from 0 on), then what is carried, a row of
// each sequence, and the rest. A body's results are those of the If; of a Loop,
// if it is conditional, whether it goes on, then what is carried, then a row of
// each scanned result.
//
// Shapes never change. An ONNX Scan is a Loop with sequences.
#ifndef HEDDLE_COMPILER_IR_CONTROL_FLOW_H_
#define HEDDLE_COMPILER_IR_CONTROL_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Control flow inside of control flow, at most: the stack of whoever walks it.
inline constexpr int kMostControlDepth = 8;

struct ControlFlow {
  enum class Kind : uint8_t { kNone = 0, kIf = 1, kLoop = 2 };
  Kind kind = Kind::kNone;
  std::string name;  // "Loop 'decode'", for messages
  // Of a Loop.
  bool has_trip_count = false;  // int64, one element
  bool has_condition = false;   // bool, one element
  bool conditional = false;     // the body's first result says if it goes on
  uint32_t carried = 0, sequences = 0;
  // Rows of sequences and scanned results: the only number of iterations that
  // such a Loop may make. -1: it has neither.
  int64_t trips = -1;

  // Inputs before those that become slots.
  size_t heads() const {
    return kind == Kind::kIf ? 1 : size_t{has_trip_count} + has_condition;
  }
  size_t bodies() const { return kind == Kind::kIf ? 2 : 1; }
};

struct ValueType {
  DataType type = DataType::kUndefined;
  Shape shape;
};
inline bool operator==(const ValueType& a, const ValueType& b) {
  return a.type == b.type && a.shape == b.shape;
}

// The types of the slots; none if `inputs` are too few.
std::vector<ValueType> SlotTypes(const ControlFlow& control,
                                 const std::vector<ValueType>& inputs);

// What is wrong with those inputs and outputs, as one clause; "" if nothing is.
// `results`: what each body computes. Trusts nothing.
std::string WhatIsWrongWithControl(
    const ControlFlow& control, const std::vector<ValueType>& inputs,
    const std::vector<ValueType>& outputs,
    const std::vector<std::vector<ValueType>>& results);

// Bytes of tensors that Drive() holds beside inputs and outputs. Saturates.
uint64_t DriveBytes(const ControlFlow& control,
                    const std::vector<ValueType>& inputs);

// Runs a body: from the slots, all of which are given, to its results. Both are
// dense and aligned to their elements, and do not overlap.
using RunBody = std::function<absl::Status(
    size_t body, const std::vector<const uint8_t*>& slots,
    const std::vector<uint8_t*>& results)>;

// Runs an If or Loop with which nothing is wrong. `stop` is asked before each
// body; its error ends the run, as does one of `run`: a Loop whose condition
// always holds ends in no other way. InvalidArgument: a Loop with rows makes
// more or fewer iterations.
absl::Status Drive(const ControlFlow& control,
                   const std::vector<ValueType>& inputs,
                   const std::vector<ValueType>& outputs,
                   const std::vector<const uint8_t*>& from,
                   const std::vector<uint8_t*>& to, const RunBody& run,
                   const std::function<absl::Status()>& stop);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IR_CONTROL_FLOW_H_
