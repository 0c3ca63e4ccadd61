// SPDX-License-Identifier: Apache-2.0
// Random values that are worth trying: small ones, limits and their neighbours,
// powers of two, and now and then anything.
#ifndef TESTS_FUZZ_IOCTL_VALUES_H_
#define TESTS_FUZZ_IOCTL_VALUES_H_

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>

namespace heddle::fuzz {

class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}

  uint64_t Any() { return random_(); }
  // 0 to n - 1.
  uint64_t Below(uint64_t n) { return random_() % n; }
  // True once in n times.
  bool Once(uint64_t n) { return Below(n) == 0; }
  template <typename T>
  T Of(std::initializer_list<T> list) {
    return *std::next(list.begin(), static_cast<long>(Below(list.size())));
  }
  uint32_t Edge32() { return static_cast<uint32_t>(Edge(32)); }
  uint64_t Edge64() { return Edge(64); }

 private:
  uint64_t Edge(unsigned bits) {
    const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    switch (Below(5)) {
      case 0:
        return Below(20);
      case 1:
        return all - Below(5);
      case 2:
        return ((uint64_t{1} << Below(bits)) + Below(3) - 1) & all;
      case 3:
        return Below(1 << 16) * 4096 & all;
      default:
        return Any() & all;
    }
  }
  std::mt19937_64 random_;
};

}  // namespace heddle::fuzz

#endif  // TESTS_FUZZ_IOCTL_VALUES_H_
