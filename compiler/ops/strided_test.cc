// SPDX-License-Identifier: Apache-2.0
// Loops that follow memory against the plain ones: moves, walks of two operands
// and taps of windows, of random shapes.
#include "compiler/ops/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/index_map.h"
#include "compiler/ops/pool.h"

namespace heddle::compiler {
namespace {

constexpr int kShapes = 400;

class Strided : public testing::Test {
 protected:
  int64_t Number(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }
  // Few axes are long, so that tiles and pieces have ends.
  Shape AnyShape(int64_t longest = 70) {
    Shape shape(static_cast<size_t>(Number(5)));
    for (int64_t& n : shape)
      n = Number(8) == 0 ? Number(longest) : 1 + Number(4);
    return shape;
  }
  TensorData Any(DataType type, const Shape& shape) {
    TensorData data = TensorData::Zeros(type, shape);
    for (uint8_t& byte : data.bytes) byte = static_cast<uint8_t>(Number(256));
    return data;
  }
  std::mt19937 random_{1};
};

constexpr DataType kTypes[] = {DataType::kUint8, DataType::kFloat16,
                               DataType::kFloat, DataType::kDouble};

// Where the position of an element is, and the one after it; false at the end.
bool Next(const Shape& shape, std::vector<int64_t>* position) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++(*position)[d] < shape[d]) return true;
    (*position)[d] = 0;
  }
  return false;
}

TEST_F(Strided, CopiesAsElementByElement) {
  for (int n = 0; n < kShapes; ++n) {
    const Shape from = AnyShape();
    const DataType type = kTypes[n % 4];
    const TensorData x = Any(type, from);
    const size_t element = ElementBytes(type), rank = from.size();
    std::vector<int64_t> all(rank, 1);
    for (size_t d = rank; d-- > 1;) all[d - 1] = all[d] * from[d];
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Shape shape;
    std::vector<int64_t> strides;
    for (size_t d : order) {
      shape.push_back(from[d]);
      strides.push_back(all[d]);
    }
    TensorData y = TensorData::Zeros(type, shape);
    CopyStrided(shape, strides, element, x.bytes.data(), y.bytes.data());
    std::vector<int64_t> position(rank, 0);
    for (int64_t i = 0; i < y.count(); ++i, Next(shape, &position)) {
      const int64_t source = std::inner_product(
          position.begin(), position.end(), strides.begin(), int64_t{0});
      ASSERT_EQ(0, std::memcmp(y.bytes.data() + i * element,
                               x.bytes.data() + source * element, element))
          << ShapeToString(from) << " to " << ShapeToString(shape);
    }
  }
}

TEST_F(Strided, TakesElementsAsOneByOne) {
  for (int n = 0; n < kShapes; ++n) {
    IndexMap map;
    map.from = AnyShape(40);
    for (int64_t& size : map.from) size = std::max<int64_t>(size, 1);
    const DataType type = kTypes[n % 4];
    const size_t element = ElementBytes(type);
    for (int64_t size : map.from) {
      std::vector<int64_t> axis(
          static_cast<size_t>(Number(2) ? size : Number(9)));
      const int64_t kind = Number(4), first = Number(size);
      for (size_t i = 0; i < axis.size(); ++i) {
        axis[i] = static_cast<int64_t>(i) % size;           // whole, repeated
        if (kind == 1) axis[i] = Number(size);              // any
        if (kind == 2 && Number(3) == 0) axis[i] = -1;      // with gaps
        if (kind == 3) axis[i] = (first + axis[i]) % size;  // turned
      }
      map.axes.push_back(std::move(axis));
    }
    if (Number(2) == 0) {
      for (size_t i = 0; i < element; ++i) map.constant.push_back(Number(256));
    }
    const TensorData x = Any(type, map.from);
    const TensorData y = TakeElements(x, map);
    ASSERT_EQ(y.shape, map.to());
    std::vector<int64_t> position(map.axes.size(), 0);
    for (int64_t i = 0; i < y.count(); ++i, Next(y.shape, &position)) {
      int64_t source = 0;
      bool inside = true;
      for (size_t d = 0; d < map.axes.size(); ++d) {
        const int64_t index = map.axes[d][static_cast<size_t>(position[d])];
        inside = inside && index >= 0;
        source = source * map.from[d] + index;
      }
      std::vector<uint8_t> expected(element, 0);
      if (inside) {
        std::memcpy(expected.data(), x.bytes.data() + source * element,
                    element);
      } else if (!map.constant.empty()) {
        expected = map.constant;
      }
      ASSERT_EQ(0, std::memcmp(y.bytes.data() + i * element, expected.data(),
                               element))
          << n << ": " << ShapeToString(map.from) << " to "
          << ShapeToString(y.shape) << ", " << i;
    }
  }
}

TEST_F(Strided, WalksTwoOperandsInOrder) {
  for (int n = 0; n < kShapes; ++n) {
    Shape shape = AnyShape(), a = shape, b = shape;
    if (n % 100 == 0) shape = a = b = {3, 5000};
    for (Shape* operand : {&a, &b}) {
      for (int64_t& size : *operand) {
        if (Number(3) == 0) size = 1;
      }
      operand->erase(operand->begin(),
                     operand->begin() + Number(operand->size() + 1));
    }
    const auto a_strides = BroadcastStrides(a, shape),
               b_strides = BroadcastStrides(b, shape);
    std::vector<int64_t> position(shape.size(), 0);
    int64_t next = 0;
    bool same = true;
    ForEachBroadcast(
        shape, a_strides, b_strides, [&](int64_t i, int64_t ia, int64_t ib) {
          same = same && i == next++ &&
                 ia == std::inner_product(position.begin(), position.end(),
                                          a_strides.begin(), int64_t{0}) &&
                 ib == std::inner_product(position.begin(), position.end(),
                                          b_strides.begin(), int64_t{0});
          Next(shape, &position);
        });
    ASSERT_TRUE(same) << ShapeToString(shape);
    ASSERT_EQ(next, ElementCount(shape)) << ShapeToString(shape);
  }
}

TEST_F(Strided, TapsAreInTheOrderOfTheirWindow) {
  for (int n = 0; n < kShapes; ++n) {
    Window w;
    for (int d : {0, 1}) {
      w.in[d] = 1 + Number(12);
      w.kernel[d] = 1 + Number(4);
      w.stride[d] = 1 + Number(3);
      w.dilation[d] = 1 + Number(3);
      w.pad_begin[d] = Number(5);
      // More than there is on the other side, too.
      w.out[d] = 1 + Number(8);
    }
    std::vector<int64_t> x(static_cast<size_t>(w.in[0] * w.in[1]));
    std::iota(x.begin(), x.end(), 1);
    // A number that knows what came after what.
    const auto step = [](uint64_t acc, int64_t v) {
      return acc * 1'000'003 + static_cast<uint64_t>(v);
    };
    std::vector<uint64_t> acc(static_cast<size_t>(w.out[0] * w.out[1]), 7);
    ForEachTapOfPlane(w, x.data(), acc.data(), step);
    ForEachWindow(w, [&](int64_t oy, int64_t ox) {
      uint64_t expected = 7;
      ForEachTap(w, oy, ox, [&](int64_t iy, int64_t ix) {
        expected = step(expected, x[static_cast<size_t>(iy * w.in[1] + ix)]);
      });
      ASSERT_EQ(acc[static_cast<size_t>(oy * w.out[1] + ox)], expected) << n;
    });
  }
}

}  // namespace
}  // namespace heddle::compiler
