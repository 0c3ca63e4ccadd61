// SPDX-License-Identifier: Apache-2.0
// Random jobs, waits and synchronisation objects.
#include <errno.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "drm.h"
#include "rtl/spec/generated/isa.h"
#include "tests/fuzz_ioctl/generator.h"

namespace heddle::fuzz {
namespace {

constexpr size_t kSyncobjsMax = 40;
constexpr uint32_t kWaitDeadline = 1 << 3;  // this drm.h may be older

}  // namespace

std::vector<drm_heddle_sync> Generator::Syncs() {
  std::vector<drm_heddle_sync> syncs(values_.Once(2)    ? 0
                                     : values_.Once(30) ? 1025
                                                        : 1 + values_.Below(3));
  for (drm_heddle_sync& sync : syncs) {
    sync.handle = file_->objects.Pick(Object::kSyncobj, &values_);
    sync.pad = values_.Once(60) ? values_.Edge32() : 0;
    sync.point = values_.Once(2)   ? 0
                 : values_.Once(9) ? values_.Edge64()
                                   : values_.Below(8);
  }
  return syncs;
}

std::vector<uint32_t> Generator::Handles() {
  std::vector<uint32_t> handles(values_.Once(30) ? 0 : 1 + values_.Below(4));
  for (uint32_t& handle : handles) {
    handle = file_->objects.Pick(Object::kSyncobj, &values_);
  }
  return handles;
}

bool Generator::WaitMustFail(size_t handles, uint32_t flags,
                             uint32_t known) const {
  if (waits_of_linux_6_6_) return (flags & ~(known | kWaitDeadline)) != 0;
  return handles == 0 || (flags & ~known) != 0;
}

drm_heddle_step Generator::MakeStep() {
  drm_heddle_step step = {};
  uint64_t host_size = 0, device_size = 0;
  const uint32_t host =
      file_->objects.Pick(Object::kHost, &values_, &host_size);
  const uint32_t device =
      file_->objects.Pick(Object::kDevice, &values_, &device_size);
  step.type = values_.Of<uint32_t>({DRM_HEDDLE_COPY_IN, DRM_HEDDLE_RUN,
                                    DRM_HEDDLE_RUN, DRM_HEDDLE_COPY_OUT,
                                    DRM_HEDDLE_FILL, DRM_HEDDLE_STEP_COPY});
  const bool out = step.type == DRM_HEDDLE_COPY_OUT;
  step.src = out ? device : host;
  step.dst = out ? host : device;
  uint64_t room = step.type == DRM_HEDDLE_FILL
                      ? device_size
                      : std::min(host_size, device_size);
  if (step.type == DRM_HEDDLE_STEP_COPY) {
    step.src = device;
    step.dst = file_->objects.Pick(Object::kDevice, &values_, &room);
    room = std::min(room, device_size);
  }
  if (step.type != DRM_HEDDLE_RUN && values_.Once(3)) {
    step.flags = DRM_HEDDLE_STEP_OVERLAP;
  }
  // Within the buffers, up to the last byte, or one beyond.
  step.length = 1 + values_.Below(std::max<uint64_t>(room, 1));
  if (values_.Once(4)) step.length = room + values_.Below(3) - 1;
  if (step.type == DRM_HEDDLE_FILL && !values_.Once(10)) step.length &= ~3ull;
  step.length = std::min<uint64_t>(step.length, 1 << 16);
  if (values_.Once(4)) {
    step.src_offset = values_.Below(64);
    step.dst_offset = values_.Below(64) * 4;
  }
  step.fill_value = static_cast<uint32_t>(values_.Any());
  if (step.type == DRM_HEDDLE_RUN) {
    step.length = step.src_offset = step.dst_offset = 0;
    step.stream = file_->objects.Pick(Object::kStream, &values_);
    const uint32_t count = static_cast<uint32_t>(
        values_.Once(20) ? values_.Below(40) : values_.Below(4));
    step.regions = EdgeArray(sizeof(drm_heddle_region), count);
    const bool writable =
        Writable(step.regions, count, sizeof(drm_heddle_region));
    for (uint32_t i = 0; writable && i < count; ++i) {
      drm_heddle_region region = {};
      uint64_t size = 0;
      region.index = values_.Once(20) ? values_.Edge32() : i;
      region.handle = file_->objects.Pick(Object::kDevice, &values_, &size);
      region.offset = values_.Once(5) ? 64 * values_.Below(80) : 0;
      if (values_.Once(30)) region.offset = values_.Edge64();
      region.size = values_.Once(8) ? values_.Edge64() : size - region.offset;
      region.flags = static_cast<uint32_t>(values_.Below(2));
      if (values_.Once(40)) region.flags = values_.Edge32();
      if (values_.Once(40)) region.pad = values_.Edge32();
      std::memcpy(reinterpret_cast<uint8_t*>(step.regions.ptr) +
                      uint64_t{i} * step.regions.stride,
                  &region, sizeof(region));
    }
  } else if (values_.Once(30)) {
    step.regions = EdgeArray(sizeof(drm_heddle_region), 1);
  }
  // One field of anything.
  if (values_.Once(8)) {
    uint32_t* const fields[] = {&step.type, &step.stream, &step.src, &step.dst,
                                &step.flags};
    *fields[values_.Below(5)] = values_.Edge32();
  } else if (values_.Once(8)) {
    uint64_t* const fields[] = {reinterpret_cast<uint64_t*>(&step.src_offset),
                                reinterpret_cast<uint64_t*>(&step.dst_offset),
                                reinterpret_cast<uint64_t*>(&step.length)};
    *fields[values_.Below(3)] = values_.Edge64();
  }
  return step;
}

std::string Generator::Submit() {
  last_ = "SUBMIT";
  drm_heddle_submit args = {};
  bool must_fail = false;
  args.context = file_->objects.Pick(Object::kContext, &values_);
  if (values_.Once(3)) {
    args.flags = DRM_HEDDLE_SUBMIT_TRACE;
    args.trace_entries = values_.Once(4)
                             ? values_.Edge32()
                             : 1 + static_cast<uint32_t>(values_.Below(64));
    must_fail |= args.trace_entries == 0 ||
                 args.trace_entries > DRM_HEDDLE_TRACE_ENTRIES_MAX;
  } else {
    args.flags = Zero(&must_fail);
    if (args.flags == 0) args.trace_entries = Zero(&must_fail);
  }
  args.pad = Zero(&must_fail);
  const uint32_t count =
      static_cast<uint32_t>(values_.Once(20) ? values_.Below(isa::kStepsMax + 2)
                                             : 1 + values_.Below(4));
  args.steps = EdgeArray(sizeof(drm_heddle_step), count);
  must_fail |= args.steps.count == 0 || args.steps.count > isa::kStepsMax ||
               args.steps.stride < sizeof(drm_heddle_step);
  if (Writable(args.steps, count, sizeof(drm_heddle_step))) {
    bool joins = false;  // the step may overlap a run before it
    for (uint32_t i = 0; i < count; ++i) {
      const drm_heddle_step step = MakeStep();
      const bool run = step.type == DRM_HEDDLE_RUN;
      must_fail |= step.flags > (joins && !run ? DRM_HEDDLE_STEP_OVERLAP : 0) ||
                   step.type == 0 || step.type > DRM_HEDDLE_FILL;
      joins = run || step.flags != 0;
      uint8_t* at = reinterpret_cast<uint8_t*>(args.steps.ptr) +
                    uint64_t{i} * args.steps.stride;
      std::memcpy(at, &step, sizeof(step));
      if (args.steps.stride > sizeof(step) && values_.Once(3)) {
        at[sizeof(step)] = static_cast<uint8_t>(values_.Below(2));
        must_fail |= at[sizeof(step)] != 0;  // what the driver does not know
      }
    }
  }
  const std::vector<drm_heddle_sync> in = Syncs(), out = Syncs();
  args.in_syncs.ptr = reinterpret_cast<uintptr_t>(in.data());
  args.in_syncs.count = static_cast<uint32_t>(in.size());
  args.in_syncs.stride = sizeof(drm_heddle_sync);
  args.out_syncs.ptr = reinterpret_cast<uintptr_t>(out.data());
  args.out_syncs.count = static_cast<uint32_t>(out.size());
  args.out_syncs.stride = sizeof(drm_heddle_sync);
  for (const auto* syncs : {&in, &out}) {
    must_fail |= syncs->size() > 1024;
    for (const drm_heddle_sync& sync : *syncs) must_fail |= sync.pad != 0;
  }
  args.seqno = values_.Any();
  args.timeout_ns = values_.Once(4) ? values_.Edge64() : 0;
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_SUBMIT, &args, must_fail, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (args.seqno == 0) return "a job has the number 0";
  file_->objects.AddJob(args.context, args.seqno);
  return "";
}

std::string Generator::Wait() {
  last_ = "WAIT";
  drm_heddle_wait args = {};
  bool must_fail = false;
  std::tie(args.context, args.seqno) = file_->objects.PickJob(&values_);
  if (values_.Once(10)) args.seqno = values_.Edge64();
  if (values_.Once(20)) args.context = values_.Edge32();
  args.pad = Zero(&must_fail);
  args.deadline_ns = Deadline();
  args.result = EdgeArray(sizeof(drm_heddle_result), 1);
  must_fail |= args.seqno == 0 || args.result.count > 1 ||
               (args.result.count == 1 &&
                args.result.stride < sizeof(drm_heddle_result));
  if (values_.Once(3)) {
    args.trace = EdgeArray(sizeof(drm_heddle_trace_entry),
                           static_cast<uint32_t>(values_.Below(80)));
    // Any stride is one to fill: what lies beyond scratch memory must be too
    // much.
    if (args.trace.ptr != 0 && !Writable(args.trace, args.trace.count, 0)) {
      args.trace.count = DRM_HEDDLE_TRACE_ENTRIES_MAX + 1;
    }
    must_fail |= args.trace.count > DRM_HEDDLE_TRACE_ENTRIES_MAX ||
                 (args.trace.count > 0 &&
                  args.trace.stride < sizeof(drm_heddle_trace_entry));
  }
  args.trace_count = values_.Edge32();
  args.reserved = Zero(&must_fail);
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_WAIT, &args, must_fail, &result);
  if (!wrong.empty() || result != 0 || args.result.count == 0 ||
      args.result.ptr == 0) {
    return wrong;
  }
  drm_heddle_result ended;
  std::memcpy(&ended, reinterpret_cast<void*>(args.result.ptr), sizeof(ended));
  if (ended.error > 4095 || (ended.status != 0 && ended.error == 0)) {
    return absl::StrCat("a job ended with status ", ended.status, ", errno ",
                        ended.error);
  }
  return "";
}

std::string Generator::Events() {
  last_ = "EVENTS";
  drm_heddle_events args = {};
  args.events = EdgeArray(sizeof(drm_heddle_event),
                          1 + static_cast<uint32_t>(values_.Below(8)));
  // A kernel fills what fits; what lies beyond scratch memory must not fit.
  if (uint64_t{args.events.count} * args.events.stride > 1 << 20) {
    args.events.count |= 1u << 20;
  }
  args.deadline_ns = Deadline();
  args.filled = values_.Edge32();
  const bool must_fail = args.events.count == 0 || args.events.count > 1024 ||
                         args.events.stride < sizeof(drm_heddle_event);
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_EVENTS, &args, must_fail, &result);
  if (result == 0 && (args.filled == 0 || args.filled > args.events.count)) {
    return absl::StrCat(args.filled, " events of ", args.events.count);
  }
  return wrong;
}

// ---- Synchronisation objects
// -----------------------------------------------------------

std::string Generator::SyncobjCreate() {
  last_ = "SYNCOBJ_CREATE";
  if (file_->objects.Count(Object::kSyncobj) > kSyncobjsMax) {
    return SyncobjDestroy();
  }
  drm_syncobj_create args = {};
  args.flags = values_.Once(20) ? values_.Edge32()
                                : static_cast<uint32_t>(values_.Below(2));
  args.handle = values_.Edge32();
  const bool must_fail =
      (args.flags & ~uint32_t{DRM_SYNCOBJ_CREATE_SIGNALED}) != 0;
  int result;
  std::string wrong = Do(DRM_IOCTL_SYNCOBJ_CREATE, &args, must_fail, &result);
  if (result == 0) file_->objects.Add(Object::kSyncobj, args.handle);
  return wrong;
}

std::string Generator::SyncobjDestroy() {
  last_ = "SYNCOBJ_DESTROY";
  drm_syncobj_destroy args = {};
  bool must_fail = false;
  args.handle = file_->objects.Pick(Object::kSyncobj, &values_);
  args.pad = Zero(&must_fail);
  int result;
  std::string wrong = Do(DRM_IOCTL_SYNCOBJ_DESTROY, &args, must_fail, &result);
  if (result == 0) file_->objects.Remove(Object::kSyncobj, args.handle);
  return wrong;
}

std::string Generator::SyncobjArray() {
  last_ = "SYNCOBJ_RESET or SIGNAL";
  const std::vector<uint32_t> handles = Handles();
  drm_syncobj_array args = {};
  bool must_fail = handles.empty();
  args.handles = reinterpret_cast<uintptr_t>(handles.data());
  args.count_handles = static_cast<uint32_t>(handles.size());
  args.pad = Zero(&must_fail);
  int result;
  return Do(
      values_.Once(2) ? DRM_IOCTL_SYNCOBJ_RESET : DRM_IOCTL_SYNCOBJ_SIGNAL,
      &args, must_fail, &result);
}

std::string Generator::SyncobjWait() {
  last_ = "SYNCOBJ_WAIT";
  const std::vector<uint32_t> handles = Handles();
  constexpr uint32_t kFlags =
      DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  drm_syncobj_wait args = {};
  args.handles = reinterpret_cast<uintptr_t>(handles.data());
  args.count_handles = static_cast<uint32_t>(handles.size());
  args.flags = values_.Once(20) ? values_.Edge32()
                                : static_cast<uint32_t>(values_.Below(4));
  args.timeout_nsec = SignedDeadline();
  int result;
  std::string wrong =
      Do(DRM_IOCTL_SYNCOBJ_WAIT, &args,
         WaitMustFail(handles.size(), args.flags, kFlags), &result);
  // The kernel does not say which was the first of all.
  if (result == 0 && !handles.empty() &&
      !(args.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL) &&
      args.first_signaled >= handles.size()) {
    return absl::StrCat("signalled: number ", args.first_signaled, " of ",
                        handles.size());
  }
  return wrong;
}

std::string Generator::TimelineWait() {
  last_ = "TIMELINE_WAIT";
  const std::vector<uint32_t> handles = Handles();
  std::vector<uint64_t> points(handles.size());
  for (uint64_t& point : points) {
    point = values_.Once(8) ? values_.Edge64() : values_.Below(8);
  }
  constexpr uint32_t kFlags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                              DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
  drm_syncobj_timeline_wait args = {};
  args.handles = reinterpret_cast<uintptr_t>(handles.data());
  args.points = reinterpret_cast<uintptr_t>(points.data());
  args.count_handles = static_cast<uint32_t>(handles.size());
  args.flags = values_.Once(20) ? values_.Edge32()
                                : static_cast<uint32_t>(values_.Below(8));
  args.timeout_nsec = SignedDeadline();
  int result;
  std::string wrong =
      Do(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args,
         WaitMustFail(handles.size(), args.flags, kFlags), &result);
  // The kernel does not say which was the first of all.
  if (result == 0 && !handles.empty() &&
      !(args.flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL) &&
      args.first_signaled >= handles.size()) {
    return absl::StrCat("signalled: number ", args.first_signaled, " of ",
                        handles.size());
  }
  return wrong;
}

std::string Generator::TimelineArray() {
  last_ = "TIMELINE_SIGNAL or QUERY";
  const std::vector<uint32_t> handles = Handles();
  std::vector<uint64_t> points(handles.size());
  for (uint64_t& point : points) {
    point = values_.Once(8) ? values_.Edge64() : values_.Below(8);
  }
  drm_syncobj_timeline_array args = {};
  args.handles = reinterpret_cast<uintptr_t>(handles.data());
  args.points = reinterpret_cast<uintptr_t>(points.data());
  args.count_handles = static_cast<uint32_t>(handles.size());
  args.flags = values_.Once(20) ? values_.Edge32() : 0;
  const bool query = values_.Once(2);
  // A query knows one flag, the last point submitted.
  const bool must_fail = handles.empty() || args.flags > (query ? 1u : 0u);
  int result;
  return Do(query ? DRM_IOCTL_SYNCOBJ_QUERY : DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
            &args, must_fail, &result);
}

}  // namespace heddle::fuzz
