// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/fence.h"

#include <algorithm>
#include <utility>

namespace heddle::hosted {

void Syncobj::Replace(std::shared_ptr<Fence> fence) {
  Reset();
  fence_ = std::move(fence);
  submissions_.Notify();
}

void Syncobj::Reset() {
  fence_ = nullptr;
  points_.clear();
  value_ = 0;
  last_ = 0;
}

void Syncobj::Add(uint64_t point, std::shared_ptr<Fence> fence) {
  uint64_t at = std::max(last_, point);
  // Two fences for one point: it is done when both are.
  auto it = points_.find(at);
  if (it != points_.end() && !it->second->signalled() && at != UINT64_MAX) ++at;
  points_[at] = fence;  // all that can fail comes first
  last_ = at;
  fence_ = std::move(fence);
  submissions_.Notify();
}

void Syncobj::Advance() {
  while (!points_.empty() && points_.begin()->second->signalled()) {
    value_ = points_.begin()->first;
    points_.erase(points_.begin());
  }
}

bool Syncobj::Submitted(uint64_t point) const {
  return point == 0 ? fence_ != nullptr : last_ >= point;
}

bool Syncobj::Done(uint64_t point) {
  Advance();
  if (point == 0) return fence_ != nullptr && fence_->signalled();
  return value_ >= point;
}

void Syncobj::Collect(uint64_t point,
                      std::vector<std::shared_ptr<Fence>>* fences) {
  Advance();
  if (point == 0) {
    if (fence_ != nullptr) fences->push_back(fence_);
    return;
  }
  if (value_ >= point) return;
  for (const auto& [at, fence] : points_) {
    fences->push_back(fence);
    if (at >= point) break;
  }
}

uint64_t Syncobj::Value() {
  Advance();
  return value_;
}

}  // namespace heddle::hosted
