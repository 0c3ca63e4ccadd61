// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/sim_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "simulator/platform/config_space.h"
#include "simulator/platform/control_client.h"
#include "simulator/platform/unix_socket.h"

namespace heddle::platform {
namespace {

// Where a test's own processes and sockets live: sockets have short names.
std::string MakeFolder() {
  std::string name =
      std::filesystem::temp_directory_path() / "heddle-simXXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

std::string Binary() {
  const char* path = std::getenv("HEDDLE_SIM");
  return path == nullptr ? "simulator/platform/heddle-sim" : path;
}

int64_t MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

int64_t CpuOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string s = text.str();
  // Fields 14 and 15, counted after the name in parentheses.
  std::istringstream fields(s.substr(s.rfind(')') + 1));
  std::string field;
  int64_t ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::atoll(field.c_str());
  }
  return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

}  // namespace

Front FrontOfTest() {
  const char* front = std::getenv("HEDDLE_SIM_FRONT");
  if (front == nullptr) return Front::kVfioUser;
  return std::string(front) == "uml" ? Front::kUml : Front::kQemu;
}

// -- SimProcess ---------------------------------------------------------------

SimProcess::SimProcess(std::vector<std::string> options)
    : folder_(MakeFolder()) {
  socket_ = folder_ + "/s";
  control_ = folder_ + "/c";
  int ready[2];
  if (pipe(ready) != 0) return;
  std::vector<std::string> words = {
      Binary(), "--socket",           socket_,      "--control",
      control_, "--exit-with-parent", "--ready-fd", std::to_string(ready[1])};
  words.insert(words.end(), options.begin(), options.end());
  if (const char* core = std::getenv("HEDDLE_SIM_CORE")) {
    words.insert(words.end(), {"--core", core});
  }
  int qtest[2] = {-1, -1};
  if (FrontOfTest() == Front::kUml) words.push_back("--uml");
  if (FrontOfTest() == Front::kQemu) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, qtest) != 0) return;
    fcntl(qtest[0], F_SETFD, FD_CLOEXEC);
    qtest_ = qtest[0];
    words.insert(words.end(),
                 {"--qemu", "--qtest-fd", std::to_string(qtest[1])});
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    close(ready[0]);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execv(argv[0], argv.data());
    std::fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
  }
  close(ready[1]);
  if (qtest[1] >= 0) close(qtest[1]);
  char line[16];
  [[maybe_unused]] const ssize_t n = read(ready[0], line, sizeof(line));
  close(ready[0]);
}

SimProcess::~SimProcess() {
  if (Alive()) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  if (qtest_ >= 0) close(qtest_);
  unlink(socket_.c_str());
  unlink(control_.c_str());
  rmdir(folder_.c_str());
}

bool SimProcess::Alive() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

nlohmann::json SimProcess::Command(const std::string& line) {
  absl::StatusOr<std::string> answer = SendCommand(control_, line);
  if (!answer.ok()) return nullptr;
  return nlohmann::json::parse(*answer, nullptr, false);
}

int64_t SimProcess::CpuMs() {
  int64_t ms = CpuOf(pid_);
  const std::string task = std::to_string(pid_);
  std::ifstream children("/proc/" + task + "/task/" + task + "/children");
  for (pid_t child; children >> child;) ms += CpuOf(child);
  return ms;
}

// -- Connection ---------------------------------------------------------------

bool Connection::Connect(const std::string& path) {
  Close();
  absl::StatusOr<int> fd = ConnectUnix(path);
  if (fd.ok()) fd_ = *fd;
  return fd.ok();
}

void Connection::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool Connection::SendRaw(const void* data, size_t bytes) {
  return fd_ >= 0 &&
         send(fd_, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

bool Connection::ReadAll(void* to, size_t bytes) {
  auto* p = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t n = recv(fd_, p, bytes, 0);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      Close();
      return false;
    }
    p += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool Connection::SendMessage(const void* header, size_t header_bytes,
                             const void* payload, size_t bytes,
                             const std::vector<int>& fds) {
  if (fd_ < 0) return false;
  iovec pieces[2] = {{const_cast<void*>(header), header_bytes},
                     {const_cast<void*>(payload), bytes}};
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
  }
  if (sendmsg(fd_, &message, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(header_bytes + bytes)) {
    Close();
    return false;
  }
  return true;
}

int Connection::Call(uint16_t command, const void* payload, size_t bytes,
                     std::vector<uint8_t>* reply, const std::vector<int>& fds) {
  const vfio::Header header = {
      ++id_, command, static_cast<uint32_t>(sizeof(header) + bytes), 0, 0};
  if (!SendMessage(&header, sizeof(header), payload, bytes, fds)) return -1;
  vfio::Header answer;
  if (!ReadAll(&answer, sizeof(answer))) return -1;
  std::vector<uint8_t> data(answer.size - sizeof(answer));
  if (!data.empty() && !ReadAll(data.data(), data.size())) return -1;
  if (answer.id != id_ || answer.command != command) return -1;
  if (reply != nullptr) *reply = std::move(data);
  return answer.flags & vfio::kFlagError ? static_cast<int>(answer.error) : 0;
}

bool Connection::QemuCall(int32_t command, const void* payload, size_t bytes,
                          uint64_t* reply, const std::vector<int>& fds) {
  const mpqemu::Header header = {command, 0, bytes};
  if (!SendMessage(&header, sizeof(header), payload, bytes, fds)) return false;
  if (reply == nullptr) return true;
  struct {
    mpqemu::Header header;
    uint64_t value;
  } answer;
  if (!ReadAll(&answer, sizeof(answer))) return false;
  *reply = answer.value;
  return answer.header.command == mpqemu::kRet &&
         answer.header.size == sizeof(answer.value);
}

bool Connection::VhostCall(uint32_t request, const void* payload, size_t bytes,
                           uint64_t* reply, const std::vector<int>& fds) {
  const bool asks =
      request == vhost::kGetFeatures || request == vhost::kGetProtocolFeatures;
  const vhost::Header header = {
      request, vhost::kVersion | (asks ? 0 : vhost::kFlagNeedReply),
      static_cast<uint32_t>(bytes)};
  if (!SendMessage(&header, sizeof(header), payload, bytes, fds)) return false;
  vhost::Header answer;
  if (!ReadAll(&answer, sizeof(answer)) || !ReadAll(reply, sizeof(*reply)))
    return false;
  return answer.request == request && answer.size == sizeof(*reply) &&
         answer.flags == (vhost::kVersion | vhost::kFlagReply);
}

bool Connection::Version() {
  struct {
    vfio::VersionPayload version = {vfio::kMajor, vfio::kMinor};
    char json[20] = "{\"capabilities\":{}}";
  } hello;
  return Call(vfio::kVersion, &hello, sizeof(hello), nullptr) == 0;
}

// -- SimHost ------------------------------------------------------------------

SimHost::~SimHost() {
  Detach();
  if (memory_ != nullptr) munmap(memory_, kBytes);
  if (memory_fd_ >= 0) close(memory_fd_);
  for (int fd : events_) {
    if (fd >= 0) close(fd);
  }
}

bool SimHost::Connect() {
  if (!connection_.Connect(process_->socket())) return false;
  if (front_ == Front::kUml) return MakeMemory() && uml_.Attach(memory());
  if (!qemu()) return connection_.Version();
  // QEMU does not negotiate: a card that has closed the socket shows so here.
  const mpqemu::ConfigPayload id = {0, 0, 4};
  uint64_t reply;
  return connection_.QemuCall(mpqemu::kConfigRead, &id, sizeof(id), &reply);
}

bool SimHost::Attach() { return Connect() && SetUp(); }

bool SimHost::MakeMemory() {
  if (memory_ != nullptr) return true;
  memory_fd_ = memfd_create("heddle-host", MFD_CLOEXEC);
  if (memory_fd_ < 0 || ftruncate(memory_fd_, kBytes) != 0) return false;
  void* memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<uint8_t*>(memory);
  for (int& fd : events_) fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return true;
}

bool SimHost::SetUp() {
  if (!MakeMemory()) return false;
  SetCommand(true, true);
  if (!MapMemory() || !SetUpInterrupts()) return false;
  FreeAll();
  std::memset(memory_, 0, free_);
  const uint64_t completions = kIova;
  Write(reg::kCompletionBaseLoOffset, static_cast<uint32_t>(completions));
  Write(reg::kCompletionBaseHiOffset, static_cast<uint32_t>(completions >> 32));
  Write(reg::kCompletionSizeOffset, kCompletions);
  for (uint32_t i = 0; i < isa::kRings; ++i) {
    const uint64_t base = kIova + kCompletions * sizeof(desc::Completion) +
                          i * kRingEntries * sizeof(desc::JobDescriptor);
    Write(reg::RingBaseLoOffset(i), static_cast<uint32_t>(base));
    Write(reg::RingBaseHiOffset(i), static_cast<uint32_t>(base >> 32));
    Write(reg::RingSizeOffset(i), kRingEntries);
    heads_[i] = 0;
  }
  completions_ = 0;
  Write(reg::kIntEnableOffset, reg::kIntEnableMaskMask);
  for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) Interrupts(v, 0);
  return Read(reg::kIdOffset) == reg::kIdReset;
}

bool SimHost::MapMemory() {
  if (front_ == Front::kUml) return connection_.open();  // before the queues
  if (qemu()) {
    mpqemu::SysmemPayload map = {};
    map.address[0] = kIova;
    map.size[0] = kBytes;
    return connection_.QemuCall(mpqemu::kSyncSysmem, &map, sizeof(map), nullptr,
                                {memory_fd_});
  }
  const vfio::DmaMapPayload map = {
      sizeof(map), vfio::kDmaRead | vfio::kDmaWrite, 0, kIova, kBytes};
  return connection_.Call(vfio::kDmaMap, &map, sizeof(map), nullptr,
                          {memory_fd_}) == 0;
}

bool SimHost::SetUpInterrupts() {
  if (front_ != Front::kVfioUser) {
    for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
      const uint32_t entry = reg::kPciMsixTableOffset + 16 * v;
      Write(entry, static_cast<uint32_t>(kMessage));
      Write(entry + 4, static_cast<uint32_t>(kMessage >> 32));
      Write(entry + 8, kMessageData + v);
      Write(entry + 12, 0);
    }
    ConfigWrite(ConfigSpace::kMsix + 2, 0x8000, 2);
    return connection_.open();
  }
  const vfio::SetIrqsPayload irqs = {
      sizeof(irqs), vfio::kIrqDataEventfd | vfio::kIrqActionTrigger,
      vfio::kIrqMsix, 0, reg::kPciMsixVectors};
  return connection_.Call(vfio::kSetIrqs, &irqs, sizeof(irqs), nullptr,
                          {events_, events_ + reg::kPciMsixVectors}) == 0;
}

void SimHost::Detach() {
  connection_.Close();
  uml_.Detach();
}

uint32_t SimHost::Read(uint32_t offset) {
  if (front_ == Front::kUml)
    return static_cast<uint32_t>(uml_.Read(vhost::kMmioRead, offset, 4));
  if (qemu()) {
    const mpqemu::BarPayload access = {
        kQemuBar + uint64_t{offset}, 0, 4, 1, {}};
    uint64_t reply;
    return connection_.QemuCall(mpqemu::kBarRead, &access, sizeof(access),
                                &reply)
               ? static_cast<uint32_t>(reply)
               : ~0u;
  }
  const vfio::RegionAccess access = {offset, vfio::kRegionBar0,
                                     sizeof(uint32_t)};
  std::vector<uint8_t> reply;
  uint32_t value = ~0u;
  if (connection_.Call(vfio::kRegionRead, &access, sizeof(access), &reply) ==
          0 &&
      reply.size() == sizeof(access) + sizeof(value)) {
    std::memcpy(&value, reply.data() + sizeof(access), sizeof(value));
  }
  return value;
}

void SimHost::Write(uint32_t offset, uint32_t value) {
  if (front_ == Front::kUml) {
    uml_.Write(vhost::kMmioWrite, offset, value, 4);
    return;
  }
  if (qemu()) {
    const mpqemu::BarPayload access = {
        kQemuBar + uint64_t{offset}, value, 4, 1, {}};
    uint64_t reply;
    connection_.QemuCall(mpqemu::kBarWrite, &access, sizeof(access), &reply);
    return;
  }
  struct {
    vfio::RegionAccess access;
    uint32_t value;
  } message = {{offset, vfio::kRegionBar0, sizeof(value)}, value};
  connection_.Call(vfio::kRegionWrite, &message,
                   sizeof(message.access) + sizeof(value), nullptr);
}

uint32_t SimHost::ConfigRead(uint32_t offset, uint32_t bytes) {
  if (front_ == Front::kUml)
    return static_cast<uint32_t>(uml_.Read(vhost::kConfigRead, offset, bytes));
  if (qemu()) {
    const mpqemu::ConfigPayload access = {offset, 0,
                                          static_cast<int32_t>(bytes)};
    uint64_t reply;
    return connection_.QemuCall(mpqemu::kConfigRead, &access, sizeof(access),
                                &reply)
               ? static_cast<uint32_t>(reply)
               : ~0u;
  }
  const vfio::RegionAccess access = {offset, vfio::kRegionConfig, bytes};
  std::vector<uint8_t> reply;
  uint32_t value = ~0u;
  if (connection_.Call(vfio::kRegionRead, &access, sizeof(access), &reply) ==
          0 &&
      reply.size() == sizeof(access) + bytes) {
    value = 0;
    std::memcpy(&value, reply.data() + sizeof(access), bytes);
  }
  return value;
}

void SimHost::ConfigWrite(uint32_t offset, uint32_t value, uint32_t bytes) {
  if (front_ == Front::kUml) {
    uml_.Write(vhost::kConfigWrite, offset, value, bytes);
    return;
  }
  if (qemu()) {
    const mpqemu::ConfigPayload access = {offset, value,
                                          static_cast<int32_t>(bytes)};
    uint64_t reply;
    connection_.QemuCall(mpqemu::kConfigWrite, &access, sizeof(access), &reply);
    return;
  }
  struct {
    vfio::RegionAccess access;
    uint32_t value;
  } message = {{offset, vfio::kRegionConfig, bytes}, value};
  connection_.Call(vfio::kRegionWrite, &message, sizeof(message.access) + bytes,
                   nullptr);
}

void SimHost::SetCommand(bool memory, bool master) {
  // Addresses of QEMU's accesses are those of the bus.
  if (qemu()) ConfigWrite(0x10, kQemuBar, 4);
  ConfigWrite(0x04, (memory ? 2u : 0u) | (master ? 4u : 0u), 2);
}

bool SimHost::WaitRegister(uint32_t offset, uint32_t mask, uint32_t value,
                           int ms) {
  const auto start = std::chrono::steady_clock::now();
  do {
    if ((Read(offset) & mask) == value) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (MillisecondsSince(start) < ms);
  return false;
}

void SimHost::FreeAll() {
  free_ = kCompletions * sizeof(desc::Completion) +
          isa::kRings * kRingEntries * sizeof(desc::JobDescriptor);
}

uint64_t SimHost::Alloc(size_t bytes) {
  free_ = (free_ + 63) & ~uint64_t{63};
  // Tests use little and run the one piece of memory round.
  if (free_ + bytes > kBytes - UmlGuest::kArea) FreeAll();
  const uint64_t iova = kIova + free_;
  free_ += bytes;
  return iova;
}

desc::Step SimHost::CopyIn(uint64_t device, const std::vector<uint8_t>& bytes) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kCopyIn);
  step.device_address = device;
  step.length = bytes.size();
  step.table_iova = Put(std::vector<desc::SgEntry>{{Put(bytes), bytes.size()}});
  step.sg_count = 1;
  return step;
}

desc::Step SimHost::CopyOut(uint64_t device, uint64_t length, uint64_t iova) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kCopyOut);
  step.device_address = device;
  step.length = length;
  step.table_iova = Put(std::vector<desc::SgEntry>{{iova, length}});
  step.sg_count = 1;
  return step;
}

desc::Step SimHost::Copy(uint64_t from, uint64_t to, uint64_t length) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kCopy);
  step.device_address = from;
  step.destination = to;
  step.length = length;
  return step;
}

desc::Step SimHost::Fill(uint64_t device, uint64_t length, uint32_t value) {
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kFill);
  step.device_address = device;
  step.length = length;
  step.fill_value = value;
  return step;
}

desc::Step SimHost::Run(uint64_t device, uint64_t length,
                        const std::vector<desc::Region>& regions) {
  std::vector<desc::Region> table(isa::kRegions);
  for (size_t i = 0; i < regions.size(); ++i) table[i] = regions[i];
  desc::Step step;
  step.type = static_cast<uint32_t>(isa::StepType::kRun);
  step.device_address = device;
  step.length = length;
  step.table_iova = Put(table);
  return step;
}

void SimHost::QueueRaw(uint32_t ring, const desc::JobDescriptor& job) {
  const uint64_t base = kIova + kCompletions * sizeof(desc::Completion) +
                        ring * kRingEntries * sizeof(job);
  std::memcpy(At(base + (heads_[ring]++ % kRingEntries) * sizeof(job)), &job,
              sizeof(job));
}

uint64_t SimHost::Queue(uint32_t ring, const std::vector<desc::Step>& steps,
                        uint32_t flags) {
  desc::JobDescriptor job;
  job.fence = ++fence_;
  job.steps_iova = Put(steps);
  job.step_count = static_cast<uint32_t>(steps.size());
  job.flags = flags;
  job.context_id = 7;
  QueueRaw(ring, job);
  return fence_;
}

void SimHost::Doorbell(uint32_t ring) {
  Write(reg::RingHeadOffset(ring), heads_[ring]);
}

bool SimHost::Next(desc::Completion* record, int ms) {
  auto* entry = static_cast<uint8_t*>(
      At(kIova + (completions_ % kCompletions) * sizeof(desc::Completion)));
  auto* sequence = reinterpret_cast<std::atomic<uint32_t>*>(
      entry + offsetof(desc::Completion, sequence));
  const auto start = std::chrono::steady_clock::now();
  while (sequence->load(std::memory_order_acquire) != completions_ + 1) {
    if (MillisecondsSince(start) >= ms) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::memcpy(record, entry, sizeof(*record));
  ++completions_;
  return true;
}

desc::Completion SimHost::RunJob(const std::vector<desc::Step>& steps,
                                 uint32_t ring, uint32_t flags) {
  Queue(ring, steps, flags);
  Doorbell(ring);
  desc::Completion record;
  if (!Next(&record)) record.status = ~0u;
  return record;
}

std::vector<uint8_t> SimHost::Fetch(uint64_t device, size_t length) {
  const uint64_t iova = Alloc(length);
  std::memset(At(iova), 0xa5, length);
  if (RunJob({CopyOut(device, length, iova)}).status != 0) return {};
  const auto* bytes = static_cast<const uint8_t*>(At(iova));
  return {bytes, bytes + length};
}

bool SimHost::Store(uint64_t device, const std::vector<uint8_t>& bytes) {
  return RunJob({CopyIn(device, bytes)}).status == 0;
}

void SimHost::ReadQtest(int ms) {
  pollfd p = {process_->qtest(), POLLIN, 0};
  if (poll(&p, 1, ms) != 1) return;
  char buffer[4096];
  const ssize_t n =
      recv(process_->qtest(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (n > 0) qtest_text_.append(buffer, static_cast<size_t>(n));
  for (size_t end; (end = qtest_text_.find('\n')) != std::string::npos;) {
    for (uint32_t v = 0; v < reg::kPciMsixVectors; ++v) {
      std::ostringstream line;
      line << std::hex << "writel 0x" << kMessage << " 0x" << kMessageData + v;
      if (qtest_text_.compare(0, end, line.str()) == 0) ++counts_[v];
    }
    qtest_text_.erase(0, end + 1);
    [[maybe_unused]] const ssize_t sent =
        send(process_->qtest(), "OK\n", 3, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void SimHost::ReadMessages(int ms) {
  if (qemu()) return ReadQtest(ms);
  for (const UmlGuest::Interrupt& taken : uml_.TakeInterrupts(ms)) {
    if (taken.address == kMessage &&
        taken.data - kMessageData < reg::kPciMsixVectors) {
      ++counts_[taken.data - kMessageData];
    }
  }
}

uint64_t SimHost::Interrupts(uint32_t vector, int ms) {
  if (front_ != Front::kVfioUser) {
    const auto start = std::chrono::steady_clock::now();
    ReadMessages(0);
    while (counts_[vector] == 0 && MillisecondsSince(start) < ms) {
      ReadMessages(static_cast<int>(ms - MillisecondsSince(start)));
    }
    return std::exchange(counts_[vector], 0);
  }
  pollfd p = {events_[vector], POLLIN, 0};
  uint64_t count = 0;
  if (poll(&p, 1, ms) != 1 ||
      read(events_[vector], &count, sizeof(count)) != sizeof(count)) {
    return 0;
  }
  return count;
}

}  // namespace heddle::platform
