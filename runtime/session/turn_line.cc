// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/turn_line.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace heddle::session {

bool TurnLine::Conflict(const std::vector<Use>& a, const std::vector<Use>& b) {
  for (const Use& mine : a) {
    for (const Use& other : b) {
      if (mine.tensor == other.tensor && (mine.writes || other.writes)) {
        return true;
      }
    }
  }
  return false;
}

bool TurnLine::Join(Turn* turn, const std::function<bool(bool)>& join) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool has_come =
      std::none_of(line_.begin(), line_.end(), [turn](const Turn* other) {
        return Conflict(turn->uses_, other->uses_);
      });
  turn->has_come_ = has_come;
  line_.push_back(turn);
  absl::Cleanup leave = [this] { line_.pop_back(); };
  if (!join(has_come)) return false;
  std::move(leave).Cancel();
  return true;
}

void TurnLine::Leave(Turn* turn) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    line_.remove(turn);
    for (auto it = line_.begin(); it != line_.end(); ++it) {
      Turn* const next = *it;
      if (next->has_come_) continue;
      const bool waits =
          std::any_of(line_.begin(), it, [next](const Turn* other) {
            return Conflict(next->uses_, other->uses_);
          });
      if (waits) continue;
      next->has_come_ = true;
      next->come_();
    }
  }
  // What it holds goes without the lock.
  turn->come_ = nullptr;
}

bool TurnLine::MustWait(const std::vector<Use>& uses) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(line_.begin(), line_.end(), [&uses](const Turn* other) {
    return other->kind_ == Kind::kRun && Conflict(uses, other->uses_);
  });
}

}  // namespace heddle::session
