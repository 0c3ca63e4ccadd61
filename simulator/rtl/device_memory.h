// SPDX-License-Identifier: Apache-2.0
//
// Device memory as seen by the core's memory port, cycle by cycle: values and
// timing in one.
//
//   - Requests are queued and served in order.
//   - One beat of 16 bytes per cycle, reads and writes together: the *slot*. A
//     beat is read or written in its slot, so the order of the requests is the
//     order of their effects.
//   - A read beat is offered `latency` cycles after its slot; a write is
//     acknowledged `latency` cycles after the slot of its last beat. Replies
//     keep the order of their requests, and one beat is offered per cycle.
//   - A beat beyond the end of the memory, or hit by InjectError(), is answered
//     with an error and changes nothing.
//
// For tests, replies can be delayed at random and every handshake can stall,
// both from a seed.
#ifndef HEDDLE_SIMULATOR_RTL_DEVICE_MEMORY_H_
#define HEDDLE_SIMULATOR_RTL_DEVICE_MEMORY_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "rtl/spec/generated/isa.h"

namespace heddle::rtl {

inline constexpr uint32_t kBeatBytes = 16;
inline constexpr uint32_t kBeatsMax = 64;
inline constexpr uint64_t kBurstPage = 4096;  // no burst crosses one

struct MemoryOptions {
  // Cycles beyond the configuration's dram_latency_cycles.
  uint32_t extra_latency = 0;
  // Each request takes up to that many cycles longer.
  uint32_t jitter = 0;
  // Share of the cycles in which the request, the write data, the read data
  // channel stands still; each on its own.
  uint32_t stall_percent = 0;
  uint64_t seed = 1;
};

class DeviceMemory {
 public:
  // What the core drives in a cycle, settled.
  struct FromCore {
    bool request_valid = false;
    bool request_write = false;
    uint64_t request_address = 0;
    uint32_t request_beats = 0;
    bool write_valid = false;
    uint32_t write_strobe = 0;
    const uint8_t* write_data = nullptr;
    bool read_ready = false;
  };
  // What it gets; depends on earlier cycles only.
  struct ToCore {
    bool request_ready = false;
    bool write_ready = false;
    bool read_valid = false;
    bool read_error = false;
    bool answer_valid = false;  // of a write
    bool answer_error = false;
    uint8_t read_data[kBeatBytes] = {};
  };

  DeviceMemory(const isa::Config& config, const MemoryOptions& options = {});
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // The bytes; they stay the caller's and may be changed while no stream runs.
  void Attach(uint8_t* data, uint64_t size);
  void Resize(uint64_t size) { size_ = size; }
  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }

  const ToCore& outputs() const { return out_; }
  // The clock edge at the end of a cycle.
  void Clock(const FromCore& in);
  // Forgets everything that is under way.
  void Reset();
  // Nothing is under way.
  bool idle() const {
    return requests_.empty() && reads_.empty() && answers_.empty();
  }

  // The next beat fails.
  void InjectError() { inject_error_ = true; }
  bool error_pending() const { return inject_error_; }
  // Takes an error back that has not hit; false: there is none.
  bool TakeError() { return std::exchange(inject_error_, false); }
  // The next read of that byte gets it with a bit changed; the byte stays.
  void FlipOnRead(uint64_t address, uint32_t bit) {
    flip_ = Flip{address, static_cast<uint8_t>(1u << (bit % 8))};
  }
  void ForgetFlip() { flip_.reset(); }
  // A read without time, with the faults above; for cores without a port.
  // False: an error.
  bool ReadNow(uint64_t address, void* to, size_t bytes);
  bool WriteNow(uint64_t address, const void* from, size_t bytes);

  uint64_t cycles() const { return cycle_; }
  uint64_t read_beats() const { return read_beats_; }
  uint64_t write_beats() const { return write_beats_; }
  // The first breach of the port's protocol by the core, empty if none.
  const std::string& violation() const { return violation_; }
  // The beat that the last Clock() wrote.
  struct Written {
    uint64_t address;
    uint32_t strobe;
  };
  const std::optional<Written>& written() const { return written_; }
  // The address of the beat that the last Clock() read.
  const std::optional<uint64_t>& read() const { return read_; }

 private:
  struct Request {
    uint64_t address;  // of its next beat
    uint32_t beats;    // to come
    bool write;
    bool error;
    uint32_t latency;
  };
  struct Read {
    uint64_t due;
    bool error;
    uint8_t data[kBeatBytes];
  };
  struct Answer {
    uint64_t due;
    bool error;
  };
  struct Flip {
    uint64_t address;
    uint8_t mask;
  };

  void Accept(const FromCore& in);
  void ServeRead();
  void ServeWrite(const FromCore& in);
  bool Fails(uint64_t address, uint64_t bytes = kBeatBytes);
  void Violation(const std::string& what);
  uint32_t Random(uint32_t below);
  bool Stall();
  void SetOutputs(bool still_offered);

  const uint32_t latency_;
  const MemoryOptions options_;
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t random_;
  uint64_t cycle_ = 0;
  std::deque<Request> requests_;
  std::deque<Read> reads_;
  std::deque<Answer> answers_;
  uint64_t last_due_ = 0;
  ToCore out_;
  bool inject_error_ = false;
  std::optional<Flip> flip_;
  std::optional<Written> written_;
  std::optional<uint64_t> read_;
  uint64_t read_beats_ = 0, write_beats_ = 0;
  std::string violation_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_DEVICE_MEMORY_H_
