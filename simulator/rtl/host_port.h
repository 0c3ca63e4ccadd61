// SPDX-License-Identifier: Apache-2.0
//
// Host memory as seen by the card's host port, cycle by cycle: the path over
// the bus, and a call at its end.
//
//   - Requests are queued and served in order.
//   - One beat of 16 bytes per cycle, reads and writes together: the *slot*.
//   - A read burst is read as a whole in the slot of its first beat; each beat
//     is offered `latency` cycles after its slot. A write burst is written in
//     the slot of its last beat and acknowledged `latency` cycles later.
//   - If the call fails, every beat of the burst is an error.
#ifndef HEDDLE_SIMULATOR_RTL_HOST_PORT_H_
#define HEDDLE_SIMULATOR_RTL_HOST_PORT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "simulator/rtl/device_memory.h"

namespace heddle::rtl {

class HostPort {
 public:
  // False: the access failed.
  using Access =
      std::function<bool(bool write, uint64_t iova, void* data, size_t bytes)>;
  // The same signals as device memory's.
  using FromCard = DeviceMemory::FromCore;
  using ToCard = DeviceMemory::ToCore;

  // latency > 0.
  HostPort(uint32_t latency, Access access)
      : latency_(latency), access_(std::move(access)) {
    SetOutputs();
  }

  const ToCard& outputs() const { return out_; }
  // The clock edge at the end of a cycle.
  void Clock(const FromCard& in);
  // Forgets everything that is under way.
  void Reset();
  bool idle() const {
    return requests_.empty() && reads_.empty() && answers_.empty();
  }
  // The first breach of the port's protocol by the card, empty if none.
  const std::string& violation() const { return violation_; }

 private:
  struct Request {
    uint64_t address;
    uint32_t beats;
    bool write;
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
  void Accept(const FromCard& in);
  void ServeRead(const Request& request);
  void ServeWrite(const Request& request, const FromCard& in);
  bool Write(const Request& request);
  void SetOutputs();

  const uint64_t latency_;
  const Access access_;
  uint64_t cycle_ = 0;
  std::deque<Request> requests_;
  std::deque<Read> reads_;
  std::deque<Answer> answers_;
  // The burst that is served: its bytes, of a write also which count.
  uint32_t beat_ = 0;
  bool error_ = false;
  std::vector<uint8_t> data_;
  std::vector<uint32_t> strobes_;
  ToCard out_;
  std::string violation_;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_HOST_PORT_H_
