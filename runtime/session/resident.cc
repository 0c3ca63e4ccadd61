// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/resident.h"

#include <errno.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "runtime/session/segment_pool.h"
#include "runtime/session/turn_line.h"

namespace heddle::session {
namespace {

// Bytes travel through a host buffer of this size.
constexpr uint64_t kTransferBytes = uint64_t{8} << 20;

}  // namespace

absl::StatusOr<std::shared_ptr<Resident>> ResidentBuffer::Make(
    std::shared_ptr<DeviceCore> core, uint64_t bytes) {
  if (core->forked()) return hal::FromErrno("making a resident tensor", ECHILD);
  if (bytes == 0) {
    return absl::InvalidArgumentError("a resident tensor has no bytes");
  }
  if (absl::Status s = core->device().CanCopyOnCard(); !s.ok()) return s;
  auto buffer = core->device().CreateBuffer(bytes, hal::Placement::kDevice,
                                            "a resident tensor");
  if (!buffer.ok()) return buffer.status();
  return std::shared_ptr<Resident>(
      new ResidentBuffer(std::move(core), *std::move(buffer), bytes));
}

template <typename Before, typename Behind>
absl::Status ResidentBuffer::Transfer(uint64_t size, bool in, Before before,
                                      Behind behind) {
  if (core_->forked()) return hal::FromErrno("a resident tensor", ECHILD);
  if (core_->OnCompletionThread() || SegmentPool::OnAnyThread()) {
    return absl::FailedPreconditionError(
        "a callback of the runtime cannot wait for the card");
  }
  if (size != size_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the resident tensor has ", size_, " bytes, the buffer has ", size));
  }
  auto host = core_->device().CreateBuffer(std::min(size_, kTransferBytes),
                                           hal::Placement::kHost,
                                           "the transfer of a resident tensor");
  if (!host.ok()) return host.status();
  std::mutex mutex;
  std::condition_variable changed;
  bool may_go = true;
  TurnLine::Turn turn(TurnLine::Kind::kTransfer, {{this, in}}, [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    may_go = true;
    changed.notify_all();
  });
  core_->turns().Join(&turn, [&may_go](bool has_come) {
    may_go = has_come;
    return true;
  });
  absl::Cleanup leave = [&] { core_->turns().Leave(&turn); };
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&may_go] { return may_go; });
  }
  for (uint64_t at = 0; at < size_; at += kTransferBytes) {
    const uint64_t length = std::min(kTransferBytes, size_ - at);
    before((*host)->data(), at, length);
    const hal::Step step =
        in ? hal::Step::CopyIn(**host, 0, *buffer_, at, length)
           : hal::Step::CopyOut(*buffer_, at, **host, 0, length);
    // In the order of the context's jobs: behind the runs before.
    if (absl::Status s = core_->context().Execute({step}); !s.ok()) return s;
    behind((*host)->data(), at, length);
  }
  return absl::OkStatus();
}

absl::Status ResidentBuffer::Write(const void* data, uint64_t size) {
  return Transfer(
      size, true,
      [data](uint8_t* host, uint64_t at, uint64_t length) {
        std::memcpy(host, static_cast<const uint8_t*>(data) + at, length);
      },
      [](uint8_t*, uint64_t, uint64_t) {});
}

absl::Status ResidentBuffer::Read(void* data, uint64_t size) {
  return Transfer(
      size, false, [](uint8_t*, uint64_t, uint64_t) {},
      [data](uint8_t* host, uint64_t at, uint64_t length) {
        std::memcpy(static_cast<uint8_t*>(data) + at, host, length);
      });
}

absl::StatusOr<const ResidentBuffer*> ResidentOf(const TensorBuffer& buffer,
                                                 const DeviceCore& core) {
  const auto* resident =
      dynamic_cast<const ResidentBuffer*>(buffer.resident.get());
  if (resident == nullptr || resident->core() != &core) {
    return absl::InvalidArgumentError(
        absl::StrCat("the resident tensor of '", buffer.name,
                     "' belongs to another device: create it with the device "
                     "on which the graph is loaded"));
  }
  if (resident->size() != buffer.size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the resident tensor of '", buffer.name, "' has ", resident->size(),
        " bytes, but the buffer has ", buffer.size));
  }
  return resident;
}

}  // namespace heddle::session
