// SPDX-License-Identifier: Apache-2.0
// Region 0: the constants of a package, each placed once.
#ifndef HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_
#define HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/thread_pool.h"
#include "compiler/package/package.h"
#include "compiler/schedule/device_graph.h"

namespace heddle::compiler {

// Region 0 under construction. Offsets are multiples of 64 (region_align);
// what is between two constants is zero. Constants are packed where they stay,
// in the memory that becomes the package.
class ConstantPool {
 public:
  enum Mode {
    kPack,       // constants of equal bytes are stored once
    kSizesOnly,  // nothing is packed: those of one key are known to be equal
  };
  struct Constant {
    uint64_t size = 0;
    // Writes it to `size` bytes, which are zero.
    std::function<void(uint8_t* to)> pack;
    uint64_t* offset = nullptr;  // becomes its place
    std::string key = {};  // constants of equal keys are equal; empty: of none
  };

  explicit ConstantPool(Mode mode) : mode_(mode) {}
  // To pack `expected` bytes, for a file with that room beside them. Bytes that
  // turn out not to be needed are never touched.
  ConstantPool(uint64_t expected, const package::Room& room);

  // Places them in order, packing on `threads`.
  void Add(const std::vector<Constant>& constants, ThreadPool* threads);
  uint64_t Add(const std::vector<uint8_t>& bytes);

  Mode mode() const { return mode_; }
  uint64_t size() const { return size_; }
  // Everything, with kPack.
  package::PackedWeights Take();

 private:
  struct Known {
    uint64_t size = 0, offset = 0;
  };

  // Constants [first, last) one after another behind what is there, and then
  // those that are new close together.
  void Pack(const std::vector<Constant>& constants, size_t first, size_t last,
            ThreadPool* threads);
  uint8_t* At(uint64_t offset) {
    return reinterpret_cast<uint8_t*>(&packed_.bytes[packed_.head + offset]);
  }
  // Makes region 0 so many bytes; new ones are zero.
  void Resize(uint64_t size);

  Mode mode_;
  uint64_t size_ = 0;
  package::PackedWeights packed_;
  // By XXH3 of the bytes; equal ones are compared where they lie, so that two
  // constants of one hash stay two.
  std::unordered_multimap<uint64_t, Known> known_;
  std::map<std::string, uint64_t> offset_of_key_;  // with kSizesOnly
};

// Gives all constants of the graph a place: storages, and groups of operations.
void PlaceConstants(DeviceGraph* graph, ConstantPool* pool,
                    ThreadPool* threads);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_CONSTANTS_H_
