// SPDX-License-Identifier: Apache-2.0
//
// A host for tests: starts heddle-sim as a process, attaches to it over
// vfio-user (or like QEMU or user-mode Linux if HEDDLE_SIM_FRONT is "qemu" or
// "uml"), owns a piece of "host memory" that the card accesses by DMA, and
// fills rings by hand. It shares no code with the driver.
//
// Memory layout, as host addresses from kIova on: completion ring, job rings,
// then whatever Alloc hands out; at the end what UmlGuest needs.
#ifndef HEDDLE_SIMULATOR_PLATFORM_SIM_CLIENT_H_
#define HEDDLE_SIMULATOR_PLATFORM_SIM_CLIENT_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"
#include "simulator/platform/mpqemu.h"
#include "simulator/platform/uml_guest.h"
#include "simulator/platform/vfio_user.h"
#include "simulator/platform/vhost_user.h"

namespace heddle::platform {

enum class Front { kVfioUser, kQemu, kUml };
// The one that HEDDLE_SIM_FRONT names.
Front FrontOfTest();

// The process. Ends it when destroyed.
class SimProcess {
 public:
  explicit SimProcess(std::vector<std::string> options = {});
  ~SimProcess();
  const std::string& socket() const { return socket_; }
  const std::string& control() const { return control_; }
  pid_t pid() const { return pid_; }
  // The test's end of the qtest channel; -1: the front end is not QEMU's.
  int qtest() const { return qtest_; }
  bool Alive();
  // Sends a command; the parsed answer, null when there is none.
  nlohmann::json Command(const std::string& line);
  // CPU time used so far by the process and its core, in milliseconds.
  int64_t CpuMs();

 private:
  std::string folder_, socket_, control_;
  pid_t pid_ = -1;
  int qtest_ = -1;
};

// A raw connection of any of the front ends.
class Connection {
 public:
  Connection() = default;
  ~Connection() { Close(); }
  bool Connect(const std::string& path);
  void Close();
  bool open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // Sends bytes as they are.
  bool SendRaw(const void* data, size_t bytes);
  // A command and its reply. -1: no connection; else the reply's errno.
  int Call(uint16_t command, const void* payload, size_t bytes,
           std::vector<uint8_t>* reply, const std::vector<int>& fds = {});
  bool Version();
  // The same in QEMU's protocol. `reply`: nullptr if none is due.
  bool QemuCall(int32_t command, const void* payload, size_t bytes,
                uint64_t* reply, const std::vector<int>& fds = {});
  // The same in vhost-user, always with a reply.
  bool VhostCall(uint32_t request, const void* payload, size_t bytes,
                 uint64_t* reply, const std::vector<int>& fds = {});

 private:
  bool SendMessage(const void* header, size_t header_bytes, const void* payload,
                   size_t bytes, const std::vector<int>& fds);
  bool ReadAll(void* to, size_t bytes);
  int fd_ = -1;
  uint16_t id_ = 0;
};

class SimHost {
 public:
  static constexpr uint64_t kIova = 0x100000000;
  static constexpr uint64_t kBytes = 32 << 20;
  static constexpr uint32_t kRingEntries = 16;
  static constexpr uint32_t kCompletions = 64;
  // With QEMU's protocol: where BAR0 is; there and with UML's: the messages of
  // the vectors.
  static constexpr uint32_t kQemuBar = 0xfe200000;
  static constexpr uint64_t kMessage = 0xfee01000;
  static constexpr uint32_t kMessageData = 0x4020;

  explicit SimHost(SimProcess* process) : process_(process) {}
  ~SimHost();

  // Connects, enables memory and bus mastering, maps memory, sets up interrupts
  // and rings. False: the card does not answer.
  bool Attach();
  void Detach();
  // Only connects and negotiates.
  bool Connect();
  // The rest of Attach.
  bool SetUp();
  Connection& connection() { return connection_; }
  UmlGuest& uml() { return uml_; }
  // The host memory, as UmlGuest takes it.
  UmlGuest::Memory memory() { return {memory_fd_, memory_, kIova, kBytes}; }

  uint32_t Read(uint32_t offset);  // all ones when the card is gone
  void Write(uint32_t offset, uint32_t value);
  uint32_t ConfigRead(uint32_t offset, uint32_t bytes);
  void ConfigWrite(uint32_t offset, uint32_t value, uint32_t bytes);
  void SetCommand(bool memory, bool master);
  bool WaitRegister(uint32_t offset, uint32_t mask, uint32_t value,
                    int ms = 5000);

  // Host memory.
  uint64_t Alloc(size_t bytes);
  void FreeAll();
  void* At(uint64_t iova) { return memory_ + (iova - kIova); }
  template <typename T>
  uint64_t Put(const std::vector<T>& values) {
    const uint64_t iova = Alloc(values.size() * sizeof(T));
    std::memcpy(At(iova), values.data(), values.size() * sizeof(T));
    return iova;
  }

  // Steps.
  desc::Step CopyIn(uint64_t device, const std::vector<uint8_t>& bytes);
  desc::Step CopyOut(uint64_t device, uint64_t length, uint64_t iova);
  desc::Step Copy(uint64_t from, uint64_t to, uint64_t length);
  desc::Step Fill(uint64_t device, uint64_t length, uint32_t value);
  desc::Step Run(uint64_t device, uint64_t length,
                 const std::vector<desc::Region>& regions);

  // Puts a descriptor in a ring without telling the card; returns the fence.
  uint64_t Queue(uint32_t ring, const std::vector<desc::Step>& steps,
                 uint32_t flags = 0);
  void QueueRaw(uint32_t ring, const desc::JobDescriptor& job);
  void Doorbell(uint32_t ring);
  // Waits for the next record; false after `ms` milliseconds.
  bool Next(desc::Completion* record, int ms = 5000);
  // Queue, Doorbell, Next.
  desc::Completion RunJob(const std::vector<desc::Step>& steps,
                          uint32_t ring = 0, uint32_t flags = 0);
  // Copies out of device memory by a job.
  std::vector<uint8_t> Fetch(uint64_t device, size_t length);
  bool Store(uint64_t device, const std::vector<uint8_t>& bytes);

  // Interrupts counted since the last call, after waiting up to `ms` for one.
  uint64_t Interrupts(uint32_t vector, int ms);

 private:
  bool qemu() const { return front_ == Front::kQemu; }
  bool MakeMemory();
  bool MapMemory();
  bool SetUpInterrupts();
  // Counts the messages that the card has sent on the qtest channel or through
  // UML's queue, waiting for one up to `ms`.
  void ReadMessages(int ms);
  void ReadQtest(int ms);

  SimProcess* process_;
  const Front front_ = FrontOfTest();
  Connection connection_;
  UmlGuest uml_{&connection_};
  int memory_fd_ = -1;
  uint8_t* memory_ = nullptr;
  uint64_t free_ = 0;
  int events_[reg::kPciMsixVectors] = {-1, -1, -1, -1};
  std::string qtest_text_;
  uint64_t counts_[reg::kPciMsixVectors] = {};
  uint32_t heads_[isa::kRings] = {};
  uint32_t completions_ = 0;
  uint64_t fence_ = 100;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_SIM_CLIENT_H_
