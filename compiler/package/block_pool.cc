// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/block_pool.h"

#include <algorithm>
#include <cstring>

namespace heddle::package {
namespace {

constexpr uint64_t kLeastRun = 4;

// FNV-1a over words: the bytes are compared, so it need not be better.
uint64_t HashOf(absl::string_view block) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < block.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, block.data() + i, sizeof(word));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

void Append(uint32_t first, uint32_t count, std::vector<Extent>* runs) {
  if (!runs->empty() && runs->back().first + runs->back().count == first) {
    runs->back().count += count;
  } else {
    runs->push_back({first, count});
  }
}

}  // namespace

std::vector<Extent> BlockPool::Add(absl::string_view file) {
  std::string padded(file);
  padded.resize((file.size() + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
  const absl::string_view all(padded);
  const uint64_t count = padded.size() / kBlockBytes;
  const uint64_t before = bytes_.size() / kBlockBytes;
  // Of the blocks that were there before this file: it may use them.
  std::vector<bool> used(before, false);
  std::vector<Extent> runs;
  const auto run_at = [&](uint64_t at, uint64_t pool) {
    uint64_t length = 0;
    while (at + length < count && pool + length < before &&
           !used[pool + length] &&
           Block(pool + length) ==
               all.substr((at + length) * kBlockBytes, kBlockBytes)) {
      ++length;
    }
    return length;
  };
  for (uint64_t at = 0; at < count;) {
    const absl::string_view block = all.substr(at * kBlockBytes, kBlockBytes);
    const uint64_t hash = HashOf(block);
    const auto known = first_.find(hash);
    uint64_t pool = 0, length = 0;
    if (known != first_.end() && known->second < before) {
      pool = known->second;
      length = run_at(at, pool);
    }
    if (length >= std::min(kLeastRun, count - at) && length > 0) {
      std::fill_n(used.begin() + pool, length, true);
      Append(static_cast<uint32_t>(pool), static_cast<uint32_t>(length), &runs);
      at += length;
      continue;
    }
    const uint64_t added = bytes_.size() / kBlockBytes;
    bytes_.append(block.data(), block.size());
    first_.emplace(hash, static_cast<uint32_t>(added));
    Append(static_cast<uint32_t>(added), 1, &runs);
    ++at;
  }
  return runs;
}

std::string Assemble(absl::string_view pool, const std::vector<Extent>& runs,
                     uint64_t size) {
  std::string file;
  file.reserve(size + kBlockBytes);
  for (const Extent& run : runs) {
    const absl::string_view blocks =
        pool.substr(run.first * kBlockBytes, run.count * kBlockBytes);
    file.append(blocks.data(), blocks.size());
  }
  file.resize(size);
  return file;
}

}  // namespace heddle::package
