// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz_ioctl/oracle.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "drm/heddle_drm.h"

namespace heddle::fuzz {
namespace {

struct Row {
  unsigned long request;
  const char* name;
  // Beside 0, EINVAL, EFAULT, ENOMEM and E2BIG, which every call may give.
  std::vector<int> errors;
};

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {DRM_IOCTL_HEDDLE_QUERY, "QUERY", {}},
      {DRM_IOCTL_HEDDLE_CONTEXT_CREATE,
       "CONTEXT_CREATE",
       {EACCES, EDQUOT, EIO}},
      {DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, "CONTEXT_CONTROL", {ENOENT, EACCES}},
      {DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, "CONTEXT_DESTROY", {ENOENT}},
      {DRM_IOCTL_HEDDLE_BO_CREATE, "BO_CREATE", {ENOSPC, EDQUOT}},
      {DRM_IOCTL_HEDDLE_BO_INFO, "BO_INFO", {ENOENT}},
      {DRM_IOCTL_HEDDLE_STREAM_CREATE,
       "STREAM_CREATE",
       {ENOEXEC, ENOSPC, EDQUOT}},
      {DRM_IOCTL_HEDDLE_STREAM_DESTROY, "STREAM_DESTROY", {ENOENT}},
      {DRM_IOCTL_HEDDLE_SUBMIT,
       "SUBMIT",
       {ENOENT, ERANGE, EAGAIN, EFBIG, EIO, EDQUOT}},
      {DRM_IOCTL_HEDDLE_WAIT, "WAIT", {ENOENT, ETIME}},
      {DRM_IOCTL_HEDDLE_EVENTS, "EVENTS", {ETIME}},
      {DRM_IOCTL_VERSION, "VERSION", {}},
      {DRM_IOCTL_GEM_CLOSE, "GEM_CLOSE", {}},
      {DRM_IOCTL_PRIME_HANDLE_TO_FD,
       "PRIME_HANDLE_TO_FD",
       {ENOENT, EOPNOTSUPP}},
      {DRM_IOCTL_PRIME_FD_TO_HANDLE,
       "PRIME_FD_TO_HANDLE",
       {EBADF, EACCES, EDQUOT}},
      {DRM_IOCTL_SYNCOBJ_CREATE, "SYNCOBJ_CREATE", {}},
      {DRM_IOCTL_SYNCOBJ_DESTROY, "SYNCOBJ_DESTROY", {ENOENT}},
      {DRM_IOCTL_SYNCOBJ_WAIT, "SYNCOBJ_WAIT", {ENOENT, ETIME}},
      {DRM_IOCTL_SYNCOBJ_RESET, "SYNCOBJ_RESET", {ENOENT}},
      {DRM_IOCTL_SYNCOBJ_SIGNAL, "SYNCOBJ_SIGNAL", {ENOENT}},
      {DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, "TIMELINE_WAIT", {ENOENT, ETIME}},
      {DRM_IOCTL_SYNCOBJ_QUERY, "TIMELINE_QUERY", {ENOENT}},
      {DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, "TIMELINE_SIGNAL", {ENOENT}},
  };
  return *rows;
}

}  // namespace

std::string NameOf(unsigned long request) {
  for (const Row& row : Rows()) {
    if (row.request == request) return row.name;
  }
  return absl::StrCat("ioctl 0x", absl::Hex(request));
}

std::string Judge(const Verdict& verdict, int result) {
  const auto complaint = [&](const char* what) {
    return absl::StrCat(NameOf(verdict.request), " gave ", result, " (",
                        result < 0 ? std::strerror(-result) : "success",
                        "): ", what);
  };
  if (result > 0) return complaint("neither 0 nor a negative errno");
  if (result == -ENODEV) {
    return verdict.may_be_gone ? "" : complaint("the card is there");
  }
  if (result == 0) {
    return verdict.must_fail ? complaint("it has to be refused") : "";
  }
  for (const Row& row : Rows()) {
    if (row.request != verdict.request) continue;
    const int error = -result;
    if (error == EINVAL || error == EFAULT || error == ENOMEM ||
        error == E2BIG ||
        std::count(row.errors.begin(), row.errors.end(), error) != 0) {
      return "";
    }
    return complaint("the interface does not have this error here");
  }
  return result == -ENOTTY || result == -EINVAL
             ? ""
             : complaint("an unknown ioctl gives ENOTTY");
}

}  // namespace heddle::fuzz
