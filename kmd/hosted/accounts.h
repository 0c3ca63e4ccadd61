// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Resources shared by all clients of the process, and who holds how many: open
// files and descriptors. One user may have three quarters of each, so that
// others always find some. Thread-safe.
#ifndef HEDDLE_KMD_HOSTED_ACCOUNTS_H_
#define HEDDLE_KMD_HOSTED_ACCOUNTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace heddle::hosted {

// One thing of which there are so many.
class Account : public std::enable_shared_from_this<Account> {
 public:
  enum class Taken { kOk, kUserHasMost, kNoneLeft };

  // Held as long as it is in use.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept;
    ~Share() { Release(); }
    void Release();

   private:
    friend class Account;
    std::shared_ptr<Account> account_;
    uint32_t user_ = 0;
  };

  explicit Account(uint64_t total) : total_(total) {}

  // One for `user` (a uid); `share` is empty.
  Taken Take(uint32_t user, Share* share);
  uint64_t total() const { return total_; }
  uint64_t per_user() const { return total_ - total_ / 4; }
  uint64_t used() const;

 private:
  void Give(uint32_t user);

  const uint64_t total_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<uint32_t, uint64_t> users_;
};

// One client's part: at most `limit` at a time. Used by one thread; what was
// taken may be given back after the client is gone.
class ClientPart {
 public:
  ClientPart(std::shared_ptr<Account> account, uint32_t user, uint64_t limit)
      : account_(std::move(account)),
        user_(user),
        limit_(limit),
        used_(std::make_shared<uint64_t>(0)) {}

  class Share {
   private:
    friend class ClientPart;
    struct Count {
      std::shared_ptr<uint64_t> used;
      ~Count() {
        if (used != nullptr) --*used;
      }
      Count() = default;
      Count(Count&& other) noexcept = default;
      Count& operator=(Count&& other) noexcept {
        std::swap(used, other.used);
        return *this;
      }
    };
    Account::Share global_;
    Count mine_;
  };

  // 0; -EDQUOT: the client has its part; -ENOMEM: the user has, or all are
  // taken.
  int Take(Share* share);
  uint64_t limit() const { return limit_; }

 private:
  const std::shared_ptr<Account> account_;
  const uint32_t user_;
  const uint64_t limit_;
  const std::shared_ptr<uint64_t> used_;
};

// Raises the soft limit of open descriptors to the hard one; returns how many
// of them are left when `reserved` are kept for the process itself.
uint64_t ClaimDescriptors(uint64_t reserved);

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_ACCOUNTS_H_
