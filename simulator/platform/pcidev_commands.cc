// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/pcidev_commands.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::platform {
namespace {

constexpr size_t kWord = sizeof(uint32_t);

// Calls access(offset in BAR0, offset in the data, bytes) for the accesses that
// reach the card.
template <typename Access>
void ForAccesses(const vhost::PcidevMessage& message, Access access) {
  if (message.bar != reg::kBar || message.address >= reg::kBlockBytes) return;
  const auto start = static_cast<uint32_t>(message.address);
  if (message.size % kWord != 0 || start % kWord != 0) {
    access(start, 0, message.size);
    return;
  }
  const uint32_t bytes = std::min(message.size, reg::kBlockBytes - start);
  for (uint32_t i = 0; i < bytes; i += kWord) access(start + i, i, kWord);
}

absl::Status Malformed(const vhost::PcidevMessage& message, const char* why) {
  return absl::InvalidArgumentError(
      absl::StrFormat("command %d, size %d, address %#x: %s", message.op,
                      message.size, message.address, why));
}

absl::StatusOr<uint32_t> Answer(const Virtqueue& queue,
                                const Virtqueue::Chain& chain,
                                const vhost::PcidevMessage& message,
                                const std::vector<uint8_t>& data) {
  if (!queue.Write(chain, 0, data.data(), data.size())) {
    return Malformed(message,
                     "the answer does not fit, or its place is not in memory");
  }
  return message.size;
}

}  // namespace

absl::StatusOr<uint32_t> RunPcidevCommand(const Virtqueue& queue,
                                          const Virtqueue::Chain& chain,
                                          Card* card) {
  vhost::PcidevMessage message;
  if (!queue.Read(chain, 0, &message, sizeof(message))) {
    return absl::InvalidArgumentError(
        "a command is shorter than its header, or is not in memory");
  }
  const bool config =
      message.op == vhost::kConfigRead || message.op == vhost::kConfigWrite;
  if (config && (message.size > 8 || message.address > UINT32_MAX)) {
    return Malformed(message, "no access to config space is like this");
  }
  if (message.size == 0) return 0;  // it touches nothing
  // Setting has no data, and what is behind the BAR's end is not touched.
  if (message.op != vhost::kMmioMemset && message.size > kMaxPcidevAccess) {
    return Malformed(message, "it is too long");
  }
  const auto offset = static_cast<uint32_t>(message.address);
  std::vector<uint8_t> data;
  switch (message.op) {
    case vhost::kConfigRead:
      data.assign(message.size, 0xff);
      card->ConfigRead(offset, data.data(), data.size());
      return Answer(queue, chain, message, data);
    case vhost::kMmioRead:
      // Nothing is read, which may have effects, for an answer without a place.
      if (Virtqueue::Bytes(chain.in) < message.size) {
        return Malformed(message, "the answer does not fit");
      }
      data.assign(message.size, 0xff);
      ForAccesses(message, [&](uint32_t at, uint32_t i, size_t bytes) {
        card->BarRead(at, data.data() + i, bytes);
      });
      return Answer(queue, chain, message, data);
    case vhost::kConfigWrite:
    case vhost::kMmioWrite:
      data.resize(message.size);
      if (!queue.Read(chain, sizeof(message), data.data(), data.size())) {
        return Malformed(message, "its data are missing, or not in memory");
      }
      if (config) {
        card->ConfigWrite(offset, data.data(), data.size());
      } else {
        ForAccesses(message, [&](uint32_t at, uint32_t i, size_t bytes) {
          card->BarWrite(at, data.data() + i, bytes);
        });
      }
      return 0;
    case vhost::kMmioMemset:
      data.resize(1);
      if (!queue.Read(chain, sizeof(message), data.data(), 1)) {
        return Malformed(message, "its data are missing, or not in memory");
      }
      data.assign(kWord, data[0]);
      ForAccesses(message, [&](uint32_t at, uint32_t, size_t bytes) {
        // Others than words are ignored whatever they are.
        if (bytes == kWord) card->BarWrite(at, data.data(), bytes);
      });
      return 0;
    default:
      return Malformed(message, "there is no such command");
  }
}

}  // namespace heddle::platform
