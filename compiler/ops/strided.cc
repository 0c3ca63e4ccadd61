// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/strided.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/pace.h"

namespace heddle::compiler {
namespace {

struct Axis {
  int64_t size, from, to;  // elements from one to the next
};

// What is left when axes of one element are dropped and those that lie behind
// each other in both tensors are one.
std::vector<Axis> Merged(const Shape& shape,
                         const std::vector<int64_t>& strides) {
  std::vector<Axis> axes;
  int64_t to = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1) {
      if (!axes.empty() && strides[d] == axes.back().from * axes.back().size) {
        axes.back().size *= shape[d];
      } else {
        axes.push_back({shape[d], strides[d], to});
      }
    }
    to *= shape[d];
  }
  return axes;  // the last one first
}

// Not aligned in mapped files.
template <typename T>
void CopyOne(const uint8_t* from, int64_t i, uint8_t* to, int64_t j) {
  std::memcpy(to + j * static_cast<int64_t>(sizeof(T)),
              from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

// A plane whose rows lie beside each other in x, and whose columns do in y: in
// tiles of a cache line of x by as few lines as all caches hold of one set.
template <typename T>
void TransposePlane(const Axis& row, const Axis& column, const uint8_t* x,
                    uint8_t* y) {
  constexpr int64_t kRows = 64 / sizeof(T), kColumns = 8;
  for (int64_t r = 0; r < row.size; r += kRows) {
    const int64_t rows = std::min(kRows, row.size - r);
    Pace(rows * column.size);
    for (int64_t c = 0; c < column.size; c += kColumns) {
      const int64_t columns = std::min(kColumns, column.size - c);
      for (int64_t i = r; i < r + rows; ++i) {
        for (int64_t j = c; j < c + columns; ++j) {
          CopyOne<T>(x, i + j * column.from, y, i * row.to + j);
        }
      }
    }
  }
}

template <typename T>
void CopyRow(const Axis& axis, const uint8_t* x, uint8_t* y) {
  constexpr int64_t kPace = int64_t{1} << 16;
  for (int64_t at = 0; at < axis.size; at += kPace) {
    const int64_t end = std::min(axis.size, at + kPace);
    Pace(end - at);
    if (axis.from == 1) {
      std::memcpy(y + at * sizeof(T), x + at * sizeof(T),
                  static_cast<size_t>(end - at) * sizeof(T));
      continue;
    }
    for (int64_t i = at; i < end; ++i) CopyOne<T>(x, i * axis.from, y, i);
  }
}

template <typename T>
void Copy(std::vector<Axis> axes, const uint8_t* x, uint8_t* y) {
  constexpr int64_t kBytes = sizeof(T);
  const Axis last = axes.front();
  axes.erase(axes.begin());
  auto row = axes.end();
  if (last.from != 1) {
    row = std::find_if(axes.begin(), axes.end(),
                       [](const Axis& axis) { return axis.from == 1; });
  }
  const bool plane = row != axes.end();
  const Axis across = plane ? *row : last;
  if (plane) axes.erase(row);
  std::vector<int64_t> position(axes.size(), 0);
  int64_t from = 0, to = 0;
  for (;;) {
    if (plane) {
      TransposePlane<T>(across, last, x + from * kBytes, y + to * kBytes);
    } else {
      CopyRow<T>(last, x + from * kBytes, y + to * kBytes);
    }
    size_t d = 0;
    for (; d < axes.size(); ++d) {
      from += axes[d].from;
      to += axes[d].to;
      if (++position[d] < axes[d].size) break;
      from -= axes[d].from * axes[d].size;
      to -= axes[d].to * axes[d].size;
      position[d] = 0;
    }
    if (d == axes.size()) return;
  }
}

}  // namespace

void CopyStrided(const Shape& shape, const std::vector<int64_t>& strides,
                 size_t element, const uint8_t* x, uint8_t* y) {
  if (ElementCount(shape) == 0) return;
  std::vector<Axis> axes = Merged(shape, strides);
  if (axes.empty()) axes.push_back({1, 1, 1});
  switch (element) {
    case 1:
      return Copy<uint8_t>(std::move(axes), x, y);
    case 2:
      return Copy<uint16_t>(std::move(axes), x, y);
    case 4:
      return Copy<uint32_t>(std::move(axes), x, y);
    default:
      return Copy<uint64_t>(std::move(axes), x, y);
  }
}

}  // namespace heddle::compiler
