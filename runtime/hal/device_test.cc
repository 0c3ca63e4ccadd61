// SPDX-License-Identifier: Apache-2.0
// What cards and drivers of an earlier version are not asked for, and the
// sentence that says so. The rest of a device is in cts/.
#include "runtime/hal/device.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "rtl/spec/version.h"
#include "runtime/hal/null_transport.h"

namespace heddle::hal {
namespace {

// A card of hardware version `card`, and a driver that knows `driver_minor`;
// -1: it tells none. Takes every job.
class Versions : public Transport {
 public:
  Versions(uint32_t card, int driver_minor)
      : card_(card), driver_minor_(driver_minor) {}

  int Ioctl(unsigned long request, void* argument) override {
    if (request == DRM_IOCTL_VERSION) {
      if (driver_minor_ < 0) return -ENOTTY;
      auto* version = static_cast<drm_version*>(argument);
      version->version_major = 1;
      version->version_minor = driver_minor_;
      return 0;
    }
    if (request == DRM_IOCTL_HEDDLE_SUBMIT) {
      submitted_ = *static_cast<drm_heddle_submit*>(argument);
      static_cast<drm_heddle_submit*>(argument)->seqno = 1;
      return 0;
    }
    const int error = null_->Ioctl(request, argument);
    if (request != DRM_IOCTL_HEDDLE_QUERY || error != 0) return error;
    const auto* query = static_cast<drm_heddle_query*>(argument);
    if (query->type == DRM_HEDDLE_QUERY_DEVICE && query->data.ptr != 0) {
      reinterpret_cast<drm_heddle_device_info*>(query->data.ptr)->hw_version =
          card_;
    }
    return 0;
  }
  int Map(uint32_t handle, size_t size, void** address) override {
    return null_->Map(handle, size, address);
  }
  void Unmap(void* address, size_t size) override {
    null_->Unmap(address, size);
  }
  int Export(uint32_t handle) override { return null_->Export(handle); }
  int Import(int fd, uint32_t* handle) override {
    return null_->Import(fd, handle);
  }
  void Shutdown() override { null_->Shutdown(); }

  const drm_heddle_submit& submitted() const { return submitted_; }

 private:
  const uint32_t card_;
  const int driver_minor_;
  drm_heddle_submit submitted_ = {};
  std::unique_ptr<Transport> null_ = MakeNullTransport({});
};

struct Answer {
  absl::Status status;
  drm_heddle_submit submitted = {};
  bool overlaps = false;
  absl::Status copies;
};

Answer SubmitTo(uint32_t card, int driver_minor, uint32_t entries) {
  auto transport = std::make_unique<Versions>(card, driver_minor);
  const Versions* versions = transport.get();
  const auto device = Device::Open(std::move(transport));
  EXPECT_TRUE(device.ok()) << device.status();
  const auto context = (*device)->CreateContext(1);
  EXPECT_TRUE(context.ok()) << context.status();
  Context::SubmitOptions options;
  options.trace_entries = entries;
  Answer answer;
  answer.status = (*context)->Submit({Step()}, options).status();
  answer.submitted = versions->submitted();
  answer.overlaps = (*device)->overlaps_copies();
  answer.copies = (*device)->CanCopyOnCard();
  return answer;
}

constexpr uint32_t kOld = reg::MakeVersion(1, 0), kNew = reg::MakeVersion(1, 1);

TEST(Device, AsksForATraceWhereThereIsOne) {
  const Answer answer = SubmitTo(kNew, 1, 12);
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.submitted.flags, DRM_HEDDLE_SUBMIT_TRACE + 0u);
  EXPECT_EQ(answer.submitted.trace_entries, 12u);
  EXPECT_TRUE(answer.overlaps);
}

TEST(Device, CopiesOnTheCardWithADriverThatKnowsThem) {
  for (uint32_t card : {kOld, kNew}) {
    EXPECT_TRUE(SubmitTo(card, 1, 0).copies.ok());
    const absl::Status old = SubmitTo(card, 0, 0).copies;
    EXPECT_TRUE(absl::IsFailedPrecondition(old)) << old;
  }
}

TEST(Device, AsksForNoneUnlessItIsWanted) {
  for (uint32_t card : {kOld, kNew}) {
    for (int driver : {-1, 0, 1}) {
      const Answer answer = SubmitTo(card, driver, 0);
      EXPECT_TRUE(answer.status.ok()) << answer.status;
      EXPECT_EQ(answer.submitted.flags, 0u);
      EXPECT_EQ(answer.submitted.trace_entries, 0u);
    }
  }
}

TEST(Device, SaysWhatIsTooOldForATrace) {
  const struct {
    uint32_t card;
    int driver;
    const char* why;
  } kCases[] = {
      {kOld, 1, "the card has hardware version 1.0, which cannot trace"},
      {kNew, 0,
       "the driver does not support command traces, added in version 1.1"},
      {kNew, -1, "executes no commands, so it has no trace"},
  };
  for (const auto& c : kCases) {
    const Answer answer = SubmitTo(c.card, c.driver, 1);
    EXPECT_EQ(answer.status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(answer.status.message()).find(c.why),
              std::string::npos)
        << answer.status;
    EXPECT_EQ(answer.submitted.steps.count, 0u) << "it was submitted";
  }
  EXPECT_FALSE(SubmitTo(kNew, 0, 0).overlaps);
}

}  // namespace
}  // namespace heddle::hal
