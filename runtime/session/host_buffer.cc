// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/host_buffer.h"

#include <errno.h>

#include "absl/strings/str_cat.h"

namespace heddle::session {

absl::StatusOr<std::shared_ptr<HostBuffer>> MappedHostBuffer::Make(
    std::shared_ptr<DeviceCore> core, uint64_t bytes) {
  if (core->forked()) return hal::FromErrno("making a host buffer", ECHILD);
  if (bytes == 0) {
    return absl::InvalidArgumentError("a host buffer needs at least one byte");
  }
  auto buffer = core->device().CreateBuffer(bytes, hal::Placement::kHost,
                                            "a host buffer of the caller");
  if (!buffer.ok()) return buffer.status();
  return std::shared_ptr<HostBuffer>(
      new MappedHostBuffer(std::move(core), *std::move(buffer), bytes));
}

absl::StatusOr<HostPlace> HostPlaceOf(const TensorBuffer& buffer,
                                      const DeviceCore& core) {
  const auto* host = dynamic_cast<const MappedHostBuffer*>(buffer.host.get());
  if (host == nullptr || host->core() != &core) {
    return absl::InvalidArgumentError(
        absl::StrCat("the host buffer of '", buffer.name,
                     "' belongs to another device: create it with the device "
                     "on which the graph is loaded"));
  }
  const auto begin = reinterpret_cast<uintptr_t>(host->data());
  const auto data = reinterpret_cast<uintptr_t>(buffer.data);
  if (data < begin || data - begin > host->size() ||
      buffer.size > host->size() - (data - begin)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", buffer.name, "' is not within its host buffer of ",
                     host->size(), " bytes"));
  }
  return HostPlace{&host->buffer(), data - begin};
}

}  // namespace heddle::session
