// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Shorthand for tests that drive a card through a HostedClient.
#ifndef HEDDLE_KMD_HOSTED_TEST_CLIENT_H_
#define HEDDLE_KMD_HOSTED_TEST_CLIENT_H_

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include <cstring>
#include <memory>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/core.h"
#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

inline constexpr uint64_t kMiB = 1u << 20;
inline constexpr uint64_t kPage = HEDDLE_PAGE_BYTES;
inline constexpr uint64_t kForever = ~uint64_t{0};

inline uint64_t Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}
inline uint64_t InMs(uint64_t ms) { return Now() + ms * 1000000; }

// A whole message, for tests that speak the protocol by hand. 0 or a negative
// errno.
inline int ReceiveMessage(int socket, Message* message) {
  const int err = ReceiveHeader(socket, &message->header, &message->fd);
  if (err != 0) return err;
  message->payload.resize(message->header.bytes);
  return ReceivePayload(socket, message->payload.data(),
                        message->payload.size());
}

inline std::vector<uint32_t> EndCommand() {
  return {HEDDLE_OP_END | HEDDLE_HEADER_WORDS << 8, 0, 0, 0};
}

inline uint32_t NewContext(HostedClient* c, uint32_t priority = 1) {
  drm_heddle_context_create args = {};
  args.priority = priority;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args), 0);
  return args.context;
}

inline int NewBo(HostedClient* c, uint64_t size, uint32_t placement,
                 uint32_t* handle, uint64_t* available = nullptr) {
  drm_heddle_bo_create args = {};
  args.size = size;
  args.placement = placement;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &args);
  *handle = args.handle;
  if (available != nullptr) *available = args.available;
  return err;
}

inline uint32_t NewDevice(HostedClient* c, uint64_t size) {
  uint32_t handle = 0;
  EXPECT_EQ(NewBo(c, size, DRM_HEDDLE_DEVICE, &handle), 0);
  return handle;
}

// A HOST buffer and its mapping.
struct HostBuffer {
  uint32_t handle = 0;
  uint8_t* data = nullptr;
  size_t size = 0;
  ~HostBuffer() {
    if (data != nullptr) munmap(data, size);
  }
};

inline std::unique_ptr<HostBuffer> NewHost(HostedClient* c, uint64_t size) {
  auto b = std::make_unique<HostBuffer>();
  EXPECT_EQ(NewBo(c, size, DRM_HEDDLE_HOST, &b->handle), 0);
  drm_heddle_bo_info info = {};
  info.handle = b->handle;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_BO_INFO, &info), 0);
  int err = 0;
  b->size = info.size;
  b->data = static_cast<uint8_t*>(c->Mmap(info.mmap_offset, info.size, &err));
  EXPECT_EQ(err, 0);
  return b;
}

inline void Close(HostedClient* c, uint32_t handle) {
  drm_gem_close args = {};
  args.handle = handle;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_GEM_CLOSE, &args), 0);
}

inline int NewStream(HostedClient* c, const std::vector<uint32_t>& words,
                     uint32_t* id, drm_heddle_stream_create* out = nullptr) {
  drm_heddle_stream_create args = {};
  args.data.ptr = reinterpret_cast<uint64_t>(words.data());
  args.data.count = words.size() * 4;
  args.data.stride = 1;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_STREAM_CREATE, &args);
  *id = args.stream;
  if (out != nullptr) *out = args;
  return err;
}

inline drm_heddle_step CopyIn(uint32_t src, uint32_t dst, uint64_t length,
                              uint64_t dst_offset = 0) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_COPY_IN;
  s.src = src;
  s.dst = dst;
  s.length = length;
  s.dst_offset = dst_offset;
  return s;
}
inline drm_heddle_step CopyOut(uint32_t src, uint32_t dst, uint64_t length,
                               uint64_t src_offset = 0) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_COPY_OUT;
  s.src = src;
  s.dst = dst;
  s.length = length;
  s.src_offset = src_offset;
  return s;
}
inline drm_heddle_step RunStream(
    uint32_t stream, const std::vector<drm_heddle_region>* regions = nullptr) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_RUN;
  s.stream = stream;
  if (regions != nullptr) {
    s.regions = {reinterpret_cast<uint64_t>(regions->data()),
                 static_cast<uint32_t>(regions->size()),
                 sizeof(drm_heddle_region)};
  }
  return s;
}

inline int Submit(HostedClient* c, uint32_t context,
                  const std::vector<drm_heddle_step>& steps, uint64_t* seqno,
                  const std::vector<drm_heddle_sync>& in = {},
                  const std::vector<drm_heddle_sync>& out = {},
                  uint64_t timeout_ns = 0) {
  drm_heddle_submit args = {};
  args.context = context;
  args.steps = {reinterpret_cast<uint64_t>(steps.data()),
                static_cast<uint32_t>(steps.size()), sizeof(drm_heddle_step)};
  args.in_syncs = {reinterpret_cast<uint64_t>(in.data()),
                   static_cast<uint32_t>(in.size()), sizeof(drm_heddle_sync)};
  args.out_syncs = {reinterpret_cast<uint64_t>(out.data()),
                    static_cast<uint32_t>(out.size()), sizeof(drm_heddle_sync)};
  args.timeout_ns = timeout_ns;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args);
  *seqno = args.seqno;
  return err;
}

inline int Wait(HostedClient* c, uint32_t context, uint64_t seqno,
                drm_heddle_result* result, uint64_t deadline = kForever) {
  drm_heddle_wait args = {};
  args.context = context;
  args.seqno = seqno;
  args.deadline_ns = deadline;
  *result = {};
  args.result = {reinterpret_cast<uint64_t>(result), 1, sizeof(*result)};
  return c->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
}

// Submits and waits; the job's status.
inline uint32_t Do(HostedClient* c, uint32_t context,
                   const std::vector<drm_heddle_step>& steps) {
  uint64_t seqno = 0;
  EXPECT_EQ(Submit(c, context, steps, &seqno), 0);
  drm_heddle_result result;
  EXPECT_EQ(Wait(c, context, seqno, &result, InMs(10000)), 0);
  return result.status;
}

template <typename T>
T Query(HostedClient* c, uint32_t type) {
  T data = {};
  drm_heddle_query args = {};
  args.type = type;
  args.data = {reinterpret_cast<uint64_t>(&data), 1, sizeof(data)};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), 0);
  EXPECT_EQ(args.size, sizeof(data));
  return data;
}

inline uint32_t NewSyncobj(HostedClient* c) {
  drm_syncobj_create args = {};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &args), 0);
  return args.handle;
}

inline int WaitPoint(HostedClient* c, uint32_t handle, uint64_t point,
                     int64_t deadline,
                     uint32_t flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) {
  drm_syncobj_timeline_wait args = {};
  args.handles = reinterpret_cast<uint64_t>(&handle);
  args.points = reinterpret_cast<uint64_t>(&point);
  args.count_handles = 1;
  args.timeout_nsec = deadline;
  args.flags = flags;
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_TEST_CLIENT_H_
