// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/virtqueue.h"

#include <algorithm>
#include <atomic>

namespace heddle::platform {
namespace {

struct Descriptor {
  uint64_t address;
  uint32_t length;
  uint16_t flags;
  uint16_t next;
};
struct UsedElement {
  uint32_t head;
  uint32_t written;
};
static_assert(sizeof(Descriptor) == 16 && sizeof(UsedElement) == 8,
              "layout of the rings");

// Before the entries of the available and the used ring.
constexpr uint64_t kIndex = 2;
constexpr uint64_t kEntries = 4;

// Calls access(address, offset, bytes) for the pieces of
// [offset, offset + bytes) of a list of buffers. False: it is shorter, or one
// access fails.
template <typename Access>
bool ForPieces(const std::vector<Virtqueue::Buffer>& buffers, uint64_t offset,
               size_t bytes, Access access) {
  size_t done = 0;
  for (const Virtqueue::Buffer& buffer : buffers) {
    if (done == bytes) break;
    if (offset >= buffer.length) {
      offset -= buffer.length;
      continue;
    }
    const size_t piece = static_cast<size_t>(
        std::min<uint64_t>(bytes - done, buffer.length - offset));
    if (buffer.address + offset < buffer.address ||
        !access(buffer.address + offset, done, piece)) {
      return false;
    }
    done += piece;
    offset = 0;
  }
  return done == bytes;
}

bool Fits(uint64_t address, uint64_t bytes, uint64_t alignment) {
  return address != 0 && address % alignment == 0 && address + bytes > address;
}

}  // namespace

bool Virtqueue::SetSize(uint32_t size) {
  if (size == 0 || size > kMaxSize || (size & (size - 1)) != 0) return false;
  size_ = size;
  return true;
}

bool Virtqueue::SetBase(uint32_t index) {
  if (index > UINT16_MAX) return false;
  next_available_ = next_used_ = static_cast<uint16_t>(index);
  return true;
}

bool Virtqueue::SetAddresses(uint64_t descriptors, uint64_t used,
                             uint64_t available) {
  // The largest ring: the size may come later.
  if (!Fits(descriptors, sizeof(Descriptor) * kMaxSize, 16) ||
      !Fits(used, kEntries + sizeof(UsedElement) * kMaxSize, 4) ||
      !Fits(available, kEntries + sizeof(uint16_t) * kMaxSize, 2)) {
    return false;
  }
  descriptors_ = descriptors;
  used_ = used;
  available_ = available;
  return true;
}

Virtqueue::Result Virtqueue::Bad(const char* why) {
  error_ = why;
  return Result::kBad;
}

Virtqueue::Result Virtqueue::Pop(Chain* chain) {
  if (!ready()) return Result::kEmpty;
  uint16_t index;
  if (!memory_->Load16(available_ + kIndex, &index)) {
    return Bad("the available ring is not in memory");
  }
  const auto waiting = static_cast<uint16_t>(index - next_available_);
  if (waiting == 0) return Result::kEmpty;
  if (waiting > size_) return Bad("more chains are available than entries");
  const uint64_t entry =
      available_ + kEntries + sizeof(uint16_t) * (next_available_ % size_);
  chain->out.clear();
  chain->in.clear();
  if (!memory_->Load16(entry, &chain->head)) {
    return Bad("the available ring is not in memory");
  }
  if (!Walk(chain)) return Result::kBad;
  ++next_available_;
  return Result::kChain;
}

bool Virtqueue::Walk(Chain* chain) {
  uint64_t bytes = 0;
  uint32_t next = chain->head;
  for (uint32_t i = 0; i < size_; ++i) {
    if (next >= size_) {
      Bad("a chain names a descriptor beyond the table");
      return false;
    }
    Descriptor descriptor;
    if (!memory_->Read(descriptors_ + sizeof(Descriptor) * next, &descriptor,
                       sizeof(descriptor))) {
      Bad("the descriptors are not in memory");
      return false;
    }
    if (descriptor.flags & ~(kNext | kWritable)) {
      Bad("a descriptor has flags that were not offered");
      return false;
    }
    const bool writable = descriptor.flags & kWritable;
    if (!writable && !chain->in.empty()) {
      Bad("a readable descriptor follows a writable one");
      return false;
    }
    bytes += descriptor.length;
    if (bytes > UINT32_MAX) {
      Bad("a chain is longer than 4 GiB");
      return false;
    }
    (writable ? chain->in : chain->out)
        .push_back({descriptor.address, descriptor.length});
    if (!(descriptor.flags & kNext)) return true;
    next = descriptor.next;
  }
  Bad("a chain of descriptors does not end");
  return false;
}

bool Virtqueue::Push(const Chain& chain, uint32_t written) {
  const UsedElement element = {chain.head, written};
  const uint64_t entry =
      used_ + kEntries + sizeof(element) * (next_used_ % size_);
  ++next_used_;
  if (memory_->Write(entry, &element, sizeof(element)) &&
      memory_->Store16(used_ + kIndex, next_used_)) {
    return true;
  }
  Bad("the used ring is not in memory");
  return false;
}

bool Virtqueue::WantsCall() const {
  // The driver sets its flag and then looks at the used index: one of both
  // sides must see the other's.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  uint16_t flags;
  return !memory_->Load16(available_, &flags) || !(flags & kNoCall);
}

bool Virtqueue::Read(const Chain& chain, uint64_t offset, void* to,
                     size_t bytes) const {
  auto* data = static_cast<uint8_t*>(to);
  return ForPieces(chain.out, offset, bytes,
                   [&](uint64_t address, size_t at, size_t piece) {
                     return memory_->Read(address, data + at, piece);
                   });
}

bool Virtqueue::Write(const Chain& chain, uint64_t offset, const void* from,
                      size_t bytes) const {
  const auto* data = static_cast<const uint8_t*>(from);
  return ForPieces(chain.in, offset, bytes,
                   [&](uint64_t address, size_t at, size_t piece) {
                     return memory_->Write(address, data + at, piece);
                   });
}

uint64_t Virtqueue::Bytes(const std::vector<Buffer>& buffers) {
  uint64_t bytes = 0;
  for (const Buffer& buffer : buffers) bytes += buffer.length;
  return bytes;
}

}  // namespace heddle::platform
