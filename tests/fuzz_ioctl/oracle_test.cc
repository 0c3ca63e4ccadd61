// SPDX-License-Identifier: Apache-2.0
// Drivers that are wrong must be found.
#include "tests/fuzz_ioctl/oracle.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "drm/heddle_drm.h"
#include "tests/fuzz_ioctl/generator.h"

namespace heddle::fuzz {
namespace {

class Scripted : public hal::Transport {
 public:
  explicit Scripted(std::function<int(unsigned long, void*)> answer)
      : answer_(std::move(answer)) {}
  int Ioctl(unsigned long request, void* argument) override {
    return answer_(request, argument);
  }
  int Map(uint32_t, size_t, void**) override { return -EINVAL; }
  void Unmap(void*, size_t) override {}
  int Export(uint32_t) override { return -EINVAL; }
  int Import(int, uint32_t*) override { return -EINVAL; }
  void Shutdown() override {}

 private:
  const std::function<int(unsigned long, void*)> answer_;
};

// The first complaint of some ten thousand calls.
std::string Complaint(std::function<int(unsigned long, void*)> answer,
                      bool gone = false, bool waits_of_linux_6_6 = false) {
  Scripted transport(std::move(answer));
  File file;
  file.transport = &transport;
  const std::atomic<bool> may_be_gone{gone};
  Generator generator(1, {&file}, &may_be_gone, waits_of_linux_6_6);
  for (int i = 0; i < 50000; ++i) {
    const std::string wrong = generator.Step();
    if (!wrong.empty()) return wrong;
  }
  return "";
}

TEST(Oracle, KnowsTheErrorsOfTheInterface) {
  const auto judge = [](unsigned long request, int result, bool must_fail) {
    return Judge({request, must_fail, false}, result).empty();
  };
  EXPECT_TRUE(judge(DRM_IOCTL_HEDDLE_SUBMIT, 0, false));
  EXPECT_TRUE(judge(DRM_IOCTL_HEDDLE_SUBMIT, -EAGAIN, true));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_SUBMIT, 0, true));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_SUBMIT, -ETIME, false));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_SUBMIT, -EPERM, true));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_SUBMIT, 5, false));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_SUBMIT, -ENOTTY, true));
  EXPECT_TRUE(judge(0x12345678, -ENOTTY, true));
  EXPECT_FALSE(judge(0x12345678, -ENOMEM, true));
  EXPECT_FALSE(judge(DRM_IOCTL_HEDDLE_WAIT, -ENODEV, false));
  EXPECT_TRUE(Judge({DRM_IOCTL_HEDDLE_WAIT, false, true}, -ENODEV).empty());
}

TEST(Oracle, WrongDriversAreFound) {
  EXPECT_NE(Complaint([](unsigned long, void*) { return 0; }), "");
  EXPECT_NE(Complaint([](unsigned long, void*) { return -EIO; }), "");
  EXPECT_NE(Complaint([](unsigned long, void*) { return -ENODEV; }), "");
  EXPECT_EQ(Complaint([](unsigned long, void*) { return -ENODEV; }, true), "");
  EXPECT_EQ(Complaint([](unsigned long, void*) { return -EINVAL; }), "");
  // Takes one call that it has to refuse: each kind of call is tried so.
  for (unsigned long taken : {DRM_IOCTL_HEDDLE_QUERY,
                              DRM_IOCTL_HEDDLE_CONTEXT_CREATE,
                              DRM_IOCTL_HEDDLE_CONTEXT_DESTROY,
                              DRM_IOCTL_HEDDLE_BO_CREATE,
                              DRM_IOCTL_HEDDLE_BO_INFO,
                              DRM_IOCTL_HEDDLE_STREAM_CREATE,
                              DRM_IOCTL_HEDDLE_STREAM_DESTROY,
                              DRM_IOCTL_HEDDLE_SUBMIT,
                              DRM_IOCTL_HEDDLE_WAIT,
                              DRM_IOCTL_HEDDLE_EVENTS,
                              DRM_IOCTL_VERSION,
                              DRM_IOCTL_PRIME_HANDLE_TO_FD,
                              DRM_IOCTL_PRIME_FD_TO_HANDLE,
                              DRM_IOCTL_SYNCOBJ_CREATE,
                              DRM_IOCTL_SYNCOBJ_DESTROY,
                              DRM_IOCTL_SYNCOBJ_WAIT,
                              DRM_IOCTL_SYNCOBJ_RESET,
                              DRM_IOCTL_SYNCOBJ_SIGNAL,
                              DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT,
                              DRM_IOCTL_SYNCOBJ_QUERY,
                              DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL}) {
    EXPECT_NE(Complaint([taken](unsigned long request, void*) {
                return request == taken ? 0 : -EINVAL;
              }),
              "")
        << NameOf(taken);
  }
}

// Of a driver that takes only waits for which `takes` holds.
std::string ComplaintOfWaits(std::function<bool(const drm_syncobj_wait&)> takes,
                             bool linux_6_6) {
  return Complaint(
      [takes](unsigned long request, void* argument) {
        return request == DRM_IOCTL_SYNCOBJ_WAIT &&
                       takes(*static_cast<drm_syncobj_wait*>(argument))
                   ? 0
                   : -EINVAL;
      },
      false, linux_6_6);
}

TEST(Oracle, WaitsAreThoseOfTheKernel) {
  constexpr uint32_t kOld =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  constexpr uint32_t kDeadline = 1 << 3;
  const auto of_none = [](const drm_syncobj_wait& wait) {
    return wait.count_handles == 0 && (wait.flags & ~kOld) == 0;
  };
  const auto with_deadline = [](const drm_syncobj_wait& wait) {
    return wait.count_handles > 0 && (wait.flags & kDeadline) != 0 &&
           (wait.flags & ~(kOld | kDeadline)) == 0;
  };
  EXPECT_NE(ComplaintOfWaits(of_none, false), "");
  EXPECT_EQ(ComplaintOfWaits(of_none, true), "");
  EXPECT_NE(ComplaintOfWaits(with_deadline, false), "");
  EXPECT_EQ(ComplaintOfWaits(with_deadline, true), "");
  for (uint32_t unknown : {1u << 2, 1u << 4, 1u << 5, 1u << 31}) {
    const auto with_unknown = [unknown](const drm_syncobj_wait& wait) {
      return (wait.flags & unknown) != 0;
    };
    EXPECT_NE(ComplaintOfWaits(with_unknown, false), "") << unknown;
    EXPECT_NE(ComplaintOfWaits(with_unknown, true), "") << unknown;
  }
}

}  // namespace
}  // namespace heddle::fuzz
