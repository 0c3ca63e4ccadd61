// SPDX-License-Identifier: Apache-2.0
// QUERY, and DRM's VERSION.
#include <cstring>

#include "rtl/spec/generated/registers.h"
#include "tests/uapi/uapi_test.h"

namespace heddle::uapi {
namespace {

class QueryTest : public UapiTest {
 protected:
  // The whole answer with `extra` bytes behind it.
  int Ask(uint32_t type, uint32_t stride, uint8_t* to, uint64_t* size = nullptr,
          uint32_t count = 1) {
    drm_heddle_query args = {};
    args.type = type;
    args.data = {reinterpret_cast<uint64_t>(to), count, stride};
    const int err = c()->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args);
    if (size != nullptr) *size = args.size;
    return err;
  }
};

TEST_F(QueryTest, DescribesTheCard) {
  const drm_heddle_device_info info = DeviceInfo(c());
  EXPECT_NE(info.config, 0u);
  EXPECT_NE(info.hw_version, 0u);
  EXPECT_EQ(info.priorities, 4u);
  EXPECT_GE(info.max_stream_bytes, kPage);
  EXPECT_GE(info.max_steps, 4u);
  EXPECT_NE(info.pci_vendor, 0u);
  EXPECT_NE(info.pci_device, 0u);
  EXPECT_EQ(info.pad, 0u);
}

TEST_F(QueryTest, DescribesTheCardToAllTheSame) {
  auto other = Open();
  const auto a = DeviceInfo(c()), b = DeviceInfo(other.get());
  EXPECT_EQ(std::memcmp(&a, &b, sizeof(a)), 0);
}

TEST_F(QueryTest, CountsMemoryInPages) {
  const auto before = MemoryInfo(c());
  EXPECT_EQ(before.total % kPage, 0u);
  EXPECT_EQ(before.used, 0u);
  NewDevice(c(), 3 * kPage + 1);
  const auto after = MemoryInfo(c());
  EXPECT_EQ(after.total, before.total);
  EXPECT_EQ(after.used, 4 * kPage);
  EXPECT_EQ(after.used_here, 4 * kPage);
  EXPECT_EQ(after.generation, before.generation);
}

TEST_F(QueryTest, CountsTheMemoryOfAStream) {
  NewStream(c(), EmptyStream());
  EXPECT_EQ(MemoryInfo(c()).used_here, kPage);
}

TEST_F(QueryTest, CountsNoHostMemory) {
  NewHost(c(), kPage);
  EXPECT_EQ(MemoryInfo(c()).used, 0u);
}

TEST_F(QueryTest, CountsMemoryOfOthersAsUsedOnly) {
  auto other = Open();
  NewDevice(other.get(), kPage);
  EXPECT_EQ(MemoryInfo(c()).used, kPage);
  EXPECT_EQ(MemoryInfo(c()).used_here, 0u);
  EXPECT_EQ(MemoryInfo(other.get()).used_here, kPage);
}

TEST_F(QueryTest, CountsJobsAndBytes) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  auto host = NewHost(c(), kPage);
  Do(c(), context, {CopyIn(host->handle, bo, kPage)});
  const auto before = Counters(c());
  Do(c(), context, {CopyIn(host->handle, bo, kPage)});
  const auto after = Counters(c());
  EXPECT_EQ(after.jobs, before.jobs + 1);
  EXPECT_EQ(after.faults, before.faults);
  EXPECT_EQ(after.bytes_copied, before.bytes_copied + kPage);
  // What stays on the card is not moved between host and card.
  Do(c(), context, {CopyOnCard(bo, bo, 64, 0, 128), Fill(bo, 64, 1)});
  EXPECT_EQ(Counters(c()).bytes_copied, after.bytes_copied);
}

TEST_F(QueryTest, CountsFaults) {
  const uint32_t context = NewContext(c());
  const uint32_t bo = NewDevice(c(), kPage);
  const uint32_t stream = NewStream(c(), FaultingStream(0));
  const std::vector<drm_heddle_region> regions = {Region(0, bo, kPage)};
  const auto before = Counters(c());
  Do(c(), context, {RunStream(stream, regions)});
  EXPECT_EQ(Counters(c()).faults, before.faults + 1);
}

TEST_F(QueryTest, LimitsOfAFileAreThoseOfTheCard) {
  const auto limits = Limits(c());
  EXPECT_EQ(limits.device_bytes, MemoryInfo(c()).total);
  EXPECT_GT(limits.run_cycles, 0u);
  EXPECT_GT(limits.timeout_ns, 0u);
  EXPECT_GT(limits.pinned_bytes, 0u);
  EXPECT_GT(limits.buffers, 0u);
  EXPECT_GT(limits.streams, 0u);
  EXPECT_GT(limits.contexts, 0u);
  EXPECT_GT(limits.jobs, 0u);
  EXPECT_GT(limits.hangs, 0u);
  EXPECT_EQ(limits.pad, 0u);
}

TEST_F(QueryTest, SaysTheSizeOnlyWithStrideZero) {
  uint64_t size = 0;
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, 0, nullptr, &size), 0);
  EXPECT_EQ(size, sizeof(drm_heddle_device_info));
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_MEMORY, 0, nullptr, &size), 0);
  EXPECT_EQ(size, sizeof(drm_heddle_memory_info));
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_COUNTERS, 0, nullptr, &size), 0);
  EXPECT_EQ(size, sizeof(drm_heddle_counters));
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_LIMITS, 0, nullptr, &size), 0);
  EXPECT_EQ(size, sizeof(drm_heddle_limits));
}

TEST_F(QueryTest, FillsNoMoreThanTheCallerKnows) {
  const auto whole = DeviceInfo(c());
  for (uint32_t stride : {1u, 4u, 8u, unsigned{sizeof(whole) - 1}}) {
    uint8_t bytes[sizeof(whole)];
    std::memset(bytes, 0xee, sizeof(bytes));
    uint64_t size = 0;
    ASSERT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, stride, bytes, &size), 0) << stride;
    EXPECT_EQ(size, sizeof(whole));
    EXPECT_EQ(std::memcmp(bytes, &whole, stride), 0) << stride;
    EXPECT_EQ(bytes[stride], 0xee) << stride;
  }
}

TEST_F(QueryTest, FillsNoMoreThanTheDriverKnows) {
  const auto whole = DeviceInfo(c());
  uint8_t bytes[sizeof(whole) + 16];
  std::memset(bytes, 0xee, sizeof(bytes));
  ASSERT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, sizeof(bytes), bytes), 0);
  EXPECT_EQ(std::memcmp(bytes, &whole, sizeof(whole)), 0);
  for (size_t i = sizeof(whole); i < sizeof(bytes); ++i) {
    EXPECT_EQ(bytes[i], 0xee) << i;
  }
}

TEST_F(QueryTest, TakesAnyStride) {
  const auto whole = DeviceInfo(c());
  drm_heddle_device_info info = {};
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, 0xffffffff,
                reinterpret_cast<uint8_t*>(&info)),
            0);
  EXPECT_EQ(std::memcmp(&info, &whole, sizeof(whole)), 0);
}

TEST_F(QueryTest, RefusesUnknownTypes) {
  uint8_t bytes[64];
  for (uint32_t type : {4u, 5u, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(Ask(type, sizeof(bytes), bytes), -EINVAL) << type;
    EXPECT_EQ(Ask(type, 0, nullptr), -EINVAL) << type;
  }
}

TEST_F(QueryTest, RefusesPad) {
  drm_heddle_device_info info;
  for (uint32_t bit : EachBit()) {
    drm_heddle_query args = {};
    args.pad = bit;
    args.data = ArrayOf(&info, 1);
    EXPECT_EQ(c()->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), -EINVAL) << bit;
  }
}

TEST_F(QueryTest, RefusesNoElement) {
  uint8_t bytes[64];
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, sizeof(bytes), bytes, nullptr, 0),
            -EINVAL);
}

TEST_F(QueryTest, RefusesTwoElements) {
  uint8_t bytes[128];
  EXPECT_EQ(Ask(DRM_HEDDLE_QUERY_DEVICE, 64, bytes, nullptr, 2), -EINVAL);
}

TEST_F(QueryTest, RefusesBadPointers) {
  for (uint64_t bad : Driver::Get().BadPointers()) {
    for (uint32_t type : {0u, 1u, 2u}) {
      EXPECT_EQ(Ask(type, 48, reinterpret_cast<uint8_t*>(bad)), -EFAULT) << bad;
    }
  }
}

TEST_F(QueryTest, VersionNamesTheDriver) {
  char name[16] = {};
  drm_version version = {};
  version.name = name;
  version.name_len = sizeof(name);
  ASSERT_EQ(c()->Ioctl(DRM_IOCTL_VERSION, &version), 0);
  EXPECT_STREQ(name, "heddle");
  EXPECT_EQ(version.name_len, 6u);
  EXPECT_EQ(version.version_major, 1);
  // The minor version of the hardware contract that it knows.
  EXPECT_EQ(version.version_minor, reg::kVersionReset & reg::kVersionMinorMask);
}

TEST_F(QueryTest, RefusesAnIoctlThatDoesNotExist) {
  uint64_t argument = 0;
  // DRM and heddle-hosted do not agree on the number.
  EXPECT_LT(c()->Ioctl(DRM_IOWR(DRM_COMMAND_BASE + 0x0a, uint64_t), &argument),
            0);
  EXPECT_LT(c()->Ioctl(DRM_IOWR(DRM_COMMAND_END - 1, uint64_t), &argument), 0);
}

}  // namespace
}  // namespace heddle::uapi
