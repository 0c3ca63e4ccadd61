// SPDX-License-Identifier: Apache-2.0
// What is known of a tensor of a random model before it is run: its shape by
// the model's symbols, how large its elements are, and how far apart two right
// implementations may be. So a model can be made whose results mean something:
// what jumps (comparisons, indices, conditions, codes) reads exact values only.
#ifndef TESTS_GRAPHS_VALUE_H_
#define TESTS_GRAPHS_VALUE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace heddle::tests {

// A size, or `size` times a symbol of the model.
struct Dim {
  int64_t size = 1;
  int symbol = -1;
};
inline bool operator==(const Dim& a, const Dim& b) {
  return a.size == b.size && a.symbol == b.symbol;
}
using Dims = std::vector<Dim>;

// By symbol.
using Sizes = std::vector<int64_t>;
compiler::Shape ShapeOf(const Dims& dims, const Sizes& sizes);
int64_t CountOf(const Dims& dims, const Sizes& sizes);

// What both broadcast to; none if they do not for all sizes.
std::optional<Dims> Broadcast(const Dims& a, const Dims& b);

struct Value {
  std::string name;
  compiler::DataType type = compiler::DataType::kFloat;
  Dims dims;
  // No element is larger than that.
  double magnitude = 0;
  // Of floats: how far two implementations may be apart. 0: all give the same
  // value, a multiple of 2 to the power of -`fraction`.
  double error = 0;
  int fraction = 0;
  // The shape is the most that it may have; the run's values say how much.
  bool bounded = false;

  bool exact() const { return error == 0; }
};

// Of floats with the magnitude and fraction of what is computed exactly: an
// error if a float cannot hold that.
Value Rounded(Value value);
// Whether a float is small enough, and its error, to compute on.
bool IsUseful(const Value& value);

}  // namespace heddle::tests

#endif  // TESTS_GRAPHS_VALUE_H_
