// SPDX-License-Identifier: Apache-2.0
// Shorthand for the ioctls: one function per call that a test makes often. What
// returns an int returns the driver's; the others fail the test on an error.
#ifndef TESTS_UAPI_CALLS_H_
#define TESTS_UAPI_CALLS_H_

#include <errno.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "drm.h"
#include "drm/heddle_drm.h"
#include "gtest/gtest.h"
#include "tests/uapi/client.h"

namespace heddle::uapi {

inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kMiB = 1 << 20;
inline constexpr uint64_t kForever = ~uint64_t{0};
inline constexpr uint64_t kSecond = 1000000000;

uint64_t NowNs();
// Absolute, longer on slow (instrumented) builds.
uint64_t InMs(uint64_t ms);

template <typename T>
drm_heddle_array ArrayOf(T* elements, size_t count) {
  return {reinterpret_cast<uint64_t>(elements), static_cast<uint32_t>(count),
          sizeof(T)};
}
template <typename T>
drm_heddle_array ArrayOf(const std::vector<T>& elements) {
  return ArrayOf(elements.data(), elements.size());
}

// Elements as a later header could have them: 8 bytes longer.
template <typename T>
struct Grown {
  T known;
  uint64_t later;
};

template <typename T>
T Query(Client* c, uint32_t type) {
  T data = {};
  drm_heddle_query args = {};
  args.type = type;
  args.data = ArrayOf(&data, 1);
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), 0);
  EXPECT_EQ(args.size, sizeof(data));
  return data;
}
drm_heddle_device_info DeviceInfo(Client* c);
drm_heddle_memory_info MemoryInfo(Client* c);
drm_heddle_counters Counters(Client* c);
drm_heddle_limits Limits(Client* c);

int CreateContext(Client* c, uint32_t priority, uint32_t* id);
uint32_t NewContext(Client* c, uint32_t priority = 1);
int DestroyContext(Client* c, uint32_t id);

int CreateBo(Client* c, uint64_t size, uint32_t placement, uint32_t* handle,
             uint64_t* available = nullptr);
uint32_t NewDevice(Client* c, uint64_t size);
int BoInfo(Client* c, uint32_t handle, drm_heddle_bo_info* info);
int CloseBo(Client* c, uint32_t handle);

// A HOST buffer with its mapping, which stays when the handle is closed. On a
// render node a mapping keeps the file open, with all that belongs to it.
struct HostBuffer {
  uint32_t handle = 0;
  uint8_t* data = nullptr;
  size_t size = 0;
  HostBuffer() = default;
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer();
  uint32_t Word(size_t index) const;
};
std::unique_ptr<HostBuffer> NewHost(Client* c, uint64_t size);
// Of a handle that is there.
std::unique_ptr<HostBuffer> MapHost(Client* c, uint32_t handle);

// Caller closes the descriptor. 0 or a negative errno.
int ExportBo(Client* c, uint32_t handle, int* fd);
int ImportBo(Client* c, int fd, uint32_t* handle);

int CreateStream(Client* c, const std::vector<uint32_t>& words, uint32_t* id,
                 drm_heddle_stream_create* out = nullptr);
uint32_t NewStream(Client* c, const std::vector<uint32_t>& words);
int DestroyStream(Client* c, uint32_t id);

drm_heddle_step CopyIn(uint32_t host, uint32_t device, uint64_t length,
                       uint64_t host_offset = 0, uint64_t device_offset = 0);
drm_heddle_step CopyOut(uint32_t device, uint32_t host, uint64_t length,
                        uint64_t device_offset = 0, uint64_t host_offset = 0);
drm_heddle_step CopyOnCard(uint32_t from, uint32_t to, uint64_t length,
                           uint64_t from_offset = 0, uint64_t to_offset = 0);
drm_heddle_step Fill(uint32_t device, uint64_t length, uint32_t value,
                     uint64_t offset = 0);
// `regions` must outlive the submission.
drm_heddle_step RunStream(uint32_t stream);
drm_heddle_step RunStream(uint32_t stream,
                          const std::vector<drm_heddle_region>& regions);
drm_heddle_region Region(uint32_t index, uint32_t handle, uint64_t size,
                         uint32_t flags = 0, uint64_t offset = 0);

// The structure for SUBMIT; what it is made of must outlive the call.
drm_heddle_submit SubmitArgs(uint32_t context,
                             const std::vector<drm_heddle_step>& steps);
struct Syncs {
  std::vector<drm_heddle_sync> in, out;
};
int Submit(Client* c, uint32_t context,
           const std::vector<drm_heddle_step>& steps, uint64_t* seqno = nullptr,
           const Syncs& syncs = {}, uint64_t timeout_ns = 0);
// Fails the test unless it is accepted.
uint64_t NewJob(Client* c, uint32_t context,
                const std::vector<drm_heddle_step>& steps,
                const Syncs& syncs = {}, uint64_t timeout_ns = 0);

int Wait(Client* c, uint32_t context, uint64_t seqno, uint64_t deadline_ns,
         drm_heddle_result* result = nullptr);
// Waits for its end; fails the test if that takes a minute.
drm_heddle_result ResultOf(Client* c, uint32_t context, uint64_t seqno);
// Submits, waits, and returns how it ended.
drm_heddle_result Do(Client* c, uint32_t context,
                     const std::vector<drm_heddle_step>& steps);

uint32_t NewSyncobj(Client* c, uint32_t flags = 0);
int DestroySyncobj(Client* c, uint32_t handle);
int SignalSyncobj(Client* c, uint32_t handle);
int SignalPoint(Client* c, uint32_t handle, uint64_t point);
int ResetSyncobj(Client* c, uint32_t handle);
int WaitSyncobj(Client* c, uint32_t handle, uint64_t deadline_ns,
                uint32_t flags = 0);
int WaitPoint(Client* c, uint32_t handle, uint64_t point, uint64_t deadline_ns,
              uint32_t flags = 0);
uint64_t PointOf(Client* c, uint32_t handle);

// The next event, or -ETIME.
int NextEvent(Client* c, uint64_t deadline_ns, drm_heddle_event* event);

}  // namespace heddle::uapi

#endif  // TESTS_UAPI_CALLS_H_
