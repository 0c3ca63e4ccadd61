// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/wait.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "kmd/hosted/call.h"

namespace heddle::hosted {
namespace {

// Ends when it has seen `wanted` of its links fire.
class Counting : public WaitingCall {
 public:
  explicit Counting(size_t wanted) : wanted_(wanted) {}
  bool Resume(Outcome*) override {
    while (WaitLink* link = TakeFired()) seen.push_back(link->tag());
    return seen.size() >= wanted_;
  }
  std::vector<uint32_t> seen;

 private:
  const size_t wanted_;
};

TEST(Wait, FiresEachLinkOnceInOrder) {
  WaitList first, second;
  ReadyCalls ready;
  Counting call(3);
  call.Attach(&ready, nullptr);
  WaitLink a(&call, 1), b(&call, 2), c(&call, 3);
  first.Add(&a);
  first.Add(&b);
  second.Add(&c);
  EXPECT_TRUE(ready.empty());
  first.Notify();
  ASSERT_EQ(ready.Take(), &call);
  EXPECT_TRUE(ready.empty()) << "two links, one call";
  Outcome outcome;
  EXPECT_FALSE(call.Resume(&outcome));
  first.Notify();
  EXPECT_TRUE(ready.empty());
  second.Notify();
  ASSERT_EQ(ready.Take(), &call);
  EXPECT_TRUE(call.Resume(&outcome));
  EXPECT_EQ(call.seen, (std::vector<uint32_t>{1, 2, 3}));
}

TEST(Wait, LeavesWhenTheWaiterGoes) {
  WaitList list;
  ReadyCalls ready;
  {
    Counting call(1);
    WaitLink link(&call);
    call.Attach(&ready, nullptr);
    list.Add(&link);
    list.Notify();
    EXPECT_FALSE(ready.empty());
    list.Add(&link);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(ready.empty());
  list.Notify();
}

TEST(Wait, OutlivesTheList) {
  Counting call(1);
  WaitLink a(&call), b(&call);
  {
    WaitList list;
    list.Add(&a);
    list.Add(&b);
  }
  a.Leave();
  b.Leave();
}

TEST(Wait, RemembersWhatFiredBeforeSomebodyCared) {
  WaitList list;
  ReadyCalls ready;
  Counting call(1);
  WaitLink link(&call);
  list.Add(&link);
  list.Notify();
  call.Attach(&ready, nullptr);
  EXPECT_EQ(ready.Take(), &call);
}

}  // namespace
}  // namespace heddle::hosted
