// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/accounts.h"

#include <errno.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace heddle::hosted {
namespace {

// More than any process needs, where there is no limit.
constexpr uint64_t kDescriptorsMax = 1u << 20;

}  // namespace

Account::Share& Account::Share::operator=(Share&& other) noexcept {
  std::swap(account_, other.account_);
  std::swap(user_, other.user_);
  return *this;
}

void Account::Share::Release() {
  if (account_ != nullptr) std::exchange(account_, nullptr)->Give(user_);
}

Account::Taken Account::Take(uint32_t user, Share* share) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = users_.find(user);
  if (used_ >= total_) return Taken::kNoneLeft;
  if (it != users_.end() && it->second >= per_user())
    return Taken::kUserHasMost;
  if (it == users_.end()) it = users_.emplace(user, 0).first;
  it->second++;
  used_++;
  share->account_ = shared_from_this();
  share->user_ = user;
  return Taken::kOk;
}

uint64_t Account::used() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

void Account::Give(uint32_t user) {
  std::lock_guard<std::mutex> lock(mutex_);
  used_--;
  auto it = users_.find(user);
  if (--it->second == 0) users_.erase(it);
}

int ClientPart::Take(Share* share) {
  if (*used_ >= limit_) return -EDQUOT;
  Share mine;
  if (account_->Take(user_, &mine.global_) != Account::Taken::kOk)
    return -ENOMEM;
  ++*used_;
  mine.mine_.used = used_;
  *share = std::move(mine);
  return 0;
}

uint64_t ClaimDescriptors(uint64_t reserved) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = {std::min<rlim_t>(limit.rlim_max, kDescriptorsMax),
                     limit.rlim_max};
    if (raised.rlim_cur > limit.rlim_cur &&
        setrlimit(RLIMIT_NOFILE, &raised) == 0)
      limit = raised;
  }
  const uint64_t all = std::min<uint64_t>(limit.rlim_cur, kDescriptorsMax);
  return all > reserved ? all - reserved : 0;
}

}  // namespace heddle::hosted
