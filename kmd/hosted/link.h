// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The connection to one card: a vfio-user client. One request at a time, from
// one thread.
//
// Once an exchange fails (end of file, error, no answer within the time limit)
// the link is down for good: reads give all ones, writes do nothing, as with a
// PCIe card that was pulled out.
#ifndef HEDDLE_KMD_HOSTED_LINK_H_
#define HEDDLE_KMD_HOSTED_LINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::hosted {

class Link {
 public:
  // Longest time that a card may take to answer one message.
  static constexpr int kAnswerSeconds = 10;

  // Connects and sets up the function: config space, bus mastering, interrupts.
  // UNAVAILABLE: nobody listens; FAILED_PRECONDITION: not a Heddle card.
  static absl::StatusOr<std::unique_ptr<Link>> Connect(const std::string& path);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool up() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  // Marks the link as down.
  void Drop();

  uint32_t Read(uint32_t offset);
  void Write(uint32_t offset, uint32_t value);
  uint64_t Read64(uint32_t low, uint32_t high);

  // Makes `size` bytes of `fd` reachable by the card; a host address, or 0.
  uint64_t Map(int fd, uint64_t size);
  void Unmap(uint64_t address, uint64_t size);

  // One eventfd per vector.
  const std::vector<int>& vectors() const { return vectors_; }

 private:
  explicit Link(int socket) : socket_(socket) {}
  absl::Status SetUp();
  absl::Status SetUpInterrupts();
  // Sends a command and receives its reply into `reply` (resized). False:
  // failed; *error is the peer's errno, or 0 when the link went down.
  bool Exchange(uint16_t command, const void* body, uint32_t bytes,
                const int* fds, int num_fds, std::vector<uint8_t>* reply,
                uint32_t* error);
  bool Access(uint32_t region, uint64_t offset, uint32_t bytes, void* data,
              bool write);
  bool SendAll(const void* data, size_t bytes, const int* fds, int num_fds);
  bool ReceiveAll(void* data, size_t bytes);

  int socket_;
  uint16_t next_id_ = 1;
  uint64_t next_address_ = uint64_t{1}
                           << 32;  // host addresses are never used twice
  std::vector<int> vectors_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_LINK_H_
