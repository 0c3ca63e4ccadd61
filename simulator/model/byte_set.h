// SPDX-License-Identifier: Apache-2.0
// A set of bytes, stored as granules of 16 with masks for partial ones: the
// accesses of a command to SRAM and regions (and accumulator entries, a granule
// each), compact enough for hundreds of commands. Most commands touch few
// granules, close together.
#ifndef HEDDLE_SIMULATOR_MODEL_BYTE_SET_H_
#define HEDDLE_SIMULATOR_MODEL_BYTE_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::model {

class ByteSet {
 public:
  static constexpr uint64_t kGranule = 16;

  explicit ByteSet(uint64_t granules)
      : touched_(granules / 64 + 1), whole_(granules / 64 + 1) {}

  void Add(uint64_t first, uint64_t last) {
    const uint64_t begin = first / kGranule, end = last / kGranule;
    const uint32_t head = 0xffffu << (first % kGranule) & 0xffffu;
    const uint32_t tail = 0xffffu >> (kGranule - 1 - last % kGranule);
    if (begin == end) return AddMask(begin, head & tail);
    AddMask(begin, head);
    for (uint64_t g = begin + 1; g < end; ++g) AddMask(g, 0xffff);
    AddMask(end, tail);
  }
  // After the last Add().
  void Seal() {
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return a.granule < b.granule;
    });
    size_t n = 0;
    for (const Part& part : parts_) {
      if ((whole_[part.granule / 64] >> (part.granule % 64) & 1) != 0) continue;
      if (n > 0 && parts_[n - 1].granule == part.granule) {
        parts_[n - 1].mask |= part.mask;
      } else {
        parts_[n++] = part;
      }
    }
    parts_.resize(n);
    whole_.clear();
  }
  bool Meets(const ByteSet& other) const {
    const size_t end = std::min(end_, other.end_);
    for (size_t i = std::max(begin_, other.begin_); i < end; ++i) {
      uint64_t both = touched_[i] & other.touched_[i];
      if (both != 0 && parts_.empty() && other.parts_.empty()) return true;
      for (; both != 0; both &= both - 1) {
        const uint64_t g =
            64 * i + static_cast<uint64_t>(__builtin_ctzll(both));
        if ((Mask(g) & other.Mask(g)) != 0) return true;
      }
    }
    return false;
  }

 private:
  struct Part {
    uint64_t granule;
    uint32_t mask;
  };

  void AddMask(uint64_t granule, uint32_t mask) {
    const uint64_t bit = uint64_t{1} << (granule % 64);
    touched_[granule / 64] |= bit;
    if (mask == 0xffff) {
      whole_[granule / 64] |= bit;
    } else {
      parts_.push_back({granule, mask});
    }
    begin_ = std::min<size_t>(begin_, granule / 64);
    end_ = std::max<size_t>(end_, granule / 64 + 1);
  }
  uint32_t Mask(uint64_t granule) const {
    const auto it = std::lower_bound(
        parts_.begin(), parts_.end(), granule,
        [](const Part& part, uint64_t g) { return part.granule < g; });
    return it != parts_.end() && it->granule == granule ? it->mask : 0xffff;
  }

  std::vector<uint64_t> touched_, whole_;
  std::vector<Part> parts_;  // granules that are not whole
  // Words of touched_ outside are zero.
  size_t begin_ = SIZE_MAX, end_ = 0;
};

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_BYTE_SET_H_
