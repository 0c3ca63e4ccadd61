// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/constants.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::compiler {
namespace {

// Constants of so many bytes are packed at a time: enough for several threads,
// and little that may turn out to be there already.
constexpr uint64_t kPackedAtOnce = 8 << 20;

}  // namespace

ConstantPool::ConstantPool(uint64_t expected, const package::Room& room)
    : mode_(kPack) {
  packed_.head = room.before;
  packed_.bytes.reserve(room.before + expected + room.after);
  packed_.bytes.resize(room.before);
}

void ConstantPool::Resize(uint64_t size) {
  size_ = size;
  packed_.bytes.resize(packed_.head + size);
}

package::PackedWeights ConstantPool::Take() { return std::move(packed_); }

void ConstantPool::Add(const std::vector<Constant>& constants,
                       ThreadPool* threads) {
  if (mode_ == kSizesOnly) {
    for (const Constant& c : constants) {
      *c.offset = c.size == 0 ? 0 : size_;
      if (!c.key.empty()) {
        const auto [known, fresh] = offset_of_key_.try_emplace(c.key, size_);
        *c.offset = known->second;
        if (!fresh) continue;
      }
      size_ += AlignToRegion(c.size);
    }
    return;
  }
  for (size_t first = 0, last = 0; first < constants.size(); first = last) {
    uint64_t bytes = 0;
    do {
      bytes += AlignToRegion(constants[last++].size);
    } while (last < constants.size() &&
             bytes + AlignToRegion(constants[last].size) <= kPackedAtOnce);
    Pack(constants, first, last, threads);
  }
}

void ConstantPool::Pack(const std::vector<Constant>& constants, size_t first,
                        size_t last, ThreadPool* threads) {
  std::vector<uint64_t> places(last - first), hashes(last - first);
  uint64_t end = size_;
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = end;
    end += AlignToRegion(constants[first + i].size);
  }
  const uint64_t begin = size_;
  Resize(end);
  threads->For(places.size(), [&](size_t i) {
    const Constant& c = constants[first + i];
    if (c.size == 0) return;
    c.pack(At(places[i]));
    hashes[i] = XXH3_64bits(At(places[i]), c.size);
  });
  uint64_t used = begin;
  for (size_t i = 0; i < places.size(); ++i) {
    const Constant& c = constants[first + i];
    *c.offset = 0;
    if (c.size == 0) continue;
    const auto [from, to] = known_.equal_range(hashes[i]);
    const auto same = std::find_if(from, to, [&](const auto& entry) {
      return entry.second.size == c.size &&
             std::memcmp(At(entry.second.offset), At(places[i]), c.size) == 0;
    });
    if (same != to) {
      *c.offset = same->second.offset;
      continue;
    }
    const uint64_t size = AlignToRegion(c.size);
    if (used != places[i]) std::memmove(At(used), At(places[i]), size);
    *c.offset = used;
    known_.emplace(hashes[i], Known{c.size, used});
    used += size;
  }
  Resize(used);
}

uint64_t ConstantPool::Add(const std::vector<uint8_t>& bytes) {
  uint64_t offset = 0;
  ThreadPool self(1);
  Add({{bytes.size(),
        [&](uint8_t* to) { std::copy(bytes.begin(), bytes.end(), to); },
        &offset}},
      &self);
  return offset;
}

void PlaceConstants(DeviceGraph* graph, ConstantPool* pool,
                    ThreadPool* threads) {
  std::vector<ConstantPool::Constant> constants;
  for (Storage& s : graph->storages) {
    if (s.constant == nullptr) continue;
    const TensorBytes& bytes = *s.constant;
    constants.push_back(
        {bytes.size(),
         [&bytes](uint8_t* to) { std::copy(bytes.begin(), bytes.end(), to); },
         &s.dram_offset});
  }
  for (const auto& op : graph->ops) {
    for (size_t g = 0; g < op->groups.size(); ++g) {
      ConstantGroup& group = op->groups[g];
      if (group.bytes == 0) continue;
      constants.push_back({group.bytes,
                           [&op, g](uint8_t* to) { op->Pack(g, to); },
                           &group.offset, op->ConstantKey(g)});
    }
  }
  pool->Add(constants, threads);
}

}  // namespace heddle::compiler
