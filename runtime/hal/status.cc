// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/status.h"

#include <errno.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::hal {
namespace {

constexpr char kResourceUrl[] = "heddle/exhausted-resource";

struct ResourceName {
  Resource resource;
  const char* name;
};

constexpr ResourceName kResourceNames[] = {
    {Resource::kSystemMemory, "system memory"},
    {Resource::kSystemResources, "system resources"},
    {Resource::kDeviceMemory, "device memory"},
    {Resource::kDeviceResources, "device resources"},
};

const char* DeviceLostText() {
  return isa::FindError(static_cast<uint32_t>(isa::Error::kDeviceLost))->text;
}

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ETIME:
      return absl::StatusCode::kDeadlineExceeded;
    case ECANCELED:
      return absl::StatusCode::kCancelled;
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case EINVAL:
    case EFAULT:
    case ENOEXEC:
    case E2BIG:
      return absl::StatusCode::kInvalidArgument;
    case ERANGE:
      return absl::StatusCode::kOutOfRange;
    case ENOTTY:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status Exhausted(Resource resource, absl::string_view message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  for (const ResourceName& entry : kResourceNames) {
    if (entry.resource == resource) {
      status.SetPayload(kResourceUrl, absl::Cord(entry.name));
    }
  }
  return status;
}

Resource ExhaustedResource(const absl::Status& status) {
  if (const auto payload = status.GetPayload(kResourceUrl)) {
    for (const ResourceName& entry : kResourceNames) {
      if (*payload == entry.name) return entry.resource;
    }
  }
  return Resource::kSystemResources;
}

absl::Status NoDeviceMemory(absl::string_view what, uint64_t needed,
                            uint64_t available, absl::string_view or_else) {
  const char* text =
      isa::FindError(static_cast<uint32_t>(isa::Error::kNoDeviceMemory))->text;
  return Exhausted(
      Resource::kDeviceMemory,
      absl::StrCat(
          what, ": ",
          absl::StrReplaceAll(text, {{"{available}", absl::StrCat(available)},
                                     {"{needed}", absl::StrCat(needed)}}),
          "; release other graphs", or_else,
          " or use a card with more memory"));
}

bool MeansGone(int error) {
  error = std::abs(error);
  return error == ENODEV || error == EPIPE || error == ECONNRESET ||
         error == ECHILD;
}

absl::Status FromErrno(absl::string_view what, int error) {
  error = std::abs(error);
  switch (error) {
    case 0:
      return absl::OkStatus();
    case ENODEV:
    case EPIPE:
    case ECONNRESET:
      return absl::UnavailableError(absl::StrCat(what, ": ", DeviceLostText()));
    case ECHILD:
      return absl::UnavailableError(absl::StrCat(
          what,
          ": the device was opened before fork(); open it in this process"));
    case ENOSPC:
      return Exhausted(
          Resource::kDeviceMemory,
          absl::StrCat(what, ": not enough device memory left on the card"));
    case ENOMEM:
      return Exhausted(Resource::kSystemMemory,
                       absl::StrCat(what, ": out of system memory"));
    case EMFILE:
    case ENFILE:
      return Exhausted(Resource::kSystemResources,
                       absl::StrCat(what, ": ", std::strerror(error),
                                    "; raise the limit (ulimit -n)"));
    case EAGAIN:
      return Exhausted(
          Resource::kSystemResources,
          absl::StrCat(what,
                       ": too many jobs in flight; wait for earlier ones"));
    case EDQUOT:
      return Exhausted(Resource::kDeviceResources,
                       absl::StrCat(what,
                                    ": this process has reached the driver's "
                                    "limits for one open file"));
    case ENOBUFS:
      return Exhausted(Resource::kSystemResources,
                       absl::StrCat(what,
                                    ": heddle-hosted holds too many bytes of "
                                    "this process's calls (--max-queued-mib)"));
    case EFBIG:
      return Exhausted(
          Resource::kDeviceResources,
          absl::StrCat(what,
                       ": the job can take more card cycles than the run limit "
                       "allows; split the model, or have an administrator "
                       "raise the limit"));
    case EBUSY:
      return Exhausted(Resource::kDeviceResources,
                       absl::StrCat(what, ": the card is busy"));
    default:
      return absl::Status(CodeOf(error),
                          absl::StrCat(what, ": ", std::strerror(error)));
  }
}

absl::Status FromQueueErrno(absl::string_view what, int error) {
  if (std::abs(error) != EIO) return FromErrno(what, error);
  return absl::FailedPreconditionError(
      absl::StrCat(what,
                   ": jobs of this process hung too often, so the driver "
                   "rejects further ones; reopen the device"));
}

const char* ValidateRule(uint32_t code) {
  switch (code) {
    case HEDDLE_VALIDATE_SIZE:
      return "it is empty, too long, or not whole 16-byte words";
    case HEDDLE_VALIDATE_OPCODE:
      return "no such instruction";
    case HEDDLE_VALIDATE_LENGTH:
      return "the length differs from the instruction's";
    case HEDDLE_VALIDATE_TRUNCATED:
      return "the command crosses the end of the stream";
    case HEDDLE_VALIDATE_RESERVED:
      return "a reserved bit is set";
    case HEDDLE_VALIDATE_FIELD:
      return "a field is out of its range";
    case HEDDLE_VALIDATE_RULE:
      return "a rule of the instruction is broken";
    case HEDDLE_VALIDATE_SRAM:
      return "an access can leave SRAM";
    case HEDDLE_VALIDATE_REGION:
      return "an offset in a region does not fit 64 bits";
    case HEDDLE_VALIDATE_WAIT:
      return "a wait is not satisfied in program order";
    case HEDDLE_VALIDATE_SIGNAL:
      return "a semaphore would exceed its maximum";
    case HEDDLE_VALIDATE_END:
      return "the stream does not end with its only end command";
    case HEDDLE_VALIDATE_SEMAPHORE:
      return "between two barriers a semaphore has a second signalling engine, "
             "signal point or waiting engine";
    default:
      return "the driver gave no reason";
  }
}

absl::Status FromResult(const drm_heddle_result& result,
                        absl::string_view node) {
  if (result.status == 0 && result.error == 0) return absl::OkStatus();
  const isa::ErrorInfo* info = isa::FindError(result.status);
  if (info == nullptr || info->absl_code == absl::StatusCode::kOk) {
    return absl::InternalError(absl::StrCat(
        "the job failed with status code ", result.status, " (errno ",
        result.error, "), which this build does not know; update it"));
  }
  std::string text = absl::StrReplaceAll(
      info->text, {{"{offset}", absl::StrCat(result.fault_offset)},
                   {"{address}", absl::StrCat(result.fault_address)},
                   {"{region}", absl::StrCat(result.fault_region)}});
  if (!node.empty()) absl::StrAppend(&text, " in node '", node, "'");
  absl::StrAppend(&text, " [", info->name, ", step ", result.fault_step,
                  ", tag ", result.fault_tag, "]");
  return absl::Status(info->absl_code, text);
}

}  // namespace heddle::hal
