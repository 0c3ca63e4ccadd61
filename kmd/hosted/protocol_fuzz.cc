// SPDX-License-Identifier: GPL-2.0-only OR MIT
// libFuzzer target: whatever a client sends as a call, and whatever a server
// sends as a reply, is taken apart without touching anything else. The first
// byte chooses the call.
#include <sys/ioctl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kmd/hosted/protocol.h"

namespace heddle::hosted {
namespace {

constexpr size_t kScratch = 1 << 16;

void Require(bool good) {
  if (!good) std::abort();
}

// A reply for a caller with some room in each of its arrays.
void TakeReply(const Call& call, const std::vector<uint8_t>& reply) {
  std::vector<uint8_t> arg(call.size());
  std::vector<std::vector<uint8_t>> room;
  for (size_t i = 0; i < call.field_count; ++i) {
    const ArrayField& f = call.fields[i];
    const uint32_t count = 16;
    const uint32_t stride =
        f.stride == ArrayField::kFixed ? f.element : kScratch / count;
    room.emplace_back(size_t{count} * stride);
    const auto pointer = reinterpret_cast<uint64_t>(room.back().data());
    std::memcpy(arg.data() + f.pointer, &pointer, sizeof(pointer));
    std::memcpy(arg.data() + f.count, &count, sizeof(count));
    if (f.stride != ArrayField::kFixed)
      std::memcpy(arg.data() + f.stride, &stride, sizeof(stride));
  }
  UnpackReply(call, 0, reply.data(), reply.size(), arg.data());
}

}  // namespace
}  // namespace heddle::hosted

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::hosted;
  if (size == 0) return 0;
  const Call& call = Calls()[data[0] % Calls().size()];
  const std::vector<uint8_t> payload(data + 1, data + size);
  CallFrame frame;
  if (frame.Unpack(call, payload, 1 << 24) == 0) {
    for (int result : {0, -5}) {
      std::vector<uint8_t> reply;
      reply.reserve(frame.reply_bytes_max());
      const uint8_t* before = reply.data();
      frame.PackReply(result, &reply);
      Require(reply.data() == before && reply.size() >= call.size());
      TakeReply(call, reply);
    }
  }
  TakeReply(call, payload);
  return 0;
}
