// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/fake_card.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kmd/hosted/vfio_user.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hosted {
namespace {

constexpr uint32_t kCommand = 0x04;  // in config space
constexpr uint8_t kCommandMaster = 0x4;

constexpr uint8_t kRunawayPattern = 0xd5;

}  // namespace

FakeCard::FakeCard(std::string path, uint64_t dram_bytes, uint64_t serial)
    : path_(std::move(path)), serial_(serial), dram_(dram_bytes) {
  const uint16_t ids[2] = {HEDDLE_PCI_VENDOR_ID, HEDDLE_PCI_DEVICE_ID};
  std::memcpy(config_, ids, sizeof(ids));
  config_[0x34] = 0x60;
  config_[0x60] = 0x11;  // MSI-X
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  unlink(path_.c_str());
  listen_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listen_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
          0 ||
      listen(listen_, 1) != 0) {
    std::abort();
  }
  wake_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Serve(); });
}

FakeCard::~FakeCard() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  thread_.join();
  StopRunaway();
  close(listen_);
  close(wake_);
  unlink(path_.c_str());
}

void FakeCard::ShowVersion(uint32_t version) {
  std::lock_guard<std::mutex> lock(mutex_);
  version_ = version;
}

void FakeCard::Set(const Behaviour& behaviour) {
  std::lock_guard<std::mutex> lock(mutex_);
  behaviour_ = behaviour;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void FakeCard::Resize(uint64_t dram_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  dram_.resize(dram_bytes);
  Raise(2);
}

void FakeCard::Dirty(uint8_t value) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::fill(dram_.begin(), dram_.end(), value);
}

std::vector<FakeCard::SeenJob> FakeCard::seen() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return seen_;
}

std::vector<uint8_t> FakeCard::Dram(uint64_t offset, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {dram_.begin() + offset, dram_.begin() + offset + bytes};
}

uint64_t FakeCard::mapped_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [at, m] : maps_) sum += m.size;
  return sum;
}

uint32_t FakeCard::resets() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return resets_;
}

bool FakeCard::masters_bus() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return HasBus();
}

uint64_t FakeCard::refused_writes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return refused_writes_;
}

uint64_t FakeCard::register_writes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return register_writes_;
}

uint64_t FakeCard::awaited_writes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return awaited_writes_;
}

bool FakeCard::HasBus() const { return config_[kCommand] & kCommandMaster; }

void FakeCard::Disconnect() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  for (auto& [at, m] : maps_) munmap(m.data, m.size);
  maps_.clear();
  for (int& v : vectors_) {
    if (v >= 0) close(std::exchange(v, -1));
  }
  running_ = halted_ = stuck_ = false;
  std::memset(size_, 0, sizeof(size_));
}

void FakeCard::Serve() {
  int timeout = -1;
  for (;;) {
    pollfd fds[3] = {{wake_, POLLIN, 0},
                     {socket_ < 0 ? listen_ : -1, POLLIN, 0},
                     {socket_, POLLIN, 0}};
    poll(fds, 3, timeout);
    std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) break;
    if (fds[0].revents) {
      uint64_t n;
      (void)!read(wake_, &n, sizeof(n));
    }
    if (fds[1].revents & POLLIN)
      socket_ = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fds[2].revents && !HandleMessage()) Disconnect();
    timeout = Work();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  Disconnect();
}

bool FakeCard::HandleMessage() {
  vfio::Header h;
  iovec iov = {&h, sizeof(h)};
  alignas(cmsghdr) char control[CMSG_SPACE(vfio::kMaxFds * sizeof(int))] = {};
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
  std::vector<uint8_t> in(h.size - sizeof(h)), out;
  if (!in.empty() &&
      recv(socket_, in.data(), in.size(), MSG_WAITALL) != ssize_t(in.size())) {
    return false;
  }
  uint32_t error = 0;
  auto body = [&](auto* to) {
    std::memcpy(to, in.data(), std::min(in.size(), sizeof(*to)));
  };
  auto answer = [&](const auto& from) {
    out.resize(sizeof(from));
    std::memcpy(out.data(), &from, sizeof(from));
  };
  switch (h.command) {
    case vfio::kVersion:
      out.assign({0, 0, 1, 0, '{', '}', 0});
      break;
    case vfio::kGetInfo:
      answer(vfio::InfoBody{sizeof(vfio::InfoBody), 3, vfio::kRegions, 5});
      break;
    case vfio::kRegionInfo: {
      vfio::RegionInfoBody b = {};
      body(&b);
      b.size = b.index == vfio::kBar0Region     ? HEDDLE_BAR_BYTES
               : b.index == vfio::kConfigRegion ? 256
                                                : 0;
      answer(b);
      break;
    }
    case vfio::kIrqInfo: {
      vfio::IrqInfoBody b = {};
      body(&b);
      b.count = b.index == vfio::kMsixIrq ? 4 : 0;
      answer(b);
      break;
    }
    case vfio::kSetIrqs:
      for (size_t i = 0; i < fds.size() && i < 4; ++i)
        vectors_[i] = std::exchange(fds[i], -1);
      break;
    case vfio::kReset:
      running_ = halted_ = stuck_ = false;
      std::memset(size_, 0, sizeof(size_));
      config_[kCommand] = 0;
      break;
    case vfio::kDmaMap: {
      vfio::DmaMapBody b = {};
      body(&b);
      void* p = fds.empty() ? MAP_FAILED
                            : mmap(nullptr, b.size, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, fds[0], b.offset);
      if (p == MAP_FAILED) {
        error = EINVAL;
      } else {
        maps_[b.address] = {b.size, static_cast<uint8_t*>(p)};
      }
      break;
    }
    case vfio::kDmaUnmap: {
      vfio::DmaUnmapBody b = {};
      body(&b);
      auto it = maps_.find(b.address);
      if (it == maps_.end() || it->second.size != b.size) {
        error = ENOENT;
      } else {
        munmap(it->second.data, it->second.size);
        maps_.erase(it);
      }
      answer(b);
      break;
    }
    case vfio::kRegionRead:
    case vfio::kRegionWrite: {
      vfio::RegionAccessBody b = {};
      body(&b);
      const bool read = h.command == vfio::kRegionRead;
      if (b.count > 8 || (!read && in.size() < sizeof(b) + b.count))
        return false;
      out.resize(sizeof(b) + (read ? b.count : 0), 0xff);
      std::memcpy(out.data(), &b, sizeof(b));
      if (b.region == vfio::kConfigRegion &&
          b.offset + b.count <= sizeof(config_)) {
        if (read) {
          std::memcpy(out.data() + sizeof(b), config_ + b.offset, b.count);
        } else {
          std::memcpy(config_ + b.offset, in.data() + sizeof(b), b.count);
        }
      } else if (b.region == vfio::kBar0Region && b.count == 4 &&
                 !behaviour_.gone) {
        uint32_t value = 0;
        if (read) {
          value = ReadRegister(b.offset);
          std::memcpy(out.data() + sizeof(b), &value, sizeof(value));
        } else {
          std::memcpy(&value, in.data() + sizeof(b), sizeof(value));
          WriteRegister(b.offset, value);
          register_writes_++;
          if (!(h.flags & vfio::kNoReply)) awaited_writes_++;
        }
      }
      break;
    }
    default:
      error = ENOTSUP;
  }
  for (int fd : fds) {
    if (fd >= 0) close(fd);
  }
  if (h.flags & vfio::kNoReply) return true;
  vfio::Header reply = {h.id, h.command, uint32_t(sizeof(h) + out.size()),
                        vfio::kReply | (error ? vfio::kError : 0u), error};
  std::vector<uint8_t> message(reply.size);
  std::memcpy(message.data(), &reply, sizeof(reply));
  if (!out.empty())
    std::memcpy(message.data() + sizeof(reply), out.data(), out.size());
  return send(socket_, message.data(), message.size(), MSG_NOSIGNAL) ==
         ssize_t(message.size());
}

uint32_t FakeCard::ReadRegister(uint32_t offset) {
  switch (offset) {
    case HEDDLE_REG_ID:
      return reg::kIdReset;
    case HEDDLE_REG_VERSION:
      return version_;
    case HEDDLE_REG_CONFIG:
      return HEDDLE_CONFIG_H256;
    case HEDDLE_REG_CORE_KIND:
      return HEDDLE_CORE_KIND_FUNCTIONAL;
    case HEDDLE_REG_DRAM_LO:
      return static_cast<uint32_t>(dram_.size());
    case HEDDLE_REG_DRAM_HI:
      return uint64_t{dram_.size()} >> 32;
    case HEDDLE_REG_UNIQUE_LO:
      return static_cast<uint32_t>(serial_);
    case HEDDLE_REG_UNIQUE_HI:
      return serial_ >> 32;
    case HEDDLE_REG_STATUS:
      return (runaway_.data == nullptr ? HEDDLE_STATUS_READY_MASK : 0) |
             (running_ ? HEDDLE_STATUS_BUSY_MASK : 0) |
             (halted_ ? HEDDLE_STATUS_HALTED_MASK : 0);
    case HEDDLE_REG_PROGRESS:
      return progress_;
    case HEDDLE_REG_RUNNING_LO:
      return running_ ? static_cast<uint32_t>(job_.fence) : 0;
    case HEDDLE_REG_RUNNING_HI:
      return running_ ? job_.fence >> 32 : 0;
    case HEDDLE_REG_INT_STATUS:
      return int_status_;
    case HEDDLE_REG_SCRATCH:
      return registers_[offset];
  }
  return 0;
}

void FakeCard::WriteRegister(uint32_t offset, uint32_t value) {
  registers_[offset] = value;
  switch (offset) {
    case HEDDLE_REG_INT_STATUS:
      int_status_ &= ~value;
      return;
    case HEDDLE_REG_INT_ENABLE:
      int_enable_ = value;
      return;
    case HEDDLE_REG_COMPLETION_SIZE:
      sequence_ = 0;
      return;
    case HEDDLE_REG_ABORT:
      if (running_ && value == static_cast<uint32_t>(job_.fence) &&
          !behaviour_.ignore_abort && runaway_.data == nullptr) {
        halted_ = true;
        Complete(HEDDLE_ERROR_ABORTED);
      }
      return;
    case HEDDLE_REG_RESET:
      if (behaviour_.ignore_reset && value == HEDDLE_RESET_ENGINE_MASK) return;
      resets_++;
      if (runaway_.data != nullptr) return;
      if (value & HEDDLE_RESET_CARD_MASK) {
        running_ = false;
        std::memset(size_, 0, sizeof(size_));
      }
      if (running_) Complete(HEDDLE_ERROR_ABORTED);
      halted_ = stuck_ = false;
      return;
  }
  for (uint32_t i = 0; i < HEDDLE_RINGS; ++i) {
    if (offset == HEDDLE_REG_RING_SIZE(i)) {
      size_[i] = value;
      head_[i] = tail_[i] = 0;
    }
    if (offset == static_cast<uint32_t>(HEDDLE_REG_RING_HEAD(i)))
      head_[i] = value;
  }
}

uint8_t* FakeCard::Host(uint64_t address, uint64_t bytes) {
  if (!HasBus()) return nullptr;
  auto it = maps_.upper_bound(address);
  if (it == maps_.begin()) return nullptr;
  --it;
  const uint64_t at = address - it->first;
  if (at > it->second.size || bytes > it->second.size - at) return nullptr;
  return it->second.data + at;
}

bool FakeCard::Fetch() {
  for (uint32_t i = 0; i < HEDDLE_RINGS; ++i) {
    if (size_[i] == 0 || head_[i] == tail_[i]) continue;
    const uint64_t base = registers_[HEDDLE_REG_RING_BASE_LO(i)] |
                          uint64_t{registers_[HEDDLE_REG_RING_BASE_HI(i)]}
                              << 32;
    const uint8_t* p =
        Host(base + (tail_[i] % size_[i]) * sizeof(job_), sizeof(job_));
    if (p == nullptr) continue;
    std::memcpy(&job_, p, sizeof(job_));
    SeenJob seen = {
        i,
        job_.context_id,
        (job_.flags & HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK) != 0,
        {},
        {},
        job_.trace_entries};
    for (uint32_t s = 0; s < job_.step_count; ++s) {
      heddle_step step;
      const uint8_t* from =
          Host(job_.steps_iova + s * sizeof(step), sizeof(step));
      if (from == nullptr) return false;
      std::memcpy(&step, from, sizeof(step));
      seen.steps.push_back(step);
      if (step.type != HEDDLE_STEP_TYPE_RUN) continue;
      std::vector<heddle_region> table(HEDDLE_REGIONS);
      from = Host(step.table_iova, HEDDLE_REGIONS * sizeof(heddle_region));
      if (from == nullptr) return false;
      std::memcpy(table.data(), from, HEDDLE_REGIONS * sizeof(heddle_region));
      seen.tables.push_back(std::move(table));
    }
    seen_.push_back(std::move(seen));
    running_ = true;
    ring_ = i;
    step_ = waited_ms_ = 0;
    return true;
  }
  return false;
}

uint32_t FakeCard::RunStep(const heddle_step& step) {
  auto device = [&](uint64_t at) -> uint8_t* {
    if (at > dram_.size() || step.length > dram_.size() - at) return nullptr;
    return dram_.data() + at;
  };
  uint8_t* here = device(step.device_address);
  if (here == nullptr) return HEDDLE_ERROR_COPY_BOUNDS;
  switch (step.type) {
    case HEDDLE_STEP_TYPE_COPY_IN:
    case HEDDLE_STEP_TYPE_COPY_OUT: {
      uint64_t done = 0;
      for (uint32_t i = 0; i < step.sg_count; ++i) {
        heddle_sg_entry e;
        const uint8_t* p = Host(step.table_iova + i * sizeof(e), sizeof(e));
        if (p == nullptr) return HEDDLE_ERROR_HOST_DMA;
        std::memcpy(&e, p, sizeof(e));
        uint8_t* host = Host(e.iova, e.length);
        if (host == nullptr) return HEDDLE_ERROR_HOST_DMA;
        if (e.length > step.length - done)
          return HEDDLE_ERROR_ILLEGAL_DESCRIPTOR;
        if (step.type == HEDDLE_STEP_TYPE_COPY_IN) {
          std::memcpy(here + done, host, e.length);
        } else if (behaviour_.runaway) {
          StartRunaway(host, e.length);
          return HEDDLE_ERROR_OK;
        } else {
          std::memcpy(host, here + done, e.length);
        }
        done += e.length;
      }
      return done == step.length ? HEDDLE_ERROR_OK
                                 : HEDDLE_ERROR_ILLEGAL_DESCRIPTOR;
    }
    case HEDDLE_STEP_TYPE_COPY: {
      if (behaviour_.fail_copies) return behaviour_.fail_copies;
      uint8_t* to = device(step.destination);
      if (to == nullptr) return HEDDLE_ERROR_COPY_BOUNDS;
      std::memmove(to, here, step.length);
      return HEDDLE_ERROR_OK;
    }
    case HEDDLE_STEP_TYPE_FILL:
      for (uint64_t i = 0; i < step.length; i += 4)
        std::memcpy(here + i, &step.fill_value, 4);
      return HEDDLE_ERROR_OK;
    case HEDDLE_STEP_TYPE_RUN:
      return behaviour_.fail_runs;
  }
  return HEDDLE_ERROR_ILLEGAL_DESCRIPTOR;
}

void FakeCard::StartRunaway(uint8_t* host, uint64_t bytes) {
  // A second mapping of the same memory.
  void* own = mremap(host, 0, bytes, MREMAP_MAYMOVE);
  if (own == MAP_FAILED) std::abort();
  runaway_ = {bytes, static_cast<uint8_t*>(own)};
}

void FakeCard::StopRunaway() {
  if (runaway_.data != nullptr) munmap(runaway_.data, runaway_.size);
  runaway_ = {};
}

int FakeCard::Work() {
  if (runaway_.data != nullptr && !behaviour_.runaway) {
    StopRunaway();
    running_ = stuck_ = false;
  }
  const int next = WorkOnJobs();
  if (runaway_.data == nullptr) return next;
  if (HasBus()) {
    std::memset(runaway_.data, kRunawayPattern, runaway_.size);
  } else {
    refused_writes_++;
  }
  return 1;
}

int FakeCard::WorkOnJobs() {
  while (socket_ >= 0 && !halted_ && !stuck_) {
    if (!running_ && !Fetch()) return -1;
    if (step_ == job_.step_count) {
      Complete(HEDDLE_ERROR_OK);
      continue;
    }
    const heddle_step& step = seen_.back().steps[step_];
    if (step.type == HEDDLE_STEP_TYPE_RUN) {
      if (behaviour_.hang_runs) {
        stuck_ = true;
        return -1;
      }
      progress_++;
      if (waited_ms_ < behaviour_.run_ms) {
        waited_ms_++;
        return 1;
      }
      waited_ms_ = 0;
    }
    if (step.type == HEDDLE_STEP_TYPE_COPY && behaviour_.hold_copies) return -1;
    progress_++;
    const uint32_t status = RunStep(step);
    if (runaway_.data != nullptr) {
      stuck_ = true;
      return -1;
    }
    if (status != HEDDLE_ERROR_OK) {
      Complete(status);
    } else {
      step_++;
    }
  }
  return -1;
}

uint32_t FakeCard::WriteTrace() {
  if (!(job_.flags & HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_MASK)) return 0;
  const uint32_t commands = behaviour_.trace_commands;
  for (uint32_t i = 0; i < std::min(commands, job_.trace_entries); ++i) {
    heddle_trace_entry entry = {};
    entry.begin = 10 * i;
    entry.end = 10 * i + 5;
    entry.tag = i;
    entry.flags = HEDDLE_TRACE_ENTRY_FLAGS_VALID_MASK | HEDDLE_ENGINE_LOAD;
    uint8_t* to = Host(job_.trace_iova + i * sizeof(entry), sizeof(entry));
    if (to != nullptr && i != behaviour_.lose_entry)
      std::memcpy(to, &entry, sizeof(entry));
  }
  return commands;
}

void FakeCard::Complete(uint32_t status) {
  const uint32_t trace_count = WriteTrace();
  const uint64_t base = registers_[HEDDLE_REG_COMPLETION_BASE_LO] |
                        uint64_t{registers_[HEDDLE_REG_COMPLETION_BASE_HI]}
                            << 32;
  const uint32_t entries = registers_[HEDDLE_REG_COMPLETION_SIZE];
  auto write = [&](uint64_t fence) {
    heddle_completion record = {};
    record.fence = fence;
    record.status = status;
    record.ring = ring_;
    record.context_id = job_.context_id;
    record.fault_step = step_;
    record.macs = 7;
    record.trace_count = trace_count;
    uint8_t* to =
        Host(base + (sequence_ % entries) * sizeof(record), sizeof(record));
    sequence_++;
    if (to == nullptr) return;
    std::memcpy(to, &record, offsetof(heddle_completion, sequence));
    __atomic_store_n(
        reinterpret_cast<uint32_t*>(to + offsetof(heddle_completion, sequence)),
        sequence_, __ATOMIC_RELEASE);
  };
  if (entries != 0) {
    if (behaviour_.wrong_sequence) write(job_.fence + 1000);
    write(job_.fence);
  }
  running_ = stuck_ = false;
  tail_[ring_]++;
  Raise(0);
  if (status != HEDDLE_ERROR_OK) Raise(1);
}

void FakeCard::Raise(uint32_t bit) {
  int_status_ |= 1u << bit;
  const uint64_t one = 1;
  if (vectors_[bit] >= 0 && int_enable_ >> bit & 1 && HasBus() &&
      !behaviour_.lose_interrupts) {
    (void)!::write(vectors_[bit], &one, sizeof(one));
  }
}

}  // namespace heddle::hosted
