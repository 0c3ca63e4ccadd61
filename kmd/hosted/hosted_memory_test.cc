// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The n-th allocation of the card's thread fails, for every n: one call says
// so, or nobody notices; the daemon, the other calls and the accounts stay.
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/hosted_fixture.h"
#include "kmd/hosted/server.h"
#include "kmd/hosted/test_client.h"

namespace {

// Allocations of the card's thread until one fails; below 0: none does.
std::atomic<long> g_until_failure{-1};
std::atomic<long> g_failed{0};

bool InCardThread() {
  char name[16] = {};
  return prctl(PR_GET_NAME, name) == 0 && std::strcmp(name, "heddle-card") == 0;
}

}  // namespace

// The linker puts this in the place of operator new(size_t) wherever the
// daemon's code calls it (--wrap); the real one may be a sanitizer's.
extern "C" void* __real__Znwm(size_t bytes);
extern "C" void* __wrap__Znwm(size_t bytes) {
  if (g_until_failure.load(std::memory_order_relaxed) >= 0 && InCardThread() &&
      g_until_failure.fetch_sub(1) == 0) {
    g_failed++;
    throw std::bad_alloc();
  }
  return __real__Znwm(bytes);
}

namespace heddle::hosted {
namespace {

// Whatever has to do with memory for a call.
bool Expected(int err) { return err == 0 || err == -ENOMEM; }

class MemoryTest : public HostedTest {
 protected:
  // Makes one of everything, uses it, and takes it back. False: something
  // failed for want of memory, and was left out.
  static bool Life(HostedClient* c) {
    bool all = true;
    auto check = [&all](int err) {
      EXPECT_TRUE(Expected(err)) << err;
      all &= err == 0;
      return err == 0;
    };
    drm_heddle_context_create create = {};
    create.priority = 2;
    const bool context =
        check(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &create));
    uint32_t host = 0, device = 0, stream = 0, long_stream = 0;
    const bool has_host = check(NewBo(c, kPage, DRM_HEDDLE_HOST, &host));
    const bool has_device = check(NewBo(c, kPage, DRM_HEDDLE_DEVICE, &device));
    const bool has_stream = check(NewStream(c, EndCommand(), &stream));
    std::vector<uint32_t> words(4096);
    for (size_t i = 0; i + 4 <= words.size(); i += 4)
      words[i] = HEDDLE_OP_BARRIER | HEDDLE_HEADER_WORDS << 8;
    const auto end = EndCommand();
    std::copy(end.begin(), end.end(), words.end() - 4);
    const bool has_long = check(NewStream(c, words, &long_stream));
    drm_syncobj_create syncobj = {};
    const bool has_syncobj =
        check(c->Ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &syncobj));
    if (context && has_host && has_device && has_stream && has_long &&
        has_syncobj) {
      uint64_t seqno = 0;
      std::vector<drm_heddle_sync> out = {{syncobj.handle, 0, 1}};
      if (check(Submit(c, create.context,
                       {CopyIn(host, device, kPage), RunStream(stream),
                        RunStream(long_stream), CopyOut(device, host, kPage)},
                       &seqno, {}, out))) {
        // A waiting call that fails is made again: the job ends.
        drm_heddle_result result = {};
        int err;
        while ((err = Wait(c, create.context, seqno, &result, InMs(20000))) ==
               -ENOMEM)
          all = false;
        EXPECT_EQ(err, 0);
        EXPECT_EQ(result.status, 0u);
        while ((err = WaitPoint(c, syncobj.handle, 1, InMs(20000))) == -ENOMEM)
          all = false;
        EXPECT_EQ(err, 0);
      }
    }
    // What takes back may fail as well, and is done again.
    auto give = [&](unsigned long request, auto args) {
      int err;
      while ((err = c->Ioctl(request, &args)) == -ENOMEM) all = false;
      EXPECT_EQ(err, 0);
    };
    if (has_syncobj) {
      drm_syncobj_destroy args = {syncobj.handle, 0};
      give(DRM_IOCTL_SYNCOBJ_DESTROY, args);
    }
    for (auto [has, id] : {std::make_pair(has_stream, stream),
                           std::make_pair(has_long, long_stream)}) {
      drm_heddle_stream_destroy args = {id, 0};
      if (has) give(DRM_IOCTL_HEDDLE_STREAM_DESTROY, args);
    }
    for (auto [has, id] :
         {std::make_pair(has_host, host), std::make_pair(has_device, device)}) {
      drm_gem_close args = {id, 0};
      if (has) give(DRM_IOCTL_GEM_CLOSE, args);
    }
    if (context) {
      drm_heddle_context_destroy args = {create.context, 0};
      give(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, args);
    }
    return all;
  }
};

TEST_F(MemoryTest, AFailingAllocationFailsOneCall) {
  Plug();
  StartServer();
  auto c = Open(), other = Open();
  ASSERT_TRUE(Life(c.get()));
  const uint64_t mapped = card_->mapped_bytes();
  bool whole = false;
  int n = 0, noticed = 0;
  // A life has as many allocations as it has; enough is when none is left.
  for (; n < 2000; ++n) {
    const long before = g_failed;
    g_until_failure = n;
    whole = Life(c.get());
    const bool fired = g_failed != before;
    g_until_failure = -1;
    if (!whole) noticed++;
    if (!fired) break;
    ASSERT_FALSE(HasFailure()) << "allocation " << n;
  }
  std::printf("%d allocations failed, %d of them were noticed\n", n, noticed);
  EXPECT_GT(n, 50);
  EXPECT_LT(n, 2000);
  EXPECT_GT(noticed, 10);
  EXPECT_TRUE(Life(c.get()));
  EXPECT_TRUE(Life(other.get()));
  // Nothing was left behind.
  const auto info =
      Query<drm_heddle_memory_info>(other.get(), DRM_HEDDLE_QUERY_MEMORY);
  EXPECT_EQ(info.used, 0u);
  EXPECT_EQ(card_->mapped_bytes(), mapped);
}

// A file that is opened, and one that is closed.
TEST_F(MemoryTest, OpeningGoesOn) {
  Plug();
  StartServer();
  for (int n = 0; n < 40; ++n) {
    g_until_failure = n;
    auto c = OpenSoon();
    g_until_failure = -1;
    ASSERT_NE(c, nullptr) << n;
    EXPECT_TRUE(Life(c.get())) << n;
  }
}

}  // namespace
}  // namespace heddle::hosted
