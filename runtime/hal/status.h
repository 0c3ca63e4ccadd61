// SPDX-License-Identifier: Apache-2.0
// Errors as an absl::Status with a sentence: errno values of the driver and
// results of jobs.
//
// errno -> code (the sentence names `what`, the action that failed):
//   ENODEV, EPIPE, ECONNRESET    Unavailable: the card is gone
//   ECHILD (own)                 Unavailable: opened before fork()
//   ENOSPC                       ResourceExhausted, device memory
//   ENOMEM                       ResourceExhausted, system memory
//   EMFILE, ENFILE, EAGAIN       ResourceExhausted, system resources
//   EBUSY                        ResourceExhausted, device resources
//   (SUBMIT: EAGAIN too)
//   ETIME                        DeadlineExceeded
//   ECANCELED                    Cancelled
//   ENOENT                       NotFound
//   EACCES, EPERM                PermissionDenied
//   EINVAL, EFAULT, ENOEXEC, E2BIG  InvalidArgument
//   ERANGE                       OutOfRange
//   ENOTTY                       Unimplemented
//   anything else                Internal
#ifndef HEDDLE_RUNTIME_HAL_STATUS_H_
#define HEDDLE_RUNTIME_HAL_STATUS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "drm/heddle_drm.h"

namespace heddle::hal {

enum class Resource {
  kSystemMemory,
  kSystemResources,
  kDeviceMemory,
  kDeviceResources
};

// A ResourceExhausted status that knows which resource it is about.
absl::Status Exhausted(Resource resource, absl::string_view message);
// kSystemResources for a status that does not say.
Resource ExhaustedResource(const absl::Status& status);

// Device memory does not suffice, with both figures in bytes; `or_else` is
// another way out, " ..., ".
absl::Status NoDeviceMemory(absl::string_view what, uint64_t needed,
                            uint64_t available, absl::string_view or_else = "");

// The status of an errno; it may have either sign. OK for 0.
absl::Status FromErrno(absl::string_view what, int error);

// The same of CONTEXT_CREATE and SUBMIT, where EIO is the answer to a file that
// the driver has banned.
absl::Status FromQueueErrno(absl::string_view what, int error);

// Whether an errno, of either sign, says that the card is gone.
bool MeansGone(int error);

// Rule that a refused stream breaks, as a phrase; `code` comes from the driver.
const char* ValidateRule(uint32_t code);

// How a job ended, by the generated table of status codes. `node` is the ONNX
// node of the faulting command, or empty. OK if the job is done.
absl::Status FromResult(const drm_heddle_result& result,
                        absl::string_view node);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_STATUS_H_
