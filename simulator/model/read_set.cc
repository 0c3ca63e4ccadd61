// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/read_set.h"

#include <algorithm>

#include "simulator/model/access.h"
#include "simulator/model/geometry.h"

namespace heddle::model {
namespace {

constexpr uint64_t kLineBytes = 64;

// All of what lies between the first and the last column of the taps, inside
// the words of the row: the last one may have bytes behind the row's end.
void AllowFoldRows(const isa::Conv& c, ReadSet* set) {
  const int64_t channels = c.fold_channels;
  const int64_t left = -int64_t{c.pad_left};
  const int64_t right =
      left + int64_t{c.ow - 1} * c.sx + int64_t{c.kw - 1} * c.dx;
  const int64_t words = CeilDiv(c.iw * c.fold_channels, isa::kWordBytes);
  const int64_t first = std::max<int64_t>(left * channels, 0);
  const int64_t end = std::min((right + 1) * channels, words * kBlock);
  if (end <= first) return;
  const int64_t y0 = int64_t{c.out_row0} * c.sy - c.pad_top;
  for (uint32_t o = 0; o < c.out_rows; ++o) {
    for (uint32_t k = 0; k < c.kh; ++k) {
      const int64_t iy = y0 + int64_t{o} * c.sy + int64_t{k} * c.dy;
      if (iy < 0 || iy >= c.ih) continue;
      set->Allow(static_cast<uint64_t>(FoldAddress(c, iy, 0) + first),
                 static_cast<uint64_t>(end - first));
    }
  }
}

}  // namespace

void ReadSet::AddRun(uint64_t first, uint64_t n, std::vector<Run>* runs) {
  if (n == 0) return;
  const Run run = {first / isa::kWordBytes, (first + n - 1) / isa::kWordBytes};
  if (!runs->empty() && run.first >= runs->back().first &&
      run.first <= runs->back().last + 1) {
    runs->back().last = std::max(runs->back().last, run.last);
  } else {
    runs->push_back(run);
  }
}

void ReadSet::Take() {
  size_ = missing_ = 0;
  all_.clear();
  left_.clear();
  if (needed_.empty() && allowed_.empty()) return;
  uint64_t last = 0;
  first_ = UINT64_MAX;
  for (const auto* runs : {&needed_, &allowed_}) {
    for (const Run& run : *runs) {
      first_ = std::min(first_, run.first);
      last = std::max(last, run.last);
    }
  }
  all_.assign((last - first_) / 64 + 1, 0);
  for (const auto* runs : {&needed_, &allowed_}) {
    for (const Run& run : *runs) {
      for (uint64_t w = run.first - first_; w <= run.last - first_; ++w) {
        all_[w / 64] |= uint64_t{1} << (w % 64);
      }
    }
    if (runs != &needed_) continue;
    left_ = all_;
    for (uint64_t bits : left_) {
      size_ += static_cast<uint64_t>(__builtin_popcountll(bits));
    }
  }
  missing_ = size_;
  needed_.clear();
  allowed_.clear();
}

uint64_t ReadSet::FirstMissing() const {
  uint64_t i = 0;
  while (left_[i] == 0) ++i;
  return first_ + 64 * i + static_cast<uint64_t>(__builtin_ctzll(left_[i]));
}

bool StaysInSram(const isa::Config& config, const isa::Command& command) {
  bool inside = true;
  ForEachAccess(config, command, nullptr, [&](const Access& a) {
    if (a.space != Space::kSram || a.empty) return;
    inside =
        inside && a.Lowest() >= 0 && a.Highest() < int64_t{config.sram_bytes};
  });
  return inside;
}

ReadSet SramReads(const isa::Config& config, const isa::Command& command,
                  const uint8_t* sram) {
  const bool lines = std::visit([](const auto& c) { return c.kEngine; },
                                command) == isa::Engine::kVector;
  ReadSet set;
  ForEachAccess(config, command, sram, [&](const Access& a) {
    if (a.write || a.empty || a.space != Space::kSram) return;
    a.ForEachRun([&](int64_t at, uint64_t n) {
      const uint64_t first = static_cast<uint64_t>(at);
      if (!a.maybe) set.Add(first, n);
      if (!lines) return;
      const uint64_t begin = first / kLineBytes * kLineBytes;
      const uint64_t end = (first + n - 1) / kLineBytes * kLineBytes;
      set.Allow(begin, end + kLineBytes - begin);
    });
  });
  const auto* conv = std::get_if<isa::Conv>(&command);
  if (conv != nullptr && conv->mode == isa::MatrixMode::kFold) {
    AllowFoldRows(*conv, &set);
  }
  set.Take();
  return set;
}

}  // namespace heddle::model
