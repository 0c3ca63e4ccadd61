// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/sram_errors.h"

#include <algorithm>

#include "simulator/model/access.h"

namespace heddle::model {
namespace {

constexpr uint32_t kWhole = (1u << isa::kWordBytes) - 1;

// What a command does to the words that are wrong.
struct Touched {
  std::set<uint64_t> read;
  std::map<uint64_t, uint32_t> written;  // bytes, a bit each
};

}  // namespace

void SramErrors::Flip(uint64_t byte, uint32_t bit) {
  const uint64_t word = byte / isa::kWordBytes;
  const auto place = static_cast<uint32_t>(byte % isa::kWordBytes * 8 + bit);
  std::set<uint32_t>& bits = words_[word];
  if (bits.erase(place) == 0) bits.insert(place);
  if (bits.empty()) words_.erase(word);
}

Fault SramErrors::Meet(const Core& core, const isa::Command& command,
                       uint64_t* corrected) {
  if (next_ != 0) {
    uint64_t first = UINT64_MAX;
    ForEachAccess(core.config, command, core.sram.data(), [&](const Access& a) {
      if (a.space != Space::kSram || a.empty || a.write) return;
      first = std::min(first, static_cast<uint64_t>(a.Lowest()));
    });
    if (first != UINT64_MAX) {
      const uint64_t word = first / isa::kWordBytes;
      for (uint32_t bit = 0; bit < next_; ++bit) words_[word].insert(bit);
      next_ = 0;
    }
  }
  Touched touched;
  ForEachAccess(core.config, command, core.sram.data(), [&](const Access& a) {
    if (a.space != Space::kSram || a.empty) return;
    a.ForEachRun([&](int64_t at, uint64_t bytes) {
      const auto begin = static_cast<uint64_t>(at);
      const uint64_t end = begin + bytes;
      for (auto it = words_.lower_bound(begin / isa::kWordBytes);
           it != words_.end() && it->first * isa::kWordBytes < end; ++it) {
        if (!a.write) {
          touched.read.insert(it->first);
          continue;
        }
        const uint64_t word = it->first * isa::kWordBytes;
        uint32_t& mask = touched.written[it->first];
        for (uint32_t i = 0; i < isa::kWordBytes; ++i) {
          if (word + i >= begin && word + i < end) mask |= 1u << i;
        }
      }
    });
  });
  for (const auto& [word, mask] : touched.written) {
    if (mask != kWhole) touched.read.insert(word);
  }
  for (uint64_t word : touched.read) {
    if (words_[word].size() > 1) {
      return {isa::Error::kSramUncorrectable, 0, word * isa::kWordBytes};
    }
    words_.erase(word);
    ++*corrected;
  }
  for (const auto& [word, mask] : touched.written) words_.erase(word);
  return {};
}

}  // namespace heddle::model
