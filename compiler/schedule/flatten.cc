// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/flatten.h"

#include <algorithm>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {
namespace {

// Elements of a row that is worth to be cut no further.
constexpr int64_t kRow = 1024;

// The largest divisor of `n` up to kRow.
int64_t RowOf(int64_t n) {
  for (int64_t d = std::min(n, kRow); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

struct Dim {
  int64_t n;
  std::vector<bool> has;  // by operand
};

// Those of the result that are not 1, joined.
std::vector<Dim> Joined(const Shape& result,
                        const std::vector<Shape>& operands) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 1) continue;
    Dim dim{result[i], {}};
    for (const Shape& s : operands) {
      const size_t lead = result.size() - s.size();
      dim.has.push_back(i >= lead && s[i - lead] != 1);
    }
    if (!dims.empty() && dims.back().has == dim.has) {
      dims.back().n *= dim.n;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

}  // namespace

bool HasManyDims(const Shape& result, const std::vector<Shape>& operands) {
  return Joined(result, operands).size() > 3;
}

int64_t RowElements(const Shape& shape) {
  const Extent e = ExtentOf(shape, Layout::kDense);
  return e.c * e.w;
}

bool Flatten(Shape* result, std::vector<Shape>* operands) {
  std::vector<Dim> dims = Joined(*result, *operands);
  if (dims.empty() || dims.size() > 3) return false;
  // Rank 2: rows and columns. Rank 4: images, one channel, rows, columns.
  std::vector<int> at;  // place of each dimension
  size_t to = 4;
  if (dims.size() < 3 && dims.back().n > kRow) {
    const int64_t row = RowOf(dims.back().n);
    if (row == 1) return false;
    Dim columns{row, dims.back().has};
    dims.back().n /= row;
    dims.push_back(columns);
  }
  if (dims.size() == 1) return false;
  if (dims.size() == 2) {
    to = 2;
    at = {0, 1};
  } else {
    at = {0, 2, 3};
  }
  Shape flat(to, 1);
  std::vector<Shape> parts(operands->size(), flat);
  for (size_t d = 0; d < dims.size(); ++d) {
    flat[at[d]] = dims[d].n;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (dims[d].has[k]) parts[k][at[d]] = dims[d].n;
    }
  }
  *result = flat;
  *operands = parts;
  return true;
}

}  // namespace heddle::compiler
