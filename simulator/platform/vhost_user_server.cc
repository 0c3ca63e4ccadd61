// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/vhost_user_server.h"

#include <sys/stat.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rtl/spec/generated/registers.h"
#include "simulator/platform/pcidev_commands.h"

namespace heddle::platform {
namespace {

using vhost::kCommandQueue;
using vhost::kInterruptQueue;

// Posted writes after which the host is told that they are done. UML frees
// their memory only then, or when it reads; its ring has 256 entries.
constexpr uint32_t kPostedPerCall = 32;

std::optional<size_t> PayloadSize(const void* bytes) {
  vhost::Header header;
  std::memcpy(&header, bytes, sizeof(header));
  if ((header.flags & vhost::kVersionMask) != vhost::kVersion ||
      (header.flags & vhost::kFlagReply) || header.size > vhost::kMaxPayload) {
    return {};
  }
  return header.size;
}

// The payload, when it has the size that it must have.
template <typename T>
bool Parse(const std::vector<uint8_t>& payload, T* to) {
  if (payload.size() != sizeof(T)) return false;
  std::memcpy(to, payload.data(), sizeof(T));
  return true;
}

}  // namespace

VhostUserServer::VhostUserServer(Card* card, Reactor* reactor, std::string path)
    : HostServer(card, reactor, std::move(path),
                 {sizeof(vhost::Header), PayloadSize}) {}

VhostUserServer::~VhostUserServer() { Close(); }

void VhostUserServer::Detached() {
  calls_.reset();
  for (Virtqueue& queue : queues_) queue.Reset();
  memory_.UnmapAll();
  pending_ = 0;
  uncalled_ = 0;
}

bool VhostUserServer::Wrong(absl::string_view why) {
  std::fprintf(stderr, "heddle-sim: vhost-user: host cut off: %s\n",
               std::string(why).c_str());
  return false;
}

bool VhostUserServer::Handle() {
  const auto header = peer()->header<vhost::Header>();
  uint64_t answer = 0;
  if (!Dispatch(header, &answer)) return false;
  const bool asks = header.request == vhost::kGetFeatures ||
                    header.request == vhost::kGetProtocolFeatures;
  if (!asks && !(header.flags & vhost::kFlagNeedReply)) return true;
  const vhost::Header reply = {
      header.request, vhost::kVersion | vhost::kFlagReply, sizeof(answer)};
  return peer()->Send(reply, &answer, sizeof(answer));
}

bool VhostUserServer::Dispatch(const vhost::Header& header, uint64_t* answer) {
  switch (header.request) {
    case vhost::kSetOwner:
      return true;
    case vhost::kGetFeatures:
      *answer = vhost::kFeatures;
      return true;
    case vhost::kGetProtocolFeatures:
      *answer = vhost::kProtocolFeatures;
      return true;
    case vhost::kSetFeatures:
      return SetFeatures(vhost::kFeatures, vhost::kFeatureVersion1);
    case vhost::kSetProtocolFeatures:
      return SetFeatures(
          vhost::kProtocolFeatures,
          vhost::kProtocolInBand | vhost::kProtocolBackendSocket);
    case vhost::kSetMemTable:
      return SetMemTable(answer);
    case vhost::kSetBackendSocket:
      return SetBackendSocket();
    case vhost::kSetVringAddr:
      return SetVringAddress();
    case vhost::kSetVringNum:
    case vhost::kSetVringBase:
    case vhost::kSetVringEnable:
    case vhost::kVringKick:
      return SetVring(header.request);
    default:
      return Wrong(
          absl::StrCat("request ", header.request, " is not supported"));
  }
}

bool VhostUserServer::SetFeatures(uint64_t offered, uint64_t needed) {
  uint64_t features;
  if (!Parse(peer()->payload(), &features))
    return Wrong("features of another size than 8 bytes");
  if ((features & ~offered) != 0)
    return Wrong("it accepts features that were not offered");
  if ((features & needed) != needed)
    return Wrong("it does without features that the card needs");
  return true;
}

bool VhostUserServer::SetMemTable(uint64_t* answer) {
  vhost::MemTablePayload table = {};
  const std::vector<uint8_t>& payload = peer()->payload();
  if (payload.size() < offsetof(vhost::MemTablePayload, regions))
    return Wrong("a memory table without a count");
  std::memcpy(&table, payload.data(), payload.size());
  if (table.count > vhost::kMaxRegions ||
      payload.size() < offsetof(vhost::MemTablePayload, regions) +
                           table.count * sizeof(vhost::MemRegion)) {
    return Wrong("a memory table shorter than its regions");
  }
  if (peer()->fds().size() != table.count)
    return Wrong("not as many descriptors as regions of memory");
  card()->DmaUnmapAll();
  memory_.UnmapAll();
  for (uint32_t i = 0; i < table.count; ++i) {
    const vhost::MemRegion& region = table.regions[i];
    const int fd = peer()->fds()[i];
    absl::Status status = memory_.Map(region.guest_address, region.size, fd,
                                      region.file_offset, true, true);
    if (status.ok()) {
      status = card()->DmaMap(region.guest_address, region.size, fd,
                              region.file_offset, true, true);
    }
    if (!status.ok()) {
      std::fprintf(stderr, "heddle-sim: vhost-user: %s\n",
                   std::string(status.message()).c_str());
      *answer = 1;
    }
  }
  return true;
}

bool VhostUserServer::SetBackendSocket() {
  struct stat info;
  if (peer()->fds().size() != 1 || fstat(peer()->fds()[0], &info) != 0 ||
      !S_ISSOCK(info.st_mode)) {
    return Wrong("no socket for the card's requests");
  }
  calls_ = std::make_unique<VhostUserCalls>(peer()->TakeFd(0), reactor());
  return true;
}

bool VhostUserServer::SetVringAddress() {
  vhost::VringAddress address;
  if (!Parse(peer()->payload(), &address) || address.index >= vhost::kQueues ||
      !queues_[address.index].SetAddresses(address.descriptors, address.used,
                                           address.available)) {
    return Wrong("addresses that no queue can have");
  }
  return true;
}

bool VhostUserServer::SetVring(uint32_t request) {
  vhost::VringState state;
  if (!Parse(peer()->payload(), &state) || state.index >= vhost::kQueues)
    return Wrong("there is no such queue");
  Virtqueue& queue = queues_[state.index];
  switch (request) {
    case vhost::kSetVringNum:
      return queue.SetSize(state.value) ||
             Wrong(absl::StrCat("a queue of ", state.value, " entries"));
    case vhost::kSetVringBase:
      return queue.SetBase(state.value) ||
             Wrong(absl::StrCat("a queue that starts at ", state.value));
    case vhost::kSetVringEnable:
      queue.Enable(state.value != 0);
      return true;
    default:
      // Commands may raise interrupts, too.
      if (state.index == kCommandQueue && !RunCommands()) return false;
      return SendInterrupts();
  }
}

bool VhostUserServer::RunCommands() {
  Virtqueue& queue = queues_[kCommandQueue];
  Virtqueue::Chain chain;
  // The host waits for the answer: what it made available is at most a full
  // ring.
  for (uint32_t i = 0; i < queue.size(); ++i) {
    const Virtqueue::Result result = queue.Pop(&chain);
    if (result == Virtqueue::Result::kEmpty) break;
    if (result == Virtqueue::Result::kBad) return Wrong(queue.error());
    const absl::StatusOr<uint32_t> written =
        RunPcidevCommand(queue, chain, card());
    if (!written.ok()) return Wrong(written.status().message());
    if (!queue.Push(chain, *written)) return Wrong(queue.error());
    // A host that reads looks at all used buffers itself.
    uncalled_ = chain.in.empty() ? uncalled_ + 1 : 0;
    if (uncalled_ >= kPostedPerCall) {
      uncalled_ = 0;
      Call(kCommandQueue);
    }
  }
  return true;
}

void VhostUserServer::Call(uint32_t queue) {
  if (calls_ != nullptr && queues_[queue].WantsCall()) calls_->Call(queue);
}

void VhostUserServer::RaiseInterrupt(uint32_t vector) {
  if (!connected()) return;
  pending_ |= 1u << vector;
  if (SendInterrupts()) return;
  queues_[kInterruptQueue].Enable(false);
  CutOff();
}

bool VhostUserServer::SendInterrupts() {
  Virtqueue& queue = queues_[kInterruptQueue];
  if (calls_ == nullptr) return true;
  bool sent = false;
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
    if (!(pending_ & (1u << v))) continue;
    MsiMessage message;
    if (!card()->Message(v, &message)) {
      pending_ &= ~(1u << v);  // the card keeps it if it is only masked
      continue;
    }
    Virtqueue::Chain chain;
    const Virtqueue::Result result = queue.Pop(&chain);
    if (result == Virtqueue::Result::kEmpty) break;
    if (result == Virtqueue::Result::kBad) return Wrong(queue.error());
    pending_ &= ~(1u << v);
    const vhost::PcidevMessage header = {vhost::kMsi, 0, 0,
                                         sizeof(message.data), message.address};
    if (!queue.Write(chain, 0, &header, sizeof(header)) ||
        !queue.Write(chain, sizeof(header), &message.data,
                     sizeof(message.data))) {
      return Wrong("a buffer for interrupts is too short, or not in memory");
    }
    if (!queue.Push(chain, sizeof(header) + sizeof(message.data)))
      return Wrong(queue.error());
    sent = true;
  }
  if (sent) Call(kInterruptQueue);
  return true;
}

}  // namespace heddle::platform
