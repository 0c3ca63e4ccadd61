// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/accounts.h"

#include <errno.h>
#include <sys/resource.h>

#include <vector>

#include "gtest/gtest.h"

namespace heddle::hosted {
namespace {

using Taken = Account::Taken;

TEST(Account, LeavesAQuarterToTheOthers) {
  auto account = std::make_shared<Account>(8);
  std::vector<Account::Share> shares(8);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(account->Take(1000, &shares[i]), Taken::kOk) << i;
  EXPECT_EQ(account->Take(1000, &shares[6]), Taken::kUserHasMost);
  EXPECT_EQ(account->Take(1001, &shares[6]), Taken::kOk);
  EXPECT_EQ(account->Take(1002, &shares[7]), Taken::kOk);
  Account::Share more;
  EXPECT_EQ(account->Take(1003, &more), Taken::kNoneLeft);
  shares[0] = Account::Share();
  EXPECT_EQ(account->Take(1003, &more), Taken::kOk);
  shares.clear();
  EXPECT_EQ(account->used(), 1u);
  more.Release();
  EXPECT_EQ(account->used(), 0u);
}

TEST(Account, OneIsEnoughForOne) {
  auto account = std::make_shared<Account>(1);
  Account::Share share;
  EXPECT_EQ(account->Take(1, &share), Taken::kOk);
}

TEST(ClientPart, EndsBeforeTheAccountDoes) {
  auto account = std::make_shared<Account>(8);
  ClientPart part(account, 1000, 2), other(account, 1000, 100);
  std::vector<ClientPart::Share> shares(8);
  EXPECT_EQ(part.Take(&shares[0]), 0);
  EXPECT_EQ(part.Take(&shares[1]), 0);
  EXPECT_EQ(part.Take(&shares[2]), -EDQUOT);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(other.Take(&shares[i]), 0) << i;
  EXPECT_EQ(other.Take(&shares[6]), -ENOMEM) << "the user has its part";
  shares.clear();
  EXPECT_EQ(account->used(), 0u);
  ClientPart::Share again;
  EXPECT_EQ(part.Take(&again), 0);
}

TEST(ClientPart, MayGoBeforeItsShares) {
  auto account = std::make_shared<Account>(8);
  ClientPart::Share share;
  {
    ClientPart part(account, 1000, 2);
    EXPECT_EQ(part.Take(&share), 0);
  }
  EXPECT_EQ(account->used(), 1u);
  share = ClientPart::Share();
  EXPECT_EQ(account->used(), 0u);
}

TEST(ClaimDescriptors, RaisesTheSoftLimit) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low = {std::min<rlim_t>(256, before.rlim_max), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const uint64_t left = ClaimDescriptors(100);
  rlimit after = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, std::min<rlim_t>(before.rlim_max, 1 << 20));
  EXPECT_EQ(left, after.rlim_cur - 100);
  EXPECT_EQ(ClaimDescriptors(~uint64_t{0}), 0u);
}

}  // namespace
}  // namespace heddle::hosted
