// SPDX-License-Identifier: Apache-2.0
// The user-mode driver: an open card, its buffers, streams and contexts, over
// any Transport. Objects keep their device alive and release their resources
// when destroyed. All functions are thread-safe.
//
// Out of memory, calls throw std::bad_alloc and leave nothing behind; releasing
// things and waiting for jobs or events need no memory.
//
// After fork() the child may destroy what it inherited, without effect on the
// parent's objects; every other call returns Unavailable at once.
#ifndef HEDDLE_RUNTIME_HAL_DEVICE_H_
#define HEDDLE_RUNTIME_HAL_DEVICE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "drm/heddle_drm.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/hal/status.h"
#include "runtime/hal/transport.h"

namespace heddle::hal {

class Device;

enum class Placement : uint32_t {
  kHost = DRM_HEDDLE_HOST,      // mapped; reached by copy steps
  kDevice = DRM_HEDDLE_DEVICE,  // the card's memory; zero before first use
};

class Buffer {
 public:
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint32_t handle() const { return handle_; }
  uint64_t size() const { return size_; }  // bytes, page-rounded
  Placement placement() const { return placement_; }
  // HOST buffers: the memory, mapped for the buffer's life. Null for DEVICE.
  uint8_t* data() const { return data_; }
  // HOST buffers: a descriptor for another process or driver; the caller
  // closes.
  absl::StatusOr<int> Export() const;

 private:
  friend class Device;
  explicit Buffer(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}

  const std::shared_ptr<Device> device_;
  uint32_t handle_ = 0;  // 0: none yet
  uint64_t size_ = 0;
  Placement placement_ = Placement::kHost;
  uint8_t* data_ = nullptr;
};

// A command stream that the driver has copied and accepted.
class Stream {
 public:
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  uint32_t id() const { return id_; }

 private:
  friend class Device;
  explicit Stream(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}
  const std::shared_ptr<Device> device_;
  uint32_t id_ = 0;  // 0: none yet
};

// One step of a job. Make them with the functions below.
struct Step {
  drm_heddle_step step = {};
  std::vector<drm_heddle_region> regions;

  // `length` bytes from a HOST to a DEVICE buffer, or back.
  static Step CopyIn(const Buffer& host, uint64_t host_offset,
                     const Buffer& device, uint64_t device_offset,
                     uint64_t length);
  static Step CopyOut(const Buffer& device, uint64_t device_offset,
                      const Buffer& host, uint64_t host_offset,
                      uint64_t length);
  // From one DEVICE buffer to another, or in one. Only for a device that
  // CanCopyOnCard().
  static Step CopyOnCard(const Buffer& from, uint64_t from_offset,
                         const Buffer& to, uint64_t to_offset, uint64_t length);
  // `length` is a multiple of 4.
  static Step Fill(const Buffer& device, uint64_t offset, uint64_t length,
                   uint32_t value);
  static Step Run(const Stream& stream);
  // Lets the card execute this copy or fill with the Run step before it, or
  // before others that may be. No region of that Run may be on the buffer that
  // it writes. Only for a device that overlaps_copies().
  Step& Overlap();
  // Binds a DEVICE buffer from its start to region `index` of a Run step.
  Step& Bind(uint32_t index, const Buffer& device, uint64_t size,
             bool writable);
};

// A queue of jobs, executed in the order of submission.
class Context {
 public:
  ~Context();  // cancels what has not started
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  struct SubmitOptions {
    absl::Duration timeout;  // without progress; zero = the driver's default
    // Commands that there is room for in a trace of the job; 0: it has none. Up
    // to DRM_HEDDLE_TRACE_ENTRIES_MAX. The driver keeps the trace as long as
    // the job's result: the last 1024 of a context, until that goes.
    uint32_t trace_entries = 0;
  };
  // Queues a job; its number. ResourceExhausted (kDeviceResources) when the
  // most jobs are in flight. Of a traced job also what CanTrace() says.
  absl::StatusOr<uint64_t> Submit(const std::vector<Step>& steps,
                                  const SubmitOptions& options);
  absl::StatusOr<uint64_t> Submit(const std::vector<Step>& steps) {
    return Submit(steps, SubmitOptions());
  }
  // OK when the job has ended, however it did: see FromResult().
  absl::StatusOr<drm_heddle_result> Wait(uint64_t job, absl::Time deadline);
  // The same as 0 or a negative errno. *result is 0 if it is not 0.
  int WaitFor(uint64_t job, absl::Time deadline,
              drm_heddle_result* result) noexcept;
  // The first commands of a traced job that has ended, in the order in which
  // they were retired; at most as many as the job had trace_entries. *commands:
  // of the whole job. 0 or a negative errno (-ETIME: the job has not ended).
  int ReadTrace(uint64_t job, absl::Span<drm_heddle_trace_entry> entries,
                uint32_t* commands) noexcept;
  // Submit and Wait; the job's status.
  absl::Status Execute(const std::vector<Step>& steps);

 private:
  friend class Device;
  explicit Context(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}
  const std::shared_ptr<Device> device_;
  uint32_t id_ = 0;  // 0: none yet
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  // Asks the card what it is. FailedPrecondition: this build does not know its
  // configuration or hardware version.
  static absl::StatusOr<std::shared_ptr<Device>> Open(
      std::unique_ptr<Transport> transport);
  ~Device();

  const drm_heddle_device_info& info() const { return info_; }
  const isa::Config& config() const { return *config_; }
  // Whether the driver knows Step::Overlap; it drops it for an older card.
  bool overlaps_copies() const;
  // Whether the driver knows Step::CopyOnCard: OK, or FailedPrecondition.
  absl::Status CanCopyOnCard() const;
  // Whether jobs can be traced: OK, or FailedPrecondition with what is too old.
  absl::Status CanTrace() const;

  // Asks the card for nothing: 0, or a negative errno.
  int Ping() noexcept;
  absl::StatusOr<drm_heddle_memory_info> Memory();
  absl::StatusOr<drm_heddle_counters> Counters();

  // `what` names the buffer in messages.
  absl::StatusOr<std::unique_ptr<Buffer>> CreateBuffer(uint64_t size,
                                                       Placement placement,
                                                       absl::string_view what);
  // A HOST buffer that was exported; `fd` stays the caller's.
  absl::StatusOr<std::unique_ptr<Buffer>> ImportBuffer(int fd);
  // InvalidArgument names offset and rule if the driver refuses the stream.
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream(
      absl::Span<const uint32_t> words, absl::string_view what);
  // 0 is the highest priority.
  absl::StatusOr<std::unique_ptr<Context>> CreateContext(uint32_t priority);

  // Waits for events of the card. DeadlineExceeded: none.
  absl::StatusOr<std::vector<drm_heddle_event>> Events(absl::Time deadline);
  // The same: the number of events in `events`, or a negative errno.
  int WaitForEvents(absl::Time deadline,
                    absl::Span<drm_heddle_event> events) noexcept;

  // Wakes every waiting call; the device is of no use afterwards.
  void Shutdown();

  // Whether this is a child of the process that opened the device.
  bool forked() const;
  // An ioctl: 0 or a negative errno; -ECHILD in a forked child.
  int Call(unsigned long request, void* argument) noexcept;

 private:
  friend class Buffer;
  explicit Device(std::unique_ptr<Transport> transport);
  absl::Status Query(uint32_t type, void* data, uint32_t size,
                     absl::string_view what);
  // Why a driver may refuse what this build takes for legal; empty if it knows
  // the same version of the contract.
  std::string OlderDriver();
  // Asks what the buffer with its handle is, and maps it.
  absl::Status Describe(Buffer* buffer, absl::string_view what);

  std::unique_ptr<Transport> transport_;
  const pid_t process_;
  drm_heddle_device_info info_ = {};
  const isa::Config* config_ = nullptr;
  // Minor version of the contract that the driver knows; -1: it tells none.
  int driver_minor_ = -1;
};

// Absolute CLOCK_MONOTONIC nanoseconds as the driver wants them: 0 for the
// past, ~0 for the infinite future.
uint64_t DeadlineNs(absl::Time deadline);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_DEVICE_H_
