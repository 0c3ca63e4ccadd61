// SPDX-License-Identifier: Apache-2.0
// The card under attack, by whatever driver HEDDLE_DEVICE names: open files of
// it, as the suite of ioctls (tests/uapi) sees them.
#ifndef TESTS_ATTACK_DEVICE_H_
#define TESTS_ATTACK_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hal/transport.h"
#include "tests/uapi/client.h"

namespace heddle::attack {

// Limit of the attacker's jobs that hang; long enough for others to see that
// one does.
inline constexpr uint64_t kHangNs = 1000000000;

class File : public uapi::Client {
 public:
  explicit File(std::unique_ptr<hal::Transport> transport)
      : transport_(std::move(transport)) {}
  int Ioctl(unsigned long request, void* arg) override {
    return transport_->Ioctl(request, arg);
  }
  // Only by handle: Map().
  void* Mmap(uint64_t offset, size_t bytes, int* error) override;
  void* Map(uint32_t handle, size_t bytes) {
    void* address = nullptr;
    return transport_->Map(handle, bytes, &address) == 0 ? address : nullptr;
  }
  void Unmap(void* data, size_t bytes) { transport_->Unmap(data, bytes); }

 private:
  const std::unique_ptr<hal::Transport> transport_;
};

// `device`: "hosted:SOCKET", "drm:NODE" or "drm", the first node. Null: it
// cannot be opened now.
std::unique_ptr<File> Open(const std::string& device);

// `commands` commands that keep the card busy and touch nothing outside it.
std::vector<uint32_t> BusyStream(uint32_t commands);

// The stream that keeps the card busy for as long as the driver lets it: the
// longest that a context of `file` accepts. Returns its id.
uint32_t LongestStream(File* file, uint32_t context);

}  // namespace heddle::attack

#endif  // TESTS_ATTACK_DEVICE_H_
