// SPDX-License-Identifier: GPL-2.0-only OR MIT
// libFuzzer target: a card that says whatever it likes, over vfio-user and in
// the driver's own memory. The input is a list of changes to what a good card
// would answer: how many answers are good before the next change (a byte), and
// what is done to that one (a byte: kind, four bytes: value).
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/core.h"
#include "kmd/hosted/device.h"
#include "kmd/hosted/link.h"
#include "kmd/hosted/vfio_user.h"
#include "rtl/spec/generated/registers.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

class HostileCard {
 public:
  HostileCard(int socket, const uint8_t* data, size_t size)
      : socket_(socket), data_(data), size_(size) {}
  ~HostileCard() {
    for (auto [p, bytes] : maps_) munmap(p, bytes);
    close(socket_);
  }
  void Run() {
    while (Answer()) {
    }
  }

 private:
  static constexpr uint32_t kInMemory = 6;  // of Spoil's kinds

  uint32_t Take(size_t bytes) {
    uint32_t value = 0;
    const size_t n = std::min(bytes, size_);
    std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }
  uint32_t Register(uint32_t offset) const {
    switch (offset) {
      case HEDDLE_REG_ID:
        return reg::kIdReset;
      case HEDDLE_REG_VERSION:
        return reg::kVersionReset;
      case HEDDLE_REG_CONFIG:
        return HEDDLE_CONFIG_H256;
      case HEDDLE_REG_DRAM_LO:
        return 64 << 20;
      case HEDDLE_REG_STATUS:
        return HEDDLE_STATUS_READY_MASK;
      case HEDDLE_REG_SCRATCH:
        return scratch_;
    }
    return 0;
  }
  // What a good card says to the request.
  std::vector<uint8_t> Good(const vfio::Header& h,
                            const std::vector<uint8_t>& in) {
    std::vector<uint8_t> out;
    auto answer = [&](const auto& body) {
      out.resize(sizeof(body));
      std::memcpy(out.data(), &body, sizeof(body));
    };
    auto read = [&](auto* to) {
      std::memcpy(to, in.data(), std::min(in.size(), sizeof(*to)));
    };
    switch (h.command) {
      case vfio::kVersion:
        out.assign({0, 0, 1, 0, '{', '}', 0});
        break;
      case vfio::kGetInfo:
        answer(vfio::InfoBody{sizeof(vfio::InfoBody), 3, vfio::kRegions, 5});
        break;
      case vfio::kRegionInfo:
        answer(vfio::RegionInfoBody{sizeof(vfio::RegionInfoBody), 0, 0, 0,
                                    HEDDLE_BAR_BYTES, 0});
        break;
      case vfio::kIrqInfo:
        answer(vfio::IrqInfoBody{sizeof(vfio::IrqInfoBody), 0, 2, 4});
        break;
      case vfio::kRegionRead:
      case vfio::kRegionWrite: {
        vfio::RegionAccessBody body = {};
        read(&body);
        const bool is_read = h.command == vfio::kRegionRead;
        out.resize(sizeof(body) + (is_read ? std::min(body.count, 8u) : 0));
        std::memcpy(out.data(), &body, sizeof(body));
        uint32_t value = Register(static_cast<uint32_t>(body.offset));
        if (body.region == vfio::kConfigRegion) {
          value = body.offset == 0      ? HEDDLE_PCI_VENDOR_ID
                  : body.offset == 2    ? HEDDLE_PCI_DEVICE_ID
                  : body.offset == 0x34 ? 0x60
                                        : 0x11;
        }
        if (is_read) {
          std::memcpy(out.data() + sizeof(body), &value,
                      std::min(body.count, 4u));
        } else if (body.region == vfio::kBar0Region &&
                   body.offset == HEDDLE_REG_SCRATCH &&
                   in.size() >= sizeof(body) + 4) {
          std::memcpy(&scratch_, in.data() + sizeof(body), 4);
        }
        break;
      }
    }
    return out;
  }
  // Something else than `out`, or in the driver's memory. False: the end.
  bool Spoil(vfio::Header* h, std::vector<uint8_t>* out) {
    const uint32_t kind = Take(1), value = Take(4);
    switch (kind % 8) {
      case 0:  // of the data
        if (out->size() >= 4)
          std::memcpy(out->data() + out->size() - 4, &value, 4);
        return true;
      case 1:
        if (!out->empty()) (*out)[value % out->size()] ^= value >> 24;
        return true;
      case 2:
        out->resize(value % 300);
        return true;
      case 3:
        h->flags = value;
        return true;
      case 4:
        h->id = static_cast<uint16_t>(value);
        return true;
      case 5:
        h->error = value;
        h->flags |= vfio::kError;
        return true;
      case kInMemory:
        for (auto [p, bytes] : maps_) {
          for (int i = 0; i < 16; ++i) {
            const uint32_t v = Take(4);
            std::memcpy(p + (value + 4 * i) % (bytes - 4), &v, 4);
          }
        }
        return true;
      default:
        return value % 4 != 0;
    }
  }
  bool Answer() {
    vfio::Header h;
    iovec iov = {&h, sizeof(h)};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof(control);
    if (recvmsg(socket_, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC) != sizeof(h))
      return false;
    std::vector<int> fds;
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
      fds.resize((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(fds.data(), CMSG_DATA(c), fds.size() * sizeof(int));
    }
    std::vector<uint8_t> in(h.size - sizeof(h));
    const bool whole = in.empty() || recv(socket_, in.data(), in.size(),
                                          MSG_WAITALL) == ssize_t(in.size());
    if (whole && h.command == vfio::kDmaMap && !fds.empty()) {
      vfio::DmaMapBody body;
      std::memcpy(&body, in.data(), std::min(in.size(), sizeof(body)));
      void* p = mmap(nullptr, body.size, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fds[0], 0);
      if (p != MAP_FAILED) maps_[static_cast<uint8_t*>(p)] = body.size;
    }
    for (int fd : fds) close(fd);
    if (!whole) return false;
    std::vector<uint8_t> out = Good(h, in);
    bool answers = !(h.flags & vfio::kNoReply);
    h.flags = vfio::kReply;
    h.error = 0;
    if (size_ > 0 && good_-- == 0) {
      const bool in_memory = *data_ % 8 == kInMemory;
      if (!Spoil(&h, &out)) return false;
      answers |= !in_memory;  // to what wants none
      good_ = Take(1);
    }
    if (!answers) return true;
    h.size = static_cast<uint32_t>(sizeof(h) + out.size());
    out.insert(out.begin(), reinterpret_cast<uint8_t*>(&h),
               reinterpret_cast<uint8_t*>(&h) + sizeof(h));
    return send(socket_, out.data(), out.size(), MSG_NOSIGNAL) ==
           ssize_t(out.size());
  }

  const int socket_;
  const uint8_t* data_;
  size_t size_;
  uint32_t good_ = 0;
  uint32_t scratch_ = 0;
  std::map<uint8_t*, size_t> maps_;
};

// What clients would do with such a card.
void Use(Device* device) {
  const auto client = device->AddClient(1);
  auto context = std::make_shared<Context>();
  context->owner = client;
  context->turn.priority = 2;
  device->AddContext(context);
  auto bo = std::make_shared<Bo>();
  if (device->Allocate(4096, client, &bo->device) != 0) return;
  bo->size = 4096;
  for (uint64_t i = 1; i <= 3; ++i) {
    auto job = std::make_shared<Job>();
    job->owner = client;
    job->context = context;
    job->priority = 2;
    job->seqno = i;
    job->steps.resize(1);
    job->steps[0].type = DRM_HEDDLE_FILL;
    job->steps[0].dst = bo;
    job->steps[0].length = 4096;
    device->Submit(context, job);
    for (int n = 0; n < 4 && !device->gone(); ++n) {
      device->Poll();
      for (size_t v = 0; v < device->vectors().size(); ++v)
        device->OnInterrupt(v);
    }
  }
  device->DestroyContext(context);
  for (int n = 0; n < 4 && !device->gone(); ++n) device->Poll();
  device->OnHangUp();
}

struct Listener {
  std::string path;
  int socket;
  Listener() {
    spdlog::set_level(spdlog::level::off);
    std::string folder =
        std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    path = folder + "/c";
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
            0 ||
        listen(socket, 4) != 0)
      std::abort();
  }
  ~Listener() {
    close(socket);
    unlink(path.c_str());
    rmdir(path.substr(0, path.size() - 2).c_str());
  }
};

}  // namespace
}  // namespace heddle::hosted

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::hosted;
  static Listener listener;
  std::thread card([&] {
    const int s = accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (s >= 0) HostileCard(s, data, size).Run();
  });
  auto link = Link::Connect(listener.path);
  if (link.ok()) {
    Device::Options options;
    options.timeout_ns = 1000000;
    auto device = Device::Attach(*std::move(link), options,
                                 [](uint32_t, uint32_t, uint64_t, uint64_t) {});
    if (device.ok()) Use(device->get());
  }
  card.join();
  return 0;
}
