// SPDX-License-Identifier: GPL-2.0-only OR MIT
// libFuzzer target: a whole connection to heddle-hosted with a card behind it.
// The input is a sequence of pieces: what to send (low bits of a byte), how
// long it is (two bytes), and its bytes.
//
//   0 a call (first byte of the piece: which)   1 MMAP   2 a list
//   3 hello   4 raw bytes   5 a call with a descriptor   6 RESULTS
//
// High bit of the first byte: read what has come back.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/client.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/server.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

// The daemon, once for all inputs.
class Daemon {
 public:
  Daemon() {
    spdlog::set_level(spdlog::level::off);
    std::string folder =
        std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    card_ = std::make_unique<FakeCard>(folder_ + "/c", 16 << 20);
    Server::Options options;
    options.socket = path();
    options.cards = {folder_ + "/c"};
    options.timeout_ns = 1000000000;
    auto server = Server::Start(options);
    if (!server.ok()) std::abort();
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->Run(); });
    if (HostedClient::Open(path(), 0, &witness_) != 0) std::abort();
  }
  ~Daemon() {
    witness_ = nullptr;
    server_->Stop();
    thread_.join();
    server_ = nullptr;
    card_ = nullptr;
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/s"; }
  // Somebody else is still served.
  void Check() {
    drm_heddle_query query = {};
    if (witness_->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &query) != 0) std::abort();
  }

 private:
  std::string folder_;
  std::unique_ptr<FakeCard> card_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::unique_ptr<HostedClient> witness_;
};

int Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(s, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    std::abort();
  // A daemon that has cut the connection off does not read.
  const timeval limit = {1, 0};
  setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return s;
}

bool SendPiece(int s, uint8_t kind, const uint8_t* data, uint32_t bytes) {
  MessageHeader header;
  int fd = -1;
  switch (kind) {
    case 0:
    case 5: {
      if (bytes == 0) return true;
      header.type = kIoctl;
      header.request = Calls()[data[0] % Calls().size()].request;
      ++data;
      --bytes;
      if (kind == 5) fd = memfd_create("fuzz", MFD_CLOEXEC);
      break;
    }
    case 1:
      header.type = kMmap;
      break;
    case 2:
      header.type = kList;
      break;
    case 3:
      header.type = kHello;
      break;
    case 6:
      header.type = kResults;
      break;
    default:
      return send(s, data, bytes, MSG_NOSIGNAL) >= 0;
  }
  header.bytes = bytes;
  const int err = SendMessage(s, header, data, fd);
  if (fd >= 0) close(fd);
  return err == 0;
}

void Drain(int s) {
  char buffer[65536];
  char control[256];
  for (;;) {
    iovec iov = {buffer, sizeof(buffer)};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof(control);
    if (recvmsg(s, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return;
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
      if (c->cmsg_type != SCM_RIGHTS) continue;
      int fd;
      std::memcpy(&fd, CMSG_DATA(c), sizeof(fd));
      close(fd);
    }
  }
}

}  // namespace
}  // namespace heddle::hosted

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::hosted;
  static Daemon daemon;
  static uint32_t count = 0;
  const int s = Connect(daemon.path());
  const Hello hello;
  MessageHeader header;
  header.type = kHello;
  header.bytes = sizeof(hello);
  // Most inputs are about what comes after it.
  if (size % 8 != 0) SendMessage(s, header, &hello, -1);
  while (size >= 3) {
    const uint8_t what = data[0];
    const uint32_t bytes = data[1] | data[2] << 8;
    data += 3;
    size -= 3;
    const uint32_t mine = bytes < size ? bytes : static_cast<uint32_t>(size);
    if (!SendPiece(s, (what & 0x7f) % 7, data, mine)) break;
    data += mine;
    size -= mine;
    if (what & 0x80) Drain(s);
  }
  close(s);
  // What has been sent is dealt with before the next input comes.
  if (++count % 16 == 0) daemon.Check();
  return 0;
}
