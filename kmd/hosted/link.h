// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The connection to one card: a vfio-user client. One request at a time, from
// one thread.
//
// Register writes are posted, as on PCIe: they arrive in order and before any
// later access, nobody waits for them, and a lost one shows at the next read.
//
// Once an exchange fails (end of file, error, no reply in time) the link is
// down for good: reads return all ones and writes do nothing, as with a PCIe
// card that was pulled out.
#ifndef HEDDLE_KMD_HOSTED_LINK_H_
#define HEDDLE_KMD_HOSTED_LINK_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kmd/hosted/vfio_user.h"

namespace heddle::hosted {

class Link {
 public:
  // Longest time that a card may take to answer one message.
  static constexpr int kAnswerSeconds = 10;

  // Connects and sets up the function: config space, interrupts. It does not
  // have the bus yet.
  // UNAVAILABLE: nobody listens; FAILED_PRECONDITION: not a Heddle card.
  static absl::StatusOr<std::unique_ptr<Link>> Connect(const std::string& path);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool up() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  // Marks the link as down.
  void Drop();

  // Bus mastering: the card may reach host memory and send interrupts.
  void GiveBus();
  // Nothing that the card writes from here on arrives, whatever it is at; what
  // it wrote before has. False: it keeps the bus.
  bool TakeBus();

  uint32_t Read(uint32_t offset);
  void Write(uint32_t offset, uint32_t value);
  uint64_t Read64(uint32_t low, uint32_t high);

  // Makes `size` bytes of `fd` reachable by the card; a host address, or 0.
  uint64_t Map(int fd, uint64_t size);
  void Unmap(uint64_t address, uint64_t size);

  // One eventfd per vector.
  const std::vector<int>& vectors() const { return vectors_; }

 private:
  // Larger ones are no answers to what is asked here.
  static constexpr uint32_t kBodyBytesMax = 256;
  static constexpr uint32_t kReplyBytesMax = 1u << 16;
  static constexpr uint32_t kAccessBytesMax =
      sizeof(vfio::RegionAccessBody) + 8;

  explicit Link(int socket)
      : socket_(socket), request_(kBodyBytesMax + 16), reply_(kReplyBytesMax) {}
  absl::Status SetUp();
  absl::Status SetUpInterrupts();
  // Sends a command; its reply is in reply_ until the next one. False: failed;
  // *error is the peer's errno, or 0 when the link went down.
  bool Exchange(uint16_t command, const void* body, uint32_t bytes,
                const int* fds, int num_fds, uint32_t* error);
  // Sends a command that gets no reply.
  void Post(uint16_t command, const void* body, uint32_t bytes);
  // The request in request_, ready to be sent.
  vfio::Header Prepare(uint16_t command, const void* body, uint32_t bytes,
                       uint32_t flags);
  // The start of the reply. False: it is shorter.
  template <typename T>
  bool Reply(T* to) const {
    if (reply_bytes_ < sizeof(T)) return false;
    std::memcpy(to, reply_.data(), sizeof(T));
    return true;
  }
  bool Access(uint32_t region, uint64_t offset, uint32_t bytes, void* data,
              bool write);
  // The body of an access; with `data` that of a write. Its length.
  static uint32_t AccessBody(uint32_t region, uint64_t offset, uint32_t bytes,
                             const void* data, uint8_t* message);
  bool SendAll(const void* data, size_t bytes, const int* fds, int num_fds);
  bool ReceiveAll(void* data, size_t bytes);

  int socket_;
  uint16_t next_id_ = 1;
  uint64_t next_address_ = uint64_t{1}
                           << 32;  // host addresses are never used twice
  std::vector<int> vectors_;
  // Made once: an access to the card must not fail for want of memory.
  std::vector<uint8_t> request_, reply_;
  size_t reply_bytes_ = 0;
  uint64_t answer_limit_ns_ = 0;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_LINK_H_
