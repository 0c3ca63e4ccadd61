// SPDX-License-Identifier: Apache-2.0
// The smallest part of a random model that still fails, and its text.
#ifndef TESTS_GRAPHS_SHRINK_H_
#define TESTS_GRAPHS_SHRINK_H_

#include <functional>
#include <string>

#include "tests/graphs/random_model.h"

namespace heddle::tests {

// Fewer outputs, and inputs of the model for what nodes compute (drawn within
// the bounds that the values have), as long as `fails`; at most `most` models
// are tried. Inside of Ifs and Loops nothing changes.
RandomModel Shrink(RandomModel model,
                   const std::function<bool(const RandomModel&)>& fails,
                   int most);

// Its inputs, and a line for each node: "v3 = Add(v1, v2)".
std::string TextOf(const RandomModel& model);

}  // namespace heddle::tests

#endif  // TESTS_GRAPHS_SHRINK_H_
