// SPDX-License-Identifier: Apache-2.0
#include "tests/uapi/uapi_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/support/process.h"

namespace heddle::uapi {

namespace {

// A call that does not return must not hide which one it is.
void TooLong(int) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::fprintf(stderr, "%s.%s does not end\n", info->test_suite_name(),
               info->name());
  _exit(124);
}

}  // namespace

std::unique_ptr<Client> UapiTest::Open() {
  int error = 0;
  auto client = Driver::Get().Open(&error);
  EXPECT_NE(client, nullptr) << std::strerror(-error);
  return client;
}

void UapiTest::SetUp() {
  std::fflush(nullptr);
  signal(SIGALRM, TooLong);
  alarm(static_cast<unsigned>(120 * tests::TimeFactor()));
  client_ = Open();
  ASSERT_NE(client_, nullptr);
}

void UapiTest::TearDown() {
  client_ = nullptr;
  auto watcher = Open();
  ASSERT_NE(watcher, nullptr);
  // The end of a file does not wait for the job that the card works on.
  EXPECT_TRUE(Eventually([&] { return Counters(watcher.get()).queued == 0; }))
      << Counters(watcher.get()).queued << " jobs are left";
  EXPECT_TRUE(Eventually([&] { return MemoryInfo(watcher.get()).used == 0; }))
      << MemoryInfo(watcher.get()).used << " bytes are left";
  alarm(0);
}

void InChild(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    alarm(60);
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "the child ended with " << status;
}

bool Eventually(const std::function<bool()>& condition) {
  for (const uint64_t end = InMs(20000); !condition(); usleep(2000)) {
    if (NowNs() > end) return false;
  }
  return true;
}

Load::Load(Client* c)
    : c_(c), bo_(NewDevice(c, 16 * kMiB)), max_steps_(DeviceInfo(c).max_steps) {
  const uint32_t context = NewContext(c);
  Do(c, context, {Fill(bo_, 16 * kMiB, 0)});  // made ready
  const uint64_t before = NowNs();
  Do(c, context, std::vector<drm_heddle_step>(4, Fill(bo_, 16 * kMiB, 1)));
  step_ns_ = std::max<uint64_t>((NowNs() - before) / 4, 1000);
  EXPECT_EQ(DestroyContext(c, context), 0);
}

uint64_t Load::Queue(uint32_t context, uint64_t ms) {
  uint64_t left = ms * 1000000 / step_ns_ + 4;
  const uint64_t most = std::min<uint64_t>(left / 4, max_steps_);
  uint64_t last = 0;
  while (left > 0) {
    const uint64_t n = std::min(left, most);
    last = NewJob(c_, context,
                  std::vector<drm_heddle_step>(n, Fill(bo_, 16 * kMiB, 2)));
    left -= n;
  }
  return last;
}

int WhileBusy(Client* c, uint32_t context,
              const std::function<int(uint64_t last)>& look) {
  Load load(c);
  int result = 0;
  for (uint64_t ms = 400; result == 0 && ms < 10000; ms *= 3) {
    result = look(load.Queue(context, ms));
  }
  return result;
}

std::vector<uint32_t> EachBit() {
  std::vector<uint32_t> values;
  for (int bit = 0; bit < 32; ++bit) values.push_back(1u << bit);
  return values;
}

}  // namespace heddle::uapi
