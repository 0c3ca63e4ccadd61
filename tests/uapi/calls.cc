// SPDX-License-Identifier: Apache-2.0
#include "tests/uapi/calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "tests/support/process.h"

namespace heddle::uapi {

uint64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

uint64_t InMs(uint64_t ms) {
  return NowNs() + static_cast<uint64_t>(ms * 1e6 * tests::TimeFactor());
}

drm_heddle_device_info DeviceInfo(Client* c) {
  return Query<drm_heddle_device_info>(c, DRM_HEDDLE_QUERY_DEVICE);
}
drm_heddle_memory_info MemoryInfo(Client* c) {
  return Query<drm_heddle_memory_info>(c, DRM_HEDDLE_QUERY_MEMORY);
}
drm_heddle_counters Counters(Client* c) {
  return Query<drm_heddle_counters>(c, DRM_HEDDLE_QUERY_COUNTERS);
}
drm_heddle_limits Limits(Client* c) {
  return Query<drm_heddle_limits>(c, DRM_HEDDLE_QUERY_LIMITS);
}

int CreateContext(Client* c, uint32_t priority, uint32_t* id) {
  drm_heddle_context_create args = {};
  args.priority = priority;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args);
  *id = args.context;
  return err;
}

uint32_t NewContext(Client* c, uint32_t priority) {
  uint32_t id = 0;
  EXPECT_EQ(CreateContext(c, priority, &id), 0);
  return id;
}

int DestroyContext(Client* c, uint32_t id) {
  drm_heddle_context_destroy args = {id, 0};
  return c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &args);
}

int CreateBo(Client* c, uint64_t size, uint32_t placement, uint32_t* handle,
             uint64_t* available) {
  drm_heddle_bo_create args = {};
  args.size = size;
  args.placement = placement;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &args);
  *handle = args.handle;
  if (available != nullptr) *available = args.available;
  return err;
}

uint32_t NewDevice(Client* c, uint64_t size) {
  uint32_t handle = 0;
  EXPECT_EQ(CreateBo(c, size, DRM_HEDDLE_DEVICE, &handle), 0);
  return handle;
}

int BoInfo(Client* c, uint32_t handle, drm_heddle_bo_info* info) {
  *info = {};
  info->handle = handle;
  return c->Ioctl(DRM_IOCTL_HEDDLE_BO_INFO, info);
}

int CloseBo(Client* c, uint32_t handle) {
  drm_gem_close args = {handle, 0};
  return c->Ioctl(DRM_IOCTL_GEM_CLOSE, &args);
}

HostBuffer::~HostBuffer() {
  if (data != nullptr) munmap(data, size);
}

uint32_t HostBuffer::Word(size_t index) const {
  uint32_t word = 0;
  std::memcpy(&word, data + 4 * index, sizeof(word));
  return word;
}

std::unique_ptr<HostBuffer> NewHost(Client* c, uint64_t size) {
  uint32_t handle = 0;
  EXPECT_EQ(CreateBo(c, size, DRM_HEDDLE_HOST, &handle), 0);
  return MapHost(c, handle);
}

std::unique_ptr<HostBuffer> MapHost(Client* c, uint32_t handle) {
  auto buffer = std::make_unique<HostBuffer>();
  buffer->handle = handle;
  drm_heddle_bo_info info;
  EXPECT_EQ(BoInfo(c, handle, &info), 0);
  buffer->size = info.size;
  int error = 0;
  buffer->data =
      static_cast<uint8_t*>(c->Mmap(info.mmap_offset, info.size, &error));
  EXPECT_EQ(error, 0);
  return buffer;
}

int ExportBo(Client* c, uint32_t handle, int* fd) {
  drm_prime_handle args = {handle, DRM_CLOEXEC | DRM_RDWR, -1};
  const int err = c->Ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);
  *fd = args.fd;
  return err;
}

int ImportBo(Client* c, int fd, uint32_t* handle) {
  drm_prime_handle args = {};
  args.fd = fd;
  const int err = c->Ioctl(DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);
  *handle = args.handle;
  return err;
}

int CreateStream(Client* c, const std::vector<uint32_t>& words, uint32_t* id,
                 drm_heddle_stream_create* out) {
  drm_heddle_stream_create args = {};
  args.data.ptr = reinterpret_cast<uint64_t>(words.data());
  args.data.count = static_cast<uint32_t>(words.size() * 4);
  args.data.stride = 1;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_STREAM_CREATE, &args);
  *id = args.stream;
  if (out != nullptr) *out = args;
  return err;
}

uint32_t NewStream(Client* c, const std::vector<uint32_t>& words) {
  uint32_t id = 0;
  EXPECT_EQ(CreateStream(c, words, &id), 0);
  return id;
}

int DestroyStream(Client* c, uint32_t id) {
  drm_heddle_stream_destroy args = {id, 0};
  return c->Ioctl(DRM_IOCTL_HEDDLE_STREAM_DESTROY, &args);
}

drm_heddle_step CopyIn(uint32_t host, uint32_t device, uint64_t length,
                       uint64_t host_offset, uint64_t device_offset) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_COPY_IN;
  s.src = host;
  s.dst = device;
  s.src_offset = host_offset;
  s.dst_offset = device_offset;
  s.length = length;
  return s;
}

drm_heddle_step CopyOut(uint32_t device, uint32_t host, uint64_t length,
                        uint64_t device_offset, uint64_t host_offset) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_COPY_OUT;
  s.src = device;
  s.dst = host;
  s.src_offset = device_offset;
  s.dst_offset = host_offset;
  s.length = length;
  return s;
}

drm_heddle_step CopyOnCard(uint32_t from, uint32_t to, uint64_t length,
                           uint64_t from_offset, uint64_t to_offset) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_STEP_COPY;
  s.src = from;
  s.dst = to;
  s.length = length;
  s.src_offset = from_offset;
  s.dst_offset = to_offset;
  return s;
}

drm_heddle_step Fill(uint32_t device, uint64_t length, uint32_t value,
                     uint64_t offset) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_FILL;
  s.dst = device;
  s.dst_offset = offset;
  s.length = length;
  s.fill_value = value;
  return s;
}

drm_heddle_step RunStream(uint32_t stream) {
  drm_heddle_step s = {};
  s.type = DRM_HEDDLE_RUN;
  s.stream = stream;
  return s;
}

drm_heddle_step RunStream(uint32_t stream,
                          const std::vector<drm_heddle_region>& regions) {
  drm_heddle_step s = RunStream(stream);
  s.regions = ArrayOf(regions);
  return s;
}

drm_heddle_region Region(uint32_t index, uint32_t handle, uint64_t size,
                         uint32_t flags, uint64_t offset) {
  return {index, handle, offset, size, flags, 0};
}

drm_heddle_submit SubmitArgs(uint32_t context,
                             const std::vector<drm_heddle_step>& steps) {
  drm_heddle_submit args = {};
  args.context = context;
  args.steps = ArrayOf(steps);
  return args;
}

int Submit(Client* c, uint32_t context,
           const std::vector<drm_heddle_step>& steps, uint64_t* seqno,
           const Syncs& syncs, uint64_t timeout_ns) {
  drm_heddle_submit args = SubmitArgs(context, steps);
  args.in_syncs = ArrayOf(syncs.in);
  args.out_syncs = ArrayOf(syncs.out);
  args.timeout_ns = timeout_ns;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_SUBMIT, &args);
  if (seqno != nullptr) *seqno = args.seqno;
  return err;
}

uint64_t NewJob(Client* c, uint32_t context,
                const std::vector<drm_heddle_step>& steps, const Syncs& syncs,
                uint64_t timeout_ns) {
  uint64_t seqno = 0;
  EXPECT_EQ(Submit(c, context, steps, &seqno, syncs, timeout_ns), 0);
  return seqno;
}

int Wait(Client* c, uint32_t context, uint64_t seqno, uint64_t deadline_ns,
         drm_heddle_result* result) {
  drm_heddle_wait args = {};
  args.context = context;
  args.seqno = seqno;
  args.deadline_ns = deadline_ns;
  if (result != nullptr) args.result = ArrayOf(result, 1);
  return c->Ioctl(DRM_IOCTL_HEDDLE_WAIT, &args);
}

drm_heddle_result ResultOf(Client* c, uint32_t context, uint64_t seqno) {
  drm_heddle_result result = {};
  EXPECT_EQ(Wait(c, context, seqno, InMs(60000), &result), 0);
  return result;
}

drm_heddle_result Do(Client* c, uint32_t context,
                     const std::vector<drm_heddle_step>& steps) {
  return ResultOf(c, context, NewJob(c, context, steps));
}

uint32_t NewSyncobj(Client* c, uint32_t flags) {
  drm_syncobj_create args = {};
  args.flags = flags;
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &args), 0);
  return args.handle;
}

int DestroySyncobj(Client* c, uint32_t handle) {
  drm_syncobj_destroy args = {handle, 0};
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

int SignalSyncobj(Client* c, uint32_t handle) {
  drm_syncobj_array args = {reinterpret_cast<uint64_t>(&handle), 1, 0};
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_SIGNAL, &args);
}

int SignalPoint(Client* c, uint32_t handle, uint64_t point) {
  drm_syncobj_timeline_array args = {reinterpret_cast<uint64_t>(&handle),
                                     reinterpret_cast<uint64_t>(&point), 1, 0};
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &args);
}

int ResetSyncobj(Client* c, uint32_t handle) {
  drm_syncobj_array args = {reinterpret_cast<uint64_t>(&handle), 1, 0};
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_RESET, &args);
}

int WaitSyncobj(Client* c, uint32_t handle, uint64_t deadline_ns,
                uint32_t flags) {
  drm_syncobj_wait args = {};
  args.handles = reinterpret_cast<uint64_t>(&handle);
  args.count_handles = 1;
  args.timeout_nsec =
      static_cast<int64_t>(std::min<uint64_t>(deadline_ns, INT64_MAX));
  args.flags = flags;
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &args);
}

int WaitPoint(Client* c, uint32_t handle, uint64_t point, uint64_t deadline_ns,
              uint32_t flags) {
  drm_syncobj_timeline_wait args = {};
  args.handles = reinterpret_cast<uint64_t>(&handle);
  args.points = reinterpret_cast<uint64_t>(&point);
  args.count_handles = 1;
  args.timeout_nsec =
      static_cast<int64_t>(std::min<uint64_t>(deadline_ns, INT64_MAX));
  args.flags = flags;
  return c->Ioctl(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

uint64_t PointOf(Client* c, uint32_t handle) {
  uint64_t point = ~uint64_t{0};
  drm_syncobj_timeline_array args = {reinterpret_cast<uint64_t>(&handle),
                                     reinterpret_cast<uint64_t>(&point), 1, 0};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_SYNCOBJ_QUERY, &args), 0);
  return point;
}

int NextEvent(Client* c, uint64_t deadline_ns, drm_heddle_event* event) {
  drm_heddle_events args = {};
  args.events = ArrayOf(event, 1);
  args.deadline_ns = deadline_ns;
  const int err = c->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &args);
  EXPECT_EQ(args.filled, err == 0 ? 1u : 0u);
  return err;
}

}  // namespace heddle::uapi
