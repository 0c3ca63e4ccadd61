// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/index_map.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "compiler/base/pace.h"

namespace heddle::compiler {

Shape IndexMap::to() const {
  Shape shape;
  for (const auto& axis : axes) {
    shape.push_back(static_cast<int64_t>(axis.size()));
  }
  return shape;
}

IndexMap IdentityMap(const Shape& shape) {
  IndexMap map;
  map.from = shape;
  for (int64_t n : shape) {
    map.axes.emplace_back(n);
    std::iota(map.axes.back().begin(), map.axes.back().end(), 0);
  }
  return map;
}

namespace {

bool IsWhole(const std::vector<int64_t>& axis, int64_t from) {
  if (static_cast<int64_t>(axis.size()) != from) return false;
  for (int64_t i = 0; i < from; ++i) {
    if (axis[i] != i) return false;
  }
  return true;
}

// Of a row of the result, elements that lie beside each other in the operand,
// or (-1) that are the constant.
struct Piece {
  int64_t from, count;
};
std::vector<Piece> PiecesOf(const std::vector<int64_t>& axis) {
  std::vector<Piece> pieces;
  for (int64_t index : axis) {
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      if (last.from < 0 ? index < 0 : index == last.from + last.count) {
        ++last.count;
        continue;
      }
    }
    pieces.push_back({index < 0 ? -1 : index, 1});
  }
  return pieces;
}

// Rows of a result: `element` bytes that lie together, of each index of an
// axis.
class Rows {
 public:
  Rows(const std::vector<int64_t>& axis, size_t element,
       std::vector<uint8_t> constant)
      : axis_(axis),
        element_(static_cast<int64_t>(element)),
        constant_(std::move(constant)),
        pieces_(PiecesOf(axis)) {
    if (!axis.empty() &&
        std::all_of(axis.begin(), axis.end(),
                    [&axis](int64_t i) { return i == axis[0]; })) {
      one_ = axis[0];
    }
  }

  // `x` is the first element of the operand's row; null: all is the constant.
  void Take(const uint8_t* x, uint8_t* y) const {
    const auto count = static_cast<int64_t>(axis_.size());
    if (x == nullptr) return Fill(count, y);
    // A copy of few bytes costs as much as one of sixteen.
    constexpr int64_t kShort = 16;
    if (count * element_ < kShort * static_cast<int64_t>(pieces_.size())) {
      switch (element_) {
        case 1:
          return Pick<uint8_t>(x, y);
        case 2:
          return Pick<uint16_t>(x, y);
        case 4:
          return Pick<uint32_t>(x, y);
        case 8:
          return Pick<uint64_t>(x, y);
      }
    }
    for (const Piece& piece : pieces_) {
      const int64_t bytes = piece.count * element_;
      if (piece.from < 0) {
        Fill(piece.count, y);
      } else {
        Pace(1 + bytes / 8);
        std::memcpy(y, x + piece.from * element_, static_cast<size_t>(bytes));
      }
      y += bytes;
    }
  }

 private:
  // Without a constant it is zeros, which are there.
  void Fill(int64_t count, uint8_t* y) const {
    if (constant_.empty()) return;
    for (int64_t i = 0; i < count; ++i) {
      PaceAt(i);
      std::memcpy(y + i * element_, constant_.data(),
                  static_cast<size_t>(element_));
    }
  }
  template <typename T>
  void Pick(const uint8_t* x, uint8_t* y) const {
    T constant = 0;
    if (!constant_.empty()) std::memcpy(&constant, constant_.data(), sizeof(T));
    constexpr int64_t kBytes = sizeof(T);
    const auto count = static_cast<int64_t>(axis_.size());
    constexpr int64_t kPace = 4096;
    for (int64_t first = 0; first < count; first += kPace) {
      const int64_t end = std::min(count, first + kPace);
      Pace(end - first);
      if (one_ >= 0) {
        T value;
        std::memcpy(&value, x + one_ * kBytes, sizeof(T));
        for (int64_t i = first; i < end; ++i) {
          std::memcpy(y + i * kBytes, &value, sizeof(T));
        }
        continue;
      }
      for (int64_t i = first; i < end; ++i) {
        T value = constant;
        if (axis_[i] >= 0) {
          std::memcpy(&value, x + axis_[i] * kBytes, sizeof(T));
        }
        std::memcpy(y + i * kBytes, &value, sizeof(T));
      }
    }
  }

  const std::vector<int64_t>& axis_;
  const int64_t element_;
  const std::vector<uint8_t> constant_;
  const std::vector<Piece> pieces_;
  int64_t one_ = -1;  // of the operand, which all are
};

}  // namespace

TensorData TakeElements(const TensorData& x, const IndexMap& map) {
  TensorData y = TensorData::Zeros(x.type, map.to());
  if (y.bytes.empty()) return y;
  // Axes at the end that stay whole are a part of the element.
  size_t rank = map.axes.size(), element = ElementBytes(x.type);
  while (rank > 1 && IsWhole(map.axes[rank - 1], map.from[rank - 1])) {
    element *= static_cast<size_t>(map.from[--rank]);
  }
  if (rank == 0) {
    y.bytes = x.bytes;
    return y;
  }
  std::vector<uint8_t> constant;
  while (!map.constant.empty() && constant.size() < element) {
    constant.insert(constant.end(), map.constant.begin(), map.constant.end());
  }
  const Rows rows(map.axes[rank - 1], element, std::move(constant));
  std::vector<int64_t> strides(rank, static_cast<int64_t>(element));
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * map.from[i];
  const uint8_t* const from = x.bytes.data();
  uint8_t* to = y.bytes.data();
  uint8_t* const end = to + y.bytes.size();
  std::vector<size_t> position(rank, 0);
  while (to != end) {
    Pace(1);
    int64_t source = 0;
    bool inside = true;
    for (size_t d = 0; d + 1 < rank; ++d) {
      const int64_t index = map.axes[d][position[d]];
      inside = inside && index >= 0;
      source += index * strides[d];
    }
    rows.Take(inside ? from + source : nullptr, to);
    to += map.axes[rank - 1].size() * element;
    for (size_t d = rank - 1; d-- > 0;) {
      if (++position[d] < map.axes[d].size()) break;
      position[d] = 0;
    }
  }
  return y;
}

BoundNode BindInputs(const Graph& graph, const Node& node,
                     const std::vector<const TensorData*>& inputs) {
  BoundNode bound;
  bound.node = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor || inputs[i] == nullptr) {
      bound.node.inputs[i] = kNoTensor;
      continue;
    }
    Tensor tensor;
    tensor.name = graph.tensors[node.inputs[i]].name;
    tensor.type = inputs[i]->type;
    tensor.shape = inputs[i]->shape;
    tensor.shape_known = true;
    if (i > 0) tensor.constant = std::make_shared<TensorData>(*inputs[i]);
    bound.node.inputs[i] = bound.graph.AddTensor(std::move(tensor));
  }
  for (TensorId& id : bound.node.outputs) {
    if (id == kNoTensor) continue;
    Tensor tensor = graph.tensors[id];
    tensor.constant = nullptr;
    id = bound.graph.AddTensor(std::move(tensor));
  }
  return bound;
}

}  // namespace heddle::compiler
