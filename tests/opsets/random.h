// SPDX-License-Identifier: Apache-2.0
// What the random models of this folder draw from.
#ifndef TESTS_OPSETS_RANDOM_H_
#define TESTS_OPSETS_RANDOM_H_

#include <cstdint>
#include <initializer_list>
#include <random>

#include "compiler/ir/graph.h"
#include "simulator/model/numerics.h"

namespace heddle::tests {

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed * 0x9e3779b97f4a7c15u + 7) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>((bits_() >> 11) % n); }
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<int64_t>(values.size()))];
  }
  compiler::Shape AnyShape(int64_t least_rank) {
    compiler::Shape shape;
    for (int64_t rank = Between(least_rank, 4); rank > 0; --rank) {
      shape.push_back(Between(1, 6));
    }
    return shape;
  }
  compiler::TensorData Values(compiler::DataType type,
                              const compiler::Shape& shape) {
    compiler::TensorData data = compiler::TensorData::Zeros(type, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      switch (type) {
        case compiler::DataType::kFloat:
          data.as<float>()[i] = static_cast<float>(Between(-4096, 4096)) / 512;
          break;
        case compiler::DataType::kInt32:
          data.as<int32_t>()[i] = static_cast<int32_t>(Between(-9999, 9999));
          break;
        case compiler::DataType::kInt64:
          data.as<int64_t>()[i] = Between(-9999, 9999);
          break;
        case compiler::DataType::kBool:
          data.bytes[i] = OneIn(2);
          break;
        case compiler::DataType::kFloat16:
          data.as<uint16_t>()[i] =
              model::F32ToF16(static_cast<float>(Between(-4096, 4096)) / 512);
          break;
        case compiler::DataType::kUint16:
        case compiler::DataType::kInt16:
          data.as<uint16_t>()[i] = static_cast<uint16_t>(bits_());
          break;
        default:
          data.bytes[i] = static_cast<uint8_t>(bits_());
      }
    }
    return data;
  }
  // Powers of two and other numbers of that size.
  compiler::TensorData Scales(const compiler::Shape& shape) {
    compiler::TensorData data =
        compiler::TensorData::Zeros(compiler::DataType::kFloat, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = static_cast<float>(Between(1, 64)) / 256;
    }
    return data;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_RANDOM_H_
