// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A card for tests of the hosted driver: a vfio-user server in a thread, with
// the registers, rings, copy and fill steps of the real thing and a core that
// completes every stream at once. Hangs, faults and removal on demand.
#ifndef HEDDLE_KMD_HOSTED_FAKE_CARD_H_
#define HEDDLE_KMD_HOSTED_FAKE_CARD_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/core.h"

namespace heddle::hosted {

class FakeCard {
 public:
  struct Behaviour {
    bool hang_runs = false;     // a run step never ends by itself
    bool ignore_abort = false;  // ABORT does nothing: only RESET.engine helps
    bool ignore_reset = false;  // neither does that
    bool lose_interrupts = false;
    bool gone = false;            // reads give all ones, writes do nothing
    bool wrong_sequence = false;  // records for fences that nobody gave
    uint32_t fail_runs = 0;       // status of run steps
    uint32_t fail_copies = 0;     // status of device-to-device copies
    uint32_t run_ms = 0;          // time that a run step takes, with progress
    bool hold_copies = false;     // device-to-device copies wait
    // A copy to the host never ends: it is written again and again, whatever
    // ABORT and RESET say, and when the connection is gone. Only bus mastering
    // keeps it from memory.
    bool runaway = false;
    uint32_t trace_commands = 0;         // that a traced job tells of
    uint32_t lose_entry = ~uint32_t{0};  // the one for which it has no time
  };
  // A job as the card saw it.
  struct SeenJob {
    uint32_t ring;
    uint32_t context_id;
    bool clear_sram;
    std::vector<heddle_step> steps;
    std::vector<std::vector<heddle_region>> tables;  // of run steps
    uint32_t trace_entries;
  };

  FakeCard(std::string path, uint64_t dram_bytes, uint64_t serial = 1);
  ~FakeCard();
  FakeCard(const FakeCard&) = delete;
  FakeCard& operator=(const FakeCard&) = delete;

  const std::string& path() const { return path_; }
  void Set(const Behaviour& behaviour);
  // Of the contract, from now on; it does what it did.
  void ShowVersion(uint32_t version);
  // Changes the size of device memory and says so.
  void Resize(uint64_t dram_bytes);
  // Fills device memory with a byte that is not zero.
  void Dirty(uint8_t value);
  std::vector<SeenJob> seen() const;
  std::vector<uint8_t> Dram(uint64_t offset, uint64_t bytes) const;
  uint64_t mapped_bytes() const;
  uint32_t resets() const;
  bool masters_bus() const;
  uint64_t refused_writes() const;  // for want of the bus
  // Writes to registers so far, and how many of them wanted a reply.
  uint64_t register_writes() const;
  uint64_t awaited_writes() const;

 private:
  struct Mapping {
    uint64_t size;
    uint8_t* data;
  };
  void Serve();
  bool HandleMessage();
  uint32_t ReadRegister(uint32_t offset);
  void WriteRegister(uint32_t offset, uint32_t value);
  bool HasBus() const;
  uint8_t* Host(uint64_t address, uint64_t bytes);
  // One turn of all engines; milliseconds until the next, or -1.
  int Work();
  int WorkOnJobs();
  void StartRunaway(uint8_t* host, uint64_t bytes);
  void StopRunaway();
  bool Fetch();
  uint32_t RunStep(const heddle_step& step);
  // Of the job that is about to end; the commands that it has had.
  uint32_t WriteTrace();
  void Complete(uint32_t status);
  void Raise(uint32_t bit);
  void Disconnect();

  const std::string path_;
  const uint64_t serial_;
  int listen_ = -1;
  int socket_ = -1;
  int wake_ = -1;
  std::thread thread_;

  mutable std::mutex mutex_;
  bool stop_ = false;
  Behaviour behaviour_;
  uint32_t version_ = HEDDLE_REG_VERSION_RESET;
  std::vector<uint8_t> dram_;
  std::vector<SeenJob> seen_;
  std::map<uint64_t, Mapping> maps_;
  std::map<uint32_t, uint32_t> registers_;
  uint8_t config_[256] = {};
  int vectors_[4] = {-1, -1, -1, -1};
  uint32_t int_status_ = 0, int_enable_ = 0, progress_ = 0, sequence_ = 0,
           resets_ = 0;
  uint32_t size_[HEDDLE_RINGS] = {}, head_[HEDDLE_RINGS] = {},
           tail_[HEDDLE_RINGS] = {};
  bool running_ = false, halted_ = false, stuck_ = false;
  Mapping runaway_ = {};  // of its own
  uint64_t refused_writes_ = 0, register_writes_ = 0, awaited_writes_ = 0;
  uint32_t ring_ = 0, step_ = 0, waited_ms_ = 0;
  heddle_job_descriptor job_ = {};
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_FAKE_CARD_H_
