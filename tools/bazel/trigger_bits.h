// SPDX-License-Identifier: Apache-2.0
// The clock edges of a verilated model as bits of a word, in place of Verilator
// 5.006's array of bools. Included in front of generated sources
// (verilator.bzl): each block of a model asks in every pass for some of up to
// 17 edges, which took 15 % of a card's time; of bits the compiler makes one
// test. Models with more than 64 edges keep the array.
#ifndef HEDDLE_TOOLS_BAZEL_TRIGGER_BITS_H_
#define HEDDLE_TOOLS_BAZEL_TRIGGER_BITS_H_

#include <verilated.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heddle {

// What generated code uses of VlTriggerVec<N>.
template <size_t N>
class TriggerBits {
 public:
  class Bit {
   public:
    Bit(uint64_t* bits, size_t index) : bits_(bits), index_(index) {}
    operator bool() const { return (*bits_ >> index_ & 1) != 0; }
    Bit& operator=(bool on) {
      *bits_ = (*bits_ & ~(uint64_t{1} << index_)) | uint64_t{on} << index_;
      return *this;
    }

   private:
    uint64_t* bits_;
    size_t index_;
  };

  Bit at(size_t index) { return {&bits_, index}; }
  bool any() const { return bits_ != 0; }
  void clear() { bits_ = 0; }
  // clocked_model.py uses these: all bits at once; whether this bit, alone, is
  // set.
  void Assign(uint64_t bits) { bits_ = bits; }
  bool Only(size_t index) const { return bits_ == uint64_t{1} << index; }
  void set(const TriggerBits& other) { bits_ |= other.bits_; }
  void andNot(const TriggerBits& a, const TriggerBits& b) {
    bits_ = a.bits_ & ~b.bits_;
  }

 private:
  uint64_t bits_ = 0;
};

// Zero if two values of a port are the same.
template <typename T>
uint64_t Differ(T a, T b) {
  return a ^ b;
}
template <size_t N>
uint64_t Differ(const VlWide<N>& a, const VlWide<N>& b) {
  uint64_t bits = 0;
  for (size_t i = 0; i < N; ++i) bits |= a[i] ^ b[i];
  return bits;
}

template <size_t N>
using Triggers = std::conditional_t<(N <= 64), TriggerBits<N>, VlTriggerVec<N>>;

}  // namespace heddle

#define VlTriggerVec ::heddle::Triggers

#endif  // HEDDLE_TOOLS_BAZEL_TRIGGER_BITS_H_
