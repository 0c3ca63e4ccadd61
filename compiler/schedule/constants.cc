// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/constants.h"

#include <algorithm>
#include <string_view>

namespace heddle::compiler {

uint64_t ConstantPool::Add(uint64_t size,
                           const std::function<std::vector<uint8_t>()>& pack) {
  if (mode_ == kPack) return Add(pack());
  const uint64_t offset = size_;
  size_ += AlignToRegion(size);
  return offset;
}

uint64_t ConstantPool::Add(const std::vector<uint8_t>& bytes) {
  if (bytes.empty()) return 0;
  if (mode_ == kSizesOnly) return Add(bytes.size(), nullptr);
  const size_t hash = std::hash<std::string_view>()(std::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Known& known = it->second;
    if (known.size == bytes.size() &&
        std::equal(bytes.begin(), bytes.end(), bytes_.begin() + known.offset)) {
      return known.offset;
    }
  }
  const Known added{bytes.size(), bytes_.size()};
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  bytes_.resize(added.offset + AlignToRegion(bytes.size()));
  size_ = bytes_.size();
  known_.emplace(hash, added);
  return added.offset;
}

void PlaceConstants(DeviceGraph* graph, ConstantPool* pool) {
  for (Storage& s : graph->storages) {
    if (s.constant != nullptr) s.dram_offset = pool->Add(*s.constant);
  }
  for (const auto& op : graph->ops) {
    for (size_t g = 0; g < op->groups.size(); ++g) {
      ConstantGroup& group = op->groups[g];
      if (group.bytes == 0) continue;
      group.offset = pool->Add(group.bytes, [&] { return op->Pack(g); });
    }
  }
}

}  // namespace heddle::compiler
