// SPDX-License-Identifier: Apache-2.0
// The value of --range: [NAME=]LOW:HIGH, the values that pseudo-random inputs
// may have.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_VALUE_RANGE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_VALUE_RANGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::run {

// Floats from `low` up to, but not including, `high`; integers with both.
struct ValueRange {
  double low = 0, high = 0;
};

// By input; "": of all that have none of their own.
using ValueRanges = std::map<std::string, ValueRange>;

// Adds each text to *ranges. InvalidArgument: not of that form, empty, or given
// twice.
absl::Status ParseRanges(const std::vector<std::string>& texts,
                         ValueRanges* ranges);

// InvalidArgument: a name is no input, or a bound is no value of the input's
// type.
absl::Status CheckRanges(const ValueRanges& ranges,
                         const std::vector<package::TensorInfo>& inputs);

// The range of an input; nullptr: none is given.
const ValueRange* FindRange(const ValueRanges& ranges,
                            const std::string& input);

// A value of the range for `unit`, from 0 up to, but not including, 1.
// CheckRanges has accepted the range for `type`.
void PutValue(compiler::DataType type, const ValueRange& range, double unit,
              uint8_t* to);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_VALUE_RANGE_H_
