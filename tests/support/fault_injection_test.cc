// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_injection.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace heddle::tests::faults {
namespace {

// What the compiler must not leave out.
void Use(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

TEST(FaultInjection, TheNthAllocationFailsAndNoOther) {
  Arm({Kind::kAllocation, 2});
  int thrown_at = -1;
  for (int i = 0; i < 5; ++i) {
    try {
      auto made = std::make_unique<int>(i);
      Use(made.get());
    } catch (const std::bad_alloc&) {
      thrown_at = i;
    }
  }
  const Seen seen = Disarm();
  EXPECT_EQ(thrown_at, 2);
  EXPECT_TRUE(seen.failed);
  EXPECT_GE(seen.count, 5);
}

TEST(FaultInjection, AllAfterItFailToo) {
  Arm({Kind::kDescriptor, 1, true});
  int fds[4], errors[4];
  for (int i = 0; i < 4; ++i) {
    fds[i] = open("/dev/null", O_RDONLY);
    errors[i] = errno;
  }
  const Seen seen = Disarm();
  EXPECT_GE(fds[0], 0);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(fds[i], -1);
    EXPECT_EQ(errors[i], EMFILE);
  }
  EXPECT_EQ(seen.count, 4);
  close(fds[0]);
}

TEST(FaultInjection, ThreadsFail) {
  Arm({Kind::kThread, 0});
  EXPECT_THROW(std::thread([] {}), std::system_error);
  EXPECT_TRUE(Disarm().failed);
  std::thread([] {}).join();
}

TEST(FaultInjection, CountsWhatIsHeld) {
  const Holdings before = Held();
  const int fd = open("/dev/null", O_RDONLY);
  auto made = std::make_unique<int>(1);
  Use(made.get());
  const Holdings after = Held();
  EXPECT_EQ(after.descriptors, before.descriptors + 1);
  EXPECT_EQ(after.threads, before.threads);
  if (before.allocations >= 0) {
    EXPECT_EQ(after.allocations, before.allocations + 1);
  }
  close(fd);
}

}  // namespace
}  // namespace heddle::tests::faults
