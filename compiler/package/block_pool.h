// SPDX-License-Identifier: Apache-2.0
// Files that have much in common, stored as runs of blocks of one pool.
//
//   BlockPool pool;
//   for (const std::string& file : files) runs.push_back(pool.Add(file));
//   Write(pool.bytes());
//
// Deterministic. No file uses a block twice, so whoever puts one together from
// untrusted runs gets no more bytes than the pool has.
#ifndef HEDDLE_COMPILER_PACKAGE_BLOCK_POOL_H_
#define HEDDLE_COMPILER_PACKAGE_BLOCK_POOL_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"

namespace heddle::package {

constexpr uint64_t kBlockBytes = 64;

// `count` blocks of the pool from block `first` on.
struct Extent {
  uint32_t first = 0, count = 0;
};

class BlockPool {
 public:
  // The file's blocks in order; the last one is filled up with zeros. Runs of
  // less than a quarter of a KiB are not looked for: naming them costs as much.
  std::vector<Extent> Add(absl::string_view file);
  // A multiple of kBlockBytes.
  const std::string& bytes() const { return bytes_; }

 private:
  absl::string_view Block(uint64_t index) const {
    return absl::string_view(bytes_).substr(index * kBlockBytes, kBlockBytes);
  }

  std::string bytes_;
  // The first block with these bytes, by their hash.
  std::unordered_map<uint64_t, uint32_t> first_;
};

// The file of `size` bytes that these runs are.
std::string Assemble(absl::string_view pool, const std::vector<Extent>& runs,
                     uint64_t size);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_BLOCK_POOL_H_
