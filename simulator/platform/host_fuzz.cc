// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/host_fuzz.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/config_space.h"
#include "simulator/platform/host_memory.h"
#include "simulator/platform/unix_socket.h"

namespace heddle::platform {
namespace {

constexpr size_t kMemoryBytes = 1 << 16;
// More than any input needs.
constexpr uint32_t kTurnsMax = 2000;

}  // namespace

// Config space as it is; BAR0 is a few words, and a write to it makes the card
// touch the host's memory or raise an interrupt.
class HostFuzz::FuzzCard : public Card {
 public:
  void ConfigRead(uint32_t offset, void* to, size_t bytes) override {
    config_.Read(offset, to, bytes);
  }
  void ConfigWrite(uint32_t offset, const void* from, size_t bytes) override {
    config_.Write(offset, from, bytes);
  }
  void BarRead(uint32_t offset, void* to, size_t bytes) override {
    std::memset(to, static_cast<int>(offset), bytes);
  }
  void BarWrite(uint32_t offset, const void* from, size_t bytes) override {
    uint32_t value = 0;
    std::memcpy(&value, from, std::min(bytes, sizeof(value)));
    uint8_t buffer[64] = {};
    memory_.Read(value, buffer, sizeof(buffer));
    memory_.Write(uint64_t{offset} << 12 | (value & 0xfff), buffer,
                  sizeof(buffer));
    if (sink_ != nullptr) sink_->RaiseInterrupt(value % reg::kPciMsixVectors);
  }
  absl::Status DmaMap(uint64_t iova, uint64_t size, int fd, uint64_t fd_offset,
                      bool readable, bool writable) override {
    return memory_.Map(iova, size, fd, fd_offset, readable, writable);
  }
  absl::Status DmaUnmap(uint64_t iova, uint64_t size) override {
    return memory_.Unmap(iova, size);
  }
  void DmaUnmapAll() override { memory_.UnmapAll(); }
  void SetInterruptSink(InterruptSink* sink) override { sink_ = sink; }
  bool Message(uint32_t vector, MsiMessage* message) override {
    *message = {0xfee00000, vector};
    return vector != 3;
  }
  void Reset() override { config_.Reset(); }
  void PowerCycle() override {
    config_.Reset();
    memory_.UnmapAll();
    cycles_++;
  }
  uint64_t cycles() const { return cycles_; }

 private:
  ConfigSpace config_;
  HostMemory memory_;
  InterruptSink* sink_ = nullptr;
  uint64_t cycles_ = 0;
};

HostFuzz::HostFuzz(const MakeServer& make,
                   void (*set_length)(std::vector<uint8_t>* message))
    : set_length_(set_length), card_(std::make_unique<FuzzCard>()) {
  std::string folder = std::filesystem::temp_directory_path() / "heddle-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) std::abort();
  folder_ = folder;
  reactor_ = std::make_unique<Reactor>("reactor");
  server_ = make(card_.get(), reactor_.get(), folder_ + "/s");
  if (!server_->Listen().ok()) std::abort();
  memory_ = memfd_create("fuzz", MFD_CLOEXEC);
  if (ftruncate(memory_, kMemoryBytes) != 0) std::abort();
  // What makes every turn of the reactor come back here.
  always_ready_ = eventfd(1, EFD_CLOEXEC);
  reactor_->Watch(always_ready_, [this] { OnTurn(); });
}

HostFuzz::~HostFuzz() {
  server_ = nullptr;
  close(always_ready_);
  close(memory_);
  rmdir(folder_.c_str());
}

void HostFuzz::OnTurn() {
  const bool gone = card_->cycles() > cycles_before_ && !server_->connected();
  if (!gone && ++turns_ < kTurnsMax) return;
  sc_core::sc_pause();
  // The reactor lets the kernel go on, which then pauses.
  turn_.notify(sc_core::SC_ZERO_TIME);
}

void HostFuzz::SendMessage(uint8_t what, std::vector<uint8_t> message) {
  if (!(what & 0x20)) set_length_(&message);
  if (message.empty()) return;
  int fds[15];
  const int count = what & 0xf;
  int pair[2] = {-1, -1};
  if (what & 0x10 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
  std::fill(fds, fds + count, what & 0x10 ? pair[0] : memory_);
  iovec piece = {message.data(), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr m = {};
  m.msg_iov = &piece;
  m.msg_iovlen = 1;
  if (count > 0) {
    m.msg_control = control;
    m.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds, count * sizeof(int));
  }
  (void)!sendmsg(socket_, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int fd : pair) {
    if (fd >= 0) close(fd);
  }
}

void HostFuzz::Send(const uint8_t* data, size_t size) {
  while (size >= 3) {
    const uint8_t what = data[0];
    const size_t bytes = std::min<size_t>(data[1] | data[2] << 8, size - 3);
    data += 3;
    size -= 3;
    if (what != 0xff) {
      SendMessage(what, std::vector<uint8_t>(data, data + bytes));
    } else if (bytes > 2) {
      const size_t at = data[0] | data[1] << 8;
      (void)!pwrite(memory_, data + 2, std::min(bytes - 2, kMemoryBytes - at),
                    static_cast<off_t>(at));
    }
    data += bytes;
    size -= bytes;
  }
}

void HostFuzz::Run(const uint8_t* data, size_t size) {
  if (ftruncate(memory_, 0) != 0 || ftruncate(memory_, kMemoryBytes) != 0)
    std::abort();
  const auto socket = ConnectUnix(folder_ + "/s");
  if (!socket.ok()) std::abort();
  socket_ = *socket;
  cycles_before_ = card_->cycles();
  turns_ = 0;
  Send(data, size);
  shutdown(socket_, SHUT_WR);
  sc_core::sc_start();
  close(socket_);
  // One that was not cut off goes now.
  if (server_->connected()) {
    turns_ = 0;
    sc_core::sc_start();
  }
  if (server_->connected()) std::abort();
}

}  // namespace heddle::platform

// A leak sanitizer does not find the stack of main() while SystemC's processes
// have theirs, and takes what is only known there for lost.
extern "C" int __lsan_is_turned_off() { return 1; }

// libsystemc wants one; main() is the fuzzer's.
int sc_main(int, char**) { return 1; }
