// SPDX-License-Identifier: Apache-2.0
// Suggestions for a name that does not exist.
#ifndef HEDDLE_COMPILER_BASE_NEAREST_NAMES_H_
#define HEDDLE_COMPILER_BASE_NEAREST_NAMES_H_

#include <string>
#include <vector>

namespace heddle::compiler {

// The candidates that `name` may have been meant to be, best first, at most
// five: few letters differ, or one contains the other.
std::vector<std::string> NearestNames(
    const std::string& name, const std::vector<std::string>& candidates);

// All candidates, the nearest first; equally near ones as they are given.
std::vector<std::string> NearestFirst(
    const std::string& name, const std::vector<std::string>& candidates);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_NEAREST_NAMES_H_
