// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/device.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "heddle_hw.h"
#include "rtl/spec/version.h"

namespace heddle::hal {
namespace {

template <typename T>
drm_heddle_array Array(const T* data, size_t count) {
  drm_heddle_array array = {};
  array.ptr = reinterpret_cast<uintptr_t>(data);
  array.count = static_cast<uint32_t>(count);
  array.stride = sizeof(T);
  return array;
}

drm_heddle_step Copy(uint32_t type, uint32_t src, uint64_t src_offset,
                     uint32_t dst, uint64_t dst_offset, uint64_t length) {
  drm_heddle_step step = {};
  step.type = type;
  step.src = src;
  step.dst = dst;
  step.src_offset = src_offset;
  step.dst_offset = dst_offset;
  step.length = length;
  return step;
}

}  // namespace

uint64_t DeadlineNs(absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return ~uint64_t{0};
  const int64_t left = absl::ToInt64Nanoseconds(deadline - absl::Now());
  if (left <= 0) return 0;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 +
         static_cast<uint64_t>(now.tv_nsec) + static_cast<uint64_t>(left);
}

// ---- Buffer -----------------------------------------------------------------

Buffer::~Buffer() {
  if (data_ != nullptr) device_->transport_->Unmap(data_, size_);
  if (handle_ == 0) return;
  drm_gem_close close = {};
  close.handle = handle_;
  device_->Call(DRM_IOCTL_GEM_CLOSE, &close);
}

absl::StatusOr<int> Buffer::Export() const {
  if (device_->forked()) return FromErrno("exporting a buffer", ECHILD);
  const int fd = device_->transport_->Export(handle_);
  if (fd < 0) return FromErrno("exporting a buffer", fd);
  return fd;
}

// ---- Stream, Step
// -------------------------------------------------------------

Stream::~Stream() {
  if (id_ == 0) return;
  drm_heddle_stream_destroy destroy = {};
  destroy.stream = id_;
  device_->Call(DRM_IOCTL_HEDDLE_STREAM_DESTROY, &destroy);
}

Step Step::CopyIn(const Buffer& host, uint64_t host_offset,
                  const Buffer& device, uint64_t device_offset,
                  uint64_t length) {
  Step step;
  step.step = Copy(DRM_HEDDLE_COPY_IN, host.handle(), host_offset,
                   device.handle(), device_offset, length);
  return step;
}

Step Step::CopyOut(const Buffer& device, uint64_t device_offset,
                   const Buffer& host, uint64_t host_offset, uint64_t length) {
  Step step;
  step.step = Copy(DRM_HEDDLE_COPY_OUT, device.handle(), device_offset,
                   host.handle(), host_offset, length);
  return step;
}

Step Step::CopyOnCard(const Buffer& from, uint64_t from_offset,
                      const Buffer& to, uint64_t to_offset, uint64_t length) {
  Step step;
  step.step = Copy(DRM_HEDDLE_STEP_COPY, from.handle(), from_offset,
                   to.handle(), to_offset, length);
  return step;
}

Step Step::Fill(const Buffer& device, uint64_t offset, uint64_t length,
                uint32_t value) {
  Step step;
  step.step = Copy(DRM_HEDDLE_FILL, 0, 0, device.handle(), offset, length);
  step.step.fill_value = value;
  return step;
}

Step Step::Run(const Stream& stream) {
  Step step;
  step.step.type = DRM_HEDDLE_RUN;
  step.step.stream = stream.id();
  return step;
}

Step& Step::Overlap() {
  step.flags |= DRM_HEDDLE_STEP_OVERLAP;
  return *this;
}

Step& Step::Bind(uint32_t index, const Buffer& device, uint64_t size,
                 bool writable) {
  drm_heddle_region region = {};
  region.index = index;
  region.handle = device.handle();
  region.size = size;
  region.flags = writable ? DRM_HEDDLE_REGION_WRITE : 0;
  regions.push_back(region);
  return *this;
}

// ---- Context
// ------------------------------------------------------------------

Context::~Context() {
  if (id_ == 0) return;
  drm_heddle_context_destroy destroy = {};
  destroy.context = id_;
  device_->Call(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &destroy);
}

absl::StatusOr<uint64_t> Context::Submit(const std::vector<Step>& steps,
                                         const SubmitOptions& options) {
  std::vector<drm_heddle_step> raw;
  raw.reserve(steps.size());
  for (const Step& step : steps) {
    raw.push_back(step.step);
    raw.back().regions = Array(step.regions.data(), step.regions.size());
  }
  drm_heddle_submit submit = {};
  submit.context = id_;
  submit.steps = Array(raw.data(), raw.size());
  submit.timeout_ns =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(options.timeout));
  if (options.trace_entries != 0) {
    if (absl::Status s = device_->CanTrace(); !s.ok()) return s;
    submit.flags = DRM_HEDDLE_SUBMIT_TRACE;
    submit.trace_entries = options.trace_entries;
  }
  const int error = device_->Call(DRM_IOCTL_HEDDLE_SUBMIT, &submit);
  if (error == -EAGAIN) {
    return Exhausted(Resource::kDeviceResources,
                     "queueing a job: the card's queue for this process is "
                     "full; wait for earlier jobs");
  }
  if (error != 0) return FromQueueErrno("queueing a job", error);
  return submit.seqno;
}

int Context::WaitFor(uint64_t job, absl::Time deadline,
                     drm_heddle_result* result) noexcept {
  *result = {};
  drm_heddle_wait wait = {};
  wait.context = id_;
  wait.seqno = job;
  wait.deadline_ns = DeadlineNs(deadline);
  wait.result = Array(result, 1);
  int error;
  do {
    error = device_->Call(DRM_IOCTL_HEDDLE_WAIT, &wait);
  } while (error == -EINTR || error == -ERESTART);
  if (error != 0) *result = {};
  return error;
}

int Context::ReadTrace(uint64_t job, absl::Span<drm_heddle_trace_entry> entries,
                       uint32_t* commands) noexcept {
  *commands = 0;
  drm_heddle_wait wait = {};
  wait.context = id_;
  wait.seqno = job;
  wait.trace = Array(entries.data(), entries.size());
  const int error = device_->Call(DRM_IOCTL_HEDDLE_WAIT, &wait);
  if (error == 0) *commands = wait.trace_count;
  return error;
}

absl::StatusOr<drm_heddle_result> Context::Wait(uint64_t job,
                                                absl::Time deadline) {
  drm_heddle_result result;
  const int error = WaitFor(job, deadline, &result);
  if (error != 0) return FromErrno("waiting for a job", error);
  return result;
}

absl::Status Context::Execute(const std::vector<Step>& steps) {
  const absl::StatusOr<uint64_t> job = Submit(steps);
  if (!job.ok()) return job.status();
  const auto result = Wait(*job, absl::InfiniteFuture());
  if (!result.ok()) return result.status();
  return FromResult(*result, "");
}

// ---- Device
// -------------------------------------------------------------------

Device::Device(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), process_(getpid()) {}

Device::~Device() {
  // In a forked child other threads' waits are frozen inside the transport:
  // destroying it could block for ever.
  if (forked()) transport_.release();
}

bool Device::forked() const { return getpid() != process_; }

int Device::Call(unsigned long request, void* argument) noexcept {
  if (forked()) return -ECHILD;
  try {
    return transport_->Ioctl(request, argument);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

void Device::Shutdown() {
  if (!forked()) transport_->Shutdown();
}

absl::StatusOr<std::shared_ptr<Device>> Device::Open(
    std::unique_ptr<Transport> transport) {
  std::shared_ptr<Device> device(new Device(std::move(transport)));
  absl::Status status =
      device->Query(DRM_HEDDLE_QUERY_DEVICE, &device->info_,
                    sizeof(device->info_), "querying the card");
  if (!status.ok()) return status;
  const drm_heddle_device_info& info = device->info_;
  device->config_ = isa::FindConfigById(info.config);
  if (device->config_ == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the card has hardware configuration ", info.config,
                     ", which this build does not support; update it"));
  }
  if (reg::MajorOf(info.hw_version) != reg::MajorOf(reg::kVersionReset)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the card has hardware version ", reg::VersionText(info.hw_version),
        ", this build supports ", reg::VersionText(reg::kVersionReset),
        "; install the release for this card"));
  }
  // The driver's version is that of the contract that it knows. What the card
  // lacks of it the driver leaves out.
  drm_version version = {};
  if (device->Call(DRM_IOCTL_VERSION, &version) == 0) {
    device->driver_minor_ = version.version_minor;
  }
  return device;
}

bool Device::overlaps_copies() const {
  return driver_minor_ >= HEDDLE_STEP_FLAGS_OVERLAP_SINCE;
}

absl::Status Device::CanCopyOnCard() const {
  constexpr int kSince = 1;  // enum drm_heddle_step_type
  // A device without a version is none of a driver's, and knows all steps.
  if (driver_minor_ < 0 || driver_minor_ >= kSince) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the driver does not support copies within device memory, "
                   "added in version ",
                   reg::VersionText(reg::MakeVersion(
                       reg::MajorOf(reg::kVersionReset), kSince)),
                   ": install module and library of the same release"));
}

absl::Status Device::CanTrace() const {
  constexpr int kSince = HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_SINCE;
  const std::string needed = reg::VersionText(
      reg::MakeVersion(reg::MajorOf(reg::kVersionReset), kSince));
  if (driver_minor_ < 0) {
    return absl::FailedPreconditionError(
        "the device executes no commands, so it has no trace: use a card, or a "
        "simulated one (sim)");
  }
  if (driver_minor_ < kSince) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the driver does not support command traces, added in version ", needed,
        ": install the module and the library of one "
        "release"));
  }
  if (static_cast<int>(reg::MinorOf(info_.hw_version)) < kSince) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the card has hardware version ", reg::VersionText(info_.hw_version),
        ", which cannot trace commands (added in ", needed,
        "): use a newer card, or a simulated one (sim)"));
  }
  return absl::OkStatus();
}

absl::Status Device::Query(uint32_t type, void* data, uint32_t size,
                           absl::string_view what) {
  drm_heddle_query query = {};
  query.type = type;
  query.data.ptr = reinterpret_cast<uintptr_t>(data);
  query.data.count = 1;
  query.data.stride = size;
  const int error = Call(DRM_IOCTL_HEDDLE_QUERY, &query);
  return FromErrno(what, error);
}

int Device::Ping() noexcept {
  drm_heddle_query query = {};
  query.type = DRM_HEDDLE_QUERY_DEVICE;
  return Call(DRM_IOCTL_HEDDLE_QUERY, &query);
}

absl::StatusOr<drm_heddle_memory_info> Device::Memory() {
  drm_heddle_memory_info memory = {};
  absl::Status status = Query(DRM_HEDDLE_QUERY_MEMORY, &memory, sizeof(memory),
                              "querying the card's memory");
  if (!status.ok()) return status;
  return memory;
}

absl::StatusOr<drm_heddle_counters> Device::Counters() {
  drm_heddle_counters counters = {};
  absl::Status status = Query(DRM_HEDDLE_QUERY_COUNTERS, &counters,
                              sizeof(counters), "querying the card's counters");
  if (!status.ok()) return status;
  return counters;
}

absl::Status Device::Describe(Buffer* buffer, absl::string_view what) {
  drm_heddle_bo_info info = {};
  info.handle = buffer->handle_;
  int error = Call(DRM_IOCTL_HEDDLE_BO_INFO, &info);
  if (error != 0) return FromErrno(what, error);
  buffer->size_ = info.size;
  buffer->placement_ = static_cast<Placement>(info.placement);
  if (buffer->placement_ != Placement::kHost) return absl::OkStatus();
  void* address = nullptr;
  error = transport_->Map(buffer->handle_, info.size, &address);
  if (error == 0) {
    buffer->data_ = static_cast<uint8_t*>(address);
    return absl::OkStatus();
  }
  // A card that went away meanwhile is a likelier cause than most.
  const auto memory = Memory();
  return memory.ok() ? FromErrno(what, error) : memory.status();
}

absl::StatusOr<std::unique_ptr<Buffer>> Device::CreateBuffer(
    uint64_t size, Placement placement, absl::string_view what) {
  const std::string action =
      absl::StrCat("allocating ", size, " bytes for ", what);
  std::unique_ptr<Buffer> buffer(new Buffer(shared_from_this()));
  drm_heddle_bo_create create = {};
  create.size = size;
  create.placement = static_cast<uint32_t>(placement);
  const int error = Call(DRM_IOCTL_HEDDLE_BO_CREATE, &create);
  if (error == -ENOSPC) {
    return NoDeviceMemory(action, size, create.available);
  }
  if (error != 0) return FromErrno(action, error);
  buffer->handle_ = create.handle;
  if (absl::Status s = Describe(buffer.get(), action); !s.ok()) return s;
  return buffer;
}

absl::StatusOr<std::unique_ptr<Buffer>> Device::ImportBuffer(int fd) {
  if (forked()) return FromErrno("importing a buffer", ECHILD);
  std::unique_ptr<Buffer> buffer(new Buffer(shared_from_this()));
  const int error = transport_->Import(fd, &buffer->handle_);
  if (error != 0) return FromErrno("importing a buffer", error);
  absl::Status s = Describe(buffer.get(), "importing a buffer");
  if (!s.ok()) return s;
  return buffer;
}

absl::StatusOr<std::unique_ptr<Stream>> Device::CreateStream(
    absl::Span<const uint32_t> words, absl::string_view what) {
  const uint64_t bytes = words.size() * sizeof(uint32_t);
  if (bytes == 0 || bytes > info_.max_stream_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has ", bytes, " bytes; the card takes 1 to ",
                     info_.max_stream_bytes));
  }
  std::unique_ptr<Stream> stream(new Stream(shared_from_this()));
  drm_heddle_stream_create create = {};
  create.data.ptr = reinterpret_cast<uintptr_t>(words.data());
  create.data.count = static_cast<uint32_t>(bytes);
  create.data.stride = 1;
  const int error = Call(DRM_IOCTL_HEDDLE_STREAM_CREATE, &create);
  if (error == -ENOEXEC) {
    return absl::InvalidArgumentError(
        absl::StrCat("the driver rejects ", what, " at byte ",
                     create.error_offset, ": ", ValidateRule(create.error_code),
                     " (rule ", create.error_code, ")", OlderDriver()));
  }
  if (error == -ENOSPC) {
    const auto memory = Memory();
    return NoDeviceMemory(absl::StrCat("loading ", what), bytes,
                          memory.ok() && memory->total > memory->used
                              ? memory->total - memory->used
                              : 0);
  }
  if (error != 0) return FromErrno(absl::StrCat("loading ", what), error);
  stream->id_ = create.stream;
  return stream;
}

std::string Device::OlderDriver() {
  drm_version version = {};
  const int minor = reg::MinorOf(reg::kVersionReset);
  if (Call(DRM_IOCTL_VERSION, &version) != 0 ||
      version.version_minor >= minor) {
    return "";
  }
  return absl::StrCat("; the driver knows hardware version ",
                      version.version_major, ".", version.version_minor,
                      ", this build ", reg::VersionText(reg::kVersionReset),
                      ": install module and library of the same release");
}

absl::StatusOr<std::unique_ptr<Context>> Device::CreateContext(
    uint32_t priority) {
  std::unique_ptr<Context> context(new Context(shared_from_this()));
  drm_heddle_context_create create = {};
  create.priority = priority;
  const int error = Call(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &create);
  if (error != 0) {
    return FromQueueErrno(
        absl::StrCat("making a context of priority ", priority), error);
  }
  context->id_ = create.context;
  return context;
}

int Device::WaitForEvents(absl::Time deadline,
                          absl::Span<drm_heddle_event> events) noexcept {
  drm_heddle_events request = {};
  request.events = Array(events.data(), events.size());
  request.deadline_ns = DeadlineNs(deadline);
  int error;
  do {
    error = Call(DRM_IOCTL_HEDDLE_EVENTS, &request);
  } while (error == -EINTR || error == -ERESTART);
  if (error != 0) return error;
  return static_cast<int>(std::min<size_t>(request.filled, events.size()));
}

absl::StatusOr<std::vector<drm_heddle_event>> Device::Events(
    absl::Time deadline) {
  std::vector<drm_heddle_event> events(16);
  const int filled = WaitForEvents(deadline, absl::MakeSpan(events));
  if (filled < 0) return FromErrno("waiting for events", filled);
  events.resize(static_cast<size_t>(filled));
  return events;
}

}  // namespace heddle::hal
