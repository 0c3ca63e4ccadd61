// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/status.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "rtl/spec/generated/isa.h"

namespace heddle::hal {
namespace {

TEST(Status, ErrnoOfEitherSign) {
  EXPECT_TRUE(FromErrno("x", 0).ok());
  for (int sign : {1, -1}) {
    EXPECT_TRUE(absl::IsUnavailable(FromErrno("x", sign * ENODEV)));
    EXPECT_TRUE(absl::IsDeadlineExceeded(FromErrno("x", sign * ETIME)));
    EXPECT_TRUE(absl::IsInvalidArgument(FromErrno("x", sign * ENOEXEC)));
    EXPECT_TRUE(absl::IsInternal(FromErrno("x", sign * EPROTO)));
    EXPECT_TRUE(absl::IsInternal(FromErrno("x", sign * EIO)));
    EXPECT_TRUE(absl::IsFailedPrecondition(FromQueueErrno("x", sign * EIO)));
    EXPECT_TRUE(absl::IsUnavailable(FromQueueErrno("x", sign * ENODEV)));
  }
  EXPECT_NE(FromErrno("loading z", EIO).message().find("loading z"),
            absl::string_view::npos);
}

TEST(Status, ResourcesAreToldApart) {
  const struct {
    int error;
    Resource resource;
  } cases[] = {{ENOMEM, Resource::kSystemMemory},
               {EMFILE, Resource::kSystemResources},
               {EAGAIN, Resource::kSystemResources},
               {ENOSPC, Resource::kDeviceMemory},
               {ENOBUFS, Resource::kSystemResources},
               {EDQUOT, Resource::kDeviceResources},
               {EFBIG, Resource::kDeviceResources},
               {EBUSY, Resource::kDeviceResources}};
  for (const auto& c : cases) {
    const absl::Status status = FromErrno("x", c.error);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << c.error;
    EXPECT_EQ(ExhaustedResource(status), c.resource) << c.error;
  }
  const absl::Status memory = NoDeviceMemory("model 'm'", 300, 200);
  EXPECT_EQ(ExhaustedResource(memory), Resource::kDeviceMemory);
  EXPECT_NE(memory.message().find("300"), absl::string_view::npos);
  EXPECT_NE(memory.message().find("200"), absl::string_view::npos);
  EXPECT_EQ(memory.message().find('{'), absl::string_view::npos);
}

TEST(Status, ResultsFollowTheTable) {
  EXPECT_TRUE(FromResult(drm_heddle_result{}, "n").ok());
  for (const isa::ErrorInfo& info : isa::kErrors) {
    if (info.code == isa::Error::kOk ||
        info.scope == isa::ErrorScope::kDevice) {
      continue;
    }
    drm_heddle_result result = {};
    result.status = static_cast<uint32_t>(info.code);
    result.error = static_cast<uint32_t>(info.errno_value);
    result.fault_offset = 1234;
    result.fault_address = 5678;
    result.fault_region = 9;
    const absl::Status status = FromResult(result, "conv1");
    EXPECT_EQ(status.code(), info.absl_code) << info.name;
    EXPECT_EQ(status.message().find('{'), absl::string_view::npos) << status;
    EXPECT_NE(status.message().find("conv1"), absl::string_view::npos);
    EXPECT_NE(status.message().find(info.name), absl::string_view::npos);
  }
  // The code comes from the card: any value may come.
  drm_heddle_result result = {};
  result.status = 0xffffffff;
  EXPECT_TRUE(absl::IsInternal(FromResult(result, "")));
  result.status = 0;
  result.error = EIO;
  EXPECT_TRUE(absl::IsInternal(FromResult(result, "")));
}

TEST(Status, EveryRuleHasAPhrase) {
  for (uint32_t code = HEDDLE_VALIDATE_SIZE; code <= HEDDLE_VALIDATE_SEMAPHORE;
       ++code) {
    EXPECT_STRNE(ValidateRule(code), ValidateRule(0)) << code;
  }
  EXPECT_STREQ(ValidateRule(0xffffffff), ValidateRule(0));
}

}  // namespace
}  // namespace heddle::hal
