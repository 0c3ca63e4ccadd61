// SPDX-License-Identifier: Apache-2.0
// Region 0: the constants of a package, each placed once.
#ifndef HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_
#define HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Region 0 under construction. Offsets are multiples of 64 (region_align);
// what is between two constants is zero.
class ConstantPool {
 public:
  enum Mode {
    kPack,       // constants of equal bytes are stored once
    kSizesOnly,  // nothing is packed: offsets as if all constants differed
  };
  // `expected` bytes are set aside.
  explicit ConstantPool(Mode mode, uint64_t expected = 0) : mode_(mode) {
    if (mode == kPack) bytes_.reserve(expected);
  }

  // The offset of a constant of `size` bytes, which `pack` returns.
  uint64_t Add(uint64_t size,
               const std::function<std::vector<uint8_t>()>& pack);
  uint64_t Add(const std::vector<uint8_t>& bytes);

  Mode mode() const { return mode_; }
  uint64_t size() const { return size_; }
  // Everything, with kPack.
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  struct Known {
    uint64_t size = 0, offset = 0;
  };

  Mode mode_;
  uint64_t size_ = 0;
  std::vector<uint8_t> bytes_;
  // By hash of the bytes; equal ones are compared where they lie.
  std::unordered_multimap<size_t, Known> known_;
};

// Gives all constants of the graph a place: storages, and groups of operations.
void PlaceConstants(DeviceGraph* graph, ConstantPool* pool);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_
