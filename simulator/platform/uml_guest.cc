// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/uml_guest.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {
constexpr uint32_t kAvailable = 0x1000;  // in a queue's memory
constexpr uint32_t kUsed = 0x2000;
constexpr uint16_t kNext = 1, kWritable = 2;
}  // namespace

bool UmlGuest::Attach(const Memory& memory) {
  memory_ = memory;
  if (!Negotiate() || !SetBackendSocket()) return false;
  const vhost::MemRegion region = {memory.address, memory.bytes, memory.address,
                                   0};
  const uint64_t features = vhost::kFeatures;
  if (!Request(vhost::kSetFeatures, &features, sizeof(features)) ||
      !SetMemory({region}, {memory.fd})) {
    return false;
  }
  std::memset(data(0), 0, kMessage);
  taken_ = 0;
  for (uint32_t q = 0; q < vhost::kQueues; ++q) {
    if (!SetQueue(q)) return false;
  }
  for (uint32_t q = 0; q < vhost::kQueues; ++q) {
    if (!Vring(vhost::kSetVringEnable, q, 1)) return false;
  }
  GiveBuffers(kBufferCount);
  return Kick(vhost::kInterruptQueue);
}

bool UmlGuest::Negotiate() {
  uint64_t features = 0, protocol = 0;
  if (!Request(vhost::kSetOwner, nullptr, 0) ||
      !connection_->VhostCall(vhost::kGetFeatures, nullptr, 0, &features) ||
      !connection_->VhostCall(vhost::kGetProtocolFeatures, nullptr, 0,
                              &protocol)) {
    return false;
  }
  return features == 0x140000000 && protocol == 0x4028 &&
         Request(vhost::kSetProtocolFeatures, &protocol, sizeof(protocol));
}

bool UmlGuest::SetBackendSocket() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return false;
  if (calls_fd_ >= 0) close(calls_fd_);
  calls_fd_ = pair[0];
  const bool ok = Request(vhost::kSetBackendSocket, nullptr, 0, {pair[1]});
  close(pair[1]);
  return ok;
}

bool UmlGuest::SetMemory(const std::vector<vhost::MemRegion>& regions,
                         const std::vector<int>& fds) {
  vhost::MemTablePayload table = {};
  table.count = static_cast<uint32_t>(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) table.regions[i] = regions[i];
  // As UML: room for two, whatever there is.
  const size_t rows = regions.size() < 2 ? 2 : regions.size();
  return Request(vhost::kSetMemTable, &table,
                 offsetof(vhost::MemTablePayload, regions) +
                     rows * sizeof(vhost::MemRegion),
                 fds);
}

bool UmlGuest::SetQueue(uint32_t queue) {
  const uint64_t base = at(uint64_t{queue} * kQueueBytes);
  const vhost::VringAddress address = {
      queue, 0, base, base + kUsed, base + kAvailable, 0};
  return Vring(vhost::kSetVringNum, queue, kEntries) &&
         Vring(vhost::kSetVringBase, queue, 0) &&
         Request(vhost::kSetVringAddr, &address, sizeof(address));
}

void UmlGuest::Detach() {
  if (calls_fd_ >= 0) close(std::exchange(calls_fd_, -1));
}

bool UmlGuest::Request(uint32_t request, const void* payload, size_t bytes,
                       const std::vector<int>& fds) {
  uint64_t answer = 1;
  return connection_->VhostCall(request, payload, bytes, &answer, fds) &&
         answer == 0;
}

bool UmlGuest::Vring(uint32_t request, uint32_t queue, uint32_t value) {
  const vhost::VringState state = {queue, value};
  return Request(request, &state, sizeof(state));
}

UmlGuest::Descriptor* UmlGuest::descriptors(uint32_t queue) const {
  return reinterpret_cast<Descriptor*>(data(uint64_t{queue} * kQueueBytes));
}

uint16_t* UmlGuest::available(uint32_t queue) const {
  return reinterpret_cast<uint16_t*>(
      data(uint64_t{queue} * kQueueBytes + kAvailable));
}

uint16_t* UmlGuest::used(uint32_t queue) const {
  return reinterpret_cast<uint16_t*>(
      data(uint64_t{queue} * kQueueBytes + kUsed));
}

void UmlGuest::Offer(uint32_t queue, uint16_t head) {
  uint16_t* ring = available(queue);
  ring[2 + ring[1] % kEntries] = head;
  __atomic_store_n(&ring[1], static_cast<uint16_t>(ring[1] + 1),
                   __ATOMIC_RELEASE);
}

void UmlGuest::Prepare(const vhost::PcidevMessage& message, const void* out,
                       size_t out_bytes, size_t in_bytes, bool apart) {
  std::memcpy(data(kMessage), &message, sizeof(message));
  if (out_bytes > 0)
    std::memcpy(data(kMessage + sizeof(message)), out, out_bytes);
  std::memset(data(kAnswer), 0x5a, in_bytes);
  Descriptor* d = descriptors(vhost::kCommandQueue);
  const auto bytes = static_cast<uint32_t>(out_bytes);
  d[0] = {at(kMessage), static_cast<uint32_t>(sizeof(message)), 0, 0};
  uint16_t last = 0;
  if (apart) {
    d[last].flags |= kNext;
    d[last].next = 7;
    last = 7;
    d[last] = {at(kMessage) + sizeof(message), bytes, 0, 0};
  } else {
    d[0].length += bytes;
  }
  if (in_bytes > 0) {
    d[last].flags |= kNext;
    d[last].next = 2;
    d[2] = {at(kAnswer), static_cast<uint32_t>(in_bytes), kWritable, 0};
  }
  Offer(vhost::kCommandQueue, 0);
}

bool UmlGuest::Command(const vhost::PcidevMessage& message, const void* out,
                       size_t out_bytes, void* in, size_t in_bytes,
                       bool apart) {
  const uint16_t* ring = used(vhost::kCommandQueue);
  const uint16_t before = ring[1];
  Prepare(message, out, out_bytes, in_bytes, apart);
  if (!Kick(vhost::kCommandQueue)) return false;
  if (static_cast<uint16_t>(ring[1] - before) != 1) return false;
  uint32_t element[2];
  std::memcpy(element, ring + 2 + 4 * (before % kEntries), sizeof(element));
  const uint32_t written = in_bytes > 0 ? message.size : 0;
  if (element[0] != 0 || element[1] != written) return false;
  if (in_bytes > 0) std::memcpy(in, data(kAnswer), in_bytes);
  return true;
}

uint64_t UmlGuest::Read(vhost::PcidevOp op, uint64_t address, uint32_t bytes,
                        uint8_t bar) {
  uint64_t value = 0;
  if (!Command({op, bar, 0, bytes, address}, nullptr, 0, &value, 8))
    value = ~uint64_t{0};
  return bytes < 8 ? value & ((uint64_t{1} << (8 * bytes)) - 1) : value;
}

bool UmlGuest::Write(vhost::PcidevOp op, uint64_t address, uint64_t value,
                     uint32_t bytes, uint8_t bar) {
  return Command({op, bar, 0, bytes, address}, &value, sizeof(value), nullptr,
                 0);
}

void UmlGuest::GiveBuffers(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    descriptors(vhost::kInterruptQueue)[i] = {at(kBuffers + 32 * i),
                                              kBufferBytes, kWritable, 0};
    Offer(vhost::kInterruptQueue, static_cast<uint16_t>(i));
  }
}

bool UmlGuest::ReadCalls(int ms) {
  for (pollfd p = {calls_fd_, POLLIN, 0}; poll(&p, 1, ms) == 1; ms = 0) {
    struct {
      vhost::Header header;
      vhost::VringState state;
    } call;
    static_assert(sizeof(call) == 20, "as on the wire");
    if (recv(calls_fd_, &call, sizeof(call), MSG_WAITALL) !=
        static_cast<ssize_t>(sizeof(call))) {
      return false;
    }
    if (call.header.request != vhost::kVringCall ||
        call.header.flags != vhost::kVersion ||
        call.header.size != sizeof(call.state) ||
        call.state.index >= vhost::kQueues) {
      return false;
    }
    ++calls_[call.state.index];
  }
  return true;
}

std::vector<UmlGuest::Interrupt> UmlGuest::TakeInterrupts(int ms, bool keep) {
  std::vector<Interrupt> taken;
  if (calls_fd_ < 0 || memory_.data == nullptr) return taken;
  ReadCalls(ms);
  const uint16_t* ring = used(vhost::kInterruptQueue);
  while (__atomic_load_n(&ring[1], __ATOMIC_ACQUIRE) != taken_) {
    uint32_t element[2];
    std::memcpy(element, ring + 2 + 4 * (taken_++ % kEntries), sizeof(element));
    struct {
      vhost::PcidevMessage message;
      uint32_t data;
    } read;
    if (element[0] >= kBufferCount || element[1] != kBufferBytes) continue;
    std::memcpy(&read, data(kBuffers + 32 * element[0]), kBufferBytes);
    if (read.message.op != vhost::kMsi || read.message.size != 4) continue;
    taken.push_back({read.message.address, read.data});
    if (keep) continue;
    Offer(vhost::kInterruptQueue, static_cast<uint16_t>(element[0]));
    Kick(vhost::kInterruptQueue);
  }
  return taken;
}

}  // namespace heddle::platform
